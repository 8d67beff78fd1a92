// What `run` and `profile` report about the circumstances of a measurement, and which cluster files
// they refuse, on the stand-in for a GPU.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "costmodel/learned/sample.h"
#include "costmodel/learned/samples/sample_file.h"
#include "runtime/cuda/stand_in/stand_in_gpu.h"
#include "tools/verb/command.h"
#include "tools/verb/verb_testing.h"

namespace stagecraft {
namespace {

class RunOnStandInTest : public VerbTest {
 protected:
  void SetUp() override {
    VerbTest::SetUp();
    Play("");
  }

  // Has the stand-in behave as this GPU from now on; ParseStandInGpu() says which words there
  // are.
  static void Play(const std::string& words) {
    UseStandIn(ParseStandInGpu("data=no cache=1 " + words));
  }

  std::string Import(const std::string& name, const Args& flags) {
    Args args = {"local-gpu", "-o", Path(name)};
    args.insert(args.end(), flags.begin(), flags.end());
    Output(RunImport, args);
    return Path(name);
  }

  Args RunArgs(const std::string& cluster, int micro_batches = 4) {
    return {"--executor",
            "cuda",
            "--model",
            "gpt2-tiny",
            "--cluster",
            cluster,
            "--micro-batch",
            "1",
            "--global-batch",
            std::to_string(micro_batches),
            "--seq",
            "64",
            "--steps",
            "3",
            "--warm-up",
            "1",
            "--quiet",
            "-o",
            Path("measured.pb")};
  }

  static constexpr int kMoreThanAStreamTakes = 450;

  nlohmann::json Measure(const std::string& cluster, int micro_batches = 4) {
    return Json(RunRun, RunArgs(cluster, micro_batches));
  }
};

TEST_F(RunOnStandInTest, ClocksPowerAndLateStepsAreInEveryResult) {
  const std::string whole = Import("whole.json", {"--board", "0"});
  const nlohmann::json report = Measure(whole);
  EXPECT_EQ(report["late_steps"], 0);
  EXPECT_EQ(report["queued_late_ms"], (std::vector<double>{0, 0, 0}));
  EXPECT_EQ(report["step_time_is_median"], true);
  ASSERT_EQ(report["boards"].size(), 1u);
  EXPECT_EQ(report["boards"][0]["clock_mhz"], 1755);
  EXPECT_EQ(report["boards"][0]["watts"], 412);
  EXPECT_EQ(report["boards"][0]["throttled"], 0);
  const std::string text = Output(RunRun, RunArgs(whole));
  for (const char* const words :
       {"the median of 3 steps of ", "the host queued all 3 steps in time\n", "1755 MHz", "412 W",
        " 0 %"}) {
    EXPECT_NE(text.find(words), std::string::npos) << words << " is not in\n" << text;
  }
}

TEST_F(RunOnStandInTest, WithoutSensorsNothingIsRead) {
  const std::string whole = Import("whole.json", {"--board", "0"});
  Play("missing=libnvidia-ml");
  const nlohmann::json gpu = Measure(whole)["boards"][0];
  for (const char* const key : {"clock_mhz", "watts", "most_celsius", "throttled"}) {
    EXPECT_TRUE(gpu[key].is_null()) << key;
  }
  const std::string text = Output(RunRun, RunArgs(whole));
  EXPECT_NE(text.find("not read"), std::string::npos);
  EXPECT_EQ(text.find(" 0 %"), std::string::npos) << text;
}

// Devices begin once 400 kernels are queued on a stream, and the host stays ahead of them.
TEST_F(RunOnStandInTest, AStepThatIsLongerThanTheQueuesIsQueuedInTime) {
  const std::string whole = Import("whole.json", {"--board", "0"});
  const nlohmann::json report = Measure(whole, kMoreThanAStreamTakes);
  EXPECT_EQ(report["late_steps"], 0);
  EXPECT_EQ(report["step_time_is_median"], true);
}

// A step of 20 micro-batches has fewer than 400 launches, but its graphs have more kernels.
TEST_F(RunOnStandInTest, TheKernelsOfGraphsCountAsQueued) {
  const std::string whole = Import("whole.json", {"--board", "0"});
  Play("call=100000");  // a host that is slower than the GPU
  EXPECT_EQ(Measure(whole, 2)["late_steps"], 0);
  EXPECT_EQ(Measure(whole, 20)["late_steps"], 3);
}

TEST_F(RunOnStandInTest, IfDevicesWaitInEveryStepThereIsNoMedian) {
  const std::string whole = Import("whole.json", {"--board", "0"});
  Play("call=100000");  // a host that is slower than the GPU
  const nlohmann::json report = Measure(whole, kMoreThanAStreamTakes);
  EXPECT_EQ(report["late_steps"], 3);
  EXPECT_EQ(report["step_time_is_median"], false);
  EXPECT_GT(report["queued_late_ms"][0], 0);
  EXPECT_LT(report["queued_late_ms"][0], report["step_time_ms"]);
  const std::string text = Output(RunRun, RunArgs(whole, kMoreThanAStreamTakes));
  EXPECT_NE(text.find("no median"), std::string::npos) << text;
  EXPECT_NE(text.find("the host queued all 3 steps late: devices waited for it for up to "),
            std::string::npos)
      << text;
}

TEST_F(RunOnStandInTest, SamplesSayWhatPowerTheGpuDrew) {
  Output(RunProfile, {"--device", "cuda:0", "--quiet", "-o", Path("samples.csv")});
  const std::vector<Sample> samples = ReadSamples(Path("samples.csv"));
  ASSERT_FALSE(samples.empty());
  EXPECT_EQ(samples[0].watts, 412);
}

TEST_F(RunOnStandInTest, AClusterOfAnotherGpuIsRefused) {
  const std::string whole = Import("whole.json", {"--board", "0"});
  const std::string halves = Import("halves.json", {"--parts", "2"});
  Play("name=NVIDIA_H200");
  EXPECT_EQ(ErrorOf(RunRun, RunArgs(whole)),
            "--cluster: got the GPU h100-sxm5-80gb, want the NVIDIA H200 that is installed");
  Args on_parts = RunArgs(halves);
  on_parts.insert(on_parts.end(), {"--pp", "2"});
  EXPECT_EQ(ErrorOf(RunRun, on_parts).find("--cluster: got the GPU h100-sxm5-80gb-part-of-"), 0u);
  EXPECT_EQ(ErrorOf(RunProfile, {"--device", "cuda:0", "--cluster", halves, "--part", "1", "-o",
                                 Path("samples.csv")})
                .find("--cluster: got the GPU h100-sxm5-80gb-part-of-"),
            0u);
  EXPECT_EQ(Measure(Import("h200.json", {"--board", "0"}))["devices"][0], "NVIDIA H200");
}

TEST_F(RunOnStandInTest, AWholeGpuOfAnotherSizeIsRefused) {
  EXPECT_EQ(ErrorOf(RunRun, RunArgs(Import("pcie.json", {"--gpu", "h100-pcie-80gb"}))),
            "--cluster: got the GPU h100-pcie-80gb with 114 SMs, want the NVIDIA H100 "
            "80GB HBM3 with 132 that is installed");
  // A file imported from the GPU itself passes, though it has fewer SMs than the catalogue says.
  Play("groups=15");
  Measure(Import("whole.json", {"--board", "0"}));
}

}  // namespace
}  // namespace stagecraft
