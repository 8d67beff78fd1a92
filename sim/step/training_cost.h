// TrainingCost: the time, the energy and the money that training steps take.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sim/cluster/cluster.h"
#include "sim/step/evaluation.h"

namespace stagecraft {

// What a data centre draws for each watt of its computers (power usage effectiveness). Touvron et
// al. 2023 (LLaMA), section 6, take 1.1 and compute as CostOfSteps() does: GPU-hours x board power
// x PUE. Averages over all data centres of the world are higher, about 1.6.
inline constexpr double kUsualPue = 1.1;

struct CostRates {
  std::vector<double> usd_per_gpu_hour = {};  // > 0, by node group of the cluster; empty: not known
  double pue = kUsualPue;                     // >= 1
  std::optional<double> usd_per_kwh = {};     // of electricity, > 0
};

// What is asked about cost.
struct CostQuestion {
  CostRates rates = {};
  double tokens = 0;  // of a whole training run; 0: none is asked about

  // Whether anything is asked.
  bool IsAsked() const {
    return tokens > 0 || !rates.usd_per_gpu_hour.empty() || rates.usd_per_kwh.has_value();
  }
};

// All numbers are in proportion to the step time.
struct TrainingCost {
  double steps = 0;
  double seconds = 0;
  double gpu_hours = 0;  // of the devices that the plan uses
  // No value: the board power of a GPU type in use is not known.
  std::optional<double> energy_kwh = {};
  std::optional<double> gpu_usd = {};  // for GPU-hours; no value: no prices are known
  std::optional<double> energy_usd =
      {};  // for energy_kwh; no value: that or its price is not known
  // The ends of the 80 % prediction interval, as multiples of the numbers above. Errors of the
  // predicted step time are those of the model, which all steps of a run share: they do not average
  // out.
  double low = 1;
  double high = 1;

  double days() const {
    constexpr double kSecondsPerDay = 86400;
    return seconds / kSecondsPerDay;
  }
};

// Returns what `steps` >= 0 training steps take, which need not be a whole number. The devices of
// the plan draw their board power all the time, and those that it leaves idle none; hosts, switches
// and storage are left out.
TrainingCost CostOfSteps(const Evaluation& evaluation, const Cluster& cluster,
                         const CostRates& rates, double steps);

// Returns the steps that a run of `tokens` > 0 takes, the last one in full.
double StepsOfTokens(const Evaluation& evaluation, double tokens);

// Returns what these numbers of devices of each node group cost in an hour, in USD. Precondition:
// there is a price for every group.
double UsdPerHour(std::span<const int> group_devices, std::span<const double> usd_per_gpu_hour);

// Returns the names of the GPU types in use whose board power is not known, each once.
std::vector<std::string> WithoutBoardPower(const Evaluation& evaluation, const Cluster& cluster);

}  // namespace stagecraft
