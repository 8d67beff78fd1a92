// Reads values out of one config.json, remembers which keys are missing and
// complains in the words of the file. Only the hf_config sources include it.
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

// The value as a user wrote it, cut where it would fill the screen.
std::string ShownJson(const nlohmann::json& value);

class ConfigReader {
 public:
  using Json = nlohmann::json;
  using Keys = std::span<const char* const>;  // spellings; absent ones are null

  // Both must outlive the reader. `place` begins every message.
  ConfigReader(const Json& json, const std::string& place) : json_(json), place_(place) {}

  // Null counts as absent, as it does in Hugging Face's own reader.
  const Json* Find(const char* key) const;
  bool HasKey(const char* key) const { return json_.contains(key); }  // null or not

  // Reads the first spelling that is there, at least `low`; others must agree.
  // `field` is what FindErrors calls it. Returns whether one is there; where
  // none is, `value` stays, and the spellings are missing if they are needed.
  bool Size(const char* field, Keys keys, bool is_needed, int64_t& value, int64_t low = 1);
  bool Size(const char* field, std::initializer_list<const char*> keys, bool is_needed,
            int64_t& value, int64_t low = 1) {
    return Size(field, Keys(keys.begin(), keys.size()), is_needed, value, low);
  }
  // Leaves `value` where the key is absent.
  void Switch(const char* key, bool& value) const;
  // A number from 0 to 1.
  void Fraction(const char* key, double& value) const;
  // Whether any of the probabilities that are there is above zero.
  void Dropout(Keys keys, bool& drops) const;
  void Dropout(std::initializer_list<const char*> keys, bool& drops) const {
    Dropout(Keys(keys.begin(), keys.size()), drops);
  }
  // Whole numbers from 0; empty where the key is absent.
  std::vector<int64_t> Indices(const char* key) const;

  void AddMissing(const std::string& spellings);
  void ThrowIfMissing() const;

  [[noreturn]] void Fail(const std::string& sentence) const;
  [[noreturn]] void Fail(const char* key, const Json& value, const std::string& wanted) const;
  // Throws the first of FindErrors' sentences, which speak of "hidden:", in the
  // words of the file, "n_embd:"; returns where there is none.
  void ThrowFirst(const std::vector<std::string>& errors) const;

 private:
  int64_t Integer(const char* key, const Json& value, int64_t low) const;

  const Json& json_;
  const std::string& place_;
  std::string missing_;
  std::map<std::string, std::string> used_;  // field -> key it was read from
};

}  // namespace stagecraft
