#include "tools/report/plan_choices.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "sim/pipeline/vocabulary_placement.h"
#include "tools/report/plan_report.h"
#include "tools/report/step_report.h"

namespace stagecraft {
namespace {

constexpr size_t kMostBefore = 20;  // characters of a value before that Text() still prints

// The values of all stages, equal ones in a row joined: "4 x 10 + 12".
template <typename Value>
std::string InRuns(const Plan& plan, Value value) {
  std::vector<std::pair<std::string, int>> runs;
  for (const Stage& stage : plan.stages) {
    const std::string text = value(stage);
    if (runs.empty() || runs.back().first != text) runs.emplace_back(text, 0);
    ++runs.back().second;
  }
  if (runs.size() == 1) return runs[0].first;
  std::vector<std::string> texts;
  for (const auto& [text, count] : runs) {
    texts.push_back(count == 1 ? text : fmt::format("{} x {}", count, text));
  }
  return fmt::format("{}", fmt::join(texts, " + "));
}

// The GPU types of a stage.
std::string GpuTypesText(const Stage& stage, const Cluster& cluster) {
  std::vector<std::string> ids;
  for (const std::vector<int>& devices : stage.replicas) {
    const std::string& id = cluster.device(devices[0]).id;
    if (std::find(ids.begin(), ids.end(), id) == ids.end()) ids.push_back(id);
  }
  return fmt::format("{}", fmt::join(ids, " and "));
}

// What a plan does beside its computation, where there is anything to do.
std::vector<PlanChoice> OverlapsOf(const Plan& plan) {
  const auto word = [](bool is_on) { return std::string(is_on ? "on" : "off"); };
  return {{"tp overlap", word(plan.overlap_tensor)},
          {"gather overlap", word(plan.overlap_param_gather)},
          {"p2p overlap", word(plan.overlap_p2p)}};
}

std::string RecomputeText(const Plan& plan) {
  return InRuns(plan, [](const Stage& stage) { return std::string(Name(stage.recompute)); });
}

}  // namespace

std::vector<PlanChoice> ChoicesOf(const Plan& plan, const Workload& workload,
                                  const Cluster& cluster) {
  const Stage& first = plan.stages[0];
  const auto tensor = [&](const Stage& stage) {
    if (cluster.homogeneous()) return fmt::format("{}", stage.tensor_parallel);
    return fmt::format("{} on {}", stage.tensor_parallel, GpuTypesText(stage, cluster));
  };
  const auto replicas = [](const Stage& stage) { return fmt::format("{}", stage.replicas.size()); };
  const auto blocks = [&](const Stage& stage) {
    return fmt::format("{}", BlocksOf(stage, workload));
  };
  return {{"tp", cluster.homogeneous() ? tensor(first) : InRuns(plan, tensor)},
          {"cp", fmt::format("{}", first.context_parallel)},
          {"ep", fmt::format("{}", first.expert_parallel)},
          {"pp", fmt::format("{}", plan.stages.size())},
          {"vpp", fmt::format("{}", plan.chunk_count())},
          {"dp", InRuns(plan, replicas)},
          {"micro-batch", fmt::format("{}", plan.micro_batch)},
          {"schedule", Name(plan.schedule)},
          {"vocabulary", Name(plan.schedule_options.vocabulary)},
          {"recompute", RecomputeText(plan)},
          {"zero", fmt::format("{}", plan.zero)},
          {"sp", plan.sequence_parallel || first.tensor_parallel == 1 ? "on" : "off"},
          {"rank order", plan.rank_order},
          {"blocks", InRuns(plan, blocks)}};
}

std::vector<ChoiceDifference> DifferencesOf(const Plan& before, const Plan& after,
                                            const Workload& workload, const Cluster& cluster) {
  const auto all = [&](const Plan& plan) {
    std::vector<PlanChoice> choices = ChoicesOf(plan, workload, cluster);
    for (PlanChoice& overlap : OverlapsOf(plan)) choices.push_back(std::move(overlap));
    return choices;
  };
  const std::vector<PlanChoice> a = all(before);
  const std::vector<PlanChoice> b = all(after);
  // Plans with unequal numbers of stages have other blocks per stage anyway.
  const bool same_stages = before.stages.size() == after.stages.size();
  std::vector<ChoiceDifference> differences;
  for (size_t i = 0; i < a.size(); ++i) {
    const bool follows = a[i].name == std::string("blocks") && !same_stages;
    if (a[i].value == b[i].value || follows) continue;
    differences.push_back({a[i].name, a[i].value, b[i].value});
  }
  return differences;
}

std::string Text(const std::vector<ChoiceDifference>& differences) {
  if (differences.empty()) return "none of the listed choices differs";
  std::vector<std::string> texts;
  for (const ChoiceDifference& d : differences) {
    const bool is_long = d.before.size() > kMostBefore;
    const std::string name = d.name == std::string("blocks") ? "layers" : d.name;
    texts.push_back(is_long ? fmt::format("{} {}", name, d.after)
                            : fmt::format("{} {} -> {}", name, d.before, d.after));
  }
  return fmt::format("{}", fmt::join(texts, ", "));
}

nlohmann::ordered_json ToJson(const std::vector<ChoiceDifference>& differences) {
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  for (const ChoiceDifference& d : differences) {
    json.push_back({{"choice", d.name}, {"before", d.before}, {"after", d.after}});
  }
  return json;
}

std::string DevicesText(const std::vector<int>& group_devices, const Cluster& cluster) {
  std::vector<std::pair<std::string, int>> kinds;  // in the order of the cluster
  for (size_t g = 0; g < group_devices.size(); ++g) {
    if (group_devices[g] == 0) continue;
    const std::string& id = cluster.groups()[g].type.device.id;
    if (kinds.empty() || kinds.back().first != id) kinds.emplace_back(id, 0);
    kinds.back().second += group_devices[g];
  }
  std::vector<std::string> texts;
  for (const auto& [id, count] : kinds) texts.push_back(fmt::format("{} x {}", count, id));
  return fmt::format("{}", fmt::join(texts, " + "));
}

}  // namespace stagecraft
