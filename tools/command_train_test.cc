#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "costmodel/error_of.h"
#include "costmodel/proto_file.h"
#include "tools/trace/check_trace.h"
#include "tools/verb/command.h"

namespace stagecraft {
namespace {

std::string Written(const std::string& name, const std::string& contents) {
  const std::string path = testing::TempDir() + name;
  WriteFileAtomically(path, contents);
  return path;
}

// A pipeline of four stages, and what else a run needs.
Args Line(Args more) {
  Args args = {"--model",        "megatron:16x512x8",
               "--cluster",      "h100-sxm:1x4",
               "--pp",           "4",
               "--global-batch", "32",
               "--seq",          "512",
               "--cost-model",   "analytical",
               "--steps",        "1000"};
  args.insert(args.end(), more.begin(), more.end());
  return args;
}

nlohmann::json Train(const Args& more, int code = kExitOk) {
  Args args = Line(more);
  args.push_back("--json");
  std::istringstream in;
  std::ostringstream out, err;
  EXPECT_EQ(RunTrain(args, in, out, err), code) << err.str();
  return nlohmann::json::parse(out.str());
}

std::string ErrorWith(const Args& more) {
  return ErrorOf([&] {
    std::istringstream in;
    std::ostringstream out, err;
    RunTrain(Line(more), in, out, err);
  });
}

std::string Pruning() {
  return Written("prune.yaml",
                 "pruning: {final_sparsity: 0.9, first_step: 200, end_step: 600, interval: 200, "
                 "width_spread: 0.5}\n");
}

TEST(CommandTrainTest, ARunWithoutChangesIsItsSteps) {
  const nlohmann::json report = Train({});
  ASSERT_EQ(report["states"].size(), 1u);
  const auto step = report["states"][0]["step_time_ns"].get<int64_t>();
  EXPECT_EQ(report["history"]["time_ns"], 1000 * step);
  EXPECT_EQ(report["history"]["goodput"], 1);
}

// 1000 steps of 32 x 512 tokens.
TEST(CommandTrainTest, TokensSayHowManyStepsThereAreAndMoneyIsThatOfTheWholeRun) {
  const nlohmann::json by_steps = Train({"--price", "2"});
  const double hours = by_steps["history"]["time_ns"].get<double>() / 3.6e12;
  EXPECT_NEAR(by_steps["cost"]["gpu_hours"].get<double>(), 4 * hours, 1e-9);
  EXPECT_NEAR(by_steps["cost"]["cost_usd"].get<double>(), 8 * hours, 1e-9);
  EXPECT_NEAR(by_steps["cost"]["energy_mwh"].get<double>(), 4 * hours * 0.7e-3 * 1.1, 1e-12);
  Args by_tokens = Line({"--json", "--price", "2"});
  by_tokens.erase(by_tokens.begin() + 12, by_tokens.begin() + 14);
  by_tokens.insert(by_tokens.end(), {"--tokens", "16.384M"});
  std::istringstream in;
  std::ostringstream out, err;
  ASSERT_EQ(RunTrain(by_tokens, in, out, err), kExitOk);
  EXPECT_EQ(nlohmann::json::parse(out.str()), by_steps);
  EXPECT_EQ(ErrorWith({"--tokens", "1T"}), "--tokens: got it with --steps, want one of them");
}

// Some node of the four fails every hour, so each of them every four.
TEST(CommandTrainTest, NodesFailAsOftenAsIsSaid) {
  Args args = Line({"--mtbf", "1h", "--checkpoint", "10min", "--storage-bandwidth", "1", "--json"});
  args[3] = "h100-sxm:4x1";
  args[13] = "1000000";
  std::istringstream in;
  std::ostringstream out, err;
  ASSERT_EQ(RunTrain(args, in, out, err), kExitOk) << err.str();
  const nlohmann::json report = nlohmann::json::parse(out.str());
  EXPECT_NEAR(report["mtbf_s"].get<double>(), 3600, 1e-6);
  EXPECT_EQ(report["checkpoint"]["interval_s"], 600);
  const double hours = report["history"]["time_ns"].get<double>() / 3.6e12;
  const double failures = report["history"]["failures"].get<double>();
  EXPECT_GT(failures, hours / 2);
  EXPECT_LT(failures, 2 * hours);
  EXPECT_EQ(ErrorWith({"--mtbf", "3h", "--events", Written("none.yaml", "events: []\n")}),
            "--mtbf: got it beside a file of events, want one of them");
  EXPECT_EQ(ErrorWith({"--mtbf", "soon"}),
            "--mtbf: got \"soon\", want a finite number such as 30, 30s or 10min");
}

TEST(CommandTrainTest, ChangesHaveTheirPlansAndCosts) {
  const nlohmann::json report =
      Train({"--dynamics", Pruning(), "--balance", "diffusion", "--by", "truth"});
  ASSERT_EQ(report["states"].size(), 2u);  // nothing is pruned at the first step
  EXPECT_EQ(report["states"][1]["step"], 400);
  EXPECT_GT(report["states"][1]["cost"]["profiling_ns"], 0);
  EXPECT_GT(report["states"][1]["cost"]["decision_ns"], 0);
  EXPECT_EQ(report["inputs"][0]["path"], Pruning());
}

// The table of a GPT is its head, too: it is trained on while the first blocks are frozen.
TEST(CommandTrainTest, BlocksFreezeInFrontOfATiedHead) {
  const std::string file =
      Written("freeze.yaml",
              "freezing: {first_step: 500, interval: 500, blocks_each: 8, most_blocks: 8}\n");
  const nlohmann::json report = Train({"--dynamics", file});
  ASSERT_EQ(report["states"].size(), 2u);
  EXPECT_EQ(report["states"][1]["change"],
            "8 of 16 blocks are frozen (their shared weights train behind them)");
  EXPECT_LT(report["states"][1]["step_time_ns"], report["states"][0]["step_time_ns"]);
  const std::string cached = Written("cached.yaml",
                                     "freezing: {interval: 500, blocks_each: 8, most_blocks: 8, "
                                     "caches_outputs: true}\n");
  EXPECT_EQ(ErrorWith({"--dynamics", cached}),
            cached +
                ": freezing.caches_outputs: got it for a network whose embedding shares weights "
                "with trained layers, which change what frozen blocks hand on, want it left out");
}

// The heads of exits take their time, from the first step on.
TEST(CommandTrainTest, HeadsOfExitsTakeTheirTime) {
  const auto steps = [&](const std::string& head) {
    const std::string file = Written(
        head + ".yaml",
        "early_exit: {first_block: 4, every: 4, share: 0.3, first_step: 400, end_step: 400, "
        "interval: 1, head: " +
            head + "}\n");
    const nlohmann::json report = Train({"--dynamics", file});
    std::vector<int64_t> times;
    for (const auto& state : report["states"]) times.push_back(state["step_time_ns"]);
    return times;
  };
  const std::vector<int64_t> none = steps("NONE"), own = steps("OWN"), tied = steps("TIED");
  ASSERT_EQ(none.size(), 2u);
  ASSERT_EQ(own.size(), 2u);
  ASSERT_EQ(tied.size(), 2u);
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_GT(own[i], none[i]) << i;
    EXPECT_GT(tied[i], none[i]) << i;
  }
}

TEST(CommandTrainTest, BalancersStandBesideEachOther) {
  const nlohmann::json report = Train({"--dynamics", Pruning(), "--compare-balancers"});
  const auto& rows = report["balancers"]["rows"];
  ASSERT_EQ(rows.size(), 8u);
  EXPECT_EQ(rows[0]["name"], "nobody, as given");
  const double bound = report["balancers"]["bound"].get<double>();
  for (const auto& row : rows) {
    const double gain = rows[0]["time_ns"].get<double>() / row["time_ns"].get<double>();
    EXPECT_LT(gain, bound * 1.001) << row["name"];
  }
}

TEST(CommandTrainTest, ALostNodeCostsWhatItCosts) {
  const std::string faults = Written("faults.yaml",
                                     "events:\n"
                                     "  - {at_s: 1, node: node0, what: FAIL}\n"
                                     "  - {at_s: 101, node: node0, what: RECOVER}\n");
  const std::string history = testing::TempDir() + "history.csv";
  const std::string page = testing::TempDir() + "run.html";
  const nlohmann::json report = Train({"--events", faults, "--detection", "5", "--restart", "10",
                                       "--history", history, "--report", page});
  EXPECT_EQ(report["history"]["failures"], 1);
  EXPECT_NE(ReadFile(history).find("waiting"), std::string::npos);
  EXPECT_NE(ReadFile(page).find("Where the time went"), std::string::npos);
}

// Computing, detection, waiting, restart, and all steps again: 0.1 s of them are lost.
TEST(CommandTrainTest, ATraceShowsPhasesAndCounters) {
  const std::string faults = Written("faults.yaml",
                                     "events:\n"
                                     "  - {at_s: 1, node: node0, what: FAIL}\n"
                                     "  - {at_s: 101, node: node0, what: RECOVER}\n");
  const std::string perfetto = testing::TempDir() + "run.pftrace";
  const std::string chrome = testing::TempDir() + "run.json";
  nlohmann::json report;
  for (const std::string& file : {perfetto, chrome}) {
    report = Train(
        {"--events", faults, "--detection", "5", "--restart", "10", "--trace", file, "--quiet"});
  }
  const auto& phases = report["history"]["phases"];
  const std::string slices = std::to_string(phases.size()) + " slices";
  EXPECT_NE(CheckPerfettoTrace(ReadFile(perfetto), perfetto).find("5 tracks, " + slices + ", "),
            std::string::npos);
  EXPECT_NE(CheckChromeTrace(ReadFile(chrome), chrome).find(slices), std::string::npos);

  std::vector<std::string> names;
  std::map<std::string, std::vector<int64_t>> counters;
  const auto trace = nlohmann::json::parse(ReadFile(chrome));
  for (const auto& event : trace["traceEvents"]) {
    if (event["ph"] == "X") {
      const auto& phase = phases[names.size()];
      EXPECT_EQ(event["ts"], phase["start_ns"].get<double>() / 1e3);
      EXPECT_EQ(event["dur"], phase["length_ns"].get<double>() / 1e3);
      EXPECT_EQ(event["args"]["first_step"], phase["first_step"]);
      EXPECT_EQ(event["args"].value("reason", ""), phase["reason"]);
      names.push_back(event["name"]);
    } else if (event["ph"] == "C") {
      counters[event["name"]].push_back(event["args"].begin().value().get<int64_t>());
    }
  }
  ASSERT_EQ(names.size(), phases.size());
  EXPECT_EQ(names.front(), "computing");
  EXPECT_NE(std::find(names.begin(), names.end(), "waiting"), names.end());
  const auto step = report["states"][0]["step_time_ns"].get<int64_t>();
  const auto idle = std::llround(1000 * report["states"][0]["bubble_fraction"].get<double>());
  EXPECT_EQ(counters["step time"], (std::vector<int64_t>{step, 0, step}));
  EXPECT_EQ(counters["idle share, per mille"], (std::vector<int64_t>{idle, 1000, idle}));
  EXPECT_EQ(counters["devices at work"], (std::vector<int64_t>{4, 0, 4}));
}

TEST(CommandTrainTest, ARunThatCannotGoOnKeepsItsHistory) {
  const std::string faults =
      Written("faults.yaml", "events:\n  - {at_s: 1, node: node0, what: FAIL}\n");
  const nlohmann::json report = Train({"--events", faults}, kExitInfeasible);
  EXPECT_LT(report["history"]["steps"], 1000);
  EXPECT_NE(report["stopped"].get<std::string>().find("node0 failed"), std::string::npos);
}

// Nothing is left to train from step 400 on.
std::string Vanishing() {
  std::string states = "step,layer,trained\n";
  for (int layer = 0; layer < 18; ++layer) states += "400," + std::to_string(layer) + ",no\n";
  Written("vanishing.csv", states);
  return Written("vanishing.yaml", "states: vanishing.csv\n");
}

TEST(CommandTrainTest, WhatWasSimulatedBeforeAMistakeIsKept) {
  const std::string history = testing::TempDir() + "kept.json";
  const std::string page = testing::TempDir() + "kept.html";
  std::istringstream in;
  std::ostringstream out, err;
  const std::string error = ErrorOf([&] {
    RunTrain(Line({"--dynamics", Vanishing(), "--history", history, "--report", page, "--json"}),
             in, out, err);
  });
  EXPECT_EQ(error.find("the network from step 400 on: got all 18 layers"), 0u) << error;
  auto kept = nlohmann::json::parse(ReadFile(history));
  EXPECT_EQ(kept["steps"], 400);
  EXPECT_EQ(kept["stopped"], error);
  EXPECT_NE(ReadFile(page).find("400 of 1,000 steps"), std::string::npos);
  const auto report = nlohmann::json::parse(out.str());
  EXPECT_EQ(report["stopped"], error);
  // A report has twelve digits.
  const auto idle_share = report["history"]["phases"][0]["idle_share"];
  EXPECT_NEAR(kept["phases"][0]["idle_share"], idle_share.get<double>(), 1e-11);
  kept["phases"][0]["idle_share"] = idle_share;
  EXPECT_EQ(report["history"], kept);
  EXPECT_EQ(report["states"].size(), 1u);
}

// Stored by entries, with a column for each, slightly pruned weights take more memory than dense
// ones.
TEST(CommandTrainTest, AStateThatDoesNotFitMemoryEndsTheRunThere) {
  const std::string history = testing::TempDir() + "filled.csv";
  const std::string pruning =
      Written("slightly.yaml",
              "pruning: {final_sparsity: 0.05, first_step: 200, end_step: 600, interval: 200}\n");
  std::istringstream in;
  std::ostringstream out, err;
  const std::string error = ErrorOf([&] {
    RunTrain({"--model", "megatron:17x8192x64", "--cluster", "h100-sxm:1x4", "--pp", "4",
              "--global-batch", "8", "--seq", "512", "--cost-model", "analytical", "--steps",
              "1000", "--dynamics", pruning, "--history", history},
             in, out, err);
  });
  EXPECT_EQ(error.find("the network from step 400 on: got a plan whose memory does not suffice"),
            0u)
      << error;
  EXPECT_NE(ReadFile(history).find("computing,0,400,0,"), std::string::npos) << ReadFile(history);
  EXPECT_NE(out.str().find("stopped early: the network from step 400 on"), std::string::npos);
  EXPECT_NE(err.str().find("wrote " + history), std::string::npos);
}

TEST(CommandTrainTest, ARunThatCannotBeginIsASentenceAlone) {
  EXPECT_EQ(ErrorWith({"--dynamics", Written("none.yaml", "states: none.csv\n")}).find("none.csv"),
            testing::TempDir().size());
  const std::string states = Written("dead.csv", "step,layer,token_share\n0,17,0\n");
  const std::string error = ErrorWith({"--dynamics", Written("dead.yaml", "states: dead.csv\n"),
                                       "--history", testing::TempDir() + "dead.json"});
  EXPECT_EQ(error.find("the network from step 0 on: got "), 0u) << error;
  EXPECT_FALSE(std::filesystem::exists(testing::TempDir() + "dead.json"));
}

TEST(CommandTrainTest, FreedDevicesAndTheirHoursAreReported) {
  const Args args = {"--dynamics",
                     Written("exits.yaml",
                             "early_exit: {first_block: 2, every: 2, share: 0.9, first_step: 500, "
                             "end_step: 500, interval: 100}\n"),
                     "--balance",
                     "partition",
                     "--by",
                     "truth",
                     "--repack",
                     "--repack-loss",
                     "30%"};
  const nlohmann::json report = Train(args);
  const int left = report["states"].back()["devices"].get<int>();
  ASSERT_LT(left, 4) << report["states"].back()["decision"];
  EXPECT_EQ(report["freed"]["devices"], 4 - left);
  const double hours =
      report["states"].back()["step_time_ns"].get<double>() * 500 * 1e-9 / 3600 * (4 - left);
  EXPECT_NEAR(report["freed"]["gpu_hours"].get<double>() / hours, 1, 0.01);
  std::istringstream in;
  std::ostringstream out, err;
  RunTrain(Line(args), in, out, err);
  EXPECT_NE(out.str().find("re-packing frees " + std::to_string(4 - left) + " of 4 GPUs: "),
            std::string::npos)
      << out.str();
}

TEST(CommandTrainTest, HowSparseProductsRunIsSaid) {
  std::istringstream in;
  std::ostringstream out, err;
  RunTrain(Line({"--dynamics", Pruning()}), in, out, err);
  EXPECT_NE(out.str().find("kinds of sparse products run"), std::string::npos) << out.str();
}

TEST(CommandTrainTest, ManyRunsThatCannotGoOnAreNoMistake) {
  const std::string faults = Written("lost.yaml",
                                     "events:\n  - {at_s: 1, node: node0, what: FAIL}\n"
                                     "rates: {device_failures: [{mtbf_s: 1e9}], repair_s: 1}\n");
  const nlohmann::json report = Train({"--events", faults, "--runs", "3"}, kExitInfeasible);
  EXPECT_FALSE(report.contains("runs"));
  EXPECT_NE(report["stopped"].get<std::string>().find("node0 failed"), std::string::npos);
}

TEST(CommandTrainTest, ManyRunsAreSummedUp) {
  const std::string faults =
      Written("faults.yaml", "rates: {device_failures: [{mtbf_s: 100}], repair_s: 1}\n");
  const Args args = {"--events", faults, "--checkpoint", "auto", "--storage-bandwidth", "10",
                     "--runs",   "20",   "--detection",  "1",    "--restart",           "1"};
  const nlohmann::json report = Train(args);
  EXPECT_EQ(report["runs"]["runs"], 20);
  EXPECT_GT(report["runs"]["failures"]["mean"], 0);
  EXPECT_GT(report["checkpoint"]["interval_s"], 0);
  EXPECT_EQ(report, Train(args));
}

class JobTest : public testing::Test {
 protected:
  static nlohmann::json TrainJob(const std::string& job, const Args& more = {}) {
    Args args = {"--job", Written("job.yaml", job), "--cost-model", "analytical", "--json"};
    args.insert(args.end(), more.begin(), more.end());
    std::istringstream in;
    std::ostringstream out, err;
    EXPECT_EQ(RunTrain(args, in, out, err), kExitOk) << err.str();
    nlohmann::json report = nlohmann::json::parse(out.str());
    EXPECT_EQ(report["inputs"][0]["path"], args[1]);
    report.erase("inputs");
    return report;
  }

  const std::string job_ =
      "model: megatron:16x512x8\n"
      "cluster: h100-sxm:1x4\n"
      "plan: {degrees: {pp: 4}, micro_batch: 1, global_batch: 32, sequence: 512}\n"
      "steps: 1000\n"
      "dynamics_file: prune.yaml\n"
      "events: {rates: {device_failures: [{mtbf_s: 100}], repair_s: 1}}\n"
      "balance: {balancer: PARTITION, by: TRUE_TIME, profiling_share: 0.1}\n"
      "checkpoint: {storage_bytes_per_s: 1e10, is_asynchronous: true, slowdown: 0.25}\n"
      "recovery: {policy: SPARE, spare_nodes: 2, detection_s: 1, restart_s: 2, swap_s: 3}\n"
      "seed: 5\n";
  const std::string pruning_ = Pruning();
  const std::string events_ =
      Written("rates.yaml", "rates: {device_failures: [{mtbf_s: 100}], repair_s: 1}\n");
  const Args flags_ = {"--dynamics",
                       pruning_,
                       "--events",
                       events_,
                       "--balance",
                       "partition",
                       "--by",
                       "truth",
                       "--profiling-share",
                       "10%",
                       "--checkpoint",
                       "auto",
                       "--storage-bandwidth",
                       "10",
                       "--checkpoint-async",
                       "--checkpoint-slowdown",
                       "25%",
                       "--recover",
                       "spare",
                       "--spares",
                       "2",
                       "--detection",
                       "1",
                       "--restart",
                       "2",
                       "--swap",
                       "3",
                       "--seed",
                       "5"};
};

TEST_F(JobTest, AFileStandsForManyFlags) {
  nlohmann::json by_flags = Train(flags_);
  by_flags.erase("inputs");
  EXPECT_EQ(TrainJob(job_), by_flags);
}

TEST_F(JobTest, FlagsReplaceWhatTheFileSays) {
  const Args more = {"--steps",      "500", "--balance", "none", "--seed", "9",
                     "--checkpoint", "60",  "--spares",  "1",    "--runs", "3"};
  const nlohmann::json report = TrainJob(job_, more);
  EXPECT_EQ(report["steps"], 500);
  EXPECT_EQ(report["seed"], 9);
  EXPECT_EQ(report["checkpoint"]["interval_s"], 60);
  EXPECT_EQ(report["states"][1]["decision"], "");
  EXPECT_EQ(report["runs"]["runs"], 3);
  EXPECT_FALSE(TrainJob(job_, {"--checkpoint", "none"}).contains("checkpoint"));
}

TEST_F(JobTest, WhatTheFileLeavesOutIsForFlags) {
  const std::string path = Written("job.yaml", "steps: 1000\n");
  std::istringstream in;
  std::ostringstream out, err;
  EXPECT_EQ(RunTrain({"--job", path, "--model", "megatron:16x512x8", "--cluster", "h100-sxm:1x4",
                      "--pp", "4"},
                     in, out, err),
            kExitOk);
  const auto error = [&](const Args& args) {
    return ErrorOf([&] { RunTrain(args, in, out, err); });
  };
  EXPECT_EQ(error({"--job", path}), "--model: got none, want one, here or in a file of --job");
  EXPECT_EQ(error({"--model", "megatron:16x512x8", "--cluster", "h100-sxm:1x4"}),
            "--steps: got none, want how many steps the run has, here or in a file of --job, or "
            "--tokens");
  const std::string planned = Written("planned.yaml", job_);
  EXPECT_EQ(error({"--job", planned, "--tp", "2"}),
            "--tp cannot be given together with " + planned + ": plan");
}

TEST(CommandTrainTest, FlagsThatContradictEachOtherAreOneSentence) {
  EXPECT_EQ(ErrorWith({"--by", "param"}),
            "--by: got it without --balance, want partition or diffusion");
  EXPECT_EQ(ErrorWith({"--spares", "2"}), "--spares: got it with --recover restart, want spare");
  EXPECT_EQ(ErrorWith({"--recover", "spare"}),
            "--recover spare: got it without --spares, want a number of nodes");
  EXPECT_EQ(ErrorWith({"--checkpoint", "60"}),
            "--checkpoint: got it without --storage-bandwidth, want GB/s");
  EXPECT_EQ(ErrorWith({"--checkpoint", "auto", "--storage-bandwidth", "1"}),
            "--checkpoint auto: got no failures that are drawn, want rates in --events, --mtbf or "
            "seconds");
  EXPECT_EQ(ErrorWith({"--trace", "run.txt"}),
            "--trace: got \"run.txt\", want a .pftrace or .json file");
  EXPECT_EQ(ErrorWith({"--runs", "2"}),
            "--runs: got several, but nothing is drawn, want rates in --events, or --mtbf");
  EXPECT_EQ(ErrorWith({"--balance", "partition", "--vpp", "2", "--schedule", "interleaved"}),
            "--balance: got stages of several chunks, want a pipeline schedule with one chunk on "
            "each stage");
}

}  // namespace
}  // namespace stagecraft
