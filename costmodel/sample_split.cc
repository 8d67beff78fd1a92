#include "costmodel/sample_split.h"

#include <fmt/core.h>

#include <optional>
#include <string_view>

#include "costmodel/check.h"
#include "costmodel/text.h"

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
  const auto fraction = ParseNumber<double>(std::string_view(spec).substr(kPrefix.size()));
  return fraction && *fraction > 0 && *fraction < 1 ? fraction : std::nullopt;
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
