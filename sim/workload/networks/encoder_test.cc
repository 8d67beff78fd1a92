#include "sim/workload/networks/encoder.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "costmodel/check.h"

namespace stagecraft {
namespace {

constexpr AttentionBackend kFlash = AttentionBackend::kFlash;

void SetSizes(DecoderConfig& block) {
  block.layers = 2;
  block.hidden = 8;
  block.heads = 2;
  block.ffn = 16;
  block.vocab = 32;
  block.max_sequence = 4;
}

EncoderConfig Bert() {
  EncoderConfig config = EncoderOfFamily("bert");
  SetSizes(config.block);
  return config;
}

VisionConfig Vision() {
  VisionConfig config = VisionTransformer();
  SetSizes(config.block);
  config.image = 12;
  config.patch = 4;
  config.classes = 10;
  return config;
}

EncoderDecoderConfig T5() {
  EncoderDecoderConfig config = EncoderDecoderOfFamily("t5");
  SetSizes(config.block);
  config.block.head_size = 3;  // inner size 6 is not the hidden size
  return config;
}

Operator Find(const LayerKind& kind, const std::string& name) {
  for (const Operator& op : kind.operators) {
    if (op.name == name) return op;
  }
  ADD_FAILURE() << kind.name << " has no " << name;
  return {};
}

// The code of BERT and of networks of images calls a library for GELU and layer norms, that of T5
// none for its RMS norms.
TEST(EncoderTest, OnlyT5ComposesOperators) {
  const auto composes = [](const Workload& workload) {
    for (const LayerKind& kind : workload.kinds) {
      for (const Operator& op : kind.operators) {
        if (op.chain != KernelChain::kNone) return true;
      }
    }
    return false;
  };
  EXPECT_FALSE(composes(BuildEncoder(Bert(), kFlash, "w")));
  EXPECT_FALSE(composes(BuildVision(Vision(), kFlash, "w")));
  EncoderDecoderConfig megatron = EncoderDecoderOfFamily("megatron_t5");
  SetSizes(megatron.block);
  EXPECT_FALSE(composes(BuildEncoderDecoder(megatron, kFlash, "w")));
  EXPECT_TRUE(composes(BuildEncoderDecoder(T5(), kFlash, "w")));
}

// Tables (32 + 4 + 2)·8 and a norm; blocks of 4·64 + 2·128 matrices, biases
// 4·8 + 16 + 8, norms 4·8; transform 64 + 8, norm 16, a bias per word.
TEST(EncoderTest, ParametersOfABertThatFitsInTheHead) {
  const Workload workload = BuildEncoder(Bert(), kFlash, "w");
  EXPECT_EQ(workload.layer(0).Parameters(), 38 * 8 + 16);
  EXPECT_EQ(workload.layer(1).Parameters(), 512 + 56 + 32);
  EXPECT_EQ(workload.layer(3).Parameters(), 72 + 16 + 32);
  EXPECT_EQ(workload.layer(3).tied_parameters, 32 * 8);
  EXPECT_EQ(workload.layers, (std::vector<int>{0, 1, 1, 2}));
}

// Attention sees both sides, which takes twice the FLOPs of a decoder's.
TEST(EncoderTest, BertAttendsBothWays) {
  const Workload workload = BuildEncoder(Bert(), kFlash, "w");
  EXPECT_DOUBLE_EQ(workload.TrainingFlopsPerToken(4).count(),
                   6.0 * (2 * 512 + 64 + 32 * 8) + 12.0 * 4 * 8 * 2);
  EXPECT_FALSE(Find(workload.layer(1), "attention").causal);
}

TEST(EncoderTest, HeadsPredictWordsOrSpans) {
  EncoderConfig config = Bert();
  config.head = EncoderHead::kSpan;
  const Workload span = BuildEncoder(config, kFlash, "w");
  EXPECT_EQ(span.layer(3).Parameters(), 8 * 2 + 2);
  EXPECT_FALSE(span.tied_embeddings);
  config.head = EncoderHead::kPretraining;
  // For the first token only, there are a pooler and a prediction whether the second segment
  // follows.
  const Workload pretraining = BuildEncoder(config, kFlash, "w");
  EXPECT_EQ(pretraining.layer(3).Parameters(), 72 + 16 + 32 + 72 + 18);
  EXPECT_EQ(Find(pretraining.layer(3), "pooler").positions, 1);
}

TEST(EncoderTest, MegatronNormalisesBeforeAndOnceMore) {
  EncoderConfig config = EncoderOfFamily("megatron_bert");
  SetSizes(config.block);
  const Workload workload = BuildEncoder(config, kFlash, "w");
  EXPECT_EQ(workload.Parameters(), BuildEncoder(Bert(), kFlash, "w").Parameters());
  EXPECT_EQ(workload.layer(0).Parameters(), 38 * 8);
}

// 9 patches of 3·16 pixels and one token more; classes 10.
TEST(EncoderTest, VisionTransformerByHand) {
  const Workload workload = BuildVision(Vision(), kFlash, "w");
  EXPECT_EQ(workload.layer(0).Parameters(), 48 * 8 + 8 + 10 * 8 + 8);
  EXPECT_EQ(workload.layer(3).Parameters(), 16 + 8 * 10 + 10);
  EXPECT_EQ(workload.max_sequence, 10);
  EXPECT_EQ(workload.layer(1).boundary_positions, 10);
  const Operator patches = Find(workload.layer(0), "patch_embedding");
  EXPECT_EQ(patches.kind, OperatorKind::kConvolution);
  EXPECT_EQ(patches.positions, 9);
  EXPECT_EQ(patches.input_elements, 3 * 144);
  EXPECT_TRUE(workload.lists_kernels);
  const double forward = 2.0 * (9 * 48 * 8 + 10 * 2 * 512 + 8 * 10) + 2 * 10.0 * 4 * 8 * 10;
  for (const int64_t sequence : {1, 10, 77}) {
    EXPECT_NEAR(workload.TrainingFlopsPerToken(sequence).count() * static_cast<double>(sequence),
                3 * forward, 1e-6 * forward);
  }
}

TEST(EncoderTest, VisionErrorsNameFieldAndValue) {
  const auto error = [](auto spoil) {
    VisionConfig config = Vision();
    spoil(config);
    try {
      BuildVision(config, kFlash, "w");
    } catch (const InputError& e) {
      return std::string(e.what());
    }
    return std::string("no error");
  };
  EXPECT_EQ(error([](auto& c) { c.patch = 5; }),
            "w: image: got 12, want a multiple of the patch, 5");
  EXPECT_EQ(error([](auto& c) { c.patch = 0; }), "w: patch: got 0, want 1 to 12");
  EXPECT_EQ(error([](auto& c) { c.patch = 13; }), "w: patch: got 13, want 1 to 12");
  EXPECT_EQ(error([](auto& c) { c.image = 0; }), "w: image: got 0, want 1 to 100000");
  EXPECT_EQ(error([](auto& c) { c.channels = 0; }), "w: channels: got 0, want 1 to 100000");
  EXPECT_NE(error([](auto& c) {
              c.image = c.patch = c.channels = 100'000;
              c.block.hidden = 10'000'000;
            }).find("channels, patch and hidden"),
            std::string::npos);
  EXPECT_EQ(error([](auto& c) { c.classes = 0; }), "w: vocab: got 0, want 1 to 1000000000");
}

// Encoder block: four matrices 8·6, two 8·16, two norms. Decoder block: eight
// and three. Tables: 32·8 once, two of 32 buckets by 2 heads. Final norms 8 each.
TEST(EncoderTest, ParametersOfAT5ThatFitsInTheHead) {
  const Workload workload = BuildEncoderDecoder(T5(), kFlash, "w");
  std::vector<std::string> names;
  for (const int kind : workload.layers) names.push_back(workload.kinds[kind].name);
  EXPECT_EQ(names, (std::vector<std::string>{"encoder_embedding", "encoder_block", "encoder_block",
                                             "decoder_embedding", "decoder_block", "decoder_block",
                                             "head"}));
  EXPECT_EQ(workload.layer(1).Parameters(), 4 * 48 + 256 + 16);
  EXPECT_EQ(workload.layer(4).Parameters(), 8 * 48 + 256 + 24);
  EXPECT_EQ(workload.layer(3).Parameters(), 64 + 8);
  EXPECT_EQ(workload.Parameters(), 256 + 128 + 16 + 2 * (464 + 664));
}

TEST(EncoderTest, T5FlopsWhereBothSequencesAreThePlans) {
  const Workload workload = BuildEncoderDecoder(T5(), kFlash, "w");
  const double matrices = 2 * (4 * 48 + 256) + 2 * (8 * 48 + 256) + 32 * 8;
  // Full attention in the encoder and across, causal in the decoder: 6 features.
  const double attention = 3 * 4 * 6.0 * 4 * (2 + 2 + 2 * 0.5);
  EXPECT_DOUBLE_EQ(workload.TrainingFlopsPerToken(4).count(), 6 * matrices + attention);
}

TEST(EncoderTest, T5SidesMayHaveSequencesOfTheirOwn) {
  EncoderDecoderConfig config = T5();
  config.encoder_sequence = 16;
  config.decoder_sequence = 4;
  const Workload workload = BuildEncoderDecoder(config, kFlash, "w");
  EXPECT_EQ(Find(workload.layer(1), "attention").positions, 16);
  const LayerKind& decoder = workload.layer(4);
  EXPECT_EQ(Find(decoder, "attention").positions, 4);
  EXPECT_EQ(Find(decoder, "cross_attention").keys, 16);
  EXPECT_EQ(Find(decoder, "cross_attention").positions, 4);
  EXPECT_EQ(Find(decoder, "cross_key_value").positions, 16);
  EXPECT_TRUE(Find(decoder, "cross_key_value").reads_layer_input);
  EXPECT_EQ(Find(workload.layer(3), "encoder_final_norm").positions, 16);
  EXPECT_EQ(decoder.boundary_positions, 20);
  EXPECT_EQ(decoder.boundary_features, 8);
  const double encoder = 2.0 * 16 * 2 * (4 * 48 + 256) + 2 * 4.0 * 6 * 16 * 16;
  const double decoding = 2.0 * 4 * 2 * (6 * 48 + 256) + 2.0 * 16 * 2 * 2 * 48 +
                          2 * 4.0 * 6 * 4 * (16 + 0.5 * 4) + 2.0 * 4 * 32 * 8;
  for (const int64_t sequence : {4, 16}) {
    EXPECT_DOUBLE_EQ(
        workload.TrainingFlopsPerToken(sequence).count() * static_cast<double>(sequence),
        3 * (encoder + decoding));
  }
}

TEST(EncoderTest, ADecoderSequenceAloneIsRefused) {
  EncoderDecoderConfig config = T5();
  config.decoder_sequence = 4;
  EXPECT_THROW(BuildEncoderDecoder(config, kFlash, "w"), InputError);
  config = T5();
  config.relative_buckets = -1;
  EXPECT_THROW(BuildEncoderDecoder(config, kFlash, "w"), InputError);
  config = T5();
  config.decoder_layers = -1;
  EXPECT_THROW(BuildEncoderDecoder(config, kFlash, "w"), InputError);
}

TEST(EncoderTest, MegatronT5SharesTablesOfTokensAndPositions) {
  EncoderDecoderConfig config = EncoderDecoderOfFamily("megatron_t5");
  SetSizes(config.block);
  const Workload workload = BuildEncoderDecoder(config, kFlash, "w");
  EXPECT_EQ(workload.layer(0).Parameters(), 36 * 8);
  EXPECT_EQ(workload.layer(3).Parameters(), 16);
  EXPECT_EQ(workload.layer(3).tied_parameters, 36 * 8);
  EXPECT_EQ(workload.layer(6).Parameters(), 16 + 32);
}

TEST(EncoderTest, SidesMayHaveExperts) {
  EncoderDecoderConfig config = T5();
  config.block.moe = {.experts = 4, .experts_per_token = 1, .dense_layers = {0}};
  config.decoder_moe = config.block.moe;
  const Workload workload = BuildEncoderDecoder(config, kFlash, "w");
  EXPECT_EQ(workload.layers, (std::vector<int>{0, 1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(workload.layer(2).name, "encoder_moe_block");
  EXPECT_EQ(workload.layer(5).Parameters() - workload.layer(4).Parameters(), 8 * 4 + 3 * 256);
}

TEST(EncoderTest, UnknownFamiliesAreRefused) {
  EXPECT_THROW(EncoderOfFamily("t5"), InputError);
  EXPECT_THROW(EncoderDecoderOfFamily("bert"), InputError);
}

}  // namespace
}  // namespace stagecraft
