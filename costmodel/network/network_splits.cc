#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <optional>

#include "costmodel/check.h"
#include "costmodel/network/network_experiment.h"
#include "costmodel/random.h"

namespace stagecraft {
namespace {

constexpr int kFolds = 64;

using Key = std::function<std::string(const NetworkSample&)>;

Key FindKey(const std::string& name) {
  if (name == "group") return GroupLabel;
  if (name == "bytes") {
    return [](const NetworkSample& s) { return fmt::format("{}", s.op.bytes.count()); };
  }
  if (name == "gpu") return [](const NetworkSample& s) { return s.gpu; };
  if (name == "source") return [](const NetworkSample& s) { return s.source; };
  if (name == "system") return [](const NetworkSample& s) { return s.system; };
  if (name == "site") return [](const NetworkSample& s) { return s.site; };
  if (name == "op") return [](const NetworkSample& s) { return std::string(Name(s.op.kind)); };
  if (name == "dtype") return [](const NetworkSample& s) { return s.dtype; };
  throw InputError(
      fmt::format("--split: got \"leave-out:{}\", want a key of group, bytes, gpu, source, system, "
                  "site, op and dtype",
                  name));
}

// An order in which shorter texts come first, so that numbers ascend.
struct ByLength {
  bool operator()(const std::string& a, const std::string& b) const {
    return a.size() != b.size() ? a.size() < b.size() : a < b;
  }
};

std::vector<SampleSplit> LeaveOut(const std::string& what, std::span<const NetworkSample> samples) {
  const size_t equals = what.find('=');
  const std::string name = what.substr(0, equals);
  const Key key = FindKey(name);
  std::vector<std::string> of_sample;
  for (const NetworkSample& sample : samples) of_sample.push_back(key(sample));
  std::vector<SampleSplit> splits;
  if (equals != std::string::npos) {
    const std::string value = what.substr(equals + 1);
    splits.push_back(DivideSamples(samples.size(), [&](int i) { return of_sample[i] == value; }));
    splits.back().left_out = what;
    return splits;
  }
  std::map<std::string, int, ByLength> folds;
  for (const std::string& value : of_sample) folds.emplace(value, 0);
  int next = 0;
  for (auto& [value, fold] : folds) fold = next++ % kFolds;
  const bool deals = folds.size() > kFolds;
  std::vector<std::string> names(std::min<size_t>(folds.size(), kFolds));
  for (const auto& [value, fold] : folds) {
    names[fold] = deals ? fmt::format("{} fold {}", name, fold) : name + "=" + value;
  }
  for (size_t fold = 0; fold < names.size(); ++fold) {
    splits.push_back(DivideSamples(
        samples.size(), [&](int i) { return folds.at(of_sample[i]) == static_cast<int>(fold); }));
    splits.back().left_out = names[fold];
  }
  return splits;
}

std::vector<SampleSplit> Make(const std::string& spec, std::span<const NetworkSample> samples,
                              uint64_t seed) {
  if (spec == "none") return {DivideSamples(samples.size(), [](int) { return true; })};
  if (spec.starts_with("leave-out:")) return LeaveOut(spec.substr(10), samples);
  if (const std::optional<double> fraction = RandomFraction(spec)) {
    Random random = Random(seed).Child("network", 0);
    return {DivideSamples(samples.size(), [&](int) { return random.Uniform() < *fraction; })};
  }
  throw InputError(fmt::format(
      "--split: got \"{}\", want random:FRACTION (between 0 and 1), leave-out:KEY[=VALUE] or none",
      spec));
}

}  // namespace

std::vector<SampleSplit> MakeNetworkSplits(const std::string& spec,
                                           std::span<const NetworkSample> samples, uint64_t seed) {
  std::vector<SampleSplit> splits = Make(spec, samples, seed);
  CheckSplits(spec, splits);
  return splits;
}

}  // namespace stagecraft
