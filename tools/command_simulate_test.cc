#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "tools/verb/command.h"
#include "tools/verb/verb_testing.h"

namespace stagecraft {
namespace {

class CommandSimulateTest : public VerbTest {
 protected:
  std::string Text(const Args& flags) {
    Args args = {"--model", "gpt2-medium", "--cluster", "h100-sxm:1x8", "--seq", "1024"};
    args.insert(args.end(), flags.begin(), flags.end());
    return Output(RunSimulate, args);
  }
};

TEST_F(CommandSimulateTest, TheTextHasTheTermsOfTheField) {
  const std::string text = Text({"--pp", "4", "--global-batch", "16"});
  for (const char* words :
       {"global batch 16 (8 micro-batches per replica, 16 in all), 1024 tokens per sample\n",
        ", 80 % prediction interval: ", "\npipeline bubble ",
        "\n  of this, CPU launch overhead: ", "\ncommunication by phase: ", "bottleneck link",
        "channels", "total GB per stage", " capacity\n", "(switched NVLink 450 GB/s per GPU, "}) {
    EXPECT_NE(text.find(words), std::string::npos) << words << "\n" << text;
  }
}

TEST_F(CommandSimulateTest, LeastRecomputationIsTheFirstThatFits) {
  const auto text = [&](const char* micro_batch) {
    return Text({"--recompute", "least", "--micro-batch", micro_batch, "--global-batch", "6144"});
  };
  const char* const kLeast = ": the least with which the memory suffices\n";
  EXPECT_NE(text("16").find(std::string("note: recomputation none") + kLeast), std::string::npos);
  EXPECT_NE(text("96").find(std::string("note: recomputation full") + kLeast), std::string::npos);
  EXPECT_NE(text("256").find("note: recomputation full: the memory does not suffice with any\n"),
            std::string::npos);
}

// 40 samples fill 60 % of an H100, 68 fill 98 %.
TEST_F(CommandSimulateTest, ANearlyFullStageIsNoted) {
  const auto flags = [](const char* micro_batch) {
    return Args{"--micro-batch", micro_batch, "--global-batch", "5440"};
  };
  const char* const kNote = "\nnote: stage 0 fills more than 95 % of its memory: ";
  EXPECT_EQ(Text(flags("40")).find(kNote), std::string::npos);
  EXPECT_NE(Text(flags("68")).find(kNote), std::string::npos);
  Args with_json = flags("68");
  with_json.push_back("--json");
  const auto step = nlohmann::json::parse(Text(with_json));
  EXPECT_EQ(step["crowded_stages"], nlohmann::json({0}));
  const auto& memory = step["memory"][0];
  EXPECT_GE(memory["reserved"], memory["allocated"]);
  EXPECT_NEAR(memory["outside_allocator"].get<double>(),
              memory["peak"].get<double>() - memory["reserved"].get<double>(), 1e-9);
  with_json[1] = "40";
  EXPECT_EQ(nlohmann::json::parse(Text(with_json))["crowded_stages"], nlohmann::json::array());
}

TEST_F(CommandSimulateTest, TheTransportReplacesTheNetwork) {
  const Args job = {"--model", "gpt2-medium", "--cluster",      "h100-sxm:2x8",
                    "--seq",   "1024",        "--global-batch", "16"};
  const auto with = [&](const char* flag, const char* word) {
    Args args = job;
    args.insert(args.end(), {flag, word});
    return args;
  };
  const std::string text = Output(RunSimulate, with("--transport", "tcp"));
  EXPECT_NE(text.find(", Ethernet 8 x 50 GB/s per node)"), std::string::npos) << text;
  EXPECT_EQ(ErrorOf(RunSimulate, with("--transport", "pigeon")),
            "--transport: got \"pigeon\", want one of ib, roce, efa, slingshot, opa, gvnic, tcp");
  EXPECT_EQ(ErrorOf(RunSimulate, with("--without", "friction")),
            "--without: got \"friction\", want one of board-power, host-launches, "
            "compute-slowdown, alignment, attention-version, eager-traffic, gradient-sums, "
            "late-prefetch, tensor-gathers, broadcasts, exchange-overlap");
}

TEST_F(CommandSimulateTest, WithoutAMechanismAStepIsShorter) {
  const auto step_time = [&](const Args& flags) {
    Args args = {"--zero", "3", "--micro-batch", "8", "--global-batch", "64", "--json"};
    args.insert(args.end(), flags.begin(), flags.end());
    return nlohmann::json::parse(Text(args))["step_time_ms"].get<double>();
  };
  const double all = step_time({});
  const double fused = step_time({"--without", "eager-traffic"});
  EXPECT_LT(fused, all);
  EXPECT_LT(step_time({"--without", "eager-traffic,board-power"}), fused);
}

TEST_F(CommandSimulateTest, OneReplicaHasAllMicroBatches) {
  const std::string text = Text({"--pp", "8", "--global-batch", "8"});
  EXPECT_NE(text.find("global batch 8 (8 micro-batches), 1024 tokens"), std::string::npos) << text;
}

TEST_F(CommandSimulateTest, UnequalReplicasHaveNoCommonNumberOfMicroBatches) {
  const std::string text = Text(
      {"--pp", "2", "--stage-replicas", "3,1", "--stage-layers", "18,6", "--global-batch", "6"});
  EXPECT_NE(text.find("(6 micro-batches in all, unequal numbers per replica)"), std::string::npos)
      << text;
}

TEST_F(CommandSimulateTest, GemmsOfFewerBitsAreFasterWhereTheGpuHasThem) {
  const auto arguments = [](const char* cluster, const char* precision) {
    return Args{"--model",     "llama3-8b",      "--cluster", cluster, "--host-dispatch",
                "0",           "--global-batch", "8",         "--seq", "8192",
                "--precision", precision,        "--json"};
  };
  const auto seconds = [&](const char* precision) {
    const std::string text = Output(RunSimulate, arguments("b200:1x8", precision));
    return nlohmann::json::parse(text).at("step_time_ms").get<double>();
  };
  const double four = seconds("nvfp4"), eight = seconds("fp8"), sixteen = seconds("bf16");
  EXPECT_LT(four, eight);
  EXPECT_LT(eight, sixteen);
  EXPECT_GT(four, 0.25 * sixteen);  // attention and all that is no GEMM keep 16 bits
  EXPECT_EQ(ErrorOf(RunSimulate, arguments("h100-sxm:1x8", "nvfp4")),
            "precision: H100 SXM5 80GB has no nvfp4 arithmetic");
}

// GPT-2 medium ties its head to its embedding; a block has 12 x 1024^2 + 13 x 1024 parameters.
TEST_F(CommandSimulateTest, FrozenLayersAreNamedAndCounted) {
  const Args frozen = {"--global-batch", "16", "--frozen", "0-12,head"};
  EXPECT_NE(
      Text(frozen).find("14 of 26 layers frozen, 151154688 of 354823168 parameters trained\n"),
      std::string::npos)
      << Text(frozen);
  EXPECT_EQ(Text({"--global-batch", "16"}).find("frozen"), std::string::npos);
  Args json = frozen;
  json.push_back("--json");
  const auto report = nlohmann::json::parse(Text(json));
  EXPECT_EQ(report.at("trained_parameters"), 12 * (12 * 1024 * 1024 + 13 * 1024));
  EXPECT_GT(report.at("parameters"), report.at("trained_parameters"));
}

// Everything but attention's arithmetic is the same.
TEST_F(CommandSimulateTest, AnOlderAttentionIsSlower) {
  const auto arguments = [](const char* cluster, const char* attention) {
    return Args{"--model",        "gpt2-medium", "--cluster",   cluster,   "--seq", "8192",
                "--global-batch", "8",           "--attention", attention, "--json"};
  };
  const auto step = [&](const char* attention) {
    return nlohmann::json::parse(Output(RunSimulate, arguments("h100-sxm:1x8", attention)));
  };
  const auto seconds = [&](const char* attention) {
    return step(attention).at("step_time_ms").get<double>();
  };
  EXPECT_GT(seconds("flash1"), seconds("flash2"));
  EXPECT_GT(seconds("flash2"), seconds("flash3"));
  EXPECT_EQ(seconds("flash3"), seconds("flash"));
  EXPECT_EQ(seconds("cudnn"), seconds("flash"));
  EXPECT_EQ(step("flash2").at("plan").at("attention"), "flash2");
  EXPECT_EQ(ErrorOf(RunSimulate, arguments("dgx-a100:1", "flash3")),
            "attention_kernel: flash3 does not run on A100 SXM4 80GB");
}

// The flag replaces what the file says, and is checked with the rest of it.
TEST_F(CommandSimulateTest, AttentionOfAPlanFileGivesWayToTheFlag) {
  const std::string batch = "micro_batch: 1 global_batch: 8 sequence: 1024 degrees { tp: 8 } ";
  const auto arguments = [](const std::string& plan, const char* attention) {
    return Args{"--model", "gpt2-medium", "--cluster",   "dgx-a100:1",
                "--plan",  plan,          "--attention", attention};
  };
  const std::string hopper = Write("hopper.textproto", batch + "attention_kernel: FLASH3");
  EXPECT_NE(Output(RunSimulate, arguments(hopper, "flash")).find("flash attention"),
            std::string::npos);
  const std::string any = Write("any.textproto", batch);
  EXPECT_NE(ErrorOf(RunSimulate, arguments(any, "flash3")).find("flash3 does not run on A100"),
            std::string::npos);
}

TEST_F(CommandSimulateTest, NetworksThatNobodyMeasuredAreNamed) {
  const auto note_of = [&](const char* cluster) {
    const std::string text = Output(
        RunSimulate, {"--model", "gpt2-medium", "--cluster", cluster, "--global-batch", "64"});
    return text.find("\nnote: nobody measured collectives over ") == text.npos
               ? std::string()
               : text.substr(text.find("collectives over "));
  };
  EXPECT_TRUE(note_of("aws-p4d.24xlarge:2").starts_with("collectives over EFA: "));
  EXPECT_EQ(note_of("aws-p4d.24xlarge:1"), "");  // nothing crosses the network
  EXPECT_EQ(note_of("dgx-a100:2"), "");
}

}  // namespace
}  // namespace stagecraft
