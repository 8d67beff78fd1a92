#include "costmodel/learned/samples/sample_problems.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "costmodel/learned/samples/sample_file.h"

namespace stagecraft {
namespace {

using Problems = std::vector<std::string>;

Sample Make(const Op& op, const std::string& gpu, Duration time) {
  Sample sample;
  sample.op = op;
  sample.gpu = gpu;
  sample.time = time;
  sample.source = "us";
  return sample;
}

Problems Find(const std::vector<Sample>& samples) { return FindSampleProblems(samples, "f"); }

// Returns a GEMM of 550 GFLOP, which take 1.76 ms at the peak of an A100, 312 TFLOP/s.
Sample BigGemm(Duration time, const std::string& gpu = "a100-sxm4-80gb") {
  return Make(Op::Gemm(DType::kBf16, 8192, 8192, 4096), gpu, time);
}

TEST(SampleProblemsTest, SoundSamplesHaveNone) {
  EXPECT_EQ(Find({}), Problems());
  EXPECT_EQ(Find({BigGemm(2500_us), BigGemm(2600_us)}), Problems());
}

TEST(SampleProblemsTest, FasterThanTheRooflineIsNamedByGpu) {
  EXPECT_EQ(Find({BigGemm(2500_us), BigGemm(2400_us), BigGemm(700_us, "h100-sxm5-80gb"),
                  Make(Op::Gemm(DType::kBf16, 8192, 8192, 8192), "a100-sxm4-80gb", 3000_us)}),
            Problems{"f: 1 of 4 samples on a100-sxm4-80gb are faster than 0.98 of the roofline; "
                     "the worst is sample 3, gemm 8192x8192x8192 bf16 on a100-sxm4-80gb in "
                     "3000.000 us, where the roofline is 3524.076 us"});
}

TEST(SampleProblemsTest, TimesWithoutLengthAndWithoutEndAreNamed) {
  const Op op = Op::Elementwise(Bytes(8));
  EXPECT_EQ(Find({Make(op, "t4-16gb", Duration()), Make(op, "t4-16gb", 3700 * 1000_ms)}),
            (Problems{"f: 1 of 2 samples take no time at all; the worst is sample 0, elementwise 8 "
                      "bytes on t4-16gb in 0.000 us",
                      "f: 1 of 2 samples take longer than an hour; the worst is sample 1, "
                      "elementwise 8 bytes on t4-16gb in 3700000000.000 us"}));
}

TEST(SampleProblemsTest, UnknownGpusAreNamedWithTheNearest) {
  const Problems problems = Find({BigGemm(9_ms, "a100-sxm4-80g"), BigGemm(9_ms, "a100-sxm4-80g")});
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_TRUE(
      problems[0].starts_with("f: gpu of 2 samples: got \"a100-sxm4-80g\", want the id of a "
                              "device; did you mean \"a100-sxm4-80gb\""))
      << problems[0];
}

TEST(SampleProblemsTest, AliasesAreNotIds) {
  EXPECT_EQ(
      Find({BigGemm(2_ms, "A100-SXM4-80GB")}),
      Problems{"f: gpu of 1 samples: got \"A100-SXM4-80GB\", want the id of a device; did you "
               "mean \"a100-sxm4-80gb\"?"});
}

TEST(SampleProblemsTest, OpsThatTheGpuHasNoRateForAreNamed) {
  EXPECT_EQ(Find({Make(Op::Gemm(DType::kFp8, 1, 2, 3), "a100-sxm4-80gb", 5_us)}),
            Problems{"f: 1 of 1 samples are fp8 GEMMs, for which a100-sxm4-80gb has no rate; "
                     "the worst is sample 0, gemm 1x2x3 fp8 on a100-sxm4-80gb in 5.000 us"});
}

TEST(SampleProblemsTest, RepeatsThatDisagreeByMoreThanTheirSpreadAreCounted) {
  std::vector<Sample> samples(4, BigGemm(2000_us));
  samples[1].time = 2390_us;  // 19.5 %
  EXPECT_EQ(Find(samples), Problems());
  samples[2].time = 2410_us;
  EXPECT_EQ(Find(samples),
            Problems{"f: 1 of 4 samples differ from the fastest of their repeats by more than 3 "
                     "sigma, or 20 % if no spread is known (of 3 that repeat another); the worst "
                     "is sample 2, gemm 8192x8192x4096 bf16 on a100-sxm4-80gb in 2410.000 us, "
                     "against 2000.000 us of sample 0"});
  for (Sample& sample : samples) sample.spread = 0.05;  // 3 sigma of a difference: 21 %
  EXPECT_EQ(Find(samples), Problems());
  for (Sample& sample : samples) sample.spread = 0.01;
  EXPECT_EQ(Find(samples).size(), 1u);
}

TEST(SampleProblemsTest, OtherProgramsAndVersionsAreNoRepeats) {
  std::vector<Sample> samples(5, BigGemm(2000_us));
  for (int i = 1; i < 5; ++i) samples[i].time = 2900_us;
  samples[1].name = "other";
  samples[2].source = "other";
  samples[3].software = "other";
  samples[4].op.k = 5000;
  EXPECT_EQ(Find(samples), Problems());
}

TEST(SampleProblemsTest, BigProductsFarFromThePeakMeanAThrottledGpu) {
  EXPECT_EQ(Find({BigGemm(3300_us), BigGemm(3400_us)}),
            Problems{"f: a100-sxm4-80gb of us: large bf16 GEMMs reach 53 % of the datasheet's "
                     "peak at most, want 60 %: the GPU throttles; the best is gemm "
                     "8192x8192x4096 bf16 in 3300.0 us"});
  // A small GEMM says nothing.
  EXPECT_EQ(Find({Make(Op::Gemm(DType::kBf16, 64, 64, 64), "a100-sxm4-80gb", 9_us)}), Problems());
}

// The sizes are in twelve octaves, in which the splits have no op in common.
TEST(SampleProblemsTest, TrainAtAnotherSpeedThanTestMeansAnotherGpu) {
  std::vector<Sample> samples;
  for (int octave = 0; octave < 12; ++octave) {
    const Bytes bytes(int64_t{1} << (30 + octave));
    const Duration time = bytes / Bandwidth(1e12);
    samples.push_back(Make(Op::Elementwise(bytes), "a100-sxm4-80gb", time));
    samples.back().split = "test";
    samples.push_back(Make(Op::Elementwise(bytes + Bytes(1024)), "a100-sxm4-80gb", time));
    samples.back().split = "train";
  }
  for (Sample& sample : samples) sample.name = "gelu";
  EXPECT_EQ(Find(samples), Problems());
  for (Sample& sample : samples) {
    if (sample.split == "train") sample.time += Duration::Seconds(0.25 * sample.time.seconds());
  }
  EXPECT_EQ(Find(samples),
            Problems{"f: a100-sxm4-80gb of us: bf16 gelu takes 1.25 times as long in split train "
                     "(12 large samples) as in test (12) at sizes of the same 12 octaves, want at "
                     "most 1.15: the GPU or its clock changed"});
}

TEST(SampleProblemsTest, SummaryCountsOpsGpusAndSources) {
  EXPECT_EQ(SummariseSamples({}), "0 samples");
  const std::vector<Sample> samples = {BigGemm(3_ms), BigGemm(3_ms, "h100-sxm5-80gb"),
                                       Make(Op::Elementwise(Bytes(8)), "h100-sxm5-80gb", 3_us)};
  EXPECT_EQ(
      SummariseSamples(samples),
      "3 samples of elementwise 1, gemm bf16 2; on a100-sxm4-80gb 1, h100-sxm5-80gb 2; source: us");
}

TEST(SampleProblemsTest, SharedTablesBeatNoRooflineAndT4ThrottlesInTrain) {
  const char* shared = std::getenv("STAGECRAFT_SHARED");
  if (shared == nullptr || *shared == '\0') GTEST_SKIP() << "STAGECRAFT_SHARED is not set";
  const Problems problems =
      FindSampleProblems(ReadSamples(std::string(shared) + "/data/kernels"), "kernels");
  ASSERT_EQ(problems.size(), 3u);
  EXPECT_TRUE(problems[0].starts_with("kernels: 1585 of 460282 samples differ from the fastest"));
  EXPECT_TRUE(problems[1].starts_with("kernels: t4-16gb of NeuSight: fp32 bmm takes 1.30 times"));
  EXPECT_TRUE(
      problems[2].starts_with("kernels: t4-16gb of NeuSight: fp32 linear takes 1.25 times"));
}

}  // namespace
}  // namespace stagecraft
