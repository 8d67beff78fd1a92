#include "costmodel/learned/splits.h"

#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <utility>

#include "costmodel/check.h"
#include "costmodel/hash.h"
#include "costmodel/learned/kernel_family.h"
#include "costmodel/random.h"

namespace stagecraft {
namespace {

constexpr double kShapeFraction = 0.2;
constexpr size_t kMostValues = 20;
constexpr int kFolds = 5;

// Returns a number in [0, 1) that depends on the seed and a key alone.
double Draw(uint64_t seed, uint64_t key) {
  return Random(Hash().Add(static_cast<int64_t>(seed)).Add(static_cast<int64_t>(key)).value())
      .Uniform();
}

using Key = std::function<std::string(const Sample&)>;

Key FindKey(const std::string& name) {
  if (name == "gpu") return [](const Sample& s) { return s.gpu; };
  if (name == "source") return [](const Sample& s) { return s.source; };
  if (name == "op") return OpLabel;
  if (name == "dtype") return [](const Sample& s) { return std::string(Name(s.op.dtype)); };
  if (name == "nk") return [](const Sample& s) { return fmt::format("{}x{}", s.op.n, s.op.k); };
  throw InputError(fmt::format(
      "--split: got \"leave-out:{}\", want a key of gpu, source, op, dtype and nk", name));
}

std::vector<SampleSplit> LeaveOut(const std::string& what, std::span<const Sample> samples,
                                  uint64_t seed) {
  const size_t equals = what.find('=');
  const std::string name = what.substr(0, equals);
  const Key key = FindKey(name);
  std::map<std::string, int> values;  // each with its fold
  for (const Sample& sample : samples) values.emplace(key(sample), -1);
  std::vector<SampleSplit> splits;
  if (equals != std::string::npos) {
    const std::string value = what.substr(equals + 1);
    splits.push_back(
        DivideSamples(samples.size(), [&](int i) { return key(samples[i]) == value; }));
    splits.back().left_out = what;
    return splits;
  }
  if (values.size() <= kMostValues) {
    for (const auto& entry : values) {
      const std::string& value = entry.first;
      splits.push_back(
          DivideSamples(samples.size(), [&](int i) { return key(samples[i]) == value; }));
      splits.back().left_out = name + "=" + value;
    }
    return splits;
  }
  Random random = Random(seed).Child(name, 0);
  for (auto& [value, fold] : values) fold = static_cast<int>(random.Integer(0, kFolds - 1));
  for (int fold = 0; fold < kFolds; ++fold) {
    splits.push_back(
        DivideSamples(samples.size(), [&](int i) { return values.at(key(samples[i])) == fold; }));
    splits.back().left_out = fmt::format("{} fold {}", name, fold);
  }
  return splits;
}

std::vector<SampleSplit> Make(const std::string& spec, std::span<const Sample> samples,
                              uint64_t seed) {
  if (spec == "none") return {DivideSamples(samples.size(), [](int) { return true; })};
  if (spec == "unseen-shape") {
    return {DivideSamples(samples.size(), [&](int i) {
      return Draw(seed, ShapeOf(samples[i].op)) < kShapeFraction;
    })};
  }
  if (spec == "column:split") {
    return {DivideSamples(samples.size(), [&](int i) { return samples[i].split == "test"; })};
  }
  if (spec.starts_with("leave-out:")) return LeaveOut(spec.substr(10), samples, seed);
  if (const std::optional<double> fraction = RandomFraction(spec)) {
    return {DivideSamples(samples.size(),
                          [&](int i) { return Draw(seed, static_cast<uint64_t>(i)) < *fraction; })};
  }
  throw InputError(
      fmt::format("--split: got \"{}\", want random:FRACTION (between 0 and 1), unseen-shape, "
                  "column:split, leave-out:KEY[=VALUE] or none",
                  spec));
}

}  // namespace

std::vector<SampleSplit> MakeSplits(const std::string& spec, std::span<const Sample> samples,
                                    uint64_t seed) {
  std::vector<SampleSplit> splits = Make(spec, samples, seed);
  CheckSplits(spec, splits);
  return splits;
}

std::string OpLabel(const Sample& sample) {
  switch (sample.op.kind) {
    case OpKind::kGemm:
      if (sample.op.batch > 1) return "bmm";
      return sample.name == "linear" ? sample.name : "gemm";
    case OpKind::kAttention:
      return "attention";
    default:
      return sample.name.empty() ? Name(sample.op.kind) : sample.name;
  }
}

}  // namespace stagecraft
