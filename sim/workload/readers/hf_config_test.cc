#include "sim/workload/readers/hf_config.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "costmodel/check.h"
#include "sim/workload/readers/hf_config_testing.h"

namespace stagecraft {
namespace {

using Json = nlohmann::json;

Json Llama() {
  return Json::parse(R"({"model_type": "llama", "vocab_size": 128256, "hidden_size": 8192,
    "intermediate_size": 28672, "num_hidden_layers": 80, "num_attention_heads": 64,
    "num_key_value_heads": 8, "max_position_embeddings": 8192})");
}

std::string ErrorOf(const std::string& text) {
  try {
    ParseHuggingFaceConfig(text, "config.json");
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

std::string ErrorWith(const char* key, const Json& value) {
  Json json = Llama();
  json[key] = value;
  return ErrorOf(json.dump());
}

TEST(HfConfigTest, ReadsLlama) {
  const DecoderConfig config = ParseHuggingFaceConfig(Llama().dump(), "config.json");
  EXPECT_EQ(config.layers, 80);
  EXPECT_EQ(config.kv_heads, 8);
  EXPECT_EQ(config.head_size, 128);
  EXPECT_EQ(config.activation, Activation::kSilu);
  EXPECT_FALSE(config.tied_embeddings);
  EXPECT_FALSE(config.qkv_bias);
  EXPECT_EQ(BuildDecoder(config, AttentionBackend::kFlash, "w").Parameters(), 70'553'706'496);
}

TEST(HfConfigTest, LlamaKeysHaveDefaultsAndBiases) {
  Json json = Llama();
  json.erase("num_key_value_heads");
  json["head_dim"] = 256;
  json["attention_bias"] = true;
  json["mlp_bias"] = true;
  json["tie_word_embeddings"] = true;
  const DecoderConfig config = ParseHuggingFaceConfig(json.dump(), "config.json");
  EXPECT_EQ(config.kv_heads, 64);
  EXPECT_EQ(config.head_size, 256);
  EXPECT_TRUE(config.qkv_bias && config.projection_bias && config.mlp_bias);
  EXPECT_TRUE(config.tied_embeddings);
}

TEST(HfConfigTest, ReadsGpt2WithNullInnerSize) {
  const DecoderConfig config = ParseHuggingFaceConfig(
      R"({"model_type": "gpt2", "vocab_size": 50257, "n_embd": 768, "n_layer": 12, "n_head": 12,
          "n_positions": 1024, "n_ctx": 1024, "n_inner": null, "resid_pdrop": 0.0,
          "embd_pdrop": 0, "attn_pdrop": 0.1})",
      "config.json");
  EXPECT_EQ(config.ffn, 3072);
  EXPECT_TRUE(config.tied_embeddings);
  EXPECT_TRUE(config.attention_dropout);
  EXPECT_FALSE(config.hidden_dropout);
  EXPECT_EQ(BuildDecoder(config, AttentionBackend::kFlash, "w").Parameters(), 124'439'808);
}

// Pythia-410M's model card: 405,334,016 parameters.
TEST(HfConfigTest, ReadsGptNeoxByItsArchitecture) {
  const DecoderConfig config = ParseHuggingFaceConfig(
      R"({"architectures": ["GPTNeoXForCausalLM"], "vocab_size": 50304, "hidden_size": 1024,
          "intermediate_size": 4096, "num_hidden_layers": 24, "num_attention_heads": 16,
          "max_position_embeddings": 2048, "rotary_pct": 0.25, "hidden_act": "gelu"})",
      "config.json");
  EXPECT_TRUE(config.parallel_residual);
  EXPECT_FALSE(config.tied_embeddings);
  EXPECT_EQ(BuildDecoder(config, AttentionBackend::kFlash, "w").Parameters(), 405'334'016);
}

TEST(HfConfigTest, FindsTheDecoderUnderTextConfig) {
  Json json;
  json["model_type"] = "some_vision_language_network";
  json["tie_word_embeddings"] = true;
  json["text_config"] = Llama();
  const DecoderConfig config = ParseHuggingFaceConfig(json.dump(), "config.json");
  EXPECT_EQ(config.hidden, 8192);
  EXPECT_TRUE(config.tied_embeddings);
  json["text_config"]["hidden_size"] = 0;
  EXPECT_EQ(ErrorOf(json.dump()).find("config.json: text_config: hidden_size: got 0"), 0u);
}

TEST(HfConfigTest, AcceptsTheSpellingsOfOtherFrameworks) {
  const DecoderConfig config = ParseHuggingFaceConfig(
      R"({"model_type": "llama", "vocab_size": 1000, "hidden_size": 512, "num_layers": 2,
          "ffn_hidden_size": 2048, "n_heads": 8, "num_query_groups": 4, "kv_channels": 64,
          "seq_length": 256})",
      "config.json");
  EXPECT_EQ(config.layers, 2);
  EXPECT_EQ(config.kv_heads, 4);
  EXPECT_EQ(config.max_sequence, 256);
}

TEST(HfConfigTest, ListsEveryMissingKeyWithItsSpellings) {
  EXPECT_EQ(ErrorOf(R"({"model_type": "llama", "hidden_size": 64, "vocab_size": null})"),
            "config.json: missing keys: num_hidden_layers | n_layer | num_layers | n_layers; "
            "num_attention_heads | n_head | num_heads | n_heads; "
            "intermediate_size | n_inner | ffn_hidden_size | ffn_dim | d_ff; vocab_size; "
            "max_position_embeddings | n_positions | n_ctx | seq_length | max_seq_len");
  const std::string empty = ErrorOf("{}");
  EXPECT_EQ(empty.find("config.json: missing keys: model_type (one of llama, gpt2, gpt_neox, "
                       "nemotron, mistral, "),
            0u);
  EXPECT_NE(empty.find("switch_transformers, vit); num_hidden_layers"), std::string::npos);
}

TEST(HfConfigTest, AnotherKindOfFileIsNamed) {
  EXPECT_EQ(ErrorOf(R"({"degrees": {"tp": 8}, "micro_batch": 1})"),
            "config.json: the file is a plan, want a Hugging Face config.json");
  EXPECT_EQ(ErrorOf(R"({"traceEvents": []})"),
            "config.json: the file is a Chrome or Kineto trace, want a Hugging Face config.json");
}

TEST(HfConfigTest, NamesTheSupportedFamilies) {
  EXPECT_EQ(ErrorWith("model_type", "mamba")
                .find("config.json: model_type: got \"mamba\", want one of llama, gpt2, gpt_neox"),
            0u);
}

TEST(HfConfigTest, ErrorsNameTheKeyTheUserWrote) {
  EXPECT_EQ(ErrorWith("num_attention_heads", 60),
            "config.json: hidden_size: got 8192, want a multiple of the 60 heads, as no head "
            "size is given");
  EXPECT_EQ(ErrorWith("num_key_value_heads", 7),
            "config.json: num_key_value_heads: got 7, want a divisor of the 64 heads");
}

struct BadValue {
  const char* key;
  Json value;
};

TEST(HfConfigTest, RefusesBadValuesAndNamesTheirKey) {
  const std::vector<BadValue> cases = {
      {"hidden_size", 0},
      {"hidden_size", -8192},
      {"hidden_size", 8192.5},
      {"hidden_size", 8192.0},
      {"hidden_size", "8192"},
      {"hidden_size", true},
      {"hidden_size", Json::array({8192})},
      {"hidden_size", Json::object()},
      {"hidden_size", 1'000'000'001},
      {"hidden_size", 18446744073709551615ull},
      {"hidden_size", 1e30},
      {"num_hidden_layers", -1},
      {"num_hidden_layers", 1'000'000},
      {"vocab_size", 2'000'000'000},
      {"num_key_value_heads", 0},
      {"num_key_value_heads", 128},
      {"head_dim", -1},
      {"n_layer", 79},
      {"hidden_act", "tanh"},
      {"hidden_act", 3},
      {"tie_word_embeddings", "yes"},
      {"attention_bias", 1},
      {"attention_dropout", -0.1},
      {"attention_dropout", 1.5},
      {"attention_dropout", "0.1"},
      {"partial_rotary_factor", 2},
      {"num_local_experts", 8},
      {"add_cross_attention", true},
      {"model_type", 7},
      {"model_type", Json::array()},
  };
  for (const BadValue& bad : cases) {
    EXPECT_EQ(ErrorWith(bad.key, bad.value).find(std::string("config.json: ") + bad.key + ": got"),
              0u)
        << bad.key << " " << bad.value << ": " << ErrorWith(bad.key, bad.value);
  }
}

TEST(HfConfigTest, RefusesSizesThatMultiplyBeyondReason) {
  Json json = Llama();
  json["hidden_size"] = 1'000'000'000;
  json["num_attention_heads"] = 1'000'000'000;
  json["num_key_value_heads"] = 1'000'000'000;
  EXPECT_NE(ErrorOf(json.dump()).find("10^15"), std::string::npos);
}

TEST(HfConfigTest, RefusesWhatIsNotAJsonObject) {
  const std::string good = Llama().dump();
  const std::vector<std::string> texts = {
      "",
      " ",
      "null",
      "[]",
      "3",
      "\"llama\"",
      "{",
      "{\"a\": NaN}",
      "{]",
      "{}{}",
      "1e999",
      std::string("\x00\xff\xfe\x7f"
                  "ELF",
                  7),
      good.substr(0, good.size() / 2),
      good.substr(0, good.size() - 1),
      "{\"model_type\": \"\xff\xfe\"}",
      std::string(100'000, '['),
      "{\"hidden_size\": 1e999}",
      "{\"hidden_size\": 64, \"hidden_size\": 128}",
  };
  for (const std::string& text : texts) {
    EXPECT_EQ(ErrorOf(text).find("config.json:"), 0u) << text.substr(0, 40) << ErrorOf(text);
  }
}

}  // namespace
}  // namespace stagecraft
