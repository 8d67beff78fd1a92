#include <fmt/core.h>
#include <gtest/gtest.h>

#include <array>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "costmodel/check.h"
#include "costmodel/proto_file.h"
#include "tools/flags/search_flags.h"
#include "tools/verb/command.h"

namespace stagecraft {
namespace {

struct Ran {
  int code = 0;
  std::string out, err;
};

const Args kJob = {"--model", "megatron:8x1024x16", "--seq", "1024", "--global-batch", "32"};

Ran Search(const std::string& cluster, Args flags = {}) {
  flags.insert(flags.end(), kJob.begin(), kJob.end());
  flags.insert(flags.end(), {"--cluster", cluster, "--quiet"});
  std::istringstream in;
  std::ostringstream out, err;
  Ran ran;
  ran.code = RunSearch(flags, in, out, err);
  ran.out = out.str();
  ran.err = err.str();
  return ran;
}

std::string ErrorOf(const std::string& cluster, const Args& flags) {
  try {
    Search(cluster, flags);
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

TEST(CommandSearchTest, ReportsPlansBestFirstWithAProof) {
  const Ran ran = Search("h100-sxm:1x8", {"--json", "--top", "4"});
  EXPECT_EQ(ran.code, kExitOk);
  EXPECT_EQ(ran.err, "");
  const auto report = nlohmann::json::parse(ran.out);
  EXPECT_EQ(report["command"], "search");
  EXPECT_EQ(report["optimal"], true);
  ASSERT_EQ(report["plans"].size(), 4u);
  double last = 0;
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(report["plans"][i]["rank"], i + 1);
    const double step = report["plans"][i]["evaluation"]["step_time_ms"];
    EXPECT_GE(step, last);
    last = step;
  }
  EXPECT_NEAR(report["bound_ms"].get<double>(),
              report["plans"][0]["evaluation"]["step_time_ms"].get<double>(), 1e-9);
  EXPECT_LE(report["evaluated"], report["candidates"]);
  EXPECT_FALSE(report["curves"]["exhaustive"].empty());
}

TEST(CommandSearchTest, AStackSaysWhatIsNotChosen) {
  const auto report = nlohmann::json::parse(
      Search("h100-sxm:1x2", {"--json", "--stack", "megatron-core", "--software-date", "2024-07"})
          .out);
  EXPECT_EQ(report["plans"][0]["plan"]["gradient_bytes"], 4);
  const std::string notes = report["warnings"].dump();
  EXPECT_NE(notes.find("memory is that of training stack megatron-core as of 2024-07, which plan "
                       "files do not say"),
            std::string::npos)
      << notes;
  EXPECT_NE(notes.find("the vocabulary is not padded; training stack megatron-core pads it to a "
                       "multiple of 128 x the tensor-parallel degree"),
            std::string::npos)
      << notes;
  EXPECT_EQ(ErrorOf("h100-sxm:1x2", {"--software-date", "2024-07"}),
            "--software-date: got \"2024-07\", want it with --stack only");
  EXPECT_TRUE(ErrorOf("h100-sxm:1x2", {"--stack", "megatron-cor"}).starts_with("--stack: got "));
}

TEST(CommandSearchTest, OnlyAllowedValuesAreChosen) {
  const auto report = nlohmann::json::parse(
      Search("h100-sxm:1x8", {"--json", "--tp", "2", "--pp", "2,4", "--schedule", "zb-h1,gpipe",
                              "--recompute", "full", "--zero", "1"})
          .out);
  ASSERT_FALSE(report["plans"].empty());
  for (const auto& entry : report["plans"]) {
    const auto& plan = entry["plan"];
    EXPECT_EQ(plan["tp"], 2);
    EXPECT_TRUE(plan["pp"] == 2 || plan["pp"] == 4);
    EXPECT_TRUE(plan["schedule"] == "zb-h1" || plan["schedule"] == "gpipe");
    EXPECT_EQ(plan["recompute"], "full");
  }
}

TEST(CommandSearchTest, WhatAFrameworkDoesHoldsForAllPlans) {
  const auto report =
      nlohmann::json::parse(Search("h100-sxm:1x8", {"--json", "--compiled", "--backward-prefetch",
                                                    "post", "--param-exchange", "broadcasts"})
                                .out);
  ASSERT_FALSE(report["plans"].empty());
  for (const auto& entry : report["plans"]) {
    EXPECT_EQ(entry["plan"]["elementwise_traffic"], 1);
    EXPECT_EQ(entry["plan"]["backward_prefetch"], "post");
    EXPECT_EQ(entry["plan"]["param_exchange"], "broadcasts");
  }
}

TEST(CommandSearchTest, IfNothingFitsItSaysWhatIsMissing) {
  for (const char* algorithm : {"auto", "dp", "mcmc", "policy"}) {
    std::istringstream in;
    std::ostringstream out, err;
    const int code = RunSearch({"--model", "llama3-70b", "--cluster", "a100-sxm4-40gb:1x2", "--seq",
                                "4096", "--global-batch", "8", "--quiet", "--algorithm", algorithm},
                               in, out, err);
    EXPECT_EQ(code, kExitInfeasible);
    EXPECT_NE(out.str().find("no plan fits; nearest plan: "), std::string::npos) << algorithm;
    EXPECT_NE(out.str().find("but only 38.0 GiB are available"), std::string::npos) << algorithm;
  }
}

// Returns the error with which a verb refuses flags; empty if it accepts them.
std::string Said(int (*run)(const Args&, std::istream&, std::ostream&, std::ostream&),
                 const Args& flags) {
  std::istringstream in;
  std::ostringstream out, err;
  try {
    run(flags, in, out, err);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

// Each case allows the degrees of a single plan on all devices. search refuses those that simulate
// refuses, in the same words, and accepts those that simulate accepts.
TEST(CommandSearchTest, DegreesThatCannotBeMadeAreRefusedAsASimulationRefusesThem) {
  int refused = 0, taken = 0;
  for (const char* model : {"gpt2", "unet", "mixtral-8x7b"}) {
    for (const char* schedule : {"1f1b", "dualpipe", "zb-h1"}) {
      for (const auto& [tp, cp, pp, ep, dp] : std::vector<std::array<int, 5>>{{1, 1, 1, 1, 8},
                                                                              {2, 1, 1, 1, 4},
                                                                              {5, 1, 1, 1, 1},
                                                                              {1, 2, 1, 1, 4},
                                                                              {1, 1, 3, 1, 2},
                                                                              {1, 1, 4, 1, 2},
                                                                              {1, 1, 1, 2, 8},
                                                                              {1, 1, 2, 3, 3},
                                                                              {2, 1, 2, 4, 2}}) {
        const Args flags = {"--model",        model,
                            "--cluster",      "h100-sxm:1x" + std::to_string(tp * cp * pp * dp),
                            "--global-batch", std::to_string(16 * dp),
                            "--seq",          "512",
                            "--micro-batch",  "1",
                            "--schedule",     schedule,
                            "--recompute",    "full",
                            "--tp",           std::to_string(tp),
                            "--cp",           std::to_string(cp),
                            "--pp",           std::to_string(pp),
                            "--ep",           std::to_string(ep),
                            "--quiet"};
        Args asked = flags;
        asked.insert(asked.end(), {"--no-explain", "--budget", "1evals"});
        const std::string want = Said(RunSimulate, flags);
        EXPECT_EQ(Said(RunSearch, asked), want)
            << model << ' ' << schedule << ' ' << tp << ' ' << cp << ' ' << pp << ' ' << ep;
        (want.empty() ? taken : refused) += 1;
      }
    }
  }
  EXPECT_GT(refused, 20);
  EXPECT_GT(taken, 20);
}

TEST(CommandSearchTest, OfSeveralChoicesThatCannotBeMadeTheFirstIsRefused) {
  const std::string cluster = "h100-sxm:1x8";
  EXPECT_EQ(
      ErrorOf(cluster, {"--tp", "3,5"}),
      "stages[0].tensor_parallel: 3 does not divide the 16 attention heads of megatron:8x1024x16");
  EXPECT_NE(ErrorOf(cluster, {"--tp", "16"}).find("= 16 does not divide the 8 devices"),
            std::string::npos);
  EXPECT_NE(ErrorOf(cluster, {"--objective", "pareto", "--ep", "2"}).find("expert"),
            std::string::npos);
  EXPECT_NE(ErrorOf("h100-sxm:1x8+a100-sxm4-80gb:1x8", {"--tp", "3"}), "no error");
  // None of the plans that the search has enumerated can be made.
  EXPECT_EQ(ErrorOf(cluster, {"--gradient-sync", "gossip"}),
            "sync_peers: got 0, want at least 1 with gossip");
}

// The layers find no room on three GPUs of two types, which is no fault of the choices, although a
// simulation refuses one of them.
TEST(CommandSearchTest, ChoicesOfWhichNoPlanHasRoomForItsLayersAreNotRefused) {
  for (const char* algorithm : {"auto", "random"}) {
    std::istringstream in;
    std::ostringstream out, err;
    const int code = RunSearch({"--model",        "megatron:21x4096x32",
                                "--cluster",      "v100-sxm2-16gb:1x2+a100-sxm4-40gb:1x1",
                                "--seq",          "1024",
                                "--global-batch", "6",
                                "--precision",    "fp16",
                                "--pp",           "3",
                                "--tp",           "3,1",
                                "--micro-batch",  "1",
                                "--recompute",    "none",
                                "--quiet",        "--no-explain",
                                "--algorithm",    algorithm},
                               in, out, err);
    EXPECT_EQ(code, kExitInfeasible);
    EXPECT_NE(out.str().find("no plan fits; nearest plan: none can be made: no split of the layers "
                             "fits"),
              std::string::npos)
        << out.str();
  }
}

// A proof names the plans that it covers, and numbers of one are in the singular.
TEST(CommandSearchTest, EveryProofNamesItsPlansAndOneOfThemIsSingular) {
  for (const char* cluster : {"h100-sxm:1x4", "h100-sxm:1x2+a100-sxm4-80gb:1x2"}) {
    for (const char* objective : {"step-time", "cost", "memory", "pareto"}) {
      const Args flags = {"--algorithm",   "exhaustive", "--objective", objective,
                          "--micro-batch", "4",          "--pp",        "1",
                          "--no-explain"};
      Args json = flags;
      json.push_back("--json");
      const auto report = nlohmann::json::parse(Search(cluster, json).out);
      const std::string text = Search(cluster, flags).out;
      const std::string proof = "\nproven: none of the " + report["space"].get<std::string>() + ' ';
      EXPECT_NE(text.find(proof), std::string::npos) << text;
      EXPECT_NE(text.find(fmt::format("the search enumerated {} plans before it ended, evaluated ",
                                      report["candidates"].get<int>())),
                std::string::npos)
          << text;
      Args cut = flags;
      cut.insert(cut.end(), {"--budget", "1evals"});
      const std::string unproven = Search(cluster, cut).out;
      EXPECT_EQ(unproven.find("\nproven"), std::string::npos) << unproven;
      EXPECT_NE(unproven.find("\nnot proven, as the search was cut short: "), std::string::npos)
          << unproven;
      EXPECT_NE(unproven.find(" evaluated 1 and found 1 that fits, in "), std::string::npos)
          << unproven;
    }
  }
  // A choice that is given twice counts as one.
  const auto on_one = [](const char* one) {
    std::istringstream in;
    std::ostringstream out, err;
    RunSearch({"--model", "megatron:8x1024x16", "--cluster", "h100-sxm:1x2", "--seq", "1024",
               "--global-batch", "1", "--tp", one, "--pp", one, "--cp", one, "--micro-batch", one,
               "--quiet", "--no-explain"},
              in, out, err);
    return out.str();
  };
  const std::string text = on_one("1"), doubled = on_one("1,1");
  EXPECT_NE(text.find("the best plan uses 1 GPU; 1 stays idle\n"), std::string::npos) << text;
  EXPECT_EQ(doubled.substr(0, doubled.find(" before it ended")),
            text.substr(0, text.find(" before it ended")));
}

// An algorithm that leaves the plan space says how much better than its answer a plan can be.
TEST(CommandSearchTest, EveryAlgorithmPrintsAGap) {
  for (const char* algorithm : {"random", "beam", "dp", "mcmc"}) {
    const Args flags{"--algorithm", algorithm,      "--pp",          "2", "--budget",
                     "20evals",     "--no-explain", "--micro-batch", "4"};
    Args json = flags;
    json.push_back("--json");
    const std::string cluster = "h100-sxm:1x4+a100-sxm4-80gb:1x4";
    const auto report = nlohmann::json::parse(Search(cluster, json).out);
    const auto step = report["plans"][0]["evaluation"]["step_time_ms"].get<double>();
    const auto least = report["bound_ms"].get<double>();
    EXPECT_GT(least, 0) << algorithm;
    EXPECT_LE(least, step) << algorithm;
    EXPECT_NEAR(report["gap"].get<double>(), step / least - 1, 1e-9) << algorithm;
    const std::string text = Search(cluster, flags).out;
    const std::string sentence = fmt::format(
        "not proven: this is the best plan that algorithm {} found; none, whatever its "
        "stages, is more than {:.1f} % better (proven)\n",
        algorithm, 100 * (step / least - 1));
    EXPECT_NE(text.find(sentence), std::string::npos) << text;
  }
}

// The transformer blocks are divided between stages on different GPU types.
TEST(CommandSearchTest, MixedGpusShareTheBlocks) {
  const auto report = nlohmann::json::parse(
      Search("h100-sxm:1x8+v100-sxm2-16gb:1x8", {"--json", "--pp", "2", "--precision", "fp16"})
          .out);
  ASSERT_FALSE(report["plans"].empty());
  // The best plan within pools is proven, and the search beyond them finds none that is worse.
  EXPECT_EQ(report["within"]["optimal"], true);
  EXPECT_NEAR(report["within"]["bound_ms"].get<double>(),
              report["within"]["step_time_ms"].get<double>(), 1e-9);
  const auto step = report["plans"][0]["evaluation"]["step_time_ms"].get<double>();
  EXPECT_LE(step, report["within"]["step_time_ms"].get<double>());
  // How much better a plan of other stages can be is known, too.
  const auto least = report["beyond"]["bound_ms"].get<double>();
  EXPECT_GT(least, 0);
  EXPECT_LE(least, step);
  EXPECT_NEAR(report["beyond"]["gap"].get<double>(), step / least - 1, 1e-9);
  EXPECT_EQ(report["beyond"]["algorithm"], "dp");
  const auto& plan = report["plans"][0]["plan"];
  ASSERT_EQ(plan["stages"].size(), 2u);
  EXPECT_EQ(plan["stages"][0]["blocks"].get<int>() + plan["stages"][1]["blocks"].get<int>(), 8);
}

TEST(CommandSearchTest, OnMixedGpusDegreesThatPoolsDoNotHaveAreFoundOnOneKind) {
  const auto report = nlohmann::json::parse(
      Search("h100-sxm:1x8+a100-sxm4-80gb:1x8", {"--json", "--cp", "2", "--zero", "2"}).out);
  ASSERT_FALSE(report["plans"].empty());
  for (const auto& found : report["plans"]) {
    EXPECT_EQ(found["plan"]["cp"], 2);
    EXPECT_EQ(found["plan"]["zero"], 2);
  }
}

// 32 samples cannot be divided equally among seven GPUs, as replicas that share gradients require.
TEST(CommandSearchTest, DevicesThatAPlanLeavesIdleAreCounted) {
  const Ran ran = Search("h100-sxm:1x7", {"--zero", "3", "--pp", "1", "--tp", "1", "--cp", "1"});
  EXPECT_EQ(ran.code, kExitOk);
  EXPECT_NE(ran.out.find("the best plan uses 4 GPUs; 3 stay idle\n"), std::string::npos) << ran.out;
}

TEST(CommandSearchTest, OfMixedGpusEveryChoiceIsKept) {
  Args flags{"--json", "--tp", "2", "--pp", "2", "--micro-batch", "1", "--recompute", "none"};
  flags.insert(flags.end(), {"--rank-order", "tp-cp-ep-pp-dp", "--no-sequence-parallel"});
  const auto report = nlohmann::json::parse(Search("h100-sxm:1x4+a100-sxm4-80gb:1x4", flags).out);
  ASSERT_FALSE(report["plans"].empty());
  for (const auto& found : report["plans"]) {
    const auto& plan = found["plan"];
    EXPECT_EQ(plan["stages"].size(), 2u);
    EXPECT_EQ(plan["micro_batch"], 1);
    EXPECT_EQ(plan["rank_order"], "tp-cp-ep-pp-dp");
    EXPECT_EQ(plan["sequence_parallel"], false);
    for (const auto& stage : plan["stages"]) {
      EXPECT_EQ(stage["tp"], 2);
      EXPECT_EQ(stage["recompute"], "none");
    }
  }
}

TEST(CommandSearchTest, BadFlagsAreOneSentence) {
  const std::string cluster = "h100-sxm:1x8";
  EXPECT_EQ(ErrorOf(cluster, {"--tp", "0"}), "--tp: got 0, want 1 or more");
  EXPECT_EQ(ErrorOf(cluster, {"--micro-batch", "9223372036854775807"}),
            "micro-batch: got 9223372036854775807, want 1 to 1000000000");
  EXPECT_EQ(ErrorOf(cluster, {"--zero", "4"}), "--zero: got 4, want 0 to 3");
  EXPECT_EQ(ErrorOf(cluster, {"--top", "0"}), "--top: got 0, want 1 to 1000");
  EXPECT_EQ(ErrorOf(cluster, {"--schedule", "custom"}),
            "--schedule: got \"custom\", want names as simulate takes them, or all");
  EXPECT_TRUE(ErrorOf(cluster, {"--schedule", "pipedream"}).starts_with("schedule: pipedream "));
  EXPECT_EQ(ErrorOf(cluster, {"-o", "plan.pb"}),
            "-o: got \"plan.pb\", want a .textproto, .json or .yaml file");
  for (const char* budget :
       {"5x", "", "s", "-1s", "1e99s", "1.5evals", "5s,5s", "5s,", "nans", "5m", "10", "1min,1h"}) {
    EXPECT_TRUE(ErrorOf(cluster, {"--budget", budget}).starts_with("--budget: ")) << budget;
  }
}

TEST(CommandSearchTest, GpusThatCannotComputeAsAskedAreNamed) {
  const std::string no_bf16 =
      "precision: Tesla V100 SXM2 16GB has no bf16 arithmetic, want fp16 or fp32";
  EXPECT_EQ(ErrorOf("v100-sxm2-16gb:1x8", {}), no_bf16);
  EXPECT_EQ(ErrorOf("a100-sxm4-80gb:1x8+v100-sxm2-16gb:1x8", {}), no_bf16);
  EXPECT_EQ(ErrorOf("h100-sxm:1x8", {"--precision", "fp8", "--fp8-recipe", "mx"}),
            "fp8_recipe: H100 SXM5 80GB has no GEMMs of block-scaled 8-bit numbers");
}

TEST(CommandSearchTest, AnyAlgorithmAnswersAndSaysThatNothingIsProven) {
  for (const char* name : {"random", "beam", "dp", "mcmc", "differentiable", "policy"}) {
    const Ran ran = Search("h100-sxm:1x4", {"--json", "--algorithm", name, "--budget", "60evals"});
    EXPECT_EQ(ran.code, kExitOk) << name;
    const auto report = nlohmann::json::parse(ran.out);
    EXPECT_EQ(report["algorithm"], name);
    EXPECT_EQ(report["seed"], 1);
    EXPECT_EQ(report["optimal"], false);
    EXPECT_LE(report["evaluated"], 60);
    EXPECT_FALSE(report["plans"].empty());
    EXPECT_FALSE(report["curves"][name].empty());
    EXPECT_FALSE(report.contains("explanation"));
  }
}

TEST(CommandSearchTest, AlgorithmsAreComparedInATableAndAPage) {
  const std::string page = testing::TempDir() + "/algorithms.html";
  const Args flags = {"--compare-algorithms", "--budget", "60evals", "--report", page};
  Args json = flags;
  json.push_back("--json");
  const auto report = nlohmann::json::parse(Search("h100-sxm:1x4", json).out);
  ASSERT_EQ(report["algorithms"].size(), 7u);
  double best = report["plans"][0]["evaluation"]["step_time_ms"];
  for (const auto& one : report["algorithms"]) {
    EXPECT_GE(one["step_time_ms"].get<double>(), best * (1 - 1e-9)) << one["algorithm"];
    EXPECT_TRUE(report["curves"].contains(one["algorithm"].get<std::string>()));
  }
  EXPECT_NE(ReadFile(page).find("Best so far, over evaluations"), std::string::npos);
  const Ran table = Search("h100-sxm:1x4", flags);
  EXPECT_NE(table.out.find("differentiable"), std::string::npos);
  EXPECT_NE(table.out.find("60 evaluations each"), std::string::npos);
}

TEST(CommandSearchTest, AlgorithmFlagsThatDoNotGoTogetherAreOneSentence) {
  EXPECT_EQ(ErrorOf("h100-sxm:1x4", {"--compare-algorithms", "--algorithm", "beam"}),
            "--compare-algorithms: got it with --algorithm, want one of them");
  EXPECT_EQ(ErrorOf("h100-sxm:1x4", {"--policy", "a.policy"}),
            "--policy: wants --algorithm policy, or --compare-algorithms");
  EXPECT_EQ(ErrorOf("h100-sxm:1x4", {"--objective", "pareto", "--algorithm", "mcmc"}),
            "--objective: got pareto with another --algorithm, want exhaustive");
  EXPECT_EQ(ErrorOf("h100-sxm:1x4", {"--explain", "--algorithm", "mcmc"}),
            "--explain: got another --algorithm, want exhaustive, whose answer is proven");
  EXPECT_NE(ErrorOf("h100-sxm:1x4", {"--algorithm", "genetic"}).find("--algorithm"),
            std::string::npos);
}

TEST(ParseBudgetTest, TakesATimeEvaluationsOrBoth) {
  EXPECT_EQ(ParseBudget("2.5s").seconds, 2.5);
  EXPECT_EQ(ParseBudget("5000evals").evaluations, 5000);
  const Budget both = ParseBudget("10evals,1s");
  EXPECT_EQ(both.evaluations, 10);
  EXPECT_EQ(both.seconds, 1);
}

TEST(CommandSearchTest, ABudgetSaysHowFarOffTheBestMayBe) {
  const auto report = nlohmann::json::parse(
      Search("h100-sxm:1x8", {"--json", "--objective", "cost", "--budget", "2evals"}).out);
  EXPECT_EQ(report["evaluated"], 2);
  EXPECT_GT(report["bound_device_seconds"], 0.0);
}

}  // namespace
}  // namespace stagecraft
