#include "tools/kernels/sample_warnings.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "costmodel/text.h"

namespace stagecraft {
namespace {

std::string SpreadWarning(const std::string& what, std::span<const Sample> samples) {
  int wide = 0;
  double most = 0;
  for (const Sample& sample : samples) {
    wide += sample.spread > kWideSpread ? 1 : 0;
    most = std::max(most, sample.spread);
  }
  if (wide == 0) return "";
  return fmt::format(
      "{}: {} of {} rows have a spread above {} over their repeats, {:.2g} at most; they count "
      "less: measure them again on an idle device",
      what, wide, samples.size(), kWideSpread, most);
}

// "cuda 13.0, cublas 13.1": "cuda" is the software, "13.0" its version.
std::pair<std::string, std::string> VersionOf(std::string_view part) {
  const std::string_view text = Trimmed(part);
  const size_t blank = text.rfind(' ');
  if (blank == std::string_view::npos) return {std::string(text), ""};
  return {std::string(text.substr(0, blank)), std::string(text.substr(blank + 1))};
}

}  // namespace

std::vector<std::string> SampleWarnings(const std::string& what, std::span<const Sample> samples) {
  std::vector<std::string> warnings;
  if (std::string spread = SpreadWarning(what, samples); !spread.empty()) {
    warnings.push_back(std::move(spread));
  }
  std::map<std::pair<std::string, std::string>, std::set<std::string>> versions;
  for (const Sample& sample : samples) {
    if (sample.software.empty()) continue;
    for (const std::string_view part : SplitAt(sample.software, ',')) {
      auto [software, version] = VersionOf(part);
      if (!version.empty()) versions[{sample.gpu, software}].insert(std::move(version));
    }
  }
  for (const auto& [of, found] : versions) {
    if (found.size() < 2) continue;
    warnings.push_back(fmt::format(
        "{}: samples of {} mix versions {} of {}: times may differ between them, fit those of the "
        "version that you run",
        what, of.first, fmt::join(found, ", "), of.second));
  }
  return warnings;
}

}  // namespace stagecraft
