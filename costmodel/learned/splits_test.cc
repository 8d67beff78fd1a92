#include "costmodel/learned/splits.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "costmodel/check.h"

namespace stagecraft {
namespace {

// Returns GEMMs of `shapes` pairs (n, k), with m = 1 to 4 each, on three GPU types.
std::vector<Sample> Products(int shapes) {
  std::vector<Sample> samples;
  for (const char* gpu : {"a", "b", "c"}) {
    for (int shape = 0; shape < shapes; ++shape) {
      for (int m = 1; m <= 4; ++m) {
        Sample sample;
        sample.op = Op::Gemm(DType::kBf16, m, 100 + shape, 200 + shape);
        sample.gpu = gpu;
        sample.source = shape % 2 == 0 ? "even" : "odd";
        sample.split = shape % 10 == 0 ? "test" : "train";
        samples.push_back(sample);
      }
    }
  }
  return samples;
}

void ExpectDisjointAndComplete(const SampleSplit& split, size_t count) {
  std::set<int> all(split.train.begin(), split.train.end());
  all.insert(split.test.begin(), split.test.end());
  EXPECT_EQ(split.train.size() + split.test.size(), count);
  EXPECT_EQ(all.size(), count);
  EXPECT_TRUE(std::is_sorted(split.train.begin(), split.train.end()));
  EXPECT_TRUE(std::is_sorted(split.test.begin(), split.test.end()));
}

std::string ErrorOf(const std::string& spec, const std::vector<Sample>& samples) {
  try {
    MakeSplits(spec, samples, 1);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(SplitsTest, NoneTestsEveryRow) {
  const std::vector<SampleSplit> splits = MakeSplits("none", Products(1), 1);
  ASSERT_EQ(splits.size(), 1u);
  EXPECT_TRUE(splits[0].train.empty());
  EXPECT_EQ(splits[0].test.size(), 12u);
}

TEST(SplitsTest, ARandomFractionIsDrawnBySeed) {
  const std::vector<Sample> samples = Products(500);
  const SampleSplit split = MakeSplits("random:0.3", samples, 1)[0];
  ExpectDisjointAndComplete(split, samples.size());
  EXPECT_NEAR(static_cast<double>(split.test.size()) / 6000, 0.3, 0.03);
  EXPECT_EQ(MakeSplits("random:0.3", samples, 1)[0].test, split.test);
  EXPECT_NE(MakeSplits("random:0.3", samples, 2)[0].test, split.test);
}

TEST(SplitsTest, AShapeIsOnOneSideOnEveryGpu) {
  const std::vector<Sample> samples = Products(500);
  const SampleSplit split = MakeSplits("unseen-shape", samples, 1)[0];
  ExpectDisjointAndComplete(split, samples.size());
  EXPECT_NEAR(static_cast<double>(split.test.size()) / 6000, 0.2, 0.04);
  std::map<int64_t, std::set<bool>> sides;  // by n, each of which has one k
  for (const int i : split.train) sides[samples[i].op.n].insert(false);
  for (const int i : split.test) sides[samples[i].op.n].insert(true);
  EXPECT_EQ(sides.size(), 500u);
  for (const auto& [n, own] : sides) EXPECT_EQ(own.size(), 1u) << "n = " << n;
}

TEST(SplitsTest, TheSourcesOwnSplitIsKept) {
  const std::vector<Sample> samples = Products(20);
  const SampleSplit split = MakeSplits("column:split", samples, 1)[0];
  ExpectDisjointAndComplete(split, samples.size());
  EXPECT_EQ(split.test.size(), 2u * 4 * 3);
  for (const int i : split.test) EXPECT_EQ(samples[i].split, "test");
}

TEST(SplitsTest, OneValueIsLeftOut) {
  const std::vector<Sample> samples = Products(10);
  const std::vector<SampleSplit> splits = MakeSplits("leave-out:gpu=b", samples, 1);
  ASSERT_EQ(splits.size(), 1u);
  EXPECT_EQ(splits[0].left_out, "gpu=b");
  ExpectDisjointAndComplete(splits[0], samples.size());
  EXPECT_EQ(splits[0].test.size(), 40u);
  for (const int i : splits[0].test) EXPECT_EQ(samples[i].gpu, "b");
}

TEST(SplitsTest, EveryValueIsLeftOutInTurn) {
  const std::vector<Sample> samples = Products(10);
  const std::vector<SampleSplit> gpus = MakeSplits("leave-out:gpu", samples, 1);
  ASSERT_EQ(gpus.size(), 3u);
  EXPECT_EQ(gpus[0].left_out, "gpu=a");
  EXPECT_EQ(gpus[2].left_out, "gpu=c");
  for (const SampleSplit& split : gpus) ExpectDisjointAndComplete(split, samples.size());
  EXPECT_EQ(MakeSplits("leave-out:source", samples, 1).size(), 2u);
  EXPECT_EQ(MakeSplits("leave-out:nk", samples, 1).size(), 10u);
  EXPECT_EQ(MakeSplits("leave-out:nk=100x200", samples, 1)[0].test.size(), 12u);
}

TEST(SplitsTest, TwentyValuesStandAloneAndMoreAreDealtIntoFive) {
  EXPECT_EQ(MakeSplits("leave-out:nk", Products(20), 1).size(), 20u);
  const std::vector<Sample> samples = Products(200);
  const std::vector<SampleSplit> folds = MakeSplits("leave-out:nk", samples, 1);
  ASSERT_EQ(folds.size(), 5u);
  EXPECT_EQ(folds[4].left_out, "nk fold 4");
  std::set<int> tested;
  for (const SampleSplit& fold : folds) {
    ExpectDisjointAndComplete(fold, samples.size());
    tested.insert(fold.test.begin(), fold.test.end());
    std::set<int64_t> trained, left_out;
    for (const int i : fold.train) trained.insert(samples[i].op.n);
    for (const int i : fold.test) left_out.insert(samples[i].op.n);
    for (const int64_t n : left_out) EXPECT_FALSE(trained.contains(n)) << "n = " << n;
  }
  EXPECT_EQ(tested.size(), samples.size());
}

TEST(SplitsTest, OtherSpecsAreRefused) {
  const std::vector<Sample> samples = Products(10);
  for (const std::string spec : {"", "random", "random:", "random:0", "random:1", "random:-0.5",
                                 "random:0.5x", "random:nan", "column:other", "unseen"}) {
    EXPECT_EQ(ErrorOf(spec, samples),
              "--split: got \"" + spec +
                  "\", want random:FRACTION (between 0 and 1), unseen-shape, column:split, "
                  "leave-out:KEY[=VALUE] or none");
  }
  for (const std::string key : {"", "colour", "GPU"}) {
    EXPECT_EQ(
        ErrorOf("leave-out:" + key, samples),
        "--split: got \"leave-out:" + key + "\", want a key of gpu, source, op, dtype and nk");
  }
}

TEST(SplitsTest, ASideWithoutRowsIsRefused) {
  EXPECT_EQ(ErrorOf("leave-out:gpu=z", Products(1)),
            "--split: leave-out:gpu=z (gpu=z) leaves 12 rows to learn from and 0 to test");
  EXPECT_EQ(ErrorOf("leave-out:dtype", Products(1)),
            "--split: leave-out:dtype (dtype=bf16) leaves 0 rows to learn from and 12 to test");
  EXPECT_EQ(ErrorOf("none", {}), "--split: none leaves 0 rows to learn from and 0 to test");
}

TEST(SplitsTest, RowsAreCalledByTheirOp) {
  Sample sample;
  sample.op = Op::Gemm(DType::kBf16, 1, 1, 1);
  EXPECT_EQ(OpLabel(sample), "gemm");
  sample.op.batch = 2;
  EXPECT_EQ(OpLabel(sample), "bmm");
  sample.op = Op::Attention(DType::kBf16, Direction::kForward, 1, 1, 1, 1, true);
  sample.name = "flash";
  EXPECT_EQ(OpLabel(sample), "attention");
  sample.op = Op::Elementwise(Bytes(1));
  EXPECT_EQ(OpLabel(sample), "flash");
  sample.name = "";
  EXPECT_EQ(OpLabel(sample), "elementwise");
}

}  // namespace
}  // namespace stagecraft
