// What the config.json of each family says and those of others do not.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <variant>
#include <vector>

#include "costmodel/check.h"
#include "sim/workload/readers/hf_config.h"
#include "sim/workload/readers/hf_config_test_files.h"
#include "sim/workload/readers/hf_config_testing.h"

namespace stagecraft {
namespace {

using namespace test_files;

template <typename Config>
Config Read(const Json& json) {
  return std::get<Config>(ParseHuggingFaceNetwork(json.dump(), "config.json"));
}

TEST(HfConfigFamiliesTest, ReadsMixtral) {
  const auto config = Read<DecoderConfig>(Mixtral());
  EXPECT_EQ(config.moe, (MoeConfig{.experts = 8, .experts_per_token = 2, .ffn = 128}));
}

TEST(HfConfigFamiliesTest, QwenCountsItsStepsFromOne) {
  const auto config =
      Read<DecoderConfig>(With(Qwen(), {{"decoder_sparse_step", 2}, {"mlp_only_layers", {3}}}));
  EXPECT_EQ(config.moe.dense_layers, (std::vector<int64_t>{0, 2, 3}));
  EXPECT_EQ(config.moe.shared_ffn, 96);
  EXPECT_TRUE(config.moe.shared_gate);
  EXPECT_TRUE(config.qkv_bias);
}

TEST(HfConfigFamiliesTest, ReadsDeepSeek) {
  const auto config = Read<DecoderConfig>(With(DeepSeek(), {{"num_nextn_predict_layers", 1}}));
  EXPECT_EQ(config.moe.dense_layers, (std::vector<int64_t>{0}));
  EXPECT_EQ(config.moe.shared_ffn, 64);
  EXPECT_TRUE(config.moe.routing_bias);
  EXPECT_EQ(
      config.mla,
      (MlaConfig{
          .query_rank = 24, .kv_rank = 16, .plain_size = 16, .rotary_size = 8, .value_size = 16}));
  EXPECT_EQ(config.head_size, 20);
  EXPECT_EQ(config.prediction_layers, 1);
  const auto plain = Read<DecoderConfig>(With(DeepSeek(), {{"q_lora_rank", nullptr}}));
  EXPECT_EQ(plain.mla.query_rank, 0);
}

// The code of networks with "gelu_new" spells its formula out; "gelu_pytorch_tanh" is a function of
// PyTorch.
TEST(HfConfigFamiliesTest, TellsGeluThatIsSpelledOut) {
  const auto activation = [](const char* name) {
    return Read<DecoderConfig>(With(Decoder("phi"), {{"hidden_act", name}})).activation;
  };
  EXPECT_EQ(activation("gelu_new"), Activation::kTanhGelu);
  EXPECT_EQ(activation("gelu_pytorch_tanh"), Activation::kGelu);
}

TEST(HfConfigFamiliesTest, ReadsOpt) {
  const auto config = Read<DecoderConfig>(
      With(Decoder("opt"), {{"word_embed_proj_dim", 16}, {"do_layer_norm_before", false}}));
  EXPECT_EQ(config.embedding_size, 16);
  EXPECT_EQ(config.norm_place, NormPlace::kAfter);
  EXPECT_FALSE(config.final_norm);
  EXPECT_EQ(config.activation, Activation::kRelu);
  EXPECT_FALSE(Read<DecoderConfig>(With(Decoder("opt"), {{"enable_bias", false}})).mlp_bias);
}

TEST(HfConfigFamiliesTest, OldFalconsHaveOneKeyWhateverTheyState) {
  const auto old = Read<DecoderConfig>(With(Decoder("falcon"), {{"num_kv_heads", 4}}));
  EXPECT_EQ(old.kv_heads, 1);
  EXPECT_TRUE(old.shared_norm);
  const auto young = Read<DecoderConfig>(
      With(Decoder("falcon"), {{"num_kv_heads", 2}, {"new_decoder_architecture", true}}));
  EXPECT_EQ(young.kv_heads, 2);
  EXPECT_FALSE(young.shared_norm);
  const auto serial = Read<DecoderConfig>(
      With(Decoder("falcon"),
           {{"multi_query", false}, {"parallel_attn", false}, {"alibi", true}, {"bias", true}}));
  EXPECT_EQ(serial.kv_heads, 4);
  EXPECT_FALSE(serial.parallel_residual || serial.shared_norm);
  EXPECT_TRUE(serial.qkv_bias);
  EXPECT_EQ(serial.rotary_fraction, 0);
}

TEST(HfConfigFamiliesTest, ReadsMptAndBloomAndGptJAndGemma) {
  Json mpt = Decoder("mpt");
  mpt.erase("intermediate_size");
  EXPECT_EQ(Read<DecoderConfig>(With(mpt, {{"expansion_ratio", 3}})).ffn, 192);
  EXPECT_FALSE(Read<DecoderConfig>(mpt).learned_positions);
  EXPECT_TRUE(
      Read<DecoderConfig>(With(mpt, {{"attn_config", {{"alibi", false}}}})).learned_positions);
  Json bloom = Decoder("bloom");
  bloom.erase("max_position_embeddings");
  EXPECT_EQ(Read<DecoderConfig>(bloom).max_sequence, 2048);
  EXPECT_TRUE(Read<DecoderConfig>(bloom).embedding_norm);
  EXPECT_DOUBLE_EQ(Read<DecoderConfig>(With(Decoder("gptj"), {{"rotary_dim", 4}})).rotary_fraction,
                   0.25);
  EXPECT_EQ(Read<DecoderConfig>(Decoder("gemma")).head_size, 256);
  EXPECT_TRUE(Read<DecoderConfig>(Decoder("gemma")).tied_embeddings);
}

TEST(HfConfigFamiliesTest, TheClassOfABertNamesItsHead) {
  const auto head = [](const char* name) {
    return Read<EncoderConfig>(With(Bert(), {{"architectures", {name}}})).head;
  };
  EXPECT_EQ(head("BertForMaskedLM"), EncoderHead::kMaskedTokens);
  EXPECT_EQ(head("BertModel"), EncoderHead::kMaskedTokens);
  EXPECT_EQ(head("BertForQuestionAnswering"), EncoderHead::kSpan);
  EXPECT_EQ(head("BertForPreTraining"), EncoderHead::kPretraining);
  Json by_class = With(Bert(), {{"architectures", {"BertForQuestionAnswering"}}});
  by_class.erase("model_type");
  EXPECT_EQ(Read<EncoderConfig>(by_class).head, EncoderHead::kSpan);
  // Two rows of RoBERTa's table stand for no position.
  EXPECT_EQ(Read<EncoderConfig>(With(Bert(), {{"model_type", "roberta"}})).block.max_sequence, 30);
}

TEST(HfConfigFamiliesTest, ReadsT5) {
  const auto config = Read<EncoderDecoderConfig>(With(T5(), {{"feed_forward_proj", "gated-gelu"},
                                                             {"num_decoder_layers", 2},
                                                             {"tie_word_embeddings", false},
                                                             {"dropout_rate", 0.0},
                                                             {"encoder_seq", 64},
                                                             {"decoder_seq", 16}}));
  EXPECT_TRUE(config.block.gated_mlp);
  EXPECT_EQ(config.block.activation, Activation::kGelu);
  EXPECT_EQ(config.decoder_layers, 2);
  EXPECT_EQ(config.block.head_size, 8);
  EXPECT_EQ(config.block.max_sequence, 512);
  EXPECT_FALSE(config.block.tied_embeddings || config.block.hidden_dropout);
  EXPECT_EQ(config.encoder_sequence, 64);
  EXPECT_EQ(config.decoder_sequence, 16);
}

TEST(HfConfigFamiliesTest, SwitchLayersBeginWithTheSecond) {
  const auto config = Read<EncoderDecoderConfig>(Switch());
  EXPECT_EQ(config.block.moe.dense_layers, (std::vector<int64_t>{0, 2}));
  EXPECT_EQ(config.decoder_moe.dense_layers, (std::vector<int64_t>{0, 2, 3}));
  EXPECT_EQ(config.decoder_moe.experts, 8);
}

TEST(HfConfigFamiliesTest, ClassesAreLabels) {
  EXPECT_EQ(Read<VisionConfig>(Vision()).classes, 1000);
  EXPECT_EQ(Read<VisionConfig>(With(Vision(), {{"num_labels", 7}})).classes, 7);
  EXPECT_EQ(
      Read<VisionConfig>(With(Vision(), {{"id2label", {{"0", "cat"}, {"1", "dog"}}}})).classes, 2);
  EXPECT_EQ(Read<VisionConfig>(Vision()).Tokens(), 17);
}

TEST(HfConfigFamiliesTest, OnlyADecoderWillDoWhereOneIsAskedFor) {
  EXPECT_THROW(ParseHuggingFaceConfig(Bert().dump(), "config.json"), InputError);
  EXPECT_EQ(ParseHuggingFaceConfig(Mixtral().dump(), "config.json").moe.experts, 8);
}

}  // namespace
}  // namespace stagecraft
