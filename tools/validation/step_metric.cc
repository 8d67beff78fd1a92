#include "tools/validation/step_metric.h"

#include "costmodel/check.h"

namespace stagecraft {
namespace {

constexpr double kTera = 1e12;

// The forward FLOPs of a step, in the parts to which conventions give different weights.
struct ForwardFlops {
  double products = 0;   // of all layers: projections and MLP
  double attention = 0;  // of all layers: scores and context, without a causal mask
  double head = 0;       // logits
};

ForwardFlops CountForward(const DecoderConfig& config, double sequence, double global_batch) {
  const double tokens = global_batch * sequence;
  const double hidden = static_cast<double>(config.hidden);
  const double head_size = static_cast<double>(config.head_size);
  const double queries = static_cast<double>(config.heads) * head_size;
  const double keys = static_cast<double>(config.kv_heads) * head_size;
  const double matrices = config.gated_mlp ? 3 : 2;
  const double layers = static_cast<double>(config.layers);
  ForwardFlops flops;
  flops.products = layers * 2 * tokens * hidden *
                   (2 * queries + 2 * keys + matrices * static_cast<double>(config.ffn));
  flops.attention = layers * 4 * tokens * sequence * queries;
  flops.head = 2 * tokens * hidden * static_cast<double>(config.vocab);
  return flops;
}

double KorthikantiHardwareFlops(const DecoderConfig& config, double sequence, double global_batch) {
  const double hidden = static_cast<double>(config.hidden);
  const double layers = static_cast<double>(config.layers);
  const double vocabulary = static_cast<double>(config.vocab);
  return 72 * global_batch * layers * sequence * hidden * hidden *
         (1 + sequence / (3 * hidden) + vocabulary / (12 * layers * hidden));
}

}  // namespace

std::optional<double> ConventionFlops(const std::string& convention, const DecoderConfig& config,
                                      double sequence, double global_batch) {
  if (convention == "korthikanti-hfu") {
    return KorthikantiHardwareFlops(config, sequence, global_batch);
  }
  const ForwardFlops forward = CountForward(config, sequence, global_batch);
  if (convention == "4x-full-attention") {
    return 4 * (forward.products + forward.attention) + 3 * forward.head;
  }
  if (convention == "3x-full-attention") {
    return 3 * (forward.products + forward.attention + forward.head);
  }
  if (convention == "3x-causal-attention") {
    return 3 * (forward.products + forward.attention / 2 + forward.head);
  }
  return std::nullopt;
}

std::optional<StepMetric> FindStepMetric(const std::string& metric_kind,
                                         const std::string& flop_convention, const StepWork& work) {
  const double tokens = work.global_batch * work.sequence * work.tokens_per_position;
  if (metric_kind == "step_time") return StepMetric{1, false};
  if (metric_kind == "samples_per_s") return StepMetric{work.global_batch, true};
  if (metric_kind == "samples_per_s_per_gpu") {
    return StepMetric{work.global_batch / work.devices, true};
  }
  if (metric_kind == "tokens_per_s") return StepMetric{tokens, true};
  if (metric_kind == "tokens_per_s_per_gpu") return StepMetric{tokens / work.devices, true};
  const bool is_tflops =
      metric_kind == "tflops_per_gpu_hw" || metric_kind == "tflops_per_gpu_model";
  if (!is_tflops && metric_kind != "mfu" && metric_kind != "hfu") return std::nullopt;
  if (work.config.layers == 0) throw InputError("FLOP conventions count only transformers");
  const std::optional<double> flops =
      ConventionFlops(flop_convention, work.config, work.sequence, work.global_batch);
  if (!flops.has_value()) {
    throw InputError(flop_convention.empty()
                         ? "FLOP convention is not stated"
                         : "FLOP convention " + flop_convention + " is not known");
  }
  return StepMetric{*flops / work.devices / (is_tflops ? kTera : work.peak_flop_per_s), true};
}

}  // namespace stagecraft
