#include "tools/report/slow_report.h"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "costmodel/op.h"
#include "sim/job/cluster_event.h"
#include "sim/plan/plan.h"

namespace stagecraft {
namespace {

using Kind = EventTarget::Kind;

bool IsUsed(const Plan& plan, const Cluster& cluster, const EventTarget& part) {
  const auto is_part = [&](int device) {
    return part.kind == Kind::kNode ? cluster.place(device).node == part.index
                                    : device == part.index;
  };
  for (const Stage& stage : plan.stages) {
    for (const std::vector<int>& replica : stage.replicas) {
      if (std::any_of(replica.begin(), replica.end(), is_part)) return true;
    }
  }
  return false;
}

// Whether a message or collective of the step may be slower because of slow links.
bool MeetsSlowLinks(const SimulatedStep& step, const PlannedJob& job) {
  for (const Op& op : step.schedule.distinct_ops()) {
    if (op.fabric.intra_rate != 1 || op.fabric.inter_rate != 1) return true;
  }
  for (const auto& [link, rate] : job.cluster.slow_parts().links) {
    if (!step.link_use.empty() && step.link_use[link].bytes > 0) return true;
  }
  return false;
}

}  // namespace

std::string SlowText(const PlannedJob& job) {
  std::string text;
  for (const SlowPart& part : job.slow) {
    text += text.empty() ? fmt::format("{} at {} of its speed", part.name, part.rate)
                         : fmt::format(", {} at {}", part.name, part.rate);
  }
  return text;
}

nlohmann::ordered_json SlowToJson(const PlannedJob& job) {
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  for (const SlowPart& part : job.slow) {
    json.push_back({{"part", part.name}, {"speed", part.rate}});
  }
  return json;
}

std::vector<std::string> SlowWarnings(const SimulatedStep& step, const PlannedJob& job) {
  std::vector<std::string> warnings;
  const bool meets_links = MeetsSlowLinks(step, job);
  for (const SlowPart& part : job.slow) {
    if (part.rate == 1) continue;
    if (part.parts[0].kind == Kind::kLink) {
      if (meets_links) continue;
      warnings.push_back(fmt::format(
          "--slow of {} changes nothing: nothing that the plan sends is held up by it", part.name));
    } else if (!IsUsed(step.plan, job.cluster, part.parts[0])) {
      warnings.push_back(
          fmt::format("--slow of {} changes nothing: the plan does not use it", part.name));
    }
  }
  return warnings;
}

}  // namespace stagecraft
