// Small layers and networks whose tensors can be counted by hand, and what their passes hold, for
// tests.
#pragma once

#include <cstdint>

#include "sim/memory/chunk_tensors.h"
#include "sim/memory/framework_memory.h"
#include "sim/memory/layer_tensors.h"
#include "sim/shard/shard.h"
#include "sim/workload/networks/decoder.h"
#include "sim/workload/networks/encoder.h"
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

// Returns a GPT of two blocks of 256 features, each with eight experts, two of them for each token.
inline Workload GptOfExperts() {
  DecoderConfig config = SizedDecoder(
      "gpt", {.layers = 2, .hidden = 256, .heads = 8, .vocab = 1024, .max_sequence = 512});
  config.moe = {.experts = 8, .experts_per_token = 2, .ffn = 512};
  return BuildDecoder(config, AttentionBackend::kFlash, "experts");
}

// Returns a T5 with one block on each side. Its encoder, its decoder and its head share a table of
// 128 words of 64 features; encoder and decoder also share one of 512 positions.
inline Workload TinyT5() {
  EncoderDecoderConfig config = EncoderDecoderOfFamily("megatron_t5");
  config.block.layers = config.decoder_layers = 1;
  config.block.hidden = 64;
  config.block.heads = 4;
  config.block.vocab = 128;
  config.encoder_sequence = config.decoder_sequence = config.block.max_sequence = 512;
  return BuildEncoderDecoder(Completed(config), AttentionBackend::kFlash, "tiny");
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
