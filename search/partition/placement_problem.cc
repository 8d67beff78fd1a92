#include "search/partition/placement_problem.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "costmodel/check.h"
#include "costmodel/json_to_proto.h"
#include "search/partition/graph_json.h"

namespace stagecraft {
namespace {

class PlacementReader {
 public:
  PlacementReader(const nlohmann::json& value, const std::string& name)
      : file_{value, name + ": "}, name_(name) {}

  PlacementProblem Read() {
    if (!file_.value.is_object()) throw InputError(name_ + ": want one JSON object");
    problem_.name = name_;
    problem_.accelerators = DevicesOf("maxFPGAs");
    problem_.cpus = DevicesOf("maxCPUs");
    problem_.memory_bytes = AmountUpTo(file_, "maxSizePerFPGA", kMostPlacementBytes);
    if (problem_.devices() == 0) {
      throw InputError(name_ + ": maxFPGAs and maxCPUs: got 0, want a device");
    }
    ReadNodes();
    ReadEdges();
    return std::move(problem_);
  }

 private:
  static double AmountUpTo(const JsonObject& object, const std::string& key, double most) {
    const double amount = object.Amount(key);
    if (amount > most) object.Fail(key, fmt::format("at most {:g}", most));
    return amount;
  }
  int DevicesOf(const char* key) const {
    const int devices = file_.Whole(key);
    if (devices > kMostPlacementDevices) {
      file_.Fail(key, fmt::format("at most {}", kMostPlacementDevices));
    }
    return devices;
  }
  static double Milliseconds(const JsonObject& object, const std::string& key) {
    return AmountUpTo(object, key, kMostPlacementMs);
  }

  void ReadNodes() {
    std::map<int, int> group_of;  // by colour
    for (size_t n = 0; n < file_.List("nodes").size(); ++n) {
      const JsonObject node = file_.Item("nodes", n);
      const int id = node.Whole("id");
      const auto number = static_cast<int>(n);
      if (!numbers_.emplace(id, number).second) node.Fail("id", "an id that no other node has");
      const std::string name = node.Text("name");
      problem_.nodes.push_back({.name = name.empty() ? std::to_string(id) : name,
                                .accelerator_ms = Milliseconds(node, "fpgaLatency"),
                                .cpu_ms = Milliseconds(node, "cpuLatency"),
                                .bytes = AmountUpTo(node, "size", kMostPlacementBytes),
                                .is_backward = node.Claim("isBackwardNode", false),
                                .runs_on_accelerator = node.Claim("supportedOnFpga", true)});
      const auto groups = static_cast<int>(problem_.groups.size());
      const bool is_joined = node.value.contains("colorClass") &&
                             !group_of.emplace(node.Whole("colorClass"), groups).second;
      if (is_joined) {
        std::vector<int>& group = problem_.groups[group_of.at(node.Whole("colorClass"))];
        links_.push_back({group.back(), number});
        group.push_back(number);
      } else {
        problem_.groups.push_back({number});
      }
    }
  }

  int EndOf(const JsonObject& edge, const char* key) const {
    const auto found = numbers_.find(edge.Whole(key));
    if (found == numbers_.end()) edge.Fail(key, "the id of a node");
    return found->second;
  }

  void ReadEdges() {
    std::vector<DagEdge> edges;
    for (size_t e = 0; e < file_.List("edges").size(); ++e) {
      const JsonObject edge = file_.Item("edges", e);
      edges.push_back({EndOf(edge, "sourceId"), EndOf(edge, "destId")});
      double& transfer = problem_.nodes[edges.back().from].transfer_ms;
      transfer = std::max(transfer, Milliseconds(edge, "cost"));
    }
    std::vector<std::string> names;
    for (const PlacementNode& node : problem_.nodes) names.push_back(node.name);
    problem_.dag = MakeDag(names, edges, name_);
    links_.insert(links_.end(), edges.begin(), edges.end());
    RequireOneComponent(names, links_, name_);
  }

  const JsonObject file_;
  const std::string name_;
  std::map<int, int> numbers_;  // by the file's ids
  std::vector<DagEdge> links_;  // nodes of a colour, then edges
  PlacementProblem problem_;
};

}  // namespace

double FastestMs(const PlacementProblem& problem, const PlacementNode& node) {
  if (problem.accelerators == 0 || !node.runs_on_accelerator) return node.cpu_ms;
  return problem.cpus == 0 ? node.accelerator_ms : std::min(node.accelerator_ms, node.cpu_ms);
}

PlacementProblem ParsePlacementProblem(const std::string& text, const std::string& name) {
  const nlohmann::json value = ParseJson(text, name);
  return PlacementReader(value, name).Read();
}

}  // namespace stagecraft
