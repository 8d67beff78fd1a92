#include "tools/flags/network_flags.h"

#include <fmt/core.h>

#include <cmath>
#include <optional>
#include <string_view>

#include "costmodel/check.h"
#include "costmodel/nearest.h"
#include "costmodel/text.h"
#include "tools/verb/flags.h"

namespace stagecraft {
namespace {

constexpr double kLongestMs = 1e12;
constexpr double kMostRate = 1000;

[[noreturn]] void Refuse(const std::string& text, const std::string& why) {
  throw InputError(fmt::format("--link-rate: got \"{}\", {}", text, why));
}

double Number(const std::string& text, size_t begin, size_t end, double most) {
  const std::optional<double> value =
      ParseNumber<double>(std::string_view(text).substr(begin, end - begin));
  if (!value || !(*value >= 0 && *value <= most)) {
    Refuse(text, fmt::format("want numbers of 0 to {:g} in \"LINK@MILLISECONDS=RATE\"", most));
  }
  return *value;
}

// Returns the links of this name: several if they are parallel. Refuses `text`, the change that
// names them, if there are none.
std::vector<int> FindLinks(const Cluster& cluster, const std::string& name,
                           const std::string& text) {
  constexpr int kMostNames = 20'000;  // that are searched for similar ones
  std::vector<int> links;
  std::vector<std::string> names;
  for (int link = 0; link < cluster.link_count(); ++link) {
    std::string other = cluster.LinkName(link);
    if (other == name) links.push_back(link);
    if (link < kMostNames) names.push_back(std::move(other));
  }
  if (!links.empty()) return links;
  Refuse(text, "which is no link of the cluster; " + NearestNames(name, names));
}

// "node0/nic0 -> fabric@250=0.5"
std::vector<LinkChange> ParseChange(const std::string& text, const Cluster& cluster) {
  const size_t equals = text.rfind('=');
  const size_t at = text.rfind('@', equals);
  if (equals == std::string::npos || at == std::string::npos || at == 0) {
    Refuse(text, "want \"LINK@MILLISECONDS=RATE\", as \"node0/nic0 -> fabric@250=0.5\"");
  }
  LinkChange change;
  change.time = Duration::Seconds(Number(text, at + 1, equals, kLongestMs) * 1e-3);
  change.rate = Number(text, equals + 1, text.size(), kMostRate);
  std::vector<LinkChange> changes;
  for (const int link : FindLinks(cluster, text.substr(0, at), text)) {
    change.link = link;
    changes.push_back(change);
  }
  return changes;
}

}  // namespace

void NetworkFlags::Register(Flags& flags) {
  FlagGroup group = flags.In(FlagTopic::kOverlap);
  group
      .Add("--network", fidelity_,
           {"<name>",
            "How collectives are timed: each takes the time that the cost model predicts (model), "
            "or its messages share the cluster's links with all other messages (flow).",
            "", "model"})
      .OneOf({"model", "flow"});
  group.Add(
      "--link-rate", changes_,
      {"<change>...",
       "With --network flow: \"LINK@MS=RATE\" multiplies the bandwidth of a link by RATE (0 to "
       "1000) from MS milliseconds on, such as \"node0/nic0 -> fabric@250=0.5\". May be "
       "repeated."});
}

NetworkOptions NetworkFlags::Build(const Cluster& cluster) const {
  NetworkOptions options;
  if (fidelity_ == "flow") options.fidelity = NetworkFidelity::kFlow;
  if (!changes_.empty() && options.fidelity != NetworkFidelity::kFlow) {
    throw InputError("--link-rate: got --network model, which knows no single links, want flow");
  }
  for (const std::string& change : changes_) {
    const std::vector<LinkChange> of_links = ParseChange(change, cluster);
    options.changes.insert(options.changes.end(), of_links.begin(), of_links.end());
  }
  return options;
}

}  // namespace stagecraft
