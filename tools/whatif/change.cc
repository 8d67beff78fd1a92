#include "tools/whatif/change.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <string_view>
#include <utility>

#include "costmodel/check.h"
#include "costmodel/nearest.h"
#include "costmodel/text.h"
#include "sim/cluster/cluster_scale.h"
#include "tools/whatif/cluster_text.h"

namespace stagecraft {
namespace {

[[noreturn]] void Refuse(const std::string& change, const std::string& why) {
  throw InputError(fmt::format("--change {}: {}", change, why));
}

// The factor of "0.5x"; no value if the text is none.
std::optional<double> FactorOf(std::string_view text) {
  const std::optional<double> factor = TakeNumber<double>(text);
  return factor && text == "x" && std::isfinite(*factor) ? factor : std::nullopt;
}

// Whether these are the words of a device, a node or a link: "node3", "node0/nic3 -> fabric".
bool IsPart(std::string_view name) {
  if (name.find('/') != std::string_view::npos || name.find("->") != std::string_view::npos) {
    return true;
  }
  constexpr std::string_view kNode = "node";
  return name.starts_with(kNode) && name.size() > kNode.size() &&
         std::isdigit(static_cast<unsigned char>(name[kNode.size()])) != 0;
}

std::string_view ScaledName(std::string_view name) {
  if (name == "network" || name == "memory") return name;
  return name == "link" || name == "links" ? "links" : "";
}

const Flag* FindFlag(const std::string& name, const std::vector<Flag>& flags) {
  const auto found = std::find_if(flags.begin(), flags.end(),
                                  [&](const Flag& flag) { return flag.Has("--" + name); });
  return found == flags.end() ? nullptr : &*found;
}

[[noreturn]] void RefuseUnknown(const std::string& change, const std::string& name,
                                const std::vector<Flag>& flags) {
  std::vector<std::string> known = {"gpu", "nodes", "network", "links", "memory", "node0"};
  for (const Flag& flag : flags) {
    if (flag.name().starts_with("--")) known.push_back(flag.name().substr(2));
  }
  Refuse(change, fmt::format("\"{}\" is neither a flag nor gpu, nodes, network, links, memory or a "
                             "part of the cluster; {}",
                             name, NearestNames(name, known)));
}

Edit EditOfFlag(const std::string& change, const std::string& name,
                const std::optional<std::string>& value, const std::vector<Flag>& flags) {
  const Flag* const flag = FindFlag(name, flags);
  if (flag == nullptr) RefuseUnknown(change, name, flags);
  const std::string whole = flag->name().substr(2);
  if (flag->is_switch() && !value) {
    return {EditKind::kFlag, whole, name == whole ? "true" : "false"};
  }
  if (!value || value->empty()) Refuse(change, fmt::format("want {}=VALUE", name));
  if (name != whole && flag->is_switch())
    Refuse(change, fmt::format("want {} without a value", name));
  return {whole == "price" ? EditKind::kPrice : EditKind::kFlag, whole, *value, FactorOf(*value)};
}

Edit ReadEdit(const std::string& change, std::string_view text, const std::vector<Flag>& flags) {
  const size_t equals = text.find('=');
  std::string name(Trimmed(text.substr(0, equals)));
  if (name.starts_with("--")) name.erase(0, 2);
  if (name.empty()) Refuse(change, "want NAME=VALUE, such as network=0.5x");
  std::optional<std::string> value;
  if (equals != std::string_view::npos) value = Trimmed(text.substr(equals + 1));
  const std::optional<double> factor = value ? FactorOf(*value) : std::nullopt;
  const std::string scaled(ScaledName(name));
  if (!scaled.empty() && (factor || FindFlag(name, flags) == nullptr)) {
    if (!factor || !(*factor >= kLeastScale && *factor <= kMostScale)) {
      Refuse(change, fmt::format("want {} as a multiple of {:g} to {:g}, such as {}=0.5x", name,
                                 kLeastScale, kMostScale, name));
    }
    return {EditKind::kScale, scaled, *value, factor};
  }
  if (IsPart(name)) {
    if (FindFlag("slow", flags) == nullptr) {
      Refuse(change, "a search knows no slow parts, want it without --best");
    }
    const std::optional<double> rate = factor  ? factor
                                       : value ? ParseNumber<double>(*value)
                                               : std::nullopt;
    if (!rate || !(*rate > 0 && *rate <= 1)) {
      Refuse(change, "want a speed above 0x, at most 1x: the share that is left, such as 0.8x");
    }
    return {EditKind::kSlow, name, *value, rate};
  }
  if (name == "gpu" || name == "nodes") {
    if (!value || value->empty()) Refuse(change, fmt::format("want {}=VALUE", name));
    return {name == "gpu" ? EditKind::kGpu : EditKind::kNodes, name, *value, factor};
  }
  return EditOfFlag(change, name, value, flags);
}

void Scale(const std::string& change, const Edit& edit, StudyPoint& point) {
  std::string& text = point.flags["scale"];
  ClusterScale scale = ParseClusterScale(text, "--scale");
  double& value = edit.name == "network" ? scale.network
                  : edit.name == "links" ? scale.links
                                         : scale.memory;
  value *= *edit.factor;
  text.clear();
  for (const auto& [name, factor] :
       {std::pair("network", scale.network), {"links", scale.links}, {"memory", scale.memory}}) {
    if (factor != 1) text += fmt::format("{}{}={}", text.empty() ? "" : ",", name, factor);
  }
  if (text.empty()) point.flags.erase("scale");
  if (!(value >= kLeastScale && value <= kMostScale)) {
    Refuse(change, fmt::format("{} times {:g} in all, want {:g} to {:g}", edit.name, value,
                               kLeastScale, kMostScale));
  }
}

// A part that is slow already becomes slower.
void Slow(const Edit& edit, StudyPoint& point) {
  std::string& text = point.flags["slow"];
  std::vector<std::string> parts;
  double rate = *edit.factor;
  for (const std::string_view part : SplitAt(text, ',')) {
    const size_t equals = part.rfind('=');
    if (part.empty()) continue;
    if (equals != std::string_view::npos && Trimmed(part.substr(0, equals)) == edit.name) {
      rate *= ParseNumber<double>(Trimmed(part.substr(equals + 1))).value_or(1);
    } else {
      parts.emplace_back(part);
    }
  }
  parts.push_back(fmt::format("{}={}", edit.name, rate));
  text = fmt::format("{}", fmt::join(parts, ","));
}

// Prices in place of those of the point: one of a GPU type replaces the price of this name.
void Price(const std::string& change, const Edit& edit, StudyPoint& point) {
  std::string& text = point.flags["price"];
  std::vector<std::string> prices;
  for (const std::string_view price : SplitAt(text, ',')) {
    const size_t equals = price.find('=');
    if (price.empty()) continue;
    if (!edit.factor) {
      const std::string name(price.substr(0, equals));
      const std::string both = fmt::format(",{}", edit.value);
      const bool is_named = equals != std::string_view::npos;
      if (is_named && edit.value.find('=') != std::string::npos &&
          both.find(fmt::format(",{}=", name)) == std::string::npos) {
        prices.emplace_back(price);
      }
      continue;
    }
    const size_t number = equals == std::string_view::npos ? 0 : equals + 1;
    const double usd = ParseNumber<double>(price.substr(number)).value_or(0);
    prices.push_back(fmt::format("{}{}", price.substr(0, number), usd * *edit.factor));
  }
  if (!edit.factor) prices.push_back(edit.value);
  if (prices.empty()) Refuse(change, "want --price to multiply");
  text = fmt::format("{}", fmt::join(prices, ","));
}

void SetFlag(const std::string& change, const Edit& edit, StudyPoint& point) {
  if (!edit.factor) {
    point.flags[edit.name] = edit.value;
    return;
  }
  const auto given = point.flags.find(edit.name);
  const std::optional<double> number =
      given == point.flags.end() ? std::nullopt : ParseNumber<double>(given->second);
  if (!number) {
    Refuse(change, fmt::format("want --{} with a number to multiply", edit.name));
  }
  given->second = fmt::format("{}", *number * *edit.factor);
}

void ApplyEdit(const std::string& change, const Edit& edit, StudyPoint& point) {
  switch (edit.kind) {
    case EditKind::kScale:
      return Scale(change, edit, point);
    case EditKind::kSlow:
      return Slow(edit, point);
    case EditKind::kPrice:
      return Price(change, edit, point);
    case EditKind::kFlag:
      return SetFlag(change, edit, point);
    case EditKind::kGpu:
    case EditKind::kNodes:
      break;
  }
  std::string& cluster = point.flags["cluster"];
  cluster = edit.kind == EditKind::kGpu
                ? WithGpu(cluster, edit.value, "--change " + change)
                : WithNodes(cluster, edit.value, edit.factor, "--change " + change);
}

// The flag whose value an edit changes.
std::string FlagOf(const Edit& edit) {
  switch (edit.kind) {
    case EditKind::kScale:
      return "scale";
    case EditKind::kSlow:
      return "slow";
    case EditKind::kGpu:
    case EditKind::kNodes:
      return "cluster";
    case EditKind::kFlag:
    case EditKind::kPrice:
      break;
  }
  return edit.name;
}

// Different parts of one value can be changed together, but a whole value replaces all of them.
bool Collide(const Edit& a, const Edit& b) {
  if (FlagOf(a) != FlagOf(b)) return false;
  return a.kind == EditKind::kFlag || b.kind == EditKind::kFlag || a.name == b.name;
}

}  // namespace

Change ReadChange(const std::string& text, const std::vector<Flag>& flags) {
  Change change{text, {}};
  for (const std::string_view part : SplitAt(text, ';')) {
    change.edits.push_back(ReadEdit(text, part, flags));
    const Edit& last = change.edits.back();
    for (size_t i = 0; i + 1 < change.edits.size(); ++i) {
      if (Collide(change.edits[i], last)) {
        Refuse(text, fmt::format("{} is changed twice, want it once", last.name));
      }
    }
  }
  return change;
}

bool Collide(const Change& a, const Change& b) {
  return std::any_of(a.edits.begin(), a.edits.end(), [&](const Edit& of_a) {
    return std::any_of(b.edits.begin(), b.edits.end(),
                       [&](const Edit& of_b) { return Collide(of_a, of_b); });
  });
}

StudyPoint Apply(const Change& change, StudyPoint point) {
  for (const Edit& edit : change.edits) ApplyEdit(change.text, edit, point);
  return point;
}

}  // namespace stagecraft
