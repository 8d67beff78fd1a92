#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "costmodel/error_of.h"
#include "costmodel/proto_file.h"
#include "tools/verb/command.h"

namespace stagecraft {
namespace {

std::string Written(const std::string& name, const std::string& contents) {
  const std::string path = testing::TempDir() + name;
  WriteFileAtomically(path, contents);
  return path;
}

// A pipeline of four stages, and what else a run needs.
Args Run(Args more) {
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
  Args args = Run(more);
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
    RunTrain(Run(more), in, out, err);
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

TEST(CommandTrainTest, ARunThatCannotGoOnKeepsItsHistory) {
  const std::string faults =
      Written("faults.yaml", "events:\n  - {at_s: 1, node: node0, what: FAIL}\n");
  const nlohmann::json report = Train({"--events", faults}, kExitInfeasible);
  EXPECT_LT(report["history"]["steps"], 1000);
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

TEST(CommandTrainTest, FlagsThatContradictEachOtherAreOneSentence) {
  EXPECT_EQ(ErrorWith({"--by", "param"}),
            "--by: got it without --balance, want partition or diffusion");
  EXPECT_EQ(ErrorWith({"--spares", "2"}), "--spares: got it with --recover restart, want spare");
  EXPECT_EQ(ErrorWith({"--recover", "spare"}),
            "--recover spare: got it without --spares, want a number of nodes");
  EXPECT_EQ(ErrorWith({"--checkpoint", "60"}),
            "--checkpoint: got it without --storage-bandwidth, want GB/s");
  EXPECT_EQ(
      ErrorWith({"--checkpoint", "auto", "--storage-bandwidth", "1"}),
      "--checkpoint auto: got no failures that are drawn, want rates in --events, or seconds");
  EXPECT_EQ(ErrorWith({"--runs", "2"}),
            "--runs: got several, but nothing is drawn, want rates in --events");
  EXPECT_EQ(ErrorWith({"--balance", "partition", "--vpp", "2", "--schedule", "interleaved"}),
            "--balance: got stages of several chunks, want a pipeline schedule with one chunk on "
            "each stage");
}

}  // namespace
}  // namespace stagecraft
