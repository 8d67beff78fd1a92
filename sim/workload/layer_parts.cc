#include "sim/workload/layer_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>

#include "costmodel/check.h"
#include "costmodel/text.h"

namespace stagecraft {
namespace {

// "residual_12" -> "residual".
std::string WithoutNumber(const std::string& name) {
  const size_t end = name.find_last_not_of("0123456789");
  const bool has_number = end != name.npos && end + 1 < name.size() && end > 0 && name[end] == '_';
  return has_number ? name.substr(0, end) : name;
}

const char* Name(LayerRole role) {
  constexpr const char* kNames[] = {"embedding", "blocks", "head"};
  return kNames[static_cast<int>(role)];
}

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

std::vector<int> LayersOf(const std::string& key, const std::string& part,
                          const Workload& workload) {
  std::vector<int> layers;
  if (const std::optional<Range> range = ParseRange(part)) {
    if (range->first < 0 || range->last < range->first || range->last >= workload.layer_count()) {
      throw InputError(fmt::format("{}: got layers \"{}\", want ascending ones from 0 to {}, of {}",
                                   key, part, workload.layer_count() - 1, workload.name));
    }
    for (int layer = range->first; layer <= range->last; ++layer) layers.push_back(layer);
    return layers;
  }
  layers = FindPart(workload, part);
  if (!layers.empty()) return layers;
  throw InputError(fmt::format("{}: got \"{}\", want layers such as 0-11, or parts of {}: {}", key,
                               part, workload.name, fmt::join(PartNames(workload), ", ")));
}

}  // namespace

std::vector<std::string> PartNames(const Workload& workload) {
  std::vector<std::string> names;
  const auto add = [&](const std::string& name) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  };
  for (int layer = 0; layer < workload.layer_count(); ++layer) {
    add(Name(workload.layer(layer).role));
  }
  for (int layer = 0; layer < workload.layer_count(); ++layer) {
    add(WithoutNumber(workload.layer(layer).name));
  }
  return names;
}

std::vector<int> FindPart(const Workload& workload, const std::string& name) {
  std::vector<int> layers;
  for (int layer = 0; layer < workload.layer_count(); ++layer) {
    const LayerKind& kind = workload.layer(layer);
    const bool is_part =
        name == Name(kind.role) || name == kind.name || name == WithoutNumber(kind.name);
    if (is_part) layers.push_back(layer);
  }
  return layers;
}

std::vector<bool> LayersOfParts(const std::string& key, const std::string& parts,
                                const Workload& workload) {
  std::vector<bool> is_among(workload.layers.size());
  for (size_t begin = 0; begin <= parts.size();) {
    const size_t end = std::min(parts.find(',', begin), parts.size());
    for (const int layer : LayersOf(key, parts.substr(begin, end - begin), workload)) {
      is_among[layer] = true;
    }
    begin = end + 1;
  }
  return is_among;
}

}  // namespace stagecraft
