#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "costmodel/proto_file.h"
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

TEST_F(CommandSimulateTest, AllCommunicationIsWhatIsExposedAndWhatIsHidden) {
  const auto report = nlohmann::json::parse(Text({"--tp", "2", "--global-batch", "16", "--json"}));
  const auto& total = report["communication_ms"];
  const auto& parts = report["breakdown_ms"];
  double exposed = 0;
  for (const char* part : {"tp", "pp", "dp", "cp", "ep"}) exposed += parts[part].get<double>();
  EXPECT_NEAR(total["exposed"], exposed, 1e-9);
  EXPECT_GT(total["hidden"], 0);
  EXPECT_NEAR(total["all"].get<double>(), exposed + total["hidden"].get<double>(), 1e-9);
  EXPECT_NE(Text({"--tp", "2", "--global-batch", "16"}).find("\n  communication in all: "),
            std::string::npos);
  EXPECT_FALSE(nlohmann::json::parse(Text({"--pp", "4", "--schedule", "pipedream-2bw",
                                           "--global-batch", "16", "--json"}))
                   .contains("communication_ms"));
}

TEST_F(CommandSimulateTest, ATraceWithoutSomeKernelsSaysSo) {
  const std::string trace = Path("step.pftrace");
  const auto last_warning = [&](const char* batch) {
    const auto report = nlohmann::json::parse(
        Text({"--pp", "8", "--global-batch", batch, "--trace", trace, "--json"}));
    return report["warnings"].back().get<std::string>();
  };
  EXPECT_EQ(last_warning("16").find("the trace shows"), std::string::npos);
  const std::string warning = last_warning("512");
  EXPECT_NE(warning.find("the trace shows the kernels of passes that begin in its first "),
            std::string::npos)
      << warning;
  EXPECT_NE(warning.find("at most 200000 slices with them; a smaller --global-batch shows all"),
            std::string::npos);
}

// 16 samples of 1024 tokens are 16,384 tokens a step: 10^9 tokens take 61,036 steps.
TEST_F(CommandSimulateTest, TokensMakeDaysEnergyAndMoney) {
  const Args flags = {"--global-batch", "16",   "--tokens",       "1B", "--price", "h100-sxm=2.5",
                      "--pue",          "1.25", "--energy-price", "0.1"};
  Args with_json = flags;
  with_json.push_back("--json");
  const auto report = nlohmann::json::parse(Text(with_json));
  const auto& run = report["cost"]["run"];
  EXPECT_EQ(run["steps"], 61'036);
  const double days = 61'036 * report["step_time_ms"].get<double>() / 86'400e3;
  EXPECT_NEAR(run["days"].get<double>(), days, 1e-9 * days);
  EXPECT_NEAR(run["gpu_hours"].get<double>(), days * 24 * 8, 1e-6);
  EXPECT_NEAR(run["cost_usd"].get<double>(), days * 24 * 8 * 2.5, 1e-6);
  EXPECT_NEAR(run["energy_mwh"].get<double>(), days * 24 * 8 * 0.7e-3 * 1.25, 1e-9);
  EXPECT_NEAR(run["energy_cost_usd"].get<double>(), days * 24 * 8 * 0.7 * 1.25 * 0.1, 1e-9);
  const auto& interval = report["step_time_interval_ms"];
  EXPECT_NEAR(run["days_interval"][1].get<double>() / days,
              interval[1].get<double>() / report["step_time_ms"].get<double>(), 1e-9);
  const std::string text = Text(flags);
  EXPECT_NE(text.find("\ntraining  1B tokens in 61036 steps: "), std::string::npos) << text;
  EXPECT_NE(text.find("\nnote: energy is that of GPUs that draw their board power all the time "
                      "(700 W of H100 SXM5 80GB), times a PUE of 1.25; "),
            std::string::npos)
      << text;
  EXPECT_EQ(Text({"--global-batch", "16"}).find("training  "), std::string::npos);
}

TEST_F(CommandSimulateTest, BadQuestionsAboutCostAreOneSentence) {
  const auto error = [&](const Args& flags) {
    Args args = {"--model", "gpt2-medium", "--cluster", "h100-sxm:1x8", "--global-batch", "8"};
    args.insert(args.end(), flags.begin(), flags.end());
    return ErrorOf(RunSimulate, args);
  };
  EXPECT_EQ(error({"--tokens", "0"}), "--tokens: got 0, want more than 0");
  EXPECT_EQ(error({"--tokens", "many"}),
            "--tokens: got \"many\", want a finite number such as 0.5 or 1e9");
  EXPECT_EQ(error({"--pue", "1.2"}), "--pue: got it without --tokens, want both or none");
  EXPECT_EQ(error({"--energy-price", "0.1"}),
            "--energy-price: got it without --tokens, want both or none");
  EXPECT_EQ(
      error({"--price", "2,h100-sxm=3"}),
      "--price: got \"2\", which is for every GPU, beside other prices, want one or the other");
  EXPECT_NE(error({"--tokens", "1B", "--pue", "0.9"}).find("--pue: "), std::string::npos);
  EXPECT_NE(error({"--tokens", "-1B"}).find("--tokens: "), std::string::npos);
  EXPECT_EQ(error({"--price", "a100=2"}).find("--price: "), 0u);
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

// 68 samples fill 98 % of an H100: more than the margin allows, which changes nothing else.
TEST_F(CommandSimulateTest, AMarginDecidesWhatFitsAndNothingElse) {
  const auto step = [&](const char* margin) {
    return nlohmann::json::parse(Text(
        {"--micro-batch", "68", "--global-batch", "5440", "--memory-margin", margin, "--json"}));
  };
  const nlohmann::json usual = step("5"), without = step("0%");
  EXPECT_EQ(usual["fits"], false);
  EXPECT_EQ(without["fits"], true);
  EXPECT_EQ(usual["memory_margin"], 0.05);
  EXPECT_NEAR(usual["memory"][0]["usable"].get<double>(),
              0.95 * usual["memory"][0]["capacity"].get<double>(), 1e-6);
  EXPECT_EQ(without["memory"][0]["usable"], without["memory"][0]["capacity"]);
  for (const char* key : {"step_time_ms", "step_time_interval_ms", "basis", "fingerprint"}) {
    EXPECT_EQ(usual[key], without[key]) << key;
  }
  EXPECT_EQ(usual["memory"][0]["allocated"], without["memory"][0]["allocated"]);
  ASSERT_FALSE(usual["remedies"].empty());
  EXPECT_EQ(usual["remedies"][0]["flags"][0], "--micro-batch 34");
  EXPECT_FALSE(without.contains("remedies"));
  const std::string text = Text({"--micro-batch", "68", "--global-batch", "5440"});
  const size_t verdict = text.find("\nmemory    does not fit: stage 0 needs ");
  EXPECT_LT(verdict, text.find("\n          would fit with --micro-batch 34 ("));
  EXPECT_LT(verdict, text.find("\nstep time "));
}

TEST_F(CommandSimulateTest, DefaultsOfBatchAndSequenceAreNoted) {
  std::ostringstream out, err;
  std::istringstream in;
  ASSERT_EQ(
      RunSimulate({"--model", "qwen2.5-72b", "--cluster", "h100-sxm:8x8", "--tp", "8", "--pp", "4"},
                  in, out, err),
      kExitOk);
  EXPECT_NE(out.str().find("global batch 8 (4 micro-batches per replica, 8 in all), 8192 tokens"),
            std::string::npos);
  EXPECT_NE(out.str().find("note: --seq is not given: 8192 tokens per sample, of at most 131072\n"),
            std::string::npos);
  EXPECT_NE(out.str().find("note: --global-batch is not given: 8 samples, micro-batch 1 x dp 2 x "
                           "pp 4\n"),
            std::string::npos);
}

// 40 samples fill 60 % of an H100, 68 fill 98 %.
TEST_F(CommandSimulateTest, ANearlyFullStageIsNoted) {
  const auto flags = [](const char* micro_batch) {
    return Args{"--micro-batch", micro_batch, "--global-batch", "5440", "--memory-margin", "0"};
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
            "compute-slowdown, alignment, attention-version, eager-traffic, composed-operators, "
            "gradient-sums, late-prefetch, tensor-gathers, broadcasts, shard-copies, "
            "update-operations, autocast, tensor-gradients, exchange-overlap");
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
  EXPECT_EQ(
      ErrorOf(RunSimulate, arguments("h100-sxm:1x8", "nvfp4")),
      "precision: H100 SXM5 80GB has no nvfp4 arithmetic, want bf16, fp16, tf32, fp32 or fp8");
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

// Half of 24 blocks have sparse weights, and two of them compute an eighth of the tokens.
TEST_F(CommandSimulateTest, StatesOfLayersAreNamedAndCounted) {
  const std::string file = Write("state.yaml",
                                 "depth: 26\n"
                                 "states:\n"
                                 "  - {layers: 1-12, weight_density: 0.25, storage: CSR}\n"
                                 "  - {layers: '14,16', token_share: 0.125}\n"
                                 "  - {layers: 20-24, attention_density: 0.5}\n");
  const Args states = {"--global-batch", "16", "--layer-state", file};
  const std::string text = Text(states);
  for (const char* line : {"          25 % of the matrices of 12 layers stored, as csr\n",
                           "          12.5 % of the rows in 2 layers\n",
                           "          50 % of the scores of attention in 5 layers\n",
                           "sparse products run as dense ones"}) {
    EXPECT_NE(text.find(line), std::string::npos) << line << text;
  }
  EXPECT_EQ(text.find("frozen"), std::string::npos);
  Args json = states;
  json.push_back("--json");
  const auto counts = nlohmann::json::parse(Text(json)).at("plan").at("layer_states");
  EXPECT_EQ(counts.at("frozen"), 0);
  EXPECT_EQ(counts.at("weight_density").at("layers"), 12);
  EXPECT_EQ(counts.at("row_share").at("least"), 0.125);
  EXPECT_EQ(counts.at("attention_density").at("most"), 0.5);
}

TEST_F(CommandSimulateTest, MasksTakeNothingOffAStep) {
  const std::string file = Write("masked.yaml", "states: [{weight_density: 0.1}]\n");
  const auto fingerprint = [&](Args flags) {
    flags.insert(flags.end(), {"--global-batch", "16", "--json"});
    const auto step = nlohmann::json::parse(Text(flags));
    return std::pair(step.at("fingerprint"), step.at("peak_memory_gib"));
  };
  EXPECT_EQ(fingerprint({"--layer-state", file}), fingerprint({}));
}

TEST_F(CommandSimulateTest, FrozenLayersOfAFileAndOfTheFlagAddUp) {
  const std::string file = Write("state.yaml", "states: [{layers: 0-11, trained: false}]\n");
  const Args both = {"--global-batch", "16", "--layer-state", file, "--frozen", "12,head"};
  EXPECT_NE(Text(both).find("14 of 26 layers frozen, 151154688 of 354823168 parameters trained\n"),
            std::string::npos)
      << Text(both);
}

// The head trains the table of the embedding, and two of three exits share it, too.
TEST_F(CommandSimulateTest, DetachedLayersAndExitsAreNamed) {
  const std::string file = Write("exits.yaml",
                                 "states:\n"
                                 "  - {layers: 0-11, trained: false}\n"
                                 "  - {layers: embedding, detached: true}\n"
                                 "  - {layers: '12,16', exit_head: TIED}\n"
                                 "  - {layers: '20', exit_head: OWN}\n");
  const Args states = {"--global-batch", "16", "--layer-state", file};
  const std::string text = Text(states);
  for (const char* line :
       {"          12 of 26 layers frozen, ",
        "          shared weights of 1 frozen layer trained where other layers use them\n",
        "          exits with heads behind 3 layers, 2 of them tied to the last\n"}) {
    EXPECT_NE(text.find(line), std::string::npos) << line << text;
  }
  Args json = states;
  json.push_back("--json");
  const auto counts = nlohmann::json::parse(Text(json)).at("plan").at("layer_states");
  EXPECT_EQ(counts.at("detached"), 1);
  EXPECT_EQ(counts.at("exits"), 3);
  EXPECT_EQ(counts.at("tied_exits"), 2);
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

TEST_F(CommandSimulateTest, SlowPartsAreNamedAndSlowTheStep) {
  const auto step = [&](Args slow, const char* network = "model") {
    slow.insert(slow.end(), {"--pp", "4", "--tp", "2", "--global-batch", "16", "--json"});
    slow.insert(slow.end(), {"--network", network});
    return nlohmann::json::parse(Text(slow));
  };
  const auto usual = step({});
  EXPECT_FALSE(usual.at("plan").contains("slow"));
  const auto at_full_speed = step({"--slow", "node0/gpu3=1"});
  EXPECT_EQ(at_full_speed.at("fingerprint"), usual.at("fingerprint"));
  EXPECT_EQ(at_full_speed.at("warnings"), usual.at("warnings"));
  const auto slow =
      step({"--slow", "node0/gpu3=0.5", "--slow", "node0/gpu6 -> node0/nvswitch=0.1"});
  EXPECT_GT(slow.at("step_time_ms"), usual.at("step_time_ms"));
  EXPECT_NEAR(slow.at("mfu").get<double>() * slow.at("step_time_ms").get<double>(),
              usual.at("mfu").get<double>() * usual.at("step_time_ms").get<double>(), 1e-6);
  EXPECT_EQ(slow.at("plan").at("slow"),
            nlohmann::json::parse(R"([{"part": "node0/gpu3", "speed": 0.5},
                                      {"part": "node0/gpu6 -> node0/nvswitch", "speed": 0.1}])"));
  EXPECT_EQ(slow.at("warnings").size(), usual.at("warnings").size());
  EXPECT_NEAR(step({"--slow", "node0/gpu3=0.5"}, "flow").at("step_time_ms").get<double>() /
                  step({"--slow", "node0/gpu3=0.5"}).at("step_time_ms").get<double>(),
              1, 0.03);
  const std::string text =
      Text({"--slow", "node0/gpu3=0.5,node0=0.9", "--pp", "4", "--global-batch", "16"});
  EXPECT_NE(text.find("\n          slow: node0/gpu3 at 0.5 of its speed, node0 at 0.9\n"),
            std::string::npos)
      << text;
}

TEST_F(CommandSimulateTest, SlowPartsThatDoNotMatterAreNoted) {
  const std::string plan = testing::TempDir() + "two_devices.yaml";
  WriteFileAtomically(plan,
                      "micro_batch: 4\nglobal_batch: 16\nsequence: 1024\nprecision: BF16\n"
                      "stages:\n  - chunks: [{first: 0, count: 26}]\n"
                      "    replicas: [{devices: [0]}, {devices: [1]}]\n    tensor_parallel: 1\n");
  const std::string text = Output(
      RunSimulate, {"--model", "gpt2-medium", "--cluster", "h100-sxm:1x8", "--plan", plan, "--slow",
                    "node0/gpu3=0.5", "--slow", "node0/gpu6 -> node0/nvswitch=0.1"});
  EXPECT_NE(text.find("--slow of node0/gpu3 changes nothing: the plan does not use it"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("--slow of node0/gpu6 -> node0/nvswitch changes nothing: nothing that the "
                      "plan sends is held up by it"),
            std::string::npos)
      << text;
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
