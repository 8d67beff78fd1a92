// Tests of plans that never flush, given on the command line and in files: what they report, and
// what is refused in one sentence.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/bad_input.h"

namespace stagecraft {
namespace {

using bad_input::Case;
using Json = nlohmann::json;

const std::string kJob =
    "simulate --model llama3-8b --cluster h100-sxm:1x8 --pp 4 --micro-batch 1 --seq 1024 ";

using AsynchronousPlansTest = bad_input::FolderTest;

Json Simulated(const std::string& line) {
  const bad_input::Result result = bad_input::RunLine(line + " --json --quiet");
  EXPECT_EQ(result.code, kExitOk) << line << "\n" << result.err;
  return Json::parse(result.out.empty() ? "{}" : result.out);
}

// The values that the stages of the steady state have for this key.
std::vector<int> Column(const Json& report, const char* key) {
  std::vector<int> values;
  for (const Json& stage : report["steady_state"]["stages"]) values.push_back(stage[key]);
  return values;
}

TEST_F(AsynchronousPlansTest, AStepIsAGlobalBatchOfTheSteadyState) {
  const Json report = Simulated(kJob + "--global-batch 2 --schedule pipedream");
  const Json& steady = report["steady_state"];
  const double step = report["step_time_ms"];
  EXPECT_EQ(steady["micro_batches_per_step"], 2);
  EXPECT_NEAR(steady["period_ms"], step / 2, 1e-6 * step);
  EXPECT_NEAR(report["samples_per_s"], 2e3 / step, 1e-6);
  EXPECT_EQ(Column(report, "in_flight"), (std::vector<int>{4, 3, 2, 1}));
  EXPECT_EQ(Column(report, "weight_versions"), (std::vector<int>{4, 3, 2, 1}));
  EXPECT_EQ(Column(report, "staleness_updates"), (std::vector<int>{3, 2, 1, 0}));
  EXPECT_EQ(Column(report, "samples_per_update"), (std::vector<int>{2, 2, 2, 2}));
  double parts = 0;
  for (const auto& [name, part] : report["breakdown_ms"].items()) parts += part.get<double>();
  EXPECT_NEAR(parts, step, 1e-6 * step);
}

// Compares the weights of one stage that keeps one, two and four versions of them.
TEST_F(AsynchronousPlansTest, MemoryCountsTheVersionsThatAreKept) {
  const auto weights = [](const std::string& flags) {
    const Json report = Simulated(kJob + flags);
    for (const Json& stage : report["memory"]) {
      if (stage["stage"] == 0) return stage["weights"].get<double>();
    }
    return 0.0;
  };
  const double one = weights("--global-batch 8 --zero 0");
  // JSON has 12 digits.
  EXPECT_NEAR(weights("--global-batch 8 --schedule pipedream-2bw"), 2 * one, 1e-9);
  EXPECT_NEAR(weights("--global-batch 2 --schedule pipedream"), 4 * one, 1e-9);
}

// Without a flush, only unequal stages cause a bubble.
TEST_F(AsynchronousPlansTest, DoubleBufferingSavesTheFlush) {
  const Json flushed = Simulated(kJob + "--global-batch 8");
  const Json endless = Simulated(kJob + "--global-batch 8 --schedule pipedream-2bw");
  EXPECT_LT(endless["step_time_ms"], 0.75 * flushed["step_time_ms"].get<double>());
  EXPECT_EQ(Column(endless, "weight_versions"), (std::vector<int>{2, 2, 2, 2}));
  EXPECT_EQ(Column(endless, "gradient_buffers"), (std::vector<int>{2, 2, 2, 2}));
}

// GPT-2's head has the weights of its embedding. The first and the last stage therefore reduce
// their gradients, while those of the next batch accumulate in a second buffer.
TEST_F(AsynchronousPlansTest, TiedStagesReduceBatchByBatch) {
  const std::string job =
      "simulate --model gpt2 --cluster h100-sxm:1x4 --pp 4 --micro-batch 4 --seq 1024 "
      "--global-batch 32 --schedule pipedream-2bw";
  const Json report = Simulated(job);
  EXPECT_EQ(Column(report, "gradient_buffers"), (std::vector<int>{2, 1, 1, 2}));
  EXPECT_EQ(report["breakdown_ms"]["dp"], 0);
  const Json exposed = Simulated(job + " --no-overlap-grad-reduce");
  EXPECT_EQ(Column(exposed, "gradient_buffers"), (std::vector<int>{1, 1, 1, 1}));
  EXPECT_GT(exposed["step_time_ms"], report["step_time_ms"]);
  EXPECT_EQ(Simulated(job + " --unfold")["step_time_ms"], report["step_time_ms"]);
}

TEST_F(AsynchronousPlansTest, VerticalSyncAndUnequalStagesAreFlags) {
  const Json report = Simulated(
      "simulate --model llama3-8b --cluster h100-sxm:1x8 --pp 3 --stage-replicas 5,2,1 "
      "--micro-batch 1 --seq 1024 --global-batch 5 --schedule pipedream --vertical-sync");
  EXPECT_EQ(report["steady_state"]["vertical_sync"], true);
  EXPECT_EQ(Column(report, "replicas"), (std::vector<int>{5, 2, 1}));
  EXPECT_EQ(Column(report, "samples_per_update"), (std::vector<int>{5, 2, 1}));
  EXPECT_EQ(Column(report, "in_flight"), (std::vector<int>{2, 2, 1}));
}

TEST_F(AsynchronousPlansTest, APlanFileSaysTheSame) {
  Write("plan.textproto",
        "micro_batch: 1 global_batch: 5 sequence: 1024 order: PIPEDREAM vertical_sync: true "
        "degrees { pp: 3 stage_replicas: [5, 2, 1] }");
  EXPECT_EQ(Simulated(Expand("simulate --model llama3-8b --cluster h100-sxm:1x8 --plan "
                             "$T/plan.textproto"))["fingerprint"],
            Simulated("simulate --model llama3-8b --cluster h100-sxm:1x8 --pp 3 --stage-replicas "
                      "5,2,1 --micro-batch 1 --seq 1024 --global-batch 5 --schedule pipedream "
                      "--vertical-sync")["fingerprint"]);
}

TEST_F(AsynchronousPlansTest, UnfoldedTakesTheSameTime) {
  for (const char* flags :
       {"--global-batch 2 --schedule pipedream", "--global-batch 2 --schedule pipedream --zero 1",
        "--global-batch 16 --schedule pipedream-2bw",
        "--global-batch 16 --schedule pipedream-2bw --zero 1",
        "--global-batch 16 --schedule pipedream-2bw --no-overlap-grad-reduce"}) {
    EXPECT_EQ(Simulated(kJob + flags)["step_time_ms"],
              Simulated(kJob + flags + " --unfold")["step_time_ms"])
        << flags;
  }
}

TEST_F(AsynchronousPlansTest, TracesAreWritten) {
  const bad_input::Result result = bad_input::RunLine(
      Expand("simulate --model vgg16 --cluster h100-sxm:1x2 --pp 2 --global-batch 1 --schedule "
             "pipedream --trace $T/step.json"));
  EXPECT_EQ(result.code, kExitOk) << result.err;
  EXPECT_EQ(bad_input::RunLine(Expand("check $T/step.json")).code, kExitOk);
}

TEST_F(AsynchronousPlansTest, WhatMakesNoSenseIsRefused) {
  std::vector<Case> cases = {
      {"--global-batch 2 --schedule pipedream --zero 2", "zero: 2 with pipedream, in which every"},
      {"--global-batch 8 --schedule pipedream",
       "global_batch: 8 mini-batches of 1, but pipedream updates after every one: want 2"},
      {"--global-batch 6 --schedule pipedream-2bw",
       "global_batch: 6 micro-batches for 2 pipelines with pipedream-2bw, want at least 8"},
      {"--global-batch 2 --schedule pipedream --forward-only", "forward_only: with pipedream"},
      {"--global-batch 2 --schedule pipedream --post-validation", "post_validation: "},
      {"--global-batch 2 --schedule pipedream --overlap-param-gather", "overlap_param_gather: "},
      {"--global-batch 2 --schedule pipedream --vpp 2", "order: pipedream with 2 chunks per stage"},
      {"--global-batch 2 --schedule pipedream --gradient-sync gossip --sync-peers 1",
       "gradient_sync: gossip with pipedream, want all-reduce"},
      {"--global-batch 9 --schedule pipedream-2bw --replica-micro-batches 5,4",
       "replica_micro_batches"},
      {"--global-batch 16 --vertical-sync",
       "--vertical-sync: changes nothing with schedule 1f1b, want it with pipedream"},
      {"--global-batch 8 --stage-replicas 2,2", "stage replicas: got 2 numbers, want one for each"},
      {"--global-batch 8 --stage-replicas 2,2,2,3", "are 9 devices, but"},
      {"--global-batch 8 --stage-replicas 2,2,2,0", "stage replicas: got 0"},
      {"--global-batch 8 --stage-replicas 2,2,2,2 --dp 2",
       "stage replicas: got dp, replica micro-batches or a rank order too"},
      {"--global-batch 8 --stage-replicas 2,2,2,1 --schedule pipedream-2bw",
       "order: pipedream-2bw wants the same number of replicas in every stage"},
  };
  for (Case& bad : cases) bad.line = kJob + bad.line;
  cases.push_back(
      {"simulate --model gpt2 --cluster h100-sxm:1x2 --pp 2 --seq 512 --schedule pipedream",
       "order: pipedream wants an embedding and a head with separate weights, but"});
  cases.push_back(
      {"explain --model llama3-8b --cluster h100-sxm:1x8 --pp 4 --seq 1024 "
       "--global-batch 2 --schedule pipedream",
       "--schedule: pipedream has no step with an end to explain"});
  ExpectRefused(cases);
}

}  // namespace
}  // namespace stagecraft
