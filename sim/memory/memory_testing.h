// Small layers whose tensors can be counted by hand, and what their passes hold, for tests.
#pragma once

#include <cstdint>

#include "sim/memory/chunk_tensors.h"
#include "sim/memory/framework_memory.h"
#include "sim/memory/layer_tensors.h"
#include "sim/shard/shard.h"
#include "sim/workload/networks/decoder.h"
#include "sim/workload/networks/test_decoders.h"
#include "sim/workload/workload.h"

namespace stagecraft {

// With the 256 rows of 16 bits of Spec(), a feature takes 512 B, so that nothing is rounded.
inline constexpr int64_t kFeature = 512;

inline ShardSpec Spec() {
  ShardSpec spec;
  spec.sequence = 256;
  return spec;
}

// Returns a GEMM that keeps its input.
inline Operator Linear(int64_t in, int64_t out) {
  Operator op{.name = "linear", .kind = OperatorKind::kLinear, .split = Split::kColumn};
  op.in_features = in;
  op.out_features = out;
  op.parameters = in * out;
  op.saved = {{.name = "linear_input", .features = in}};
  return op;
}

// Returns a layer that is one GEMM from 4 features to 8.
inline LayerKind OneLinear() {
  LayerKind layer;
  layer.operators.Add(Linear(4, 8));
  layer.operators[0].reads_layer_input = true;
  layer.boundary_features = 8;
  return layer;
}

// Returns a GPT of one block of 64 features and 4 heads.
inline Workload TinyDecoder(AttentionBackend attention) {
  const DecoderConfig config = SizedDecoder(
      "gpt", {.layers = 1, .hidden = 64, .heads = 4, .vocab = 128, .max_sequence = 256});
  return BuildDecoder(config, attention, "tiny");
}

// Returns the passes of a chunk that is this layer alone.
inline ChunkTensors Trace(const LayerKind& layer, const ShardSpec& spec,
                          const FrameworkMemory& framework = {}, bool forward_only = false) {
  const LayerTensors tensors = TraceLayer(layer, spec, framework, forward_only);
  ChunkLayer one;
  one.tensors = &tensors;
  one.has_backward = layer.has_backward();
  one.repeats = RecomputesWhole(layer, spec) || RepeatsOperators(layer, spec) ? 1 : 0;
  return JoinLayers({&one, 1});
}

}  // namespace stagecraft
