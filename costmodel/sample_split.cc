#include "costmodel/sample_split.h"

#include <fmt/core.h>

#include <charconv>
#include <string_view>

#include "costmodel/check.h"

namespace stagecraft {

SampleSplit DivideSamples(size_t count, const std::function<bool(int)>& is_test) {
  SampleSplit split;
  for (int i = 0; i < static_cast<int>(count); ++i) {
    (is_test(i) ? split.test : split.train).push_back(i);
  }
  return split;
}

std::optional<double> RandomFraction(const std::string& spec) {
  constexpr std::string_view kPrefix = "random:";
  if (!spec.starts_with(kPrefix)) return std::nullopt;
  double fraction = 0;
  const char* const end = spec.data() + spec.size();
  const auto [at, error] = std::from_chars(spec.data() + kPrefix.size(), end, fraction);
  if (error != std::errc() || at != end || !(fraction > 0 && fraction < 1)) return std::nullopt;
  return fraction;
}

void CheckSplits(const std::string& spec, std::span<const SampleSplit> splits) {
  for (const SampleSplit& split : splits) {
    if (!split.test.empty() && (!split.train.empty() || spec == "none")) continue;
    throw InputError(fmt::format("--split: {}{} leaves {} rows to learn from and {} to test", spec,
                                 split.left_out.empty() ? "" : " (" + split.left_out + ")",
                                 split.train.size(), split.test.size()));
  }
}

}  // namespace stagecraft
