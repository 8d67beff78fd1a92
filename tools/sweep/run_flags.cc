#include "tools/sweep/run_flags.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "costmodel/check.h"

namespace stagecraft {
namespace {

using Json = nlohmann::ordered_json;

[[noreturn]] void Refuse(const std::string& what, const std::string& text) {
  constexpr size_t kMostShown = 60;
  throw InputError(what + ": got \"" + text.substr(0, kMostShown) +
                   "\", which sweep does not write");
}

// Explicit points: every flag with the values that it takes.
std::vector<FlagValues> ValuesOfPoints(const Json& points) {
  std::vector<FlagValues> all;
  std::set<std::string> names;
  for (const Json& point : points) {
    for (const auto& [name, value] : point.items()) names.insert(name);
  }
  for (const std::string& name : names) {
    FlagValues values{name, {}};
    std::set<std::string> met;
    for (const Json& point : points) {
      const std::string value = point.contains(name) ? point[name].get<std::string>() : "";
      if (met.insert(value).second) values.values.push_back(value);
    }
    all.push_back(std::move(values));
  }
  return all;
}

}  // namespace

std::map<std::string, std::string> FlagsOfRow(const RunRow& row) {
  try {
    return Json::parse(row.flags).get<std::map<std::string, std::string>>();
  } catch (const Json::exception&) {
    Refuse("runs: point " + std::to_string(row.point) + ": flags", row.flags);
  }
}

std::vector<FlagValues> ValuesOfDefinition(const std::string& definition) {
  try {
    const Json json = Json::parse(definition);
    if (json.contains("points")) return ValuesOfPoints(json["points"]);
    std::vector<FlagValues> all;
    for (const auto& [name, values] : json.at("flags").items()) {
      all.push_back({name, values.get<std::vector<std::string>>()});
    }
    return all;
  } catch (const Json::exception&) {
    Refuse("grids: definition", definition);
  }
}

std::string VerbOfDefinition(const std::string& definition) {
  try {
    return Json::parse(definition).at("verb").get<std::string>();
  } catch (const Json::exception&) {
    Refuse("grids: definition", definition);
  }
}

std::vector<std::string> FlagsOfDefinition(const std::string& definition) {
  std::vector<std::string> names;
  for (const FlagValues& values : ValuesOfDefinition(definition)) names.push_back(values.flag);
  return names;
}

}  // namespace stagecraft
