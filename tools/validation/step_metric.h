// StepMetric: how a metric that sources print follows from the step time.
#pragma once

#include <optional>
#include <string>

#include "sim/workload/networks/decoder.h"

namespace stagecraft {

// Returns the FLOPs of one step of the whole job by a convention:
//   4x-full-attention    4·F + 3·head
//   3x-full-attention    3·F + 3·head
//   3x-causal-attention  the same with half the attention
//   korthikanti-hfu      72·B·l·s·h²·(1 + s/3h + V/12lh)
// where F = forward FLOPs of the layers and head = 2·B·s·h·V. No value for other names.
std::optional<double> ConventionFlops(const std::string& convention, const DecoderConfig& config,
                                      double sequence, double global_batch);

// A metric is `factor` x step time, or `factor` / step time.
struct StepMetric {
  double factor = 1;
  bool is_rate = false;

  double FromSeconds(double seconds) const { return is_rate ? factor / seconds : factor * seconds; }
  double ToSeconds(double value) const { return is_rate ? factor / value : value / factor; }
};

// What a step does, as far as metrics need it.
struct StepWork {
  DecoderConfig config;
  double sequence = 0;      // tokens
  double global_batch = 0;  // samples
  double tokens_per_position = 1;
  double devices = 0;
  double peak_flop_per_s = 0;  // dense 16-bit rate of one device
};

// Returns no value for metric kinds that do not follow from the step time. Throws InputError if the
// kind needs a FLOP convention and no known one is given.
std::optional<StepMetric> FindStepMetric(const std::string& metric_kind,
                                         const std::string& flop_convention, const StepWork& work);

}  // namespace stagecraft
