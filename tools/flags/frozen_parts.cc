#include "tools/flags/frozen_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "costmodel/check.h"
#include "costmodel/text.h"
#include "sim/workload/layer_gradients.h"

namespace stagecraft {
namespace {

struct Range {
  int first = 0;
  int last = 0;
};

// "0-11" or "3"; nothing for any other text.
std::optional<Range> ParseRange(std::string_view text) {
  const std::optional<int> first = TakeNumber<int>(text);
  if (!first) return std::nullopt;
  if (text.empty()) return Range{*first, *first};
  if (text[0] != '-') return std::nullopt;
  text.remove_prefix(1);
  const std::optional<int> last = TakeNumber<int>(text);
  if (!last || !text.empty()) return std::nullopt;
  return Range{*first, *last};
}

std::vector<int> LayersOf(const std::string& part, const Workload& workload) {
  std::vector<int> layers;
  if (const std::optional<Range> range = ParseRange(part)) {
    if (range->first < 0 || range->last < range->first || range->last >= workload.layer_count()) {
      throw InputError(
          fmt::format("--frozen: got layers \"{}\", want ascending ones from 0 to {}, of {}", part,
                      workload.layer_count() - 1, workload.name));
    }
    for (int layer = range->first; layer <= range->last; ++layer) layers.push_back(layer);
    return layers;
  }
  layers = FindPart(workload, part);
  if (!layers.empty()) return layers;
  throw InputError(fmt::format("--frozen: got \"{}\", want layers such as 0-11, or parts of {}: {}",
                               part, workload.name, fmt::join(PartNames(workload), ", ")));
}

}  // namespace

void FreezeParts(const std::string& parts, Workload& workload) {
  if (parts.empty()) return;
  std::vector<bool> is_frozen(workload.layers.size());
  for (size_t begin = 0; begin <= parts.size();) {
    const size_t end = std::min(parts.find(',', begin), parts.size());
    for (const int layer : LayersOf(parts.substr(begin, end - begin), workload)) {
      is_frozen[layer] = true;
    }
    begin = end + 1;
  }
  FreezeLayers("--frozen", std::move(is_frozen), workload);
}

}  // namespace stagecraft
