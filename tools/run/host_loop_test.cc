// From an unknown host to a prediction that is checked on it: import, profile, fit, simulate, run,
// compare.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "costmodel/device.h"
#include "sim/cluster/cluster.h"
#include "sim/cluster/cluster_spec.h"
#include "tools/run/host_rank_testing.h"
#include "tools/verb/command.h"

namespace stagecraft {
namespace {

std::string TempFile(const std::string& name) { return testing::TempDir() + "/" + name; }

// Runs a command line, which must succeed, and returns what it prints as JSON.
nlohmann::json JsonOf(const std::string& text) {
  const CommandResult result = RunWords(text + " --json");
  EXPECT_EQ(result.code, kExitOk) << text << '\n' << result.err;
  return nlohmann::json::parse(result.out, nullptr, false);
}

TEST(HostLoopTest, AHostIsMeasuredPredictedAndCompared) {
  const std::string cluster = TempFile("host.json"), samples = TempFile("host.csv"),
                    model = TempFile("host.pb"), predicted = TempFile("predicted.pb"),
                    measured = TempFile("measured.pb");
  JsonOf("import local-host -o " + cluster);
  const Cluster host = ParseCluster(cluster);
  ASSERT_GE(host.device_count(), 2);
  EXPECT_EQ(host.device(0).generation, Generation::kHost);

  // An instrumented program needs longer (tests/nightly).
  const char* const budget = std::getenv("STAGECRAFT_HOST_BUDGET");
  const nlohmann::json profile = JsonOf(std::string("profile --device host --quiet --budget ") +
                                        (budget == nullptr ? "8s" : budget) + " -o " + samples);
  EXPECT_EQ(profile["gpu"], "host");
  EXPECT_TRUE(profile["refused"].empty());
  const int rows = profile["measured"];
  EXPECT_GT(rows, 10);
  EXPECT_EQ(profile["left"].get<int>() + rows, profile["ops"]);

  // No sample is skipped: the cluster file describes their device.
  const nlohmann::json fit =
      JsonOf("fit --quiet --samples " + samples + " --cluster " + cluster + " -o " + model);
  EXPECT_TRUE(fit["skipped"].empty()) << fit["skipped"];

  const std::string plan =
      " --model gpt2-tiny --pp 2 --micro-batch 1 --global-batch 4 --seq 64 --cluster " + cluster;
  const nlohmann::json simulated =
      JsonOf("simulate --quiet --unfold --cost-model " + model + " --timeline " + predicted + plan);
  // The host's own samples predict ops: its device is the same in the cluster file and in the
  // model.
  EXPECT_GT(simulated["basis"]["learned"].get<double>(), 0);
  const nlohmann::json run =
      JsonOf("run --executor host --quiet --steps 5 --warm-up 1 -o " + measured + plan);
  const nlohmann::json compared = JsonOf("compare " + predicted + " " + measured);
  // compare shows the step times that simulate and run printed.
  EXPECT_NEAR(compared["step"]["measured_ms"].get<double>(), run["step_time_ms"].get<double>(),
              1e-6);
  EXPECT_NEAR(compared["step"]["predicted_ms"].get<double>(),
              simulated["step_time_ms"].get<double>(), 1e-6);
}

// Frozen layers, of which some are cached, and sparse ones run for real.
TEST(HostLoopTest, AHostRunsLayersInOtherStates) {
  const std::string state = TempFile("state.yaml");
  std::ofstream(state) << "states:\n"
                          "  - {layers: 'embedding,head,1', trained: false}\n"
                          "  - {layers: embedding, cached: true}\n"
                          "  - {layers: 2-3, weight_density: 0.1, storage: CSR}\n"
                          "  - {layers: '4', token_share: 0.25, adapter_rank: 4}\n";
  const nlohmann::json run = JsonOf(
      "run --executor host --quiet --steps 1 --warm-up 0 --model megatron:4x64x4 --pp 2 "
      "--global-batch 256 --seq 32 --layer-state " +
      state);
  EXPECT_EQ(run["plan"]["layer_states"]["frozen"], 3);
  EXPECT_EQ(run["plan"]["layer_states"]["cached"], 1);
  ASSERT_EQ(run["notes"].size(), 1u) << run;
  EXPECT_NE(run["notes"][0].get<std::string>().find("sparse products"), std::string::npos);
}

// A plan needs no --cluster if it uses as many CPU cores as there are.
TEST(HostLoopTest, AHostRunsWithoutACluster) {
  const nlohmann::json run = JsonOf(
      "run --executor host --quiet --steps 1 --warm-up 0 --model gpt2-tiny --pp 2 "
      "--global-batch 256 --seq 32");
  EXPECT_EQ(run["executor"], "host");
  EXPECT_GE(run["ranks"].get<int>(), 2);
}

}  // namespace
}  // namespace stagecraft
