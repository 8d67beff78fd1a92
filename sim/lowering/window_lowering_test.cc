// What a rank runs and holds of attention with a window, of recurrences and of indexers.
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "costmodel/op.h"
#include "sim/plan/plan.h"
#include "sim/shard/shard.h"
#include "sim/workload/networks/decoder.h"
#include "sim/workload/networks/test_decoders.h"
#include "sim/workload/workload.h"

namespace stagecraft {
namespace {

constexpr int64_t kSequence = 64;

// Four heads of eight, two of keys.
DecoderConfig Sized(const char* family) {
  return SizedDecoder(family, {.layers = 1,
                               .hidden = 32,
                               .heads = 4,
                               .kv_heads = 2,
                               .ffn = 64,
                               .vocab = 96,
                               .max_sequence = kSequence});
}

LayerKind Window(int64_t keys, bool is_chunked,
                 AttentionBackend attention = AttentionBackend::kFlash) {
  DecoderConfig config = Sized("mistral");
  config.mixers = {Mixer::kWindow};
  config.window = {.keys = keys, .is_chunked = is_chunked};
  return BuildDecoder(config, attention, "w").layer(1);
}

ShardSpec Spec(int tensor, int context = 1) {
  ShardSpec spec;
  spec.tensor = tensor;
  spec.context = context;
  spec.sequence = kSequence;
  return spec;
}

std::vector<Op> Attention(const LayerKind& layer, const ShardSpec& spec) {
  std::vector<Op> ops;
  for (const Step& step : ShardLayer(layer, spec).forward) {
    if (step.op.kind == OpKind::kAttention) ops.push_back(step.op);
  }
  return ops;
}

double FlopsOf(const std::vector<Op>& ops) {
  double flops = 0;
  for (const Op& op : ops) flops += op.Flops().count();
  return flops;
}

// A window of 16 of 64: 16 - 16²/(2·64) = 14 keys on average, in four blocks of 16 queries whose
// half is 14 of 28 keys. Two heads of each rank read one head of keys.
TEST(WindowLoweringTest, ASlidingWindowRunsAsBlocksOfQueries) {
  const std::vector<Op> ops = Attention(Window(16, false), Spec(2));
  ASSERT_EQ(ops.size(), 1u);
  EXPECT_EQ(ops[0].batch, 2 * 4);
  EXPECT_EQ(ops[0].kv_batch, 1 * 4);
  EXPECT_EQ(ops[0].m, 16);
  EXPECT_EQ(ops[0].n, 28);
  EXPECT_TRUE(ops[0].causal);
  EXPECT_EQ(FlopsOf(ops), 4.0 * 2 * 8 * 14 * kSequence);
}

TEST(WindowLoweringTest, ChunksAreShorterSequences) {
  const std::vector<Op> ops = Attention(Window(16, true), Spec(1));
  Op chunk = Op::Attention(DType::kBf16, Direction::kForward, 4 * 4, 16, 16, 8, /*causal=*/true);
  chunk.kv_batch = 2 * 4;
  chunk.sequences = 4;
  EXPECT_EQ(ops, std::vector<Op>{chunk});
}

TEST(WindowLoweringTest, AWindowAsWideAsTheSequenceIsNone) {
  const Op all =
      Attention(BuildDecoder(Sized("mistral"), AttentionBackend::kFlash, "w").layer(1), Spec(1))[0];
  EXPECT_EQ(Attention(Window(kSequence, false), Spec(1)), std::vector<Op>{all});
  EXPECT_EQ(Attention(Window(100, true), Spec(1)), std::vector<Op>{all});
}

// With context parallelism each rank has half of the queries; they see what all see on average.
TEST(WindowLoweringTest, ContextParallelRanksShareTheQueries) {
  const std::vector<Op> ops = Attention(Window(16, false), Spec(1, 2));
  EXPECT_EQ(ops[0].m, 16);
  EXPECT_EQ(ops[0].n, 28);
  EXPECT_EQ(2 * FlopsOf(ops), FlopsOf(Attention(Window(16, false), Spec(1))));
}

// Kernels that are not fused compute all scores and mask them.
TEST(WindowLoweringTest, UnfusedAttentionComputesWhatIsMaskedToo) {
  ShardSpec spec = Spec(1);
  spec.attention = AttentionBackend::kUnfused;
  const LayerKind all = BuildDecoder(Sized("mistral"), AttentionBackend::kUnfused, "w").layer(1);
  EXPECT_EQ(ShardLayer(Window(16, false, AttentionBackend::kUnfused), spec).forward,
            ShardLayer(all, spec).forward);
}

// 8 heads of 8, a state of 16 and one group in chunks of 32: two operators, of the group's scores
// and of each head's sums and state; the scores of one group are on every rank.
TEST(WindowLoweringTest, TensorParallelRanksDivideTheHeadsOfARecurrence) {
  DecoderConfig config = Sized("mamba2");
  config.mixers = {Mixer::kSsm};
  config.lacks_mlp = {true};
  config.ssm = {.heads = 8, .head_size = 8, .state = 16, .chunk = 32};
  const LayerKind layer = BuildDecoder(config, AttentionBackend::kFlash, "w").layer(1);
  const double scores = 2.0 * 32 * 16;
  const double rest = 2.0 * 32 * 64 + 4.0 * 16 * 64;
  EXPECT_EQ(FlopsOf(Attention(layer, Spec(1))), kSequence * (scores + rest));
  EXPECT_EQ(FlopsOf(Attention(layer, Spec(4))), kSequence * (scores + rest / 4));
  const int64_t inner = 64, channels = 64 + 32;
  EXPECT_EQ(ShardParameters(layer, 1, 1).dense,
            32 * (inner + channels + 8) + channels * 5 + 3 * 8 + inner + inner * 32 + 32);
  // All but the norm of the stream is divided.
  EXPECT_EQ(ShardParameters(layer, 4, 1).dense, (ShardParameters(layer, 1, 1).dense - 32) / 4 + 32);
}

TEST(WindowLoweringTest, AnIndexerHasAllOfItsHeadsOnEveryRank) {
  DecoderConfig config = Sized("deepseek_v2");
  config.kv_heads = 4;
  config.mla = {.query_rank = 12, .kv_rank = 8, .plain_size = 4, .rotary_size = 4, .value_size = 8};
  config.indexer = {.heads = 2, .head_size = 8, .keys = 16};
  const LayerKind layer = BuildDecoder(config, AttentionBackend::kFlash, "w").layer(1);
  const std::vector<Op> ops = Attention(layer, Spec(4));
  ASSERT_EQ(ops.size(), 2u);
  EXPECT_EQ(FlopsOf({ops[0]}), 2.0 * 2 * 8 * kSequence / 2 * kSequence);  // scores of all keys
  EXPECT_EQ(FlopsOf({ops[1]}), 4.0 * 8 * 14 * kSequence);  // one head, 16 selected keys
}

// Biases of experts are divided as their matrices are.
TEST(WindowLoweringTest, ExpertParallelRanksDivideBiases) {
  DecoderConfig config = Sized("gpt_oss");
  config.moe.experts = 8;
  config.moe.experts_per_token = 2;
  const LayerKind layer = BuildDecoder(config, AttentionBackend::kFlash, "w").layer(1);
  EXPECT_EQ(ShardParameters(layer, 1, 1).expert, 8 * (32 * 128 + 128 + 64 * 32 + 32));
  EXPECT_EQ(ShardParameters(layer, 1, 4).expert, 2 * (32 * 128 + 128 + 64 * 32 + 32));
}

}  // namespace
}  // namespace stagecraft
