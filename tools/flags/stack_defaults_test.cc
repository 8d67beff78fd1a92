// What --stack changes in a plan, and what the report says about it.
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "tools/verb/command.h"

namespace stagecraft {
namespace {

std::string Simulate(const std::string& flags) {
  std::istringstream words("--quiet --cluster h100-sxm:1x8 --global-batch 16 " + flags);
  Args args;
  for (std::string word; words >> word;) args.push_back(word);
  std::istringstream in;
  std::ostringstream out;
  std::ostringstream err;
  EXPECT_EQ(RunSimulate(args, in, out, err), kExitOk) << err.str();
  return out.str();
}

nlohmann::json Report(const std::string& flags) {
  return nlohmann::json::parse(Simulate("--json " + flags));
}

// Returns plan.stack.values by key.
std::map<std::string, std::string> Values(const nlohmann::json& report) {
  std::map<std::string, std::string> values;
  for (const auto& value : report["plan"]["stack"]["values"]) {
    EXPECT_NE(value["origin"], "") << value;
    values[value["key"]] = value["value"];
  }
  return values;
}

// FSDP's shards of one rank in eight are masters of 4 bytes with moments of 8; other software keeps
// 2 bytes of weights beside them. torch.compile drops outputs that no backward reads.
TEST(StackDefaultsTest, TheStackSaysHowMuchMemoryItTakes) {
  const auto memory = [](const std::string& flags) {
    return Report("--model llama3-8b --seq 8192 --zero 3 --recompute operators " +
                  flags)["memory"][0];
  };
  const auto plain = memory("");
  const auto fsdp = memory("--stack torchtitan");
  EXPECT_NEAR(fsdp["weights"].get<double>(), 2 * plain["weights"].get<double>(), 0.01);
  EXPECT_NEAR(3 * fsdp["optimizer"].get<double>(), 2 * plain["optimizer"].get<double>(), 0.01);
  EXPECT_LT(memory("--stack torchtitan --compiled")["activations"], fsdp["activations"]);
}

// What no flag replaces is listed with its origin, too.
TEST(StackDefaultsTest, TheMemoryOfTheSoftwareIsListed) {
  const auto values = Values(Report("--model megatron:8x1024x16 --stack megatron-deepspeed"));
  EXPECT_EQ(values.at("cross_entropy"), "copies");
  EXPECT_EQ(values.at("weight_update"), "deepspeed");
  EXPECT_EQ(values.at("keeps_gradients"), "false");
  EXPECT_EQ(values.at("keeps_outputs"), "true");
  EXPECT_EQ(values.at("has_global_groups"), "true");
  EXPECT_EQ(values.at("megatron_layers"), "true");
  EXPECT_EQ(Values(Report("--model megatron:8x1024x16 --stack ddp")).at("casts_weights"), "true");
}

TEST(StackDefaultsTest, WithoutAStackThereAreNone) {
  const auto report = Report("--model megatron:8x1024x16");
  EXPECT_EQ(report["plan"]["stack"]["name"], "");
  EXPECT_TRUE(report["plan"]["stack"]["values"].empty());
}

TEST(StackDefaultsTest, AFlagWinsAndIsNotListed) {
  const auto report = Report("--model megatron:8x1024x16 --stack ddp --zero 1 --bucket-bytes 1000");
  EXPECT_EQ(report["plan"]["zero"], 1);
  EXPECT_EQ(report["plan"]["bucket_bytes"], 1000);
  const auto values = Values(report);
  EXPECT_FALSE(values.contains("zero"));
  EXPECT_FALSE(values.contains("bucket_bytes"));
  EXPECT_EQ(values.at("gradient_bytes"), "4");
  EXPECT_EQ(Values(Report("--model megatron:8x1024x16 --stack ddp")).at("bucket_bytes"),
            "26214400");
}

TEST(StackDefaultsTest, GradientsFollowThePrecision) {
  const std::string flags = "--model megatron:8x1024x16 --stack megatron-core --precision ";
  EXPECT_EQ(Report(flags + "bf16")["plan"]["gradient_bytes"], 4);
  EXPECT_EQ(Report(flags + "fp16")["plan"]["gradient_bytes"], 2);
  EXPECT_TRUE(Values(Report(flags + "fp16")).contains("fp16_gradient_bytes"));
  const std::string narrow = "--model megatron:8x1024x16 --stack deepspeed --precision ";
  EXPECT_EQ(Report(narrow + "bf16")["plan"]["gradient_bytes"], 2);
  EXPECT_EQ(Report(narrow + "fp32")["plan"]["gradient_bytes"], 4);
}

TEST(StackDefaultsTest, InterleavedStagesHoldOneBlockPerChunk) {
  const auto plan = Report("--model megatron:8x1024x16 --pp 4 --stack megatron-core")["plan"];
  EXPECT_EQ(plan["schedule"], "interleaved");
  EXPECT_EQ(plan["vpp"], 2);
  EXPECT_EQ(plan["overlap_p2p"], true);
  // 9 blocks do not divide over 4 stages.
  const auto uneven = Report("--model megatron:9x1024x16 --pp 4 --stack megatron-core");
  EXPECT_EQ(uneven["plan"]["schedule"], "1f1b");
  EXPECT_EQ(uneven["plan"]["overlap_p2p"], false);
  EXPECT_EQ(Values(uneven).at("order"), "1f1b");
  EXPECT_EQ(Values(uneven).at("overlap_p2p"), "false");
  EXPECT_EQ(Values(uneven).at("embedding_placement"), "first-last");
  const auto given = Report("--model megatron:8x1024x16 --pp 4 --stack nemo --schedule 1f1b");
  EXPECT_EQ(given["plan"]["vpp"], 1);
  EXPECT_FALSE(Values(given).contains("order"));
}

TEST(StackDefaultsTest, OneStageHasNoOrder) {
  const auto report = Report("--model megatron:8x1024x16 --stack torchgpipe");
  EXPECT_EQ(report["plan"]["schedule"], "1f1b");
  EXPECT_EQ(report["plan"]["optimizer"], "sgd");
  EXPECT_FALSE(Values(report).contains("order"));
  EXPECT_EQ(Report("--model megatron:8x1024x16 --pp 2 --stack torchgpipe")["plan"]["schedule"],
            "gpipe");
}

// The 50,257 rows of GPT-2's vocabulary become 50,304 = 393 x 128 on one rank, and 50,688 =
// 99 x 4 x 128 on four. A row has 768 columns, and the head shares them.
TEST(StackDefaultsTest, MegatronPadsTheVocabularyOfADecoder) {
  const int64_t plain = Report("--model gpt2")["parameters"];
  const int64_t one = Report("--model gpt2 --stack megatron-2021")["parameters"];
  EXPECT_EQ(one - plain, 47 * 768);
  const int64_t four = Report("--model gpt2 --tp 4 --stack megatron-2021")["parameters"];
  EXPECT_EQ(four - plain, (50'688 - 50'257) * 768);
  const auto bert = Report("--model bert-base --stack megatron-2021");
  EXPECT_FALSE(Values(bert).contains("vocabulary_multiple"));
  EXPECT_FALSE(
      Values(Report("--model resnet50 --stack megatron-2021")).contains("vocabulary_multiple"));
}

TEST(StackDefaultsTest, TextListsEachValueInAHundredColumns) {
  const std::string text =
      Simulate("--model megatron:8x1024x16 --tp 2 --cp 2 --pp 2 --stack megatron-core");
  const size_t begin = text.find("\ndefaults of training stack megatron-core\n");
  ASSERT_NE(begin, std::string::npos) << text;
  std::istringstream section(text.substr(begin + 1, text.find("\n\n", begin + 1) - begin));
  int lines = 0;
  for (std::string line; std::getline(section, line); ++lines) EXPECT_LE(line.size(), 100u) << line;
  EXPECT_GE(lines, 15);
  EXPECT_NE(text.find(" ring         Megatron-LM arguments.py: --cp-comm-type p2p\n"),
            std::string::npos)
      << text;
}

TEST(StackDefaultsTest, AStackChangesOverTime) {
  const std::string flags = "--model megatron:8x1024x16 --stack megatron-2021 ";
  EXPECT_EQ(Report(flags)["plan"]["adds_gradients_apart"], false);
  EXPECT_EQ(Report(flags + "--software-date 2021-04")["plan"]["adds_gradients_apart"], true);
  EXPECT_EQ(Report(flags)["plan"]["exposes_tensor_gradients"], false);
  EXPECT_EQ(Report(flags + "--software-date 2021-04")["plan"]["exposes_tensor_gradients"], true);
}

TEST(StackDefaultsTest, WhatAFrameworkDoesIsAFlagToo) {
  const std::string flags = "--model megatron:8x1024x16 --stack fsdp ";
  const auto stack = Report(flags)["plan"];
  EXPECT_EQ(stack["backward_prefetch"], "post");
  EXPECT_EQ(stack["elementwise_traffic"], 1.8);
  EXPECT_EQ(stack["composes_operators"], true);
  const auto given = Report(flags +
                            "--backward-prefetch pre --compiled --param-exchange broadcasts "
                            "--param-gather tensors")["plan"];
  EXPECT_EQ(given["backward_prefetch"], "pre");
  EXPECT_EQ(given["elementwise_traffic"], 1);
  EXPECT_EQ(given["composes_operators"], false);
  EXPECT_EQ(given["param_exchange"], "broadcasts");
  EXPECT_EQ(stack["param_gather"], "layers");
  EXPECT_EQ(given["param_gather"], "tensors");
}

}  // namespace
}  // namespace stagecraft
