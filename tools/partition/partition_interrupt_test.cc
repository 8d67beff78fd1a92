// What `partition` shows if Ctrl-C or its budget ends it.
#include <gtest/gtest.h>
#include <signal.h>

#include <atomic>
#include <csignal>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "costmodel/proto_file.h"
#include "search/partition/stop_everywhere.h"
#include "search/partition/stop_sign.h"
#include "tools/partition/partition_report.h"
#include "tools/partition/partition_request.h"
#include "tools/partition/partition_testing.h"
#include "tools/verb/command.h"

namespace stagecraft {
namespace {

using nlohmann::json;
using PartitionInterruptTest = PartitionTest;

bool ListensToCtrlC() {
  struct sigaction now = {};
  sigaction(SIGINT, nullptr, &now);
  return now.sa_handler != SIG_DFL;
}

// Runs the command and presses Ctrl-C as soon as it listens for it. The command must take far
// longer than that.
PartitionOutcome Interrupted(const Args& words) {
  std::jthread user([](const std::stop_token& is_over) {
    while (!ListensToCtrlC() && !is_over.stop_requested()) std::this_thread::yield();
    if (!is_over.stop_requested()) std::raise(SIGINT);
  });
  return Partition(words);
}

// A command that takes minutes if the graph is a chain of 1000 nodes.
Args SlowPipeDream(const std::string& graph) {
  return {"--graph",     graph,     "--machines",  "64,64",
          "--bandwidth", "1e9,1e9", "--algorithm", "pipedream"};
}

// Returns the report of a command that had --json among its words and was interrupted.
json ReportOf(const PartitionOutcome& outcome) {
  EXPECT_EQ(outcome.code, kExitInterrupted);
  json report = json::parse(outcome.out);
  EXPECT_EQ(report["interrupted"], true);
  return report;
}

TEST_F(PartitionInterruptTest, PipeDreamEndsWithoutAPartition) {
  Args words = SlowPipeDream(Write("graph.txt", Chain(1000)));
  words.push_back("--json");
  const PartitionOutcome outcome = Interrupted(words);
  EXPECT_EQ(outcome.err, "stagecraft partition: interrupted before a partition was found\n");
  const json report = ReportOf(outcome);
  EXPECT_TRUE(report["feasible"].is_null());
  EXPECT_TRUE(report["stages"].empty());
}

// If no partition fits, a second run of the planner finds out why.
TEST_F(PartitionInterruptTest, AProblemThatIsProvenInfeasibleStaysSoWhereverItIsStopped) {
  PartitionRequest request;
  request.graph = {"diamonds", Diamonds(3)};
  request.algorithm = "pipedream";
  request.machines = {2, 2};
  request.bandwidth_bytes_per_s = {1e10, 1e10};
  request.memory_bytes = 1e6;
  request.straight = true;
  int unexplained = 0;
  std::string last;
  StopEverywhere([&](const StopSign& stop) { return PartitionByPipeDream(request, stop); },
                 [&](const PartitionAnswer& answer) {
                   if (answer.is_cut_short) return;
                   const json report = PartitionToJson(request, answer);
                   EXPECT_EQ(report["feasible"], false);
                   last = report["binding_constraint"];
                   if (last.starts_with("memory or machines: 0.001 GB may be too little")) {
                     ++unexplained;
                   }
                 });
  EXPECT_GT(unexplained, 0);
  EXPECT_TRUE(last.starts_with("memory: every partition has a stage")) << last;
}

TEST_F(PartitionInterruptTest, ExitCodesSayWhatIsKnown) {
  PartitionAnswer answer;
  answer.is_interrupted = true;
  EXPECT_EQ(ExitCodeOf(answer), kExitInterrupted);
  answer.obstacle = "memory";
  EXPECT_EQ(ExitCodeOf(answer), kExitInfeasible);
  answer.is_cut_short = true;
  EXPECT_EQ(ExitCodeOf(answer), kExitInterrupted);
  answer.is_interrupted = false;
  EXPECT_EQ(ExitCodeOf(answer), kExitInfeasible);
}

// The search would take about a minute.
TEST_F(PartitionInterruptTest, ExhaustiveSearchesEndWithWhatTheyHave) {
  const Args words = {"--graph",         Write("graph.txt", Chain(260)),
                      "--device-speeds", "64x1,64x2",
                      "--bandwidth",     "1e10",
                      "--algorithm",     "exhaustive",
                      "--json"};
  const json report = ReportOf(Interrupted(words));
  EXPECT_EQ(report["optimal"], false);
  EXPECT_NEAR(report["bound_s"], 260 * 2e-3 / (64 + 128), 1e-9);
  EXPECT_EQ(report["feasible"], true);
  EXPECT_GE(report["bottleneck_s"], report["bound_s"]);
  // A short search's plan is shown beside the one that it had by then.
  EXPECT_EQ(report["algorithms"][0]["algorithm"], "exhaustive");
  EXPECT_EQ(report["algorithms"][1]["algorithm"], "mcmc");
  EXPECT_LE(report["bottleneck_s"],
            report["algorithms"][1]["bottleneck_s"].get<double>() * (1 + 1e-9));
}

TEST_F(PartitionInterruptTest, ComparisonsSayWhoseTurnDidNotCome) {
  Args words = Devices(Write("graph.txt", Diamonds(3)));
  words.insert(words.end(), {"--compare-algorithms", "--budget", "1000000s"});
  const PartitionOutcome outcome = Interrupted(words);
  EXPECT_EQ(outcome.code, kExitInterrupted);
  for (const std::string name : {"mcmc", "differentiable", "policy", "exhaustive"}) {
    EXPECT_NE(outcome.out.find("note: " + name + ": interrupted before its turn\n"),
              std::string::npos)
        << outcome.out;
  }
}

TEST_F(PartitionInterruptTest, AFileStaysIfNothingWasLearned) {
  Args words = Devices(Write("graph.txt", Chain(300)));
  words[0] = "--train-graphs";
  words.insert(words.end(), {"--train-rounds", "100000", "--policy-width", "256", "--save-policy",
                             Write("policy.txt", "an older one")});
  const PartitionOutcome outcome = Interrupted(words);
  EXPECT_EQ(outcome.code, kExitInterrupted);
  EXPECT_NE(outcome.out.find("was trained for 0 of 100000 rounds on 1 problem: interrupted"),
            std::string::npos)
      << outcome.out;
  EXPECT_EQ(outcome.err, "stagecraft partition: " + Path("policy.txt") +
                             " is not written: interrupted before the policy was trained on a "
                             "batch of 32 plans\n");
  EXPECT_EQ(outcome.out.find("wrote"), std::string::npos);
  EXPECT_TRUE(ReadFile(Path("policy.txt")) == "an older one");
}

TEST_F(PartitionInterruptTest, ASecondCtrlCEndsItAtOnce) {
  const Args words = SlowPipeDream(Write("graph.txt", Chain(1000)));
  EXPECT_EXIT(
      {
        std::jthread user([] {
          while (!ListensToCtrlC()) std::this_thread::yield();
          std::raise(SIGINT);
          std::raise(SIGINT);
        });
        Partition(words);
      },
      testing::KilledBySignal(SIGINT), "");
}

PartitionRequest Training(const std::string& graph, int rounds, const std::string& save) {
  PartitionRequest request;
  request.bandwidth_bytes_per_s = {1e10};
  request.policy.width = 4;
  request.policy.training_graphs = {{graph, ReadFile(graph)}};
  request.policy.training_devices = {{{.count = 2}}, {{.count = 3}}};
  request.policy.rounds = rounds;
  request.policy.save = save;
  return request;
}

TEST_F(PartitionInterruptTest, WhatWasLearnedByThenIsSaved) {
  const std::string graph = Write("graph.txt", Diamonds(2));
  PartitionRequest request = Training(graph, 9, Path("stopped.txt"));
  std::atomic<bool> stop = false;
  request.budget.stop = &stop;
  request.policy.report = [&](int rounds) { stop = rounds == 2; };
  const PartitionAnswer answer = TrainForStages(request);
  EXPECT_EQ(answer.saved_policy, Path("stopped.txt"));
  EXPECT_EQ(answer.notes, std::vector<std::string>{"a policy of width 4, undirected, was trained "
                                                   "for 2 of 9 rounds on 2 problems: interrupted"});
  TrainForStages(Training(graph, 2, Path("shorter.txt")));
  EXPECT_TRUE(ReadFile(Path("stopped.txt")) == ReadFile(Path("shorter.txt")));
}

const Args kAtOnce = {"--budget", "0.000000001s"};
const char* const kBestSoFar = "the budget ended: this is the best so far";

TEST_F(PartitionInterruptTest, ABudgetEndsEveryPlanner) {
  const std::string profile = Write("graph.txt", Diamonds(3));
  for (const std::string algorithm : {"pipedream", "pipedream-paper", "dapple", "2bw", "hetpipe"}) {
    SCOPED_TRACE(algorithm);
    const Args words = {"--graph",     profile,     "--machines",  "2,2",
                        "--bandwidth", "1e10,1e10", "--algorithm", algorithm};
    const PartitionOutcome outcome = Partition(words, kAtOnce);
    EXPECT_EQ(outcome.code, kExitInfeasible);
    EXPECT_EQ(outcome.err, "stagecraft partition: the budget ended before a partition was found\n");
    Args patient = words;
    patient.insert(patient.end(), {"--budget", "1000000s"});
    const json report = Report(patient);
    EXPECT_EQ(report["interrupted"], false);
    EXPECT_EQ(report["feasible"], true);
    if (report["bound_s"].is_null()) {
      EXPECT_LE(report["minibatches_per_s"], report["bound_minibatches_per_s"]);
    } else {
      const char* const key = report["latency_s"].is_null() ? "bottleneck_s" : "latency_s";
      EXPECT_GE(report[key].get<double>() * (1 + 1e-9), report["bound_s"]);
    }
  }
}

TEST_F(PartitionInterruptTest, ABudgetEndsExhaustiveSearchesWithABound) {
  const Args words = Devices(Write("graph.txt", Diamonds(3)));
  const json whole = Report(words, {"--algorithm", "exhaustive", "--budget", "1000000s"});
  EXPECT_EQ(whole["optimal"], true);
  EXPECT_EQ(whole["bound_s"], whole["bottleneck_s"]);
  Args short_of = words;
  short_of.insert(short_of.end(), {"--algorithm", "exhaustive"});
  const json report = Report(short_of, kAtOnce);
  EXPECT_EQ(report["notes"], json({kBestSoFar}));
  EXPECT_EQ(report["optimal"], false);
  EXPECT_LT(report["bound_s"], whole["bottleneck_s"]);
  EXPECT_GE(report["bottleneck_s"], whole["bottleneck_s"]);
}

TEST_F(PartitionInterruptTest, PlacementsStartWithOneThatFits) {
  const std::string dnn = Write("dnn.json", TwoOperators());
  const json placed =
      Report({"--graph", dnn, "--algorithm", "dnn-throughput", "--non-contiguous"}, kAtOnce);
  EXPECT_EQ(placed["notes"], json({kBestSoFar}));
  EXPECT_EQ(placed["bound_s"], 1e-3);  // 3 ms on three devices
  EXPECT_GE(placed["bottleneck_s"], 2e-3);
  const json fast = Report({"--graph", dnn, "--algorithm", "dnn-latency"}, kAtOnce);
  EXPECT_EQ(fast["notes"], json({kBestSoFar}));
  EXPECT_EQ(fast["bound_s"], 3e-3);
  const PartitionOutcome text =
      Partition({"--graph", dnn, "--algorithm", "dnn-throughput", "--non-contiguous"}, kAtOnce);
  EXPECT_NE(text.out.find("bound          1 ms\n"), std::string::npos) << text.out;
}

TEST_F(PartitionInterruptTest, PlannersCountNoEvaluations) {
  EXPECT_EQ(Sentence({"--graph", Write("graph.txt", Diamonds(1)), "--algorithm", "2bw", "--devices",
                      "2", "--bandwidth", "1e9", "--budget", "10s,5evals"}),
            "--budget: 2bw counts no evaluations, want a time such as 10s");
}

}  // namespace
}  // namespace stagecraft
