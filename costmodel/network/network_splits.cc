#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>

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
  throw InputError(fmt::format(
      "--split: leave-out:{} is none of group, bytes, gpu, source, system, site, op and dtype",
      name));
}

NetworkSplit Divide(std::span<const NetworkSample> samples,
                    const std::function<bool(int)>& is_test) {
  NetworkSplit split;
  for (int i = 0; i < static_cast<int>(samples.size()); ++i) {
    (is_test(i) ? split.test : split.train).push_back(i);
  }
  return split;
}

// Shorter first, so that numbers ascend.
struct ByLength {
  bool operator()(const std::string& a, const std::string& b) const {
    return a.size() != b.size() ? a.size() < b.size() : a < b;
  }
};

std::vector<NetworkSplit> LeaveOut(const std::string& what,
                                   std::span<const NetworkSample> samples) {
  const size_t equals = what.find('=');
  const std::string name = what.substr(0, equals);
  const Key key = FindKey(name);
  std::vector<std::string> of_sample;
  for (const NetworkSample& sample : samples) of_sample.push_back(key(sample));
  std::vector<NetworkSplit> splits;
  if (equals != std::string::npos) {
    const std::string value = what.substr(equals + 1);
    splits.push_back(Divide(samples, [&](int i) { return of_sample[i] == value; }));
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
    splits.push_back(
        Divide(samples, [&](int i) { return folds.at(of_sample[i]) == static_cast<int>(fold); }));
    splits.back().left_out = names[fold];
  }
  return splits;
}

std::vector<NetworkSplit> Make(const std::string& spec, std::span<const NetworkSample> samples,
                               uint64_t seed) {
  if (spec == "none") return {Divide(samples, [](int) { return true; })};
  if (spec.starts_with("leave-out:")) return LeaveOut(spec.substr(10), samples);
  if (spec.starts_with("random:")) {
    double fraction = 0;
    const char* const end = spec.data() + spec.size();
    const auto [at, error] = std::from_chars(spec.data() + 7, end, fraction);
    if (error == std::errc() && at == end && fraction > 0 && fraction < 1) {
      Random random = Random(seed).Child("network", 0);
      return {Divide(samples, [&](int) { return random.Uniform() < fraction; })};
    }
  }
  throw InputError(fmt::format(
      "--split: got \"{}\", want random:FRACTION (between 0 and 1), leave-out:KEY[=VALUE] or none",
      spec));
}

}  // namespace

std::vector<NetworkSplit> MakeNetworkSplits(const std::string& spec,
                                            std::span<const NetworkSample> samples, uint64_t seed) {
  std::vector<NetworkSplit> splits = Make(spec, samples, seed);
  for (const NetworkSplit& split : splits) {
    const bool wants_both = spec != "none";
    if (!split.test.empty() && (!split.train.empty() || !wants_both)) continue;
    throw InputError(fmt::format("--split: {}{} leaves {} rows to learn from and {} to test", spec,
                                 split.left_out.empty() ? "" : " (" + split.left_out + ")",
                                 split.train.size(), split.test.size()));
  }
  return splits;
}

}  // namespace stagecraft
