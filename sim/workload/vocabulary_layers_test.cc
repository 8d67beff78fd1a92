#include "sim/workload/vocabulary_layers.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "sim/workload/networks/decoder.h"
#include "sim/workload/networks/test_decoders.h"
#include "sim/workload/workload.h"
#include "sim/workload/workload_catalogue.h"

namespace stagecraft {
namespace {

constexpr int64_t kVocabulary = 1000;
constexpr int64_t kHidden = 64;

Workload Network(const char* family, bool is_tied) {
  DecoderConfig config = SizedDecoder(
      family,
      {.layers = 2, .hidden = kHidden, .heads = 4, .vocab = kVocabulary, .max_sequence = 32});
  config.tied_embeddings = is_tied;
  return BuildDecoder(config, AttentionBackend::kFlash, "small");
}

TEST(VocabularyLayersTest, AHeadIsANormAndItsShareOfTheLogits) {
  const Workload workload = Network("gpt", false);
  const LayerKind& head = workload.layer(workload.layer_count() - 1);
  const LayerKind rest = WithoutVocabulary(head);
  ASSERT_EQ(rest.operators.size(), 1U);
  EXPECT_EQ(rest.operators[0].name, "final_norm");
  EXPECT_EQ(rest.boundary_features, kHidden);

  const LayerKind share = VocabularyShare(head, 4);
  ASSERT_EQ(share.operators.size(), 2U);
  const Operator& logits = share.operators[0];
  EXPECT_EQ(logits.in_features, kHidden);
  EXPECT_EQ(logits.out_features, 250);
  EXPECT_EQ(logits.parameters, 250 * kHidden);
  EXPECT_TRUE(logits.reads_layer_input);
  const Operator& loss = share.operators[1];
  EXPECT_EQ(loss.in_features, 250);
  EXPECT_EQ(loss.forward_elements, head.operators[2].forward_elements / 4);
  EXPECT_EQ(loss.saved[0].features, 250);
  EXPECT_EQ(share.operators.producers(1), (std::vector<size_t>{0}));
}

TEST(VocabularyLayersTest, AnEmbeddingIsPositionsAndItsShareOfTheTokens) {
  const Workload workload = Network("gpt", true);
  const LayerKind& embedding = workload.layer(0);
  const LayerKind rest = WithoutVocabulary(embedding);
  EXPECT_EQ(rest.operators[0].name, "position_embedding");
  EXPECT_TRUE(rest.operators[0].reads_layer_input);
  EXPECT_EQ(rest.boundary_features, kHidden);
  EXPECT_EQ(rest.Parameters(), 32 * kHidden);

  const LayerKind share = VocabularyShare(embedding, 3);
  ASSERT_EQ(share.operators.size(), 1U);
  EXPECT_EQ(share.operators[0].in_features, 334);  // 1000 / 3, rounded up
  EXPECT_EQ(share.Parameters(), 334 * kHidden);
  EXPECT_EQ(share.operators[0].forward_elements, embedding.operators[0].forward_elements);
  EXPECT_EQ(share.boundary_features, kHidden);
}

TEST(VocabularyLayersTest, TiedSharesAreOneTensor) {
  const Workload workload = Network("llama", true);
  const LayerKind share = VocabularyShare(workload.layer(workload.layer_count() - 1), 4);
  EXPECT_EQ(share.tied_parameters, 250 * kHidden);
  EXPECT_EQ(share.Parameters(), 0);
  EXPECT_EQ(WithoutVocabulary(workload.layer(0)).operators.size(), 0U);
}

TEST(VocabularyLayersTest, SharesAndRestAreTheWholeNetwork) {
  for (const char* family : {"gpt", "llama"}) {
    const Workload workload = Network(family, false);
    int64_t parameters = 0;
    for (int l = 0; l < workload.layer_count(); ++l) {
      const LayerKind& layer = workload.layer(l);
      parameters += WithoutVocabulary(layer).Parameters();
      if (layer.role == LayerRole::kBlock) continue;
      parameters += 8 * VocabularyShare(layer, 8).Parameters();
    }
    EXPECT_EQ(parameters, workload.Parameters()) << family;
  }
}

TEST(VocabularyLayersTest, OnlyNetworksWithOneTableAndOneProjectionCanBeDivided) {
  const auto error = [](const char* network) {
    return FindVocabularyError(LoadWorkload(network, AttentionBackend::kFlash));
  };
  EXPECT_EQ(error("gpt2-medium"), "");
  EXPECT_EQ(error("llama3-70b"), "");
  EXPECT_EQ(error("opt-350m"), "");
  EXPECT_EQ(error("t5-base"), "looks up tokens in another layer, too");
  EXPECT_EQ(error("deepseek-v3-mtp"), "does not end with one projection to its vocabulary");
  EXPECT_EQ(error("bert-base-squad"), "does not end with one projection to its vocabulary");
  EXPECT_EQ(error("resnet50"), "does not begin with a table of tokens");
}

}  // namespace
}  // namespace stagecraft
