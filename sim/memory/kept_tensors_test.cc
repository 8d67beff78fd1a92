#include "sim/memory/kept_tensors.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "sim/memory/memory_testing.h"
#include "sim/workload/networks/decoder.h"
#include "sim/workload/networks/test_decoders.h"

namespace stagecraft {
namespace {

// The GEMM has 4 features in and 8 out, and its weight gradient reads both.
TEST(KeptTensorsTest, AGemmKeepsItsInput) {
  const LayerKind layer = OneLinear();
  const ShardSpec spec = Spec();
  FrameworkMemory framework;
  framework.casts_weights = true;
  const KeptTensors kept(layer, spec, framework, /*has_narrow_weights=*/true);
  const std::vector<KeptTensor> tensors = kept.Of(0, {});
  ASSERT_EQ(tensors.size(), 1);
  EXPECT_EQ(tensors[0].use, KeptTensor::Use::kInput);
  EXPECT_EQ(tensors[0].size, Bytes(4 * kFeature));
  EXPECT_EQ(kept.WaitingGradient(0), Bytes(8 * kFeature));
  EXPECT_EQ(kept.BesidesInput(), Bytes());
  // The cast of 32 weights to 16 bits is a tensor besides.
  const std::vector<KeptTensor> cast = KeptTensors(layer, spec, framework, false).Of(0, {});
  ASSERT_EQ(cast.size(), 2);
  EXPECT_EQ(cast[1].use, KeptTensor::Use::kMade);
  EXPECT_EQ(cast[1].size, Bytes(64));
}

// A block keeps 34 bytes for each token and hidden feature, and 5 for each pair of tokens and head:
// Korthikanti et al., 2022, section 4.1.
TEST(KeptTensorsTest, ABlockKeepsWhatTheFormulaSays) {
  const LayerKind block = TinyDecoder(AttentionBackend::kUnfused).layer(1);
  constexpr int64_t kTokens = 34 * 256 * 64;
  constexpr int64_t kScores = 5 * 4 * 256 * 256;
  ShardSpec spec = Spec();
  spec.attention = AttentionBackend::kUnfused;
  EXPECT_EQ(Trace(block, spec)[Phase::kForward].summary.net, kTokens + kScores);
  spec.recompute = Recompute::kSelective;
  EXPECT_EQ(Trace(block, spec)[Phase::kForward].summary.net, kTokens);
  spec.recompute = Recompute::kFull;
  EXPECT_EQ(Trace(block, spec)[Phase::kForward].summary.net, 2 * 256 * 64);
}

// The GEMMs make queries, keys, values, projection, up and down. The outputs of the first and every
// second one stay, which have 1 + 1 + 4 times the hidden size. What fused attention makes stays,
// too: an output and 4 bytes for each of 4 heads.
TEST(KeptTensorsTest, RepeatedOperatorsKeepMoreThanTheInputAndLessThanAll) {
  const LayerKind block = TinyDecoder(AttentionBackend::kFlash).layer(1);
  const auto kept = [&](Recompute recompute) {
    ShardSpec spec = Spec();
    spec.recompute = recompute;
    return Trace(block, spec)[Phase::kForward].summary.net;
  };
  constexpr int64_t kInput = 2 * 256 * 64;
  EXPECT_EQ(kept(Recompute::kFull), kInput);
  EXPECT_EQ(kept(Recompute::kOperators), (1 + 6 + 1) * kInput + 4 * 4 * 256);
  EXPECT_LT(kept(Recompute::kOperators), kept(Recompute::kNone));
}

// Queries, values, gate and down stay, which have (1 + 1 + 4 + 1) times the hidden size. Nobody
// reads the last of them but the residual addition, which a compiler sees.
TEST(KeptTensorsTest, ACompilerDropsOutputsThatNoBackwardReads) {
  const DecoderConfig config = SizedDecoder(
      "llama",
      {.layers = 1, .hidden = 64, .heads = 4, .ffn = 256, .vocab = 128, .max_sequence = 256});
  const LayerKind block = BuildDecoder(config, AttentionBackend::kFlash, "tiny").layer(1);
  ShardSpec spec = Spec();
  spec.recompute = Recompute::kOperators;
  FrameworkMemory framework;
  const auto kept = [&] { return Trace(block, spec, framework)[Phase::kForward].summary.net; };
  constexpr int64_t kInput = 2 * 256 * 64;
  EXPECT_EQ(kept(), (1 + 7 + 1) * kInput + 4 * 4 * 256);
  framework.compiles = true;
  EXPECT_EQ(kept(), (1 + 6 + 1) * kInput + 4 * 4 * 256);
}

int64_t Kept(const LayerKind& block, const ShardSpec& spec) {
  const ChunkTensors chunk = Trace(block, spec);
  const int64_t kept = chunk[Phase::kForward].summary.net;
  EXPECT_EQ(chunk[Phase::kBackward].summary.net, -kept);
  const int64_t halves =
      chunk[Phase::kBackwardInput].summary.net + chunk[Phase::kBackwardWeight].summary.net;
  EXPECT_EQ(halves, -kept);
  return kept;
}

// Returns a Llama block of width 64 with an MLP of width 192.
LayerKind LlamaBlock() {
  const DecoderConfig config = SizedDecoder("llama", {.layers = 1,
                                                      .hidden = 64,
                                                      .heads = 4,
                                                      .kv_heads = 4,
                                                      .ffn = 192,
                                                      .vocab = 128,
                                                      .max_sequence = 256});
  return BuildDecoder(config, AttentionBackend::kFlash, "tiny").layer(1);
}

// The block keeps, in features of 16 bits: the inputs of
// two norms, of the GEMMs behind them and of the projection (5 x 64), queries, keys and values
// (3 x 64), the input of SwiGLU (2 x 192) and its output (192); and 4 heads x 32 bits of softmax.
TEST(KeptTensorsTest, PartsThatAreComputedAgainAreNotKept) {
  const LayerKind block = LlamaBlock();
  ShardSpec spec = Spec();
  constexpr int64_t kAll = (5 * 64 + 3 * 64 + 3 * 192 + 4 * 2) * kFeature;
  EXPECT_EQ(Kept(block, spec), kAll);
  spec.recomputed_parts.norms = true;
  EXPECT_EQ(Kept(block, spec), kAll - 2 * 64 * kFeature);
  spec.recomputed_parts.activations = true;
  EXPECT_EQ(Kept(block, spec), kAll - (2 * 64 + 192) * kFeature);
  spec.recomputed_parts.latents = true;  // there are none
  EXPECT_EQ(Kept(block, spec), kAll - (2 * 64 + 192) * kFeature);
  spec.recompute = Recompute::kFull;
  EXPECT_EQ(Kept(block, spec), 64 * kFeature);
}

// Inputs of GEMMs that their weight gradients alone need, and that of SwiGLU, take 1 byte and a
// scale of 4 bytes for every 128; attention's output is read by its own backward, too.
TEST(KeptTensorsTest, EightBitsTakeHalfOfWhatWaitsForWeightGradients) {
  const LayerKind block = LlamaBlock();
  ShardSpec spec = Spec();
  spec.precision = DType::kFp8;
  const int64_t sixteen = Kept(block, spec);
  spec.keeps_8_bits = true;
  constexpr int64_t kNarrow = 2 * 64 + 3 * 192;
  EXPECT_EQ(sixteen - Kept(block, spec), kNarrow * kFeature / 2 * (128 - 4) / 128);
}

// The up-projections of latent attention and their rotation make queries, keys and values.
TEST(KeptTensorsTest, LatentsAreKeptInPlaceOfQueriesKeysAndValues) {
  DecoderConfig config = SizedDecoder(
      "deepseek_v3",
      {.layers = 1, .hidden = 64, .heads = 4, .ffn = 128, .vocab = 128, .max_sequence = 256});
  config.mla = {
      .query_rank = 24, .kv_rank = 16, .plain_size = 16, .rotary_size = 8, .value_size = 16};
  config.moe = {.experts = 8, .experts_per_token = 2, .ffn = 32, .shared_ffn = 32};
  const LayerKind block = BuildDecoder(config, AttentionBackend::kFlash, "tiny").layer(1);
  ShardSpec spec = Spec();
  const int64_t all = Kept(block, spec);
  spec.recomputed_parts.latents = true;
  EXPECT_EQ(all - Kept(block, spec), (2 * 4 * 24 + 4 * 16) * kFeature);
}

TEST(KeptTensorsTest, TwoSamplesWhoseLayoutDiffersKeepTheAttentionOutputTwice) {
  const LayerKind block = TinyDecoder(AttentionBackend::kFlash).layer(1);
  FrameworkMemory framework;
  framework.copies_attention_output = true;
  ShardSpec spec = Spec();
  const auto kept = [&](const FrameworkMemory& f) {
    return Trace(block, spec, f)[Phase::kForward].summary.net;
  };
  EXPECT_EQ(kept(framework), kept({}));
  spec.micro_batch = 2;
  EXPECT_EQ(kept(framework), kept({}) + 2 * 2 * 256 * 64);
}

// The 32 weights take 64 bytes in 16 bits, which the allocator rounds up to 512.
TEST(KeptTensorsTest, AutocastKeepsWeightsFromForwardToBackward) {
  FrameworkMemory framework;
  framework.casts_weights = true;
  const ChunkTensors chunk = Trace(OneLinear(), Spec(), framework);
  EXPECT_EQ(chunk[Phase::kForward].summary.net, 4 * kFeature + 512);
  EXPECT_EQ(chunk[Phase::kBackward].summary.net, -4 * kFeature - 512);
}

}  // namespace
}  // namespace stagecraft
