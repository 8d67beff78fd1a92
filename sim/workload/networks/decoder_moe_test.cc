// Mixtures of experts, latent attention and whatever else makes decoders differ from plain ones:
// counts and FLOPs by hand.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "costmodel/check.h"
#include "sim/workload/networks/decoder.h"
#include "sim/workload/networks/test_decoders.h"

namespace stagecraft {
namespace {

constexpr AttentionBackend kFlash = AttentionBackend::kFlash;

DecoderConfig Sized(const char* family) {
  return SizedDecoder(
      family, {.layers = 2, .hidden = 8, .heads = 2, .ffn = 16, .vocab = 32, .max_sequence = 4});
}

DecoderConfig Mixtral() {
  DecoderConfig config = Sized("mixtral");
  config.moe.experts = 4;
  config.moe.experts_per_token = 2;
  return config;
}

DecoderConfig Latent() {
  DecoderConfig config = Sized("deepseek_v2");
  config.mla = {.query_rank = 6, .kv_rank = 5, .plain_size = 4, .rotary_size = 2, .value_size = 4};
  return config;
}

std::vector<std::string> Names(const LayerKind& kind) {
  std::vector<std::string> names;
  for (const Operator& op : kind.operators) names.push_back(op.name);
  return names;
}

Operator Find(const LayerKind& kind, const std::string& name) {
  for (const Operator& op : kind.operators) {
    if (op.name == name) return op;
  }
  ADD_FAILURE() << kind.name << " has no " << name;
  return {};
}

double KeptElements(const LayerKind& kind) {
  double elements = 0;
  for (const Operator& op : kind.operators) {
    for (const SavedTensor& tensor : op.saved) {
      if (tensor.bytes_per_element == 0) elements += static_cast<double>(tensor.features);
    }
  }
  return elements;
}

// Attention 4·8·8, two norms, a router of 8·4, four experts of 3·8·16.
TEST(DecoderMoeTest, EveryExpertCountsAsParameter) {
  const Workload workload = BuildDecoder(Mixtral(), kFlash, "w");
  EXPECT_EQ(workload.layer(1).Parameters(), 256 + 16 + 32 + 4 * 384);
  EXPECT_EQ(workload.Parameters(), 2 * (256 + 16 + 32 + 4 * 384) + 2 * 32 * 8 + 8);
}

// Only the two experts that a token visits multiply it.
TEST(DecoderMoeTest, FlopsCountTheExpertsThatATokenVisits) {
  const Workload workload = BuildDecoder(Mixtral(), kFlash, "w");
  const double matrices = 2 * (256 + 32 + 2 * 384) + 32 * 8;
  EXPECT_DOUBLE_EQ(workload.TrainingFlopsPerToken(4).count(), 6 * matrices + 6.0 * 4 * 8 * 2);
}

TEST(DecoderMoeTest, RowsGoOutToExpertsAndComeBack) {
  const LayerKind block = BuildDecoder(Mixtral(), kFlash, "w").layer(1);
  EXPECT_EQ(block.name, "moe_block");
  EXPECT_EQ(Names(block),
            (std::vector<std::string>{"attention_norm", "qkv", "rotary", "attention", "projection",
                                      "attention_residual", "mlp_norm", "router", "routing",
                                      "permutation", "dispatch", "expert_up", "expert_activation",
                                      "expert_down", "combine", "unpermutation", "mlp_residual"}));
  const Operator up = Find(block, "expert_up");
  EXPECT_EQ(up.kind, OperatorKind::kLinear);
  EXPECT_EQ(up.split, Split::kColumn);
  EXPECT_EQ(up.experts, 4);
  EXPECT_EQ(up.experts_per_token, 2);
  EXPECT_EQ(up.out_features, 32);
  EXPECT_EQ(up.parameters, 4 * 8 * 32);
  EXPECT_EQ(up.saved.front().features, 2 * 8);
  EXPECT_EQ(Find(block, "expert_down").split, Split::kRow);
  EXPECT_EQ(Find(block, "expert_activation").saved.front().features, 2 * 32);
  EXPECT_EQ(Find(block, "dispatch").kind, OperatorKind::kDispatch);
  EXPECT_EQ(Find(block, "combine").in_features, 8);
}

// Per token: norm inputs 2·8, qkv input 8, q, k, v 24, projection 8, router 8;
// for each of two rows 8 + 32 + 16.
TEST(DecoderMoeTest, RoutedRowsAreKeptOncePerExpert) {
  const LayerKind block = BuildDecoder(Mixtral(), kFlash, "w").layer(1);
  EXPECT_DOUBLE_EQ(KeptElements(block), 16 + 8 + 24 + 8 + 8 + 2 * (8 + 32 + 16));
}

TEST(DecoderMoeTest, OneExpertThatAllVisitCostsWhatTheDenseMlpCostsAndARouter) {
  DecoderConfig config = Mixtral();
  config.moe.experts = config.moe.experts_per_token = 1;
  const Workload sparse = BuildDecoder(config, kFlash, "w");
  const Workload dense = BuildDecoder(Sized("mixtral"), kFlash, "w");
  EXPECT_EQ(sparse.Parameters() - dense.Parameters(), 2 * 8);
  EXPECT_DOUBLE_EQ(sparse.TrainingFlopsPerToken(4).count() - dense.TrainingFlopsPerToken(4).count(),
                   6.0 * 2 * 8);
}

TEST(DecoderMoeTest, SharedExpertsMayHaveAGate) {
  DecoderConfig config = Mixtral();
  const int64_t without = BuildDecoder(config, kFlash, "w").layer(1).Parameters();
  config.moe.shared_ffn = 10;
  EXPECT_EQ(BuildDecoder(config, kFlash, "w").layer(1).Parameters(), without + 3 * 8 * 10);
  config.moe.shared_gate = true;
  const LayerKind gated = BuildDecoder(config, kFlash, "w").layer(1);
  EXPECT_EQ(gated.Parameters(), without + 3 * 8 * 10 + 8);
  EXPECT_EQ(Find(gated, "expert_sum").saved.size(), 1u);
}

TEST(DecoderMoeTest, DenseBlocksAreAKindOfTheirOwn) {
  DecoderConfig config = Mixtral();
  config.layers = 5;
  config.moe.dense_layers = {0, 3, 17};
  const Workload workload = BuildDecoder(config, kFlash, "w");
  EXPECT_EQ(workload.layers, (std::vector<int>{0, 1, 2, 2, 1, 2, 3}));
  EXPECT_EQ(workload.kinds[1].name, "block");
  EXPECT_EQ(workload.kinds[2].name, "moe_block");
  EXPECT_EQ(workload.op_sequence_count(), 5);
}

// Down 8·6 and 8·(5+2), norms 6 + 5, up 6·2·6 and 5·2·(4+4), projection 2·4·8.
TEST(DecoderMoeTest, LatentAttentionCountsEveryProjection) {
  const LayerKind block = BuildDecoder(Latent(), kFlash, "w").layer(1);
  const int64_t matrices = 48 + 56 + 72 + 80 + 64;
  EXPECT_EQ(block.Parameters(), matrices + 11 + 2 * 8 + 3 * 8 * 16);
  const Workload workload = BuildDecoder(Latent(), kFlash, "w");
  // Scores take 2·heads·6, contexts 2·heads·4 per key, half of them causal.
  const double attention = 3 * 0.5 * 4 * (2 * 2 * 6 + 2 * 2 * 4);
  EXPECT_DOUBLE_EQ(workload.TrainingFlopsPerToken(4).count(),
                   6.0 * (2 * (matrices + 384) + 32 * 8) + 2 * attention);
}

TEST(DecoderMoeTest, LatentHeadSizeIsTheMeanOfQueriesAndValues) {
  EXPECT_EQ(Completed(Latent()).head_size, 5);
  DecoderConfig odd = Latent();
  odd.mla.value_size = 5;
  odd.head_size = 99;  // is not used
  EXPECT_EQ(Completed(odd).head_size, 6);
  const Operator attention = Find(BuildDecoder(Latent(), kFlash, "w").layer(1), "attention");
  EXPECT_EQ(attention.in_features, 2 * (6 + 6 + 4));
  EXPECT_EQ(attention.out_features, 8);
  EXPECT_EQ(attention.head_size, 5);
}

TEST(DecoderMoeTest, QueriesNeedNotBeCompressed) {
  DecoderConfig config = Latent();
  config.mla.query_rank = 0;
  const LayerKind block = BuildDecoder(config, kFlash, "w").layer(1);
  EXPECT_EQ(block.Parameters(), 96 + 56 + 80 + 64 + 5 + 2 * 8 + 3 * 8 * 16);
}

// The further layer has a copied table of 32·8, two norms, 16·8 to join, a block, and a norm; the
// head multiplies by the vocabulary twice.
TEST(DecoderMoeTest, PredictionLayersShareTableAndHead) {
  DecoderConfig config = Mixtral();
  const Workload without = BuildDecoder(config, kFlash, "w");
  config.prediction_layers = 1;
  const Workload workload = BuildDecoder(config, kFlash, "w");
  EXPECT_EQ(workload.layer_count(), without.layer_count() + 1);
  const LayerKind& layer = workload.layer(3);
  EXPECT_EQ(layer.name, "prediction_block");
  EXPECT_EQ(layer.tied_parameters, 32 * 8);
  EXPECT_EQ(layer.boundary_features, 16);
  const int64_t block = without.layer(1).Parameters();
  EXPECT_EQ(workload.Parameters() - without.Parameters(), 3 * 8 + 16 * 8 + block);
  const double further = 16 * 8 + 256 + 32 + 2 * 384 + 32 * 8;
  EXPECT_DOUBLE_EQ(
      workload.TrainingFlopsPerToken(4).count() - without.TrainingFlopsPerToken(4).count(),
      6 * further + 6.0 * 4 * 8);
}

TEST(DecoderMoeTest, OneNormMayFeedBothBranches) {
  const LayerKind block = BuildDecoder(Sized("phi"), kFlash, "w").layer(1);
  EXPECT_EQ(block.Parameters(), 4 * 64 + 4 * 8 + 2 * 128 + 16 + 8 + 2 * 8);
  EXPECT_EQ(BuildDecoder(Sized("phi"), kFlash, "w").layer(3).Parameters(), 32 * 8 + 32 + 16);
}

TEST(DecoderMoeTest, NormsMayComeAfterTheSums) {
  DecoderConfig config = Sized("opt");
  const Workload before = BuildDecoder(config, kFlash, "w");
  config.norm_place = NormPlace::kAfter;
  const Workload after = BuildDecoder(config, kFlash, "w");
  EXPECT_EQ(before.Parameters(), after.Parameters());
  EXPECT_EQ(before.TrainingFlopsPerToken(4), after.TrainingFlopsPerToken(4));
  EXPECT_DOUBLE_EQ(KeptElements(before.layer(1)), KeptElements(after.layer(1)));
  EXPECT_EQ(Names(after.layer(1)).back(), "mlp_norm");
  EXPECT_TRUE(after.layer(1).operators[0].reads_layer_input);
}

TEST(DecoderMoeTest, NarrowTablesAreProjected) {
  DecoderConfig config = Sized("opt");
  config.embedding_size = 4;
  const Workload workload = BuildDecoder(config, kFlash, "w");
  EXPECT_EQ(workload.layer(0).Parameters(), 32 * 4 + 4 * 8 + (4 + 2) * 8);
  EXPECT_EQ(workload.layer(3).Parameters(), 2 * 8 + 8 * 4);
  EXPECT_EQ(workload.layer(3).tied_parameters, 32 * 4);
}

TEST(DecoderMoeTest, QueriesAndKeysAreNormalisedPerHead) {
  EXPECT_EQ(BuildDecoder(Sized("qwen3"), kFlash, "w").layer(1).Parameters(),
            BuildDecoder(Sized("llama"), kFlash, "w").layer(1).Parameters() + 2 * 4);
}

struct Bad {
  const char* start;
  std::function<void(DecoderConfig&)> spoil;
};

TEST(DecoderMoeTest, ErrorsNameFieldAndValue) {
  const std::vector<Bad> cases = {
      {"w: experts_per_token: got 5, want 1 to the 4 experts",
       [](auto& c) { c.moe.experts_per_token = 5; }},
      {"w: experts_per_token: got 0", [](auto& c) { c.moe.experts_per_token = 0; }},
      {"w: experts: got -1", [](auto& c) { c.moe.experts = -1; }},
      {"w: expert_ffn: got -3", [](auto& c) { c.moe.ffn = -3; }},
      {"w: shared_ffn: got -1", [](auto& c) { c.moe.shared_ffn = -1; }},
      {"w: kv_rank: got 0", [](auto& c) { c.mla.query_rank = 4; }},
      {"w: plain_size: got 0",
       [](auto& c) { c.mla = {.kv_rank = 4, .rotary_size = 2, .value_size = 4}; }},
      {"w: kv_heads: got 1, want the 2 heads",
       [](auto& c) {
         c.mla = Latent().mla;
         c.kv_heads = 1;
       }},
      {"w: position_offset: got -1", [](auto& c) { c.position_offset = -1; }},
      {"w: prediction_layers: got 17", [](auto& c) { c.prediction_layers = 17; }},
      {"w: norm_place: got after",
       [](auto& c) {
         c.parallel_residual = true;
         c.norm_place = NormPlace::kAfter;
       }},
      {"w: norm_place: got at both ends of each branch, want before",
       [](auto& c) {
         c.parallel_residual = true;
         c.norm_place = NormPlace::kBothEnds;
       }},
      {"w: layers, hidden, heads", [](auto& c) { c.moe.experts = c.moe.ffn = 1'000'000'000; }},
  };
  for (const Bad& bad : cases) {
    DecoderConfig config = Mixtral();
    bad.spoil(config);
    try {
      BuildDecoder(config, kFlash, "w");
      ADD_FAILURE() << bad.start;
    } catch (const InputError& error) {
      EXPECT_EQ(std::string(error.what()).find(bad.start), 0u) << error.what();
    }
  }
}

}  // namespace
}  // namespace stagecraft
