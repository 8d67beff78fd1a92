#include "costmodel/learned/samples/slow_gpus.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <map>
#include <string_view>
#include <tuple>

#include "costmodel/statistics.h"

namespace stagecraft {
namespace {

// Shorter calls say more about launching than about the GPU: times in fp32 tables contain 25 us and
// more of it (docs/cost-model.md).
constexpr Duration kBig = 200_us;
// The share of the datasheet's peak that some large GEMM reaches on a healthy GPU.
constexpr double kHealthyShare = 0.6;
// If the speeds of two splits differ by more, they are those of two different GPUs. On an A100,
// aligned sizes of real networks differ from random ones by up to 13 %.
constexpr double kSplitRatio = 1.15;
constexpr int kFewestClasses = 10;

using Group = std::tuple<std::string_view, std::string_view, std::string_view, std::string_view>;

struct Best {
  double share = 0;
  const Sample* sample = nullptr;
};

void AddWeakPeaks(std::span<const RatedSample> samples, const std::string& path,
                  std::vector<std::string>& problems) {
  std::map<Group, Best> best;  // by source, GPU, split and number format
  for (const RatedSample& rated : samples) {
    const Sample& sample = *rated.sample;
    if (sample.op.kind != OpKind::kGemm || rated.roofline < kBig) continue;
    const double peak = rated.device->Peak(sample.op.dtype).flop_per_s();
    const double share = sample.op.Flops().count() / peak / sample.time.seconds();
    Best& group = best[{sample.source, sample.gpu, sample.split, Name(sample.op.dtype)}];
    if (share > group.share) group = {share, &sample};
  }
  for (const auto& [group, most] : best) {
    if (most.share >= kHealthyShare) continue;
    const auto& [source, gpu, split, dtype] = group;
    problems.push_back(fmt::format(
        "{}: {} of {}{}{}: large {} GEMMs reach {:.0f} % of the datasheet's peak at most, want "
        "{:.0f} %: the GPU throttles; the best is {} in {:.1f} us",
        path, gpu, source, split.empty() ? "" : ", split ", split, dtype, 100 * most.share,
        100 * kHealthyShare, Describe(most.sample->op), most.sample->time.us()));
  }
}

// A class of sizes that are in the same octave in every dimension.
using SizeClass = std::array<int, 5>;
SizeClass ClassOf(const Op& op) {
  const auto octave = [](int64_t size) {
    return static_cast<int>(std::bit_width(static_cast<uint64_t>(size)));
  };
  return {octave(op.batch), octave(op.m), octave(op.n), octave(op.k), octave(op.bytes.count())};
}

struct Splits {
  std::vector<double> train, test;  // log(time / roofline)
};

void AddUnequalSplits(std::span<const RatedSample> samples, const std::string& path,
                      std::vector<std::string>& problems) {
  // The key is source, GPU, name and number format.
  std::map<Group, std::map<SizeClass, Splits>> groups;
  for (const RatedSample& rated : samples) {
    const Sample& sample = *rated.sample;
    const bool is_train = sample.split == "train";
    if ((!is_train && sample.split != "test") || rated.roofline < kBig) continue;
    Splits& splits =
        groups[{sample.source, sample.gpu, sample.name, Name(sample.op.dtype)}][ClassOf(sample.op)];
    const double excess = std::log(sample.time.seconds() / rated.roofline.seconds());
    (is_train ? splits.train : splits.test).push_back(excess);
  }
  for (auto& [group, classes] : groups) {
    std::vector<double> ratios;
    size_t train = 0, test = 0;
    for (auto& [sizes, splits] : classes) {
      if (splits.train.empty() || splits.test.empty()) continue;
      ratios.push_back(UpperMedian(splits.train) - UpperMedian(splits.test));
      train += splits.train.size();
      test += splits.test.size();
    }
    if (ratios.size() < kFewestClasses) continue;
    const double ratio = std::exp(UpperMedian(ratios));
    if (ratio <= kSplitRatio && ratio >= 1 / kSplitRatio) continue;
    const auto& [source, gpu, name, dtype] = group;
    problems.push_back(fmt::format(
        "{}: {} of {}: {} {} takes {:.2f} times as long in split train ({} large samples) as in "
        "test ({}) at sizes of the same {} octaves, want at most {:.2f}: the GPU or its clock "
        "changed",
        path, gpu, source, dtype, name, ratio, train, test, ratios.size(), kSplitRatio));
  }
}

}  // namespace

std::vector<std::string> FindSlowGpus(std::span<const RatedSample> samples,
                                      const std::string& path) {
  std::vector<std::string> problems;
  AddWeakPeaks(samples, path, problems);
  AddUnequalSplits(samples, path, problems);
  return problems;
}

}  // namespace stagecraft
