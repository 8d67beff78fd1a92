// JsonObject: reads the values of the JSON in which planners keep their graphs; every error names
// the file, the key, the value and what was wanted.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

namespace stagecraft {

// JsonObject is one JSON object with the path to it, such as "bert.json: nodes[3].TMPCs". Its
// methods return the value of a key.
struct JsonObject {
  const nlohmann::json& value;
  std::string path;

  // A number of at least 0; throws InputError.
  double Amount(const std::string& key) const;
  // The same, or `otherwise` if the key is missing.
  double Amount(const std::string& key, double otherwise) const;
  // A whole number of 0 to 2^31 - 1; throws InputError.
  int Whole(const std::string& key) const;
  // true, false, 0 or 1; or `otherwise` if the key is missing.
  bool Claim(const std::string& key, bool otherwise) const;
  // Text, which is empty if the key is missing.
  std::string Text(const std::string& key) const;
  // A list or an object; throws InputError.
  const nlohmann::json& List(const std::string& key) const;
  JsonObject Object(const std::string& key) const;
  // Item `index` of a List(key), which must be an object.
  JsonObject Item(const std::string& key, size_t index) const;

  [[noreturn]] void Fail(const std::string& key, const std::string& want) const;
};

}  // namespace stagecraft
