#include "sim/workload/readers/graph_txt.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <queue>
#include <string_view>
#include <utility>

#include "costmodel/check.h"
#include "costmodel/proto_file.h"
#include "costmodel/text.h"

namespace stagecraft {
namespace {

constexpr std::string_view kSeparator = " -- ";
constexpr std::string_view kStage = "stage_id=";
// No profile exceeds these: an hour, 16 TiB. Sums of half a million stay within 64 bits.
constexpr double kLongestMilliseconds = 3.6e6;
constexpr double kMostBytes = 1LL << 44;
constexpr int kMostStages = 1 << 20;

// Orders ids by their numbers: "node9" comes before "node10".
bool IdBefore(const std::string& a, const std::string& b) {
  return std::pair(a.size(), std::string_view(a)) < std::pair(b.size(), std::string_view(b));
}

class Parser {
 public:
  Parser(const std::string& text, const std::string& name) : text_(text), name_(name) {}

  ProfiledGraph Parse() {
    if (text_.starts_with("\x1f\x8b")) {
      throw InputError(name_ + ": is compressed with gzip, want plain text");
    }
    for (const std::string_view line : SplitAt(text_, '\n')) {
      ++line_;
      if (Trimmed(line).empty()) continue;
      line.front() == '\t' ? ParseEdge(Trimmed(line)) : ParseNode(Trimmed(line));
    }
    if (graph_.nodes.empty()) throw InputError(name_ + ": has no nodes, want at least one");
    ConnectEdges();
    SortTopologically();
    return std::move(graph_);
  }

 private:
  struct NamedEdge {
    std::string_view from, to;
    int line;
  };

  [[noreturn]] void Fail(const std::string& what) const {
    throw InputError(fmt::format("{}:{}: {}", name_, line_, what));
  }

  double Quantity(std::string_view key, std::string_view text, double most) const {
    const std::optional<double> number = ParseNumber<double>(text);
    if (!number || !(*number >= 0) || *number > most) {
      Fail(fmt::format("{}: got '{}', want a number of 0 to {:g}", key, text, most));
    }
    return *number;
  }

  Duration Time(std::string_view key, std::string_view text) const {
    return Duration::Seconds(Quantity(key, text, kLongestMilliseconds) / 1e3);
  }

  // "123.0", or "[123.0; 456.0]" for an operator with several outputs.
  Bytes Size(std::string_view key, std::string_view text) const {
    if (text.starts_with('[') && text.ends_with(']') && text.size() > 2) {
      Bytes sum;
      for (const std::string_view part : SplitAt(text.substr(1, text.size() - 2), ';')) {
        sum += Bytes(std::llround(Quantity(key, Trimmed(part), kMostBytes)));
      }
      return sum;
    }
    return Bytes(std::llround(Quantity(key, text, kMostBytes)));
  }

  void ParseMeasurements(std::string_view text, ProfiledNode& node) const {
    std::map<std::string_view, std::string_view> values;
    for (const std::string_view part : SplitAt(text, ", ")) {
      const size_t equals = part.find('=');
      if (equals == std::string_view::npos) {
        Fail(
            fmt::format("got '{}', want forward_compute_time=…, backward_compute_time=…, "
                        "activation_size=…, parameter_size=…",
                        text));
      }
      const std::string_view key = Trimmed(part.substr(0, equals));
      if (!values.emplace(key, Trimmed(part.substr(equals + 1))).second) {
        Fail(fmt::format("node {}: {} is given twice", node.id, key));
      }
    }
    const auto take = [&](std::string_view key) {
      const auto found = values.find(key);
      if (found == values.end()) Fail(fmt::format("node {}: {} is missing", node.id, key));
      const std::string_view value = found->second;
      values.erase(found);
      return value;
    };
    node.forward = Time("forward_compute_time", take("forward_compute_time"));
    node.backward = Time("backward_compute_time", take("backward_compute_time"));
    node.activation = Size("activation_size", take("activation_size"));
    node.parameters = Size("parameter_size", take("parameter_size"));
    if (!values.empty()) {
      Fail(
          fmt::format("node {}: '{}' is not known, want forward_compute_time, "
                      "backward_compute_time, activation_size and parameter_size only",
                      node.id, values.begin()->first));
    }
  }

  void ParseNode(std::string_view line) {
    std::vector<std::string_view> fields = SplitAt(line, kSeparator);
    ProfiledNode node;
    if (fields.size() > 3 && Trimmed(fields.back()).starts_with(kStage)) {
      const std::string_view text = Trimmed(fields.back()).substr(kStage.size());
      const std::optional<int> stage = ParseNumber<int>(text);
      if (!stage || *stage < 0 || *stage > kMostStages) {
        Fail(fmt::format("stage_id: got '{}', want a whole number of 0 to {}", text, kMostStages));
      }
      node.stage = *stage;
      fields.pop_back();
    }
    if (fields.size() < 3 || Trimmed(fields[0]).empty()) {
      Fail(
          fmt::format("got '{}', want 'ID -- DESCRIPTION -- MEASUREMENTS', or a tab and "
                      "'ID -- ID' for an edge",
                      line.substr(0, 60)));
    }
    node.id = Trimmed(fields[0]);
    // A description may contain the separator.
    const char* const begin = fields[1].data();
    const std::string_view last = fields[fields.size() - 2];
    node.description = std::string_view(begin, last.data() + last.size() - begin);
    ParseMeasurements(fields.back(), node);
    if (!lines_.emplace(node.id, line_).second) {
      Fail(fmt::format("node {} is already on line {}", node.id, lines_.at(node.id)));
    }
    graph_.nodes.push_back(std::move(node));
  }

  void ParseEdge(std::string_view line) {
    const std::vector<std::string_view> ends = SplitAt(line, kSeparator);
    if (ends.size() != 2) {
      Fail(fmt::format("got '{}', want an edge 'ID -- ID'", line.substr(0, 60)));
    }
    edges_.push_back({Trimmed(ends[0]), Trimmed(ends[1]), line_});
  }

  // From here on, nodes are in order of their ids.
  void ConnectEdges() {
    std::sort(graph_.nodes.begin(), graph_.nodes.end(),
              [](const ProfiledNode& a, const ProfiledNode& b) { return IdBefore(a.id, b.id); });
    std::map<std::string_view, int> index;
    for (const ProfiledNode& node : graph_.nodes) {
      index.emplace(node.id, static_cast<int>(index.size()));
    }
    std::map<ProfiledEdge, int> seen;
    for (const NamedEdge& edge : edges_) {
      line_ = edge.line;
      for (const std::string_view end : {edge.from, edge.to}) {
        if (!index.contains(end)) {
          Fail(fmt::format("edge {} -- {}: no node is called '{}'", edge.from, edge.to, end));
        }
      }
      const ProfiledEdge numbered{index.at(edge.from), index.at(edge.to)};
      const auto [first, is_new] = seen.emplace(numbered, line_);
      if (!is_new) {
        Fail(fmt::format("edge {} -- {} is already on line {}", edge.from, edge.to, first->second));
      }
      graph_.edges.push_back(numbered);
    }
  }

  void SortTopologically() {
    const size_t count = graph_.nodes.size();
    std::vector<std::vector<int>> consumers(count);
    std::vector<int> missing(count);
    for (const ProfiledEdge& edge : graph_.edges) {
      consumers[edge.from].push_back(edge.to);
      ++missing[edge.to];
    }
    std::priority_queue<int, std::vector<int>, std::greater<>> ready;
    for (size_t n = 0; n < count; ++n) {
      if (missing[n] == 0) ready.push(static_cast<int>(n));
    }
    std::vector<int> place(count, -1);
    std::vector<ProfiledNode> sorted;
    while (!ready.empty()) {
      const int node = ready.top();
      ready.pop();
      place[node] = static_cast<int>(sorted.size());
      sorted.push_back(graph_.nodes[node]);
      for (const int consumer : consumers[node]) {
        if (--missing[consumer] == 0) ready.push(consumer);
      }
    }
    if (sorted.size() < count) FailWithCycle(place);
    graph_.nodes = std::move(sorted);
    for (ProfiledEdge& edge : graph_.edges) edge = {place[edge.from], place[edge.to]};
    std::sort(graph_.edges.begin(), graph_.edges.end());
  }

  // Every node that is left has a producer that is left. So the way back from any of them comes to
  // some node for the second time, and that one is on a cycle.
  [[noreturn]] void FailWithCycle(const std::vector<int>& place) const {
    std::vector<int> producer(place.size(), -1);
    for (const ProfiledEdge& edge : graph_.edges) {
      if (place[edge.from] < 0) producer[edge.to] = edge.from;
    }
    int node = static_cast<int>(std::find(place.begin(), place.end(), -1) - place.begin());
    std::vector<bool> visited(place.size());
    while (!visited[node]) {
      visited[node] = true;
      node = producer[node];
    }
    throw InputError(fmt::format("{}: node {} ({}) is on a cycle, want a graph without", name_,
                                 graph_.nodes[node].id, graph_.nodes[node].description));
  }

  const std::string& text_;
  const std::string& name_;
  int line_ = 0;
  ProfiledGraph graph_;
  std::vector<NamedEdge> edges_;
  std::map<std::string, int> lines_;
};

}  // namespace

ProfiledGraph ParseProfiledGraph(const std::string& text, const std::string& name_for_errors) {
  return Parser(text, name_for_errors).Parse();
}

ProfiledGraph ReadProfiledGraph(const std::string& path) {
  return ParseProfiledGraph(ReadFile(path), path);
}

}  // namespace stagecraft
