// Blocks whose tokens see fewer keys, or a state, and blocks that are not alike: counts and FLOPs
// by hand.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "costmodel/check.h"
#include "sim/workload/attention_window.h"
#include "sim/workload/networks/decoder.h"
#include "sim/workload/networks/test_decoders.h"

namespace stagecraft {
namespace {

constexpr AttentionBackend kFlash = AttentionBackend::kFlash;

DecoderConfig Sized(const char* family) {
  return SizedDecoder(
      family, {.layers = 2, .hidden = 8, .heads = 2, .ffn = 16, .vocab = 32, .max_sequence = 4});
}

Workload Build(const DecoderConfig& config) { return BuildDecoder(config, kFlash, "w"); }

const Operator& Find(const LayerKind& kind, const std::string& name) {
  for (const Operator& op : kind.operators) {
    if (op.name == name) return op;
  }
  ADD_FAILURE() << kind.name << " has no " << name;
  return kind.operators[0];
}

bool Has(const LayerKind& kind, const std::string& name) {
  for (const Operator& op : kind.operators) {
    if (op.name == name) return true;
  }
  return false;
}

double ForwardFlops(const Workload& workload, int layer) {
  return workload.ForwardFlops(layer, 4).count();
}

// Four matrices of 8·8 and three of 8·16; heads of 4 in all 8 see 2 of 4 keys on average, or with a
// window of two 2 - 2²/(2·4).
TEST(DecoderMixersTest, BlocksWithAWindowAlternateWithOthers) {
  DecoderConfig config = Sized("gemma2");
  config.mixers = {Mixer::kWindow, Mixer::kAttention};
  config.window.keys = 2;
  const Workload workload = Build(config);
  EXPECT_EQ(workload.layer(1).name, "window_block");
  EXPECT_EQ(workload.layer(2).name, "block");
  const double matrices = 2.0 * (4 * 64 + 3 * 128);
  EXPECT_EQ(ForwardFlops(workload, 1), matrices + 4 * 8 * 1.5);
  EXPECT_EQ(ForwardFlops(workload, 2), matrices + 4 * 8 * 2);
  EXPECT_EQ(workload.TrainingFlopsPerToken(4).count(),
            3 * (2 * matrices + 4 * 8 * 3.5 + 2 * 32 * 8));
  EXPECT_EQ(workload.layer(1).Parameters(), workload.layer(2).Parameters());
}

TEST(DecoderMixersTest, ChunksOfLlama4DoNotRotateWhereAllKeysAreSeen) {
  DecoderConfig config = Sized("llama4");
  config.mixers = {Mixer::kWindow, Mixer::kAttention};
  config.window.keys = 2;
  config.moe = {.experts = 4, .experts_per_token = 1, .ffn = 16, .shared_ffn = 16};
  config.moe.dense_layers = {1};
  const Workload workload = Build(config);
  EXPECT_EQ(workload.layer(1).name, "window_moe_block");
  EXPECT_TRUE(Has(workload.layer(1), "rotary") && Has(workload.layer(1), "qk_norm"));
  EXPECT_FALSE(Has(workload.layer(2), "rotary") || Has(workload.layer(2), "qk_norm"));
  // The norm of queries and keys has no weights.
  EXPECT_EQ(workload.layer(2).Parameters(), 4 * 64 + 3 * 128 + 2 * 8);
  EXPECT_EQ(workload.layer(1).Parameters(), 4 * 64 + 5 * 3 * 128 + 4 * 8 + 2 * 8);
  // Chunks of two: each query sees one key on average.
  EXPECT_EQ(MeanCausalKeys(Find(workload.layer(1), "attention"), 4), 1);
}

TEST(DecoderMixersTest, NormsMayStandAtTheEndOfBranchesOrAtBothEnds) {
  const LayerKind before = Build(Sized("llama")).layer(1);
  DecoderConfig config = Sized("llama");
  config.norm_place = NormPlace::kBranchEnd;
  const LayerKind end = Build(config).layer(1);
  EXPECT_EQ(end.Parameters(), before.Parameters());
  EXPECT_TRUE(Find(end, "qkv").reads_layer_input);
  EXPECT_FALSE(Find(end, "attention_norm").reads_layer_input);
  config.norm_place = NormPlace::kBothEnds;
  const LayerKind both = Build(config).layer(1);
  EXPECT_EQ(both.Parameters(), before.Parameters() + 2 * 8);
  EXPECT_TRUE(Find(both, "attention_norm").reads_layer_input);
  EXPECT_EQ(Find(both, "post_mlp_norm").saved[0].features, 8);
}

TEST(DecoderMixersTest, QueryAndKeyNormsMayHaveAWeightForEachFeature) {
  DecoderConfig config = Sized("olmo2");
  config.kv_heads = 1;
  const int64_t plain = 64 + 2 * 32 + 64 + 3 * 128 + 2 * 8;
  EXPECT_EQ(Build(config).layer(1).Parameters(), plain + 8 + 4);
  config.qk_weights = QueryKeyWeights::kHead;
  EXPECT_EQ(Build(config).layer(1).Parameters(), plain + 4 + 4);
}

TEST(DecoderMixersTest, GptOssHasSinksAndBiasesOfRouterAndExperts) {
  DecoderConfig config = Sized("gpt_oss");
  config.moe.experts = 4;
  config.moe.experts_per_token = 2;
  const LayerKind block = Build(config).layer(1);
  EXPECT_EQ(Find(block, "attention").parameters, 2);
  EXPECT_EQ(Find(block, "router").parameters, 8 * 4 + 4);
  EXPECT_EQ(Find(block, "expert_up").parameters, 4 * (8 * 32 + 32));
  EXPECT_EQ(Find(block, "expert_down").parameters, 4 * (16 * 8 + 8));
  config.attention_sinks = false;
  EXPECT_EQ(Build(config).layer(1).Parameters(), block.Parameters() - 2);
}

TEST(DecoderMixersTest, ATanhOnLogitsKeepsWhatItWrites) {
  DecoderConfig config = Sized("gemma2");
  const Operator capped = Find(Build(config).layer(3), "loss");
  config.capped_logits = false;
  const Operator plain = Find(Build(config).layer(3), "loss");
  EXPECT_EQ(capped.forward_elements, plain.forward_elements + 2 * 32);
  EXPECT_EQ(capped.backward_elements, plain.backward_elements + 3 * 32);
  EXPECT_EQ(capped.saved.size(), plain.saved.size() + 1);
}

// The query matrix has the gate beside it.
TEST(DecoderMixersTest, AttentionMayBeGated) {
  DecoderConfig config = Sized("qwen3");
  const LayerKind plain = Build(config).layer(1);
  config.gated_attention = true;
  const LayerKind gated = Build(config).layer(1);
  EXPECT_EQ(gated.Parameters(), plain.Parameters() + 64);
  EXPECT_EQ(Find(gated, "attention_gate").out_features, 8);
}

DecoderConfig Ssm() {
  DecoderConfig config = Sized("mamba2");
  config.mixers = {Mixer::kSsm, Mixer::kSsm};
  config.lacks_mlp = {true, true};
  config.ssm = {.heads = 4, .head_size = 4, .state = 3, .groups = 2, .chunk = 6};
  return config;
}

// 16 inner features and 2·2·3 of keys and queries go through the convolution, 28 channels; the
// input matrix also makes 16 gates and 4 time steps.
TEST(DecoderMixersTest, StateSpaceModelsCountAsTheirPaperSays) {
  const Workload workload = Build(Ssm());
  const LayerKind& block = workload.layer(1);
  EXPECT_EQ(block.name, "ssm_block");
  EXPECT_EQ(block.Parameters(), 8 * 48 + 28 * (4 + 1) + 3 * 4 + 16 + 16 * 8 + 8);
  const double scores = 2.0 * 6 * 2 * 3;  // chunk x groups x state
  const double sums = 2.0 * 6 * 16;       // chunk x inner
  const double state = 2.0 * 2 * 3 * 16;  // in and out, state x inner
  EXPECT_EQ(ForwardFlops(workload, 1), 2.0 * (8 * 48 + 16 * 8) + scores + sums + state);
  // The cost of a token does not grow with the sequence.
  EXPECT_EQ(workload.ForwardFlops(1, 4), workload.ForwardFlops(1, 4096));
}

// 32 channels go through the convolution; the input matrix also makes 16 gates and 2·4 rates.
TEST(DecoderMixersTest, TheDeltaRuleCountsAsItsPaperSays) {
  DecoderConfig config = Sized("qwen3_next");
  config.mixers = {Mixer::kDelta, Mixer::kAttention};
  config.delta = {.key_heads = 2, .value_heads = 4, .key_size = 4, .value_size = 4, .chunk = 2};
  const Workload workload = Build(config);
  const LayerKind& block = workload.layer(1);
  EXPECT_EQ(block.name, "delta_mlp_block");
  EXPECT_EQ(block.Parameters(), 8 * 56 + 32 * 4 + 2 * 4 + 4 + 16 * 8 + 3 * 128 + 2 * 8);
  const double chunk = 4.0 * 2 * 2 * (3 * 4 + 2 * 4);  // value heads x 2 x chunk x sizes
  const double state = 4.0 * 2 * 3 * 4 * 4;
  EXPECT_EQ(ForwardFlops(workload, 1), 2.0 * (8 * 56 + 16 * 8 + 3 * 128) + chunk + state);
  EXPECT_EQ(workload.layer(2).name, "block");
}

TEST(DecoderMixersTest, HybridsHaveBlocksOfOnePart) {
  DecoderConfig config = Ssm();
  config.layers = 3;
  config.mixers = {Mixer::kSsm, Mixer::kNone, Mixer::kAttention};
  config.lacks_mlp = {true, false, true};
  const Workload workload = Build(config);
  EXPECT_EQ(workload.layer(2).name, "mlp_block");
  EXPECT_EQ(workload.layer(2).Parameters(), 2 * 128 + 8);
  EXPECT_EQ(workload.layer(3).name, "attention_block");
  EXPECT_EQ(workload.layer(3).Parameters(), 4 * 64 + 8);
  EXPECT_TRUE(Find(workload.layer(2), "mlp_norm").reads_layer_input);
}

DecoderConfig Latent() {
  DecoderConfig config = Sized("deepseek_v2");
  config.mla = {.query_rank = 6, .kv_rank = 5, .plain_size = 4, .rotary_size = 2, .value_size = 4};
  return config;
}

// Two heads of four score: matrices 6·8, 8·4 and 8·2 and a layer norm of 4; one product of 2·4 for
// each of the two keys before a query on average. Attention then reads two of four keys.
TEST(DecoderMixersTest, AnIndexerScoresAllKeysSoThatAttentionReadsFew) {
  const Workload without = Build(Latent());
  DecoderConfig config = Latent();
  config.indexer = {.heads = 2, .head_size = 4, .keys = 2};
  const Workload workload = Build(config);
  EXPECT_EQ(workload.layer(1).Parameters(), without.layer(1).Parameters() + 48 + 32 + 16 + 2 * 4);
  const double indexer = 2.0 * (48 + 32 + 16) + 2 * 8 * 2;
  const double fewer = 4.0 * 2 * 5 * (2 - 1.5);  // heads of (6 + 4) / 2
  EXPECT_EQ(ForwardFlops(workload, 1), ForwardFlops(without, 1) + indexer - fewer);
}

struct Bad {
  const char* start;
  std::function<void(DecoderConfig&)> spoil;
};

TEST(DecoderMixersTest, ErrorsNameFieldAndValue) {
  const std::vector<Bad> cases = {
      {"w: window: got 0",
       [](auto& c) {
         c.mixers = {Mixer::kWindow, Mixer::kSsm};
       }},
      {"w: layers: got 2, want no more than", [](auto& c) { c.mixers = {Mixer::kSsm}; }},
      {"w: layers: got layer 1 without parts",
       [](auto& c) {
         c.mixers = {Mixer::kSsm, Mixer::kNone};
       }},
      {"w: ssm_heads: got 0", [](auto& c) { c.ssm.heads = 0; }},
      {"w: ssm_groups: got 3, want a divisor of the 4 heads", [](auto& c) { c.ssm.groups = 3; }},
      {"w: delta_key_heads: got 0",
       [](auto& c) {
         c.mixers = {Mixer::kSsm, Mixer::kDelta};
       }},
      {"w: query_rank: got 0",
       [](auto& c) {
         c.indexer = {2, 4, 2};
       }},
      {"w: layers, hidden, heads", [](auto& c) { c.ssm.heads = c.ssm.head_size = 1'000'000'000; }},
      {"w: layers: got some with one part",
       [](auto& c) {
         c.mixers = {};
         c.lacks_mlp = {true, false};
         c.parallel_residual = true;
       }},
  };
  for (const Bad& bad : cases) {
    DecoderConfig config = Ssm();
    bad.spoil(config);
    try {
      Build(config);
      ADD_FAILURE() << bad.start;
    } catch (const InputError& error) {
      EXPECT_EQ(std::string(error.what()).find(bad.start), 0u) << error.what();
    }
  }
}

}  // namespace
}  // namespace stagecraft
