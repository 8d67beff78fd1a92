#include "search/partition/graph_json.h"

#include <fmt/core.h>

#include <cmath>
#include <limits>

#include "costmodel/check.h"

namespace stagecraft {

using nlohmann::json;

void JsonObject::Fail(const std::string& key, const std::string& want) const {
  constexpr size_t kLongest = 60;
  const auto found = value.find(key);
  const std::string got =
      found == value.end() ? "nothing" : found->dump(-1, ' ', true, json::error_handler_t::replace);
  throw InputError(fmt::format("{}{}: got {}, want {}", path, key, got.substr(0, kLongest), want));
}

double JsonObject::Amount(const std::string& key) const {
  const auto found = value.find(key);
  const bool is_amount = found != value.end() && found->is_number() && *found >= 0.0 &&
                         std::isfinite(found->get<double>());
  if (!is_amount) Fail(key, "a number of at least 0");
  return found->get<double>();
}

double JsonObject::Amount(const std::string& key, double otherwise) const {
  return value.contains(key) ? Amount(key) : otherwise;
}

int JsonObject::Whole(const std::string& key) const {
  const double amount = Amount(key);
  if (amount != std::floor(amount) || amount > std::numeric_limits<int>::max()) {
    Fail(key, "a whole number");
  }
  return static_cast<int>(amount);
}

bool JsonObject::Claim(const std::string& key, bool otherwise) const {
  const auto found = value.find(key);
  if (found == value.end()) return otherwise;
  if (found->is_boolean()) return found->get<bool>();
  const int number = Whole(key);
  if (number > 1) Fail(key, "true or false");
  return number == 1;
}

std::string JsonObject::Text(const std::string& key) const {
  const auto found = value.find(key);
  if (found == value.end()) return {};
  if (!found->is_string()) Fail(key, "text");
  return found->get<std::string>();
}

const json& JsonObject::List(const std::string& key) const {
  const auto found = value.find(key);
  if (found == value.end() || !found->is_array()) Fail(key, "a list");
  return *found;
}

JsonObject JsonObject::Object(const std::string& key) const {
  const auto found = value.find(key);
  if (found == value.end() || !found->is_object()) Fail(key, "an object");
  return {*found, path + key + "."};
}

JsonObject JsonObject::Item(const std::string& key, size_t index) const {
  const json& item = List(key)[index];
  std::string place = fmt::format("{}{}[{}]", path, key, index);
  if (!item.is_object()) throw InputError(place + ": want an object");
  return {item, place + "."};
}

}  // namespace stagecraft
