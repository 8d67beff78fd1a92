#include "tools/sweep/run_costs.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "costmodel/check.h"
#include "costmodel/units.h"
#include "sim/cluster/cluster_spec.h"
#include "sim/step/evaluation.h"
#include "tools/sweep/run_flags.h"

namespace stagecraft {
namespace {

constexpr double kMsPerSecond = 1000;

// Returns the devices of each node group that a plan on `gpus` devices uses; none if the cluster
// has several GPU types, of which the plan leaves some devices idle.
std::vector<int> GroupDevices(const Cluster& cluster, int gpus) {
  std::vector<int> devices;
  const std::string& first = cluster.groups()[0].type.device.id;
  int left = gpus;
  bool are_alike = true;
  for (const Cluster::NodeGroup& group : cluster.groups()) {
    are_alike = are_alike && group.type.device.id == first;
    devices.push_back(std::min(left, group.count * group.type.devices));
    left -= devices.back();
  }
  if (are_alike || gpus == cluster.device_count()) return devices;
  return {};
}

std::optional<Cluster> TryToRead(const std::string& spec) {
  try {
    return ParseCluster(spec);
  } catch (const InputError&) {
    return std::nullopt;
  }
}

}  // namespace

void RunCosts::Check(const Grid& grid) const {
  for (const GridAxis& axis : grid.axes()) {
    if (axis.flag != "cluster") continue;
    for (const std::string& spec : axis.values) {
      if (const std::optional<Cluster> cluster = TryToRead(spec)) flags_.Build(*cluster);
    }
  }
}

const RunCosts::Priced& RunCosts::PricedOf(const RunRow& row) {
  const std::map<std::string, std::string> flags = FlagsOfRow(row);
  const auto value = flags.find("cluster");
  const std::string spec = value == flags.end() ? "" : value->second;
  const auto known = clusters_.find(spec);
  if (known != clusters_.end()) return known->second;
  Cluster cluster = ParseCluster(spec);
  CostQuestion question = flags_.Build(cluster);
  return clusters_.emplace(spec, Priced{std::move(cluster), std::move(question)}).first->second;
}

std::optional<TrainingCost> RunCosts::Of(const RunRow& row) {
  const std::optional<double>&step_ms = row[RunNumber::kStepTime], &gpus = row[RunNumber::kGpus];
  const std::optional<double>& tokens_per_s = row[RunNumber::kTokensPerSecond];
  if (!step_ms || !gpus || !tokens_per_s) return {};
  const auto& [cluster, question] = PricedOf(row);
  if (!(question.tokens > 0)) return {};
  Evaluation step;
  const auto time = [](double ms) { return Duration::Seconds(ms / kMsPerSecond); };
  step.step_time = time(*step_ms);
  step.step_time_low = time(row[RunNumber::kStepTimeLow].value_or(*step_ms));
  step.step_time_high = time(row[RunNumber::kStepTimeHigh].value_or(*step_ms));
  step.tokens = std::llround(*tokens_per_s * *step_ms / kMsPerSecond);
  step.devices = static_cast<int>(*gpus);
  step.group_devices = GroupDevices(cluster, step.devices);
  CostRates rates = question.rates;
  if (step.group_devices.empty()) rates.usd_per_gpu_hour.clear();
  TrainingCost cost = CostOfSteps(step, cluster, rates, StepsOfTokens(step, question.tokens));
  if (step.group_devices.empty()) cost.energy_kwh.reset();
  if (!cost.energy_kwh) cost.energy_usd.reset();
  return cost;
}

}  // namespace stagecraft
