#include "tools/flags/slow_flag.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "costmodel/check.h"
#include "costmodel/text.h"
#include "sim/cluster/cluster.h"
#include "sim/job/cluster_event.h"
#include "sim/job/cluster_health.h"
#include "sim/job/part_names.h"

namespace stagecraft {
namespace {

using Kind = EventTarget::Kind;

SlowPart ParsePart(const std::string& text) {
  const size_t equals = text.rfind('=');
  if (equals == std::string::npos) {
    throw InputError(
        fmt::format("--slow: got \"{}\", want PART=SPEED, such as \"node0/gpu1=0.8\"", text));
  }
  SlowPart part;
  part.name = Trimmed(std::string_view(text).substr(0, equals));
  const std::optional<double> rate =
      ParseNumber<double>(Trimmed(std::string_view(text).substr(equals + 1)));
  if (!rate || !(*rate > 0 && *rate <= 1)) {
    throw InputError(fmt::format(
        "--slow: got \"{}\", want a speed above 0, at most 1: the share that is left", text));
  }
  part.rate = *rate;
  return part;
}

}  // namespace

void SlowFlag::Register(Flags& flags) {
  flags.In(FlagTopic::kCluster)
      .Add("--slow", parts_,
           {"<part=speed,...>",
            "Devices, nodes and links that work at this share of their speed, such as "
            "\"node3/gpu1=0.8\", \"node3=0.5\" or \"node0/nic3 -> fabric=0.5\". A node slows all "
            "its devices, but not its links. May be repeated.",
            "above 0, at most 1", "everything at full speed"})
      .SplitAtCommas();
}

std::vector<SlowPart> SlowFlag::SlowDown(Cluster& cluster) const {
  std::vector<SlowPart> slow;
  std::vector<std::string> names;
  for (const std::string& text : parts_) {
    slow.push_back(ParsePart(text));
    const std::string& name = slow.back().name;
    if (std::find(names.begin(), names.end(), name) != names.end()) {
      throw InputError(fmt::format("--slow: got \"{}\" twice, want every part once", name));
    }
    names.push_back(name);
  }
  if (slow.empty()) return slow;
  const auto links = FindLinks(names, cluster);
  const Racks racks(cluster, 0);
  ClusterHealth health(cluster, racks, {});
  for (SlowPart& part : slow) {
    if (const auto device = FindDevice(part.name, cluster)) {
      part.parts = {{Kind::kDevice, *device}};
    } else if (const auto node = FindNode(part.name, cluster)) {
      part.parts = {{Kind::kNode, *node}};
    } else {
      for (const int link : links.at(part.name)) part.parts.push_back({Kind::kLink, link});
    }
    if (part.parts.empty()) {
      throw InputError(fmt::format("--slow: got \"{}\", which the cluster lacks, want {}",
                                   part.name, DescribeParts(cluster)));
    }
    for (const EventTarget& target : part.parts) {
      health.Apply({.target = target, .what = ClusterEvent::What::kSlow, .rate = part.rate});
    }
  }
  cluster = cluster.WithSlowParts(SlowPartsOf(health.state()));
  return slow;
}

}  // namespace stagecraft
