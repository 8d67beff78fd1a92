#include "sim/workload/readers/hf_config_reader.h"

#include "costmodel/check.h"

namespace stagecraft {
namespace {

constexpr int64_t kMaxSize = 1'000'000'000;  // larger ones are typing errors

}  // namespace

std::string ShownJson(const nlohmann::json& value) {
  constexpr size_t kLongest = 60;
  const std::string text = value.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
  return text.size() <= kLongest ? text : text.substr(0, kLongest) + "...";
}

const ConfigReader::Json* ConfigReader::Find(const char* key) const {
  const auto found = json_.find(key);
  return found == json_.end() || found->is_null() ? nullptr : &*found;
}

int64_t ConfigReader::Integer(const char* key, const Json& value, int64_t low) const {
  const std::string wanted =
      "a whole number from " + std::to_string(low) + " to " + std::to_string(kMaxSize);
  if (!value.is_number_integer()) Fail(key, value, wanted);
  if (value.is_number_unsigned() && value.get<uint64_t>() > static_cast<uint64_t>(kMaxSize)) {
    Fail(key, value, wanted);
  }
  const int64_t number = value.get<int64_t>();
  if (number < low || number > kMaxSize) Fail(key, value, wanted);
  return number;
}

bool ConfigReader::Size(const char* field, Keys keys, bool is_needed, int64_t& value, int64_t low) {
  const char* used = nullptr;
  std::string spellings;
  for (const char* key : keys) {
    if (key == nullptr) continue;
    spellings += (spellings.empty() ? "" : " | ") + std::string(key);
    const Json* found = Find(key);
    if (found == nullptr) continue;
    const int64_t number = Integer(key, *found, low);
    if (used != nullptr && number != value) {
      Fail(key, *found, "the " + std::to_string(value) + " that " + used + " says");
    }
    if (used == nullptr) used = key;
    value = number;
  }
  if (used != nullptr) {
    used_[field] = used;
  } else if (is_needed) {
    AddMissing(spellings);
  }
  return used != nullptr;
}

void ConfigReader::Switch(const char* key, bool& value) const {
  const Json* found = Find(key);
  if (found == nullptr) return;
  if (!found->is_boolean()) Fail(key, *found, "true or false");
  value = found->get<bool>();
}

void ConfigReader::Fraction(const char* key, double& value) const {
  const Json* found = Find(key);
  if (found == nullptr) return;
  const double number = found->is_number() ? found->get<double>() : -1.0;
  if (!(number >= 0 && number <= 1)) Fail(key, *found, "a number from 0 to 1");
  value = number;
}

void ConfigReader::Dropout(Keys keys, bool& drops) const {
  bool is_given = false;
  bool is_on = false;
  for (const char* key : keys) {
    if (key == nullptr || Find(key) == nullptr) continue;
    double probability = 0;
    Fraction(key, probability);
    is_given = true;
    is_on |= probability > 0;
  }
  if (is_given) drops = is_on;
}

std::vector<int64_t> ConfigReader::Indices(const char* key) const {
  std::vector<int64_t> indices;
  const Json* found = Find(key);
  if (found == nullptr) return indices;
  if (!found->is_array()) Fail(key, *found, "a list of whole numbers");
  for (const Json& value : *found) indices.push_back(Integer(key, value, 0));
  return indices;
}

void ConfigReader::AddMissing(const std::string& spellings) {
  missing_ += (missing_.empty() ? "" : "; ") + spellings;
}

void ConfigReader::ThrowIfMissing() const {
  if (!missing_.empty()) throw InputError(place_ + ": missing keys: " + missing_);
}

void ConfigReader::Fail(const std::string& sentence) const {
  throw InputError(place_ + ": " + sentence);
}

void ConfigReader::Fail(const char* key, const Json& value, const std::string& wanted) const {
  Fail(std::string(key) + ": got " + ShownJson(value) + ", want " + wanted);
}

void ConfigReader::ThrowFirst(const std::vector<std::string>& errors) const {
  if (errors.empty()) return;
  const std::string& sentence = errors.front();
  const auto key = used_.find(sentence.substr(0, sentence.find(':')));
  if (key == used_.end()) Fail(sentence);
  Fail(key->second + sentence.substr(sentence.find(':')));
}

}  // namespace stagecraft
