#include "tools/sweep/grid.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "costmodel/check.h"
#include "costmodel/nearest.h"
#include "tools/sweep/grid_values.h"

namespace stagecraft {
namespace {

using Fields = google::protobuf::Map<std::string, google::protobuf::Value>;

// Throws InputError for the alphabetically first flag that the verb does not have.
void CheckNames(const Fields& fields, const std::vector<GridFlag>& flags, GridVerb verb,
                const std::string& place) {
  std::vector<std::string> given, known;
  for (const auto& [name, value] : fields) given.push_back(name);
  std::sort(given.begin(), given.end());
  for (const GridFlag& flag : flags) known.push_back(flag.name);
  for (const std::string& name : given) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    throw InputError(fmt::format("{}: got \"{}\", want a flag of {} that acts on a step; {}", place,
                                 name, Name(verb), NearestNames(name, known)));
  }
}

void CheckSize(int64_t size, const std::string& name) {
  if (size <= kMostPoints) return;
  throw InputError(
      fmt::format("{}: flags: got more than {} points, want at most so many", name, kMostPoints));
}

}  // namespace

const char* Name(GridVerb verb) { return verb == GridVerb::kSearch ? "search" : "simulate"; }

GridVerb VerbOf(const GridProto& proto, const std::string& name) {
  switch (proto.verb()) {
    case GridProto::VERB_UNSPECIFIED:
    case GridProto::SIMULATE:
      return GridVerb::kSimulate;
    case GridProto::SEARCH:
      return GridVerb::kSearch;
    default:
      throw InputError(
          fmt::format("{}: verb: got {}, want SIMULATE or SEARCH", name, proto.verb()));
  }
}

Grid Grid::FromProto(const GridProto& proto, const std::vector<GridFlag>& flags,
                     const std::string& name) {
  Grid grid;
  grid.verb_ = VerbOf(proto, name);
  CheckNames(proto.flags(), flags, grid.verb_, name + ": flags");
  if (proto.flags().empty()) throw InputError(name + ": flags: got none, want some");
  std::map<std::string, std::string> common;  // of explicit points
  grid.size_ = 1;
  for (const GridFlag& flag : flags) {
    const auto found = proto.flags().find(flag.name);
    if (found == proto.flags().end()) continue;
    const std::string place = name + ": flags." + flag.name;
    GridAxis axis{flag.name, GridValues(found->second, flag, place), flag.takes_text};
    if (proto.points_size() > 0 && axis.values.size() > 1) {
      throw InputError(
          fmt::format("{}: got {} values beside points, want one", place, axis.values.size()));
    }
    grid.size_ *= static_cast<int64_t>(axis.values.size());
    CheckSize(grid.size_, name);
    common[flag.name] = axis.values[0];
    grid.axes_.push_back(std::move(axis));
  }
  if (proto.points_size() > 0) grid.ReadPoints(proto, flags, common, name);
  return grid;
}

void Grid::ReadPoints(const GridProto& proto, const std::vector<GridFlag>& flags,
                      const std::map<std::string, std::string>& common, const std::string& name) {
  std::map<std::map<std::string, std::string>, int> seen;
  for (int i = 0; i < proto.points_size(); ++i) {
    const std::string place = fmt::format("{}: points[{}]", name, i);
    const Fields& fields = proto.points(i).fields();
    CheckNames(fields, flags, verb_, place);
    StudyPoint point{common};
    for (const GridFlag& flag : flags) {
      const auto found = fields.find(flag.name);
      if (found == fields.end()) continue;
      point.flags[flag.name] = GridValue(found->second, flag, place + "." + flag.name);
    }
    const auto [first, is_new] = seen.emplace(point.flags, i);
    if (!is_new) {
      throw InputError(
          fmt::format("{}: got the flags of points[{}], want others", place, first->second));
    }
    points_.push_back(std::move(point));
  }
  size_ = static_cast<int64_t>(points_.size());
  axes_.clear();
  for (const GridFlag& flag : flags) {
    GridAxis axis{flag.name, {}, flag.takes_text};
    std::set<std::string> met;
    for (const StudyPoint& point : points_) {
      const auto found = point.flags.find(flag.name);
      const std::string value = found == point.flags.end() ? "" : found->second;
      if (met.insert(value).second) axis.values.push_back(value);
    }
    if (axis.values != std::vector<std::string>{""}) axes_.push_back(std::move(axis));
  }
}

StudyPoint Grid::At(int64_t index) const {
  CHECK(index >= 0 && index < size_);
  if (!points_.empty()) return points_[static_cast<size_t>(index)];
  StudyPoint point;
  for (auto axis = axes_.rbegin(); axis != axes_.rend(); ++axis) {
    const auto count = static_cast<int64_t>(axis->values.size());
    point.flags.emplace(axis->flag, axis->values[static_cast<size_t>(index % count)]);
    index /= count;
  }
  return point;
}

std::vector<std::string> Grid::Varied() const {
  std::vector<std::string> varied;
  for (const GridAxis& axis : axes_) {
    if (axis.values.size() > 1) varied.push_back(axis.flag);
  }
  return varied;
}

std::string Grid::Definition() const {
  nlohmann::ordered_json json{{"verb", Name(verb_)}};
  if (points_.empty()) {
    for (const GridAxis& axis : axes_) json["flags"][axis.flag] = axis.values;
  } else {
    for (const StudyPoint& point : points_) json["points"].push_back(point.flags);
  }
  return json.dump(-1, ' ', true, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace stagecraft
