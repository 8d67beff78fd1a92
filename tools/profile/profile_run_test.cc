// A profile of a made-up device, and its samples.
#include "tools/profile/profile_run.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <filesystem>

#include "costmodel/check.h"
#include "costmodel/device_catalogue.h"
#include "costmodel/error_of.h"
#include "costmodel/learned/samples/sample_file.h"
#include "runtime/profile/fake_timer.h"
#include "sim/workload/workload_catalogue.h"
#include "tools/profile/network_shapes.h"

namespace stagecraft {
namespace {

constexpr Duration kMinute = Duration::Nanoseconds(60'000'000'000);

class ProfileRunTest : public testing::Test {
 protected:
  void SetUp() override {
    request_.output = std::filesystem::path(testing::TempDir()) / "samples.csv";
    std::filesystem::remove(request_.output);
  }
  ProfileReport Run() {
    return RunProfileOn(timer_, request_, clock_, [](const ProfileProgress&) {});
  }

  FakeClock clock_;
  FakeTimer timer_{[](const ProfileCase&, int) { return 100_us; }, &clock_};
  ProfileRequest request_;
};

TEST_F(ProfileRunTest, TheSamplesOfAQuickSuiteAreInTheFile) {
  const ProfileReport report = Run();
  EXPECT_EQ(report.gpu, "h200-sxm5-141gb");
  EXPECT_EQ(report.outcome.left, 0u);
  EXPECT_GT(report.outcome.refused.at("no 8-bit numbers"), 100u);
  EXPECT_GT(report.outcome.measured, 900u);
  EXPECT_TRUE(report.leaves_host_copies);
  const std::vector<Sample> samples = ReadSamples(request_.output);
  EXPECT_EQ(samples.size(), report.outcome.measured);
  EXPECT_EQ(samples[0].gpu, "h200-sxm5-141gb");
  EXPECT_EQ(samples[0].source, "stagecraft profile");
}

TEST_F(ProfileRunTest, SlicesMeasureEveryOpOnce) {
  request_.resumes = true;
  request_.budget = Duration::Nanoseconds(1'000'000'000);
  size_t measured = 0;
  int slices = 0;
  for (bool is_done = false; !is_done && slices < 50; ++slices) {
    clock_.now = Duration();
    const ProfileReport report = Run();
    measured += report.outcome.measured;
    EXPECT_EQ(ReadSamples(request_.output).size(), measured);
    is_done = report.outcome.left == 0;
  }
  EXPECT_GE(slices, 3);
  EXPECT_LT(slices, 50);
  request_.output = std::filesystem::path(testing::TempDir()) / "whole.csv";
  std::filesystem::remove(request_.output);
  request_.budget = Duration::Max();
  EXPECT_EQ(Run().outcome.measured, measured);
}

TEST_F(ProfileRunTest, AProtoAlsoHoldsHostCopies) {
  request_.output = std::filesystem::path(testing::TempDir()) / "samples.pb";
  std::filesystem::remove(request_.output);
  EXPECT_FALSE(Run().leaves_host_copies);
  int copies = 0;
  for (const Sample& sample : ReadSamples(request_.output)) {
    copies += sample.op.kind == OpKind::kSendRecv;
  }
  EXPECT_GE(copies, 20);
  request_.resumes = true;
  EXPECT_EQ(Run().outcome.measured, 0u);
}

TEST_F(ProfileRunTest, AFileOfAnotherGpuIsNotGoneOnWith) {
  request_.gpu = "h100-sxm5-80gb";
  EXPECT_EQ(Run().gpu, "h100-sxm5-80gb");
  request_.gpu = "";
  request_.resumes = true;
  EXPECT_NE(ErrorOf([&] { Run(); }).find("samples of h100-sxm5-80gb, want those of h200"),
            std::string::npos);
}

TEST_F(ProfileRunTest, AGpuThatTheCatalogueLacksIsToBeNamed) {
  timer_.name = "NVIDIA H999";
  EXPECT_EQ(ErrorOf([&] { Run(); }),
            "--gpu: the device calls itself \"NVIDIA H999\", which the catalogue does not know; "
            "want the id of what it is");
  EXPECT_FALSE(std::filesystem::exists(request_.output));
  request_.gpu = "h200-sxm5-141gb";
  EXPECT_EQ(Run().gpu, "h200-sxm5-141gb");
}

// Returns a CPU core of 20 GFLOP/s and 5 GB/s.
Device Processor() {
  Device device;
  device.id = "host";
  device.generation = Generation::kHost;
  device.peak.fill(FlopRate(20e9));
  device.memory_bandwidth = Bandwidth(5e9);
  device.l2 = Bytes(1 << 20);
  return device;
}

TEST_F(ProfileRunTest, AHostIsWhatItsTimerMeasured) {
  timer_.name = "a processor";
  timer_.uncatalogued = Processor();
  request_.gpu = "h200-sxm5-141gb";
  EXPECT_EQ(ErrorOf([&] { Run(); }),
            "--gpu: got \"h200-sxm5-141gb\", want none: a host's type is measured, not looked up");
  request_.gpu = "";
  request_.budget = 100_ms;
  const ProfileReport report = Run();
  EXPECT_EQ(report.gpu, "host");
  EXPECT_GT(report.outcome.measured, 0u);
  EXPECT_EQ(ReadSamples(request_.output)[0].gpu, "host");
  EXPECT_FALSE(report.leaves_host_copies);  // the device is the host itself
}

class FakeTracer final : public KernelTracer {
 public:
  void Start() override { ++started; }
  std::vector<KernelRun> Stop() override {
    return {{"k<1, 2>", 10_us, 12_us}, {"k<1, 2>", 13_us, 15_us}};
  }
  int started = 0;
};

TEST_F(ProfileRunTest, AKernelTableHasARowForEachKernelOfAnOp) {
  FakeTracer tracer;
  const KernelTable table =
      TabulateKernels(timer_, tracer, request_, clock_, [](const ProfileProgress&) {});
  EXPECT_GT(tracer.started, 900);
  EXPECT_EQ(table.report.outcome.measured, static_cast<size_t>(tracer.started));
  EXPECT_EQ(std::count(table.text.begin(), table.text.end(), '\n'), 1 + tracer.started);
  EXPECT_GT(table.report.outcome.refused.at("no 8-bit numbers"), 100u);
  EXPECT_FALSE(table.report.leaves_host_copies);  // they launch no kernels
  EXPECT_NE(table.text.find("bf16,linear,\"k<1, 2>\",2,2,1\n"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(request_.output));
}

TEST_F(ProfileRunTest, ATableEndsWithTheBudgetAndAtAStop) {
  FakeTracer tracer;
  const auto outcome = [&] {
    const KernelTable table =
        TabulateKernels(timer_, tracer, request_, clock_, [](const ProfileProgress&) {});
    EXPECT_EQ(table.report.cases, table.report.outcome.left + timer_.prepared.size());
    return table.report.outcome;
  };
  request_.budget = 1_ms;  // an op takes eight calls of 100 us
  EXPECT_EQ(outcome().measured, 2u);
  const std::atomic<bool> stop = true;
  request_.stop = &stop;
  timer_.prepared.clear();
  EXPECT_EQ(outcome().measured, 0u);
}

TEST_F(ProfileRunTest, NetworksBringTheirLayersAndAttention) {
  const NetworkShape shape = ShapeOf(LoadWorkload("llama-3-8b", AttentionBackend::kFlash));
  ASSERT_EQ(shape.attentions.size(), 1u);
  EXPECT_EQ(shape.attentions[0].heads, 32);
  EXPECT_EQ(shape.attentions[0].kv_heads, 8);
  bool has_down = false;
  for (const LinearShape& linear : shape.linears) {
    has_down = has_down || (linear.inputs == 14336 && linear.outputs == 4096 &&
                            linear.divided == Divided::kInputs);
  }
  EXPECT_TRUE(has_down);
}

TEST_F(ProfileRunTest, WithAllItsNetworksASuiteEndsInTime) {
  SuiteOptions options;
  options.device = DeviceCatalogue::Embedded().Find("h200-sxm5-141gb")->device;
  options.memory = Bytes(int64_t{138} << 30);
  for (const auto& [size, most] :
       {std::pair(SuiteSize::kQuick, 3 * kMinute), std::pair(SuiteSize::kFull, 15 * kMinute)}) {
    options.size = size;
    options.networks = ProfiledNetworks(size, /*on_host=*/false);
    const Duration longest = LongestSuite(MakeSuite(options), options.device, MeasuringRules());
    EXPECT_LT(longest, most) << longest.seconds();
  }
}

}  // namespace
}  // namespace stagecraft
