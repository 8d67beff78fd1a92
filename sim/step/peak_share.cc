#include "sim/step/peak_share.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "costmodel/device.h"
#include "costmodel/units.h"
#include "sim/workload/layer_gradients.h"

namespace stagecraft {
namespace {

// The share of a step's FLOPs that is due to operators for which counts(layer, operator) holds.
template <typename Counts>
double ShareOf(const Workload& workload, int64_t sequence, Counts counts) {
  std::vector<double> by_kind;
  for (const LayerKind& kind : workload.kinds) {
    const std::vector<OperatorGradients> gradients = GradientsOf(kind);
    double flops = 0;
    for (size_t v = 0; v < gradients.size() && !kind.is_cached; ++v) {
      const Operator& op = kind.operators[v];
      if (counts(kind, op)) flops += TrainingFlopsPerToken(op, gradients[v], sequence);
    }
    by_kind.push_back(flops);
  }
  double flops = 0;
  for (const int kind : workload.layers) flops += by_kind[kind];
  const double all = workload.TrainingFlopsPerToken(sequence).count();
  return all > 0 ? flops / all : 0;
}

// Attention and the head keep 16 bits.
double WideShare(const Workload& workload, int64_t sequence) {
  return ShareOf(workload, sequence, [](const LayerKind& kind, const Operator& op) {
    return kind.role == LayerRole::kHead || op.kind == OperatorKind::kAttention;
  });
}

// The share of a step's FLOPs that Winograd's algorithm saves.
double SavedShare(const Workload& workload, int64_t sequence) {
  const double suited = ShareOf(
      workload, sequence, [](const LayerKind&, const Operator& op) { return SuitsWinograd(op); });
  return (1 - 1 / kWinogradSaving) * suited;
}

// FLOP/s of all devices together in the slower of a plan's two formats, and by which factor, at
// most, a device is faster in the other one.
struct Peaks {
  double slow = 0;
  double ratio = 1;
};

Peaks PeaksOf(const Evaluation& evaluation, DType precision, const Cluster& cluster) {
  const DType working = WorkingType(precision);
  Peaks peaks;
  for (size_t group = 0; group < evaluation.group_devices.size(); ++group) {
    const int devices = evaluation.group_devices[group];
    if (devices == 0) continue;
    const Device& device = cluster.groups()[group].type.device;
    const double slow = device.Peak(working).flop_per_s();
    peaks.slow += devices * slow;
    peaks.ratio = std::max(peaks.ratio, device.Peak(precision).flop_per_s() / slow);
  }
  return peaks;
}

}  // namespace

PeakShare PeakShareOf(const Evaluation& evaluation, const Plan& plan, const Workload& workload,
                      const Cluster& cluster) {
  const Peaks peaks = PeaksOf(evaluation, plan.precision, cluster);
  const double model = evaluation.model_flops.count();
  const double recomputed = evaluation.hardware_flops.count() - model;
  const double in_slow =
      IsCast(plan.precision) ? model * WideShare(workload, plan.sequence) : model;
  const double available = peaks.slow * evaluation.step_time.seconds();
  const double saved = plan.precision == DType::kFp32 ? SavedShare(workload, plan.sequence) : 0;
  const double of_model = (1 - saved) * in_slow + (model - in_slow) / peaks.ratio;
  return {of_model / available, (of_model + recomputed / peaks.ratio) / available};
}

}  // namespace stagecraft
