#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

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
