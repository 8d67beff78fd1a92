// Reads values out of one config.json, remembers which keys are missing, and reports errors with
// the key names of the file. Only the hf_config sources include it.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace stagecraft {

// Returns the value as a user wrote it, cut to a readable length.
std::string ShownJson(const nlohmann::json& value);

class ConfigReader {
 public:
  using Json = nlohmann::json;
  using Keys = std::span<const char* const>;  // spellings; absent ones are null

  // Both arguments must outlive the reader. `place` begins every message.
  ConfigReader(const Json& json, const std::string& place) : json_(json), place_(place) {}

  // Null counts as absent, as it does in Hugging Face's own reader.
  const Json* Find(const char* key) const;
  bool HasKey(const char* key) const { return json_.contains(key); }  // null or not

  // Reads the first spelling that is present, a number of at least `low`; others must agree with
  // it. `field` is the name that FindErrors() uses. Returns whether one is present; if none is,
  // `value` stays, and the spellings are recorded as missing if they are needed.
  bool Size(const char* field, Keys keys, bool is_needed, int64_t& value, int64_t low = 1);
  bool Size(const char* field, std::initializer_list<const char*> keys, bool is_needed,
            int64_t& value, int64_t low = 1) {
    return Size(field, Keys(keys.begin(), keys.size()), is_needed, value, low);
  }
  // Leaves `value` as it is if the key is absent.
  void Switch(const char* key, bool& value) const;
  // Reads a number from 0 to 1.
  void Fraction(const char* key, double& value) const;
  // Sets `drops` to whether any of the probabilities that are present is above zero; without any,
  // it stays.
  void Dropout(Keys keys, bool& drops) const;
  void Dropout(std::initializer_list<const char*> keys, bool& drops) const {
    Dropout(Keys(keys.begin(), keys.size()), drops);
  }
  // Returns whole numbers from 0 on; none if the key is absent.
  std::vector<int64_t> Indices(const char* key) const;

  void AddMissing(const std::string& spellings);
  void ThrowIfMissing() const;

  [[noreturn]] void Fail(const std::string& sentence) const;
  [[noreturn]] void Fail(const char* key, const Json& value, const std::string& wanted) const;
  // Throws the first sentence of FindErrors() with the file's name for the field: "n_embd:" for
  // "hidden:"; returns if there is none.
  void ThrowFirst(const std::vector<std::string>& errors) const;

 private:
  int64_t Integer(const char* key, const Json& value, int64_t low) const;

  const Json& json_;
  const std::string& place_;
  std::string missing_;
  std::map<std::string, std::string> used_;  // field -> the key from which it was read
};

}  // namespace stagecraft
