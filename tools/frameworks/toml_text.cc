#include "tools/frameworks/toml_text.h"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <sstream>

#include "costmodel/check.h"
#include "tools/import/import_text.h"

namespace stagecraft {
namespace {

constexpr int kMostDepth = 64;

nlohmann::json ToJson(const toml::node& node, const std::string& name, int depth) {
  if (depth > kMostDepth) {
    throw InputError(fmt::format("{}: got tables more than {} deep", name, kMostDepth));
  }
  if (const toml::table* const table = node.as_table()) {
    nlohmann::json object = nlohmann::json::object();
    for (const auto& [key, value] : *table) {
      object[std::string(key.str())] = ToJson(value, name, depth + 1);
    }
    return object;
  }
  if (const toml::array* const array = node.as_array()) {
    nlohmann::json list = nlohmann::json::array();
    for (const toml::node& value : *array) list.push_back(ToJson(value, name, depth + 1));
    return list;
  }
  if (const auto* const text = node.as_string()) return text->get();
  if (const auto* const number = node.as_integer()) return number->get();
  if (const auto* const number = node.as_floating_point()) return number->get();
  if (const auto* const truth = node.as_boolean()) return truth->get();
  std::ostringstream date;
  node.visit([&](const auto& value) { date << toml::node_view<const toml::node>(value); });
  return date.str();
}

}  // namespace

nlohmann::json ParseToml(const std::string& text, const std::string& name) {
  try {
    return ToJson(toml::parse(text, name), name, 0);
  } catch (const toml::parse_error& error) {
    const toml::source_position& place = error.source().begin;
    throw InputError(
        fmt::format("{}: line {}, column {}: {}", name, static_cast<unsigned>(place.line),
                    static_cast<unsigned>(place.column), std::string(error.description())));
  }
}

}  // namespace stagecraft
