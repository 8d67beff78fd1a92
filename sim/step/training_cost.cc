#include "sim/step/training_cost.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace stagecraft {
namespace {

constexpr double kSecondsPerHour = 3600;
constexpr double kWattsPerKilowatt = 1000;

}  // namespace

double UsdPerHour(std::span<const int> group_devices, std::span<const double> usd_per_gpu_hour) {
  // Groups of the same price are counted together, so that the rounding of the sum does not depend
  // on how the devices are spread over them.
  std::map<double, int> by_price;
  for (size_t group = 0; group < group_devices.size(); ++group) {
    by_price[usd_per_gpu_hour[group]] += group_devices[group];
  }
  double usd = 0;
  for (const auto& [price, devices] : by_price) usd += price * devices;
  return usd;
}

std::vector<std::string> WithoutBoardPower(const Evaluation& evaluation, const Cluster& cluster) {
  std::vector<std::string> names;
  for (size_t group = 0; group < evaluation.group_devices.size(); ++group) {
    const Device& device = cluster.groups()[group].type.device;
    if (evaluation.group_devices[group] == 0 || device.power_w > 0) continue;
    if (std::find(names.begin(), names.end(), device.name) == names.end()) {
      names.push_back(device.name);
    }
  }
  return names;
}

TrainingCost CostOfSteps(const Evaluation& evaluation, const Cluster& cluster,
                         const CostRates& rates, double steps) {
  const double step_s = evaluation.step_time.seconds();
  TrainingCost cost{.steps = steps, .seconds = steps * step_s};
  const double hours = cost.seconds / kSecondsPerHour;
  cost.gpu_hours = hours * evaluation.devices;
  if (step_s > 0) {
    cost.low = evaluation.step_time_low.seconds() / step_s;
    cost.high = evaluation.step_time_high.seconds() / step_s;
  }
  if (!rates.usd_per_gpu_hour.empty()) {
    cost.gpu_usd = hours * UsdPerHour(evaluation.group_devices, rates.usd_per_gpu_hour);
  }
  if (!WithoutBoardPower(evaluation, cluster).empty()) return cost;
  double watts = 0;
  for (size_t group = 0; group < evaluation.group_devices.size(); ++group) {
    watts += evaluation.group_devices[group] * cluster.groups()[group].type.device.power_w;
  }
  cost.energy_kwh = hours * watts / kWattsPerKilowatt * rates.pue;
  if (rates.usd_per_kwh) cost.energy_usd = *cost.energy_kwh * *rates.usd_per_kwh;
  return cost;
}

double StepsOfTokens(const Evaluation& evaluation, double tokens) {
  return std::ceil(tokens / evaluation.tokens);
}

}  // namespace stagecraft
