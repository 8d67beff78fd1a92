#include <nlohmann/json.hpp>
#include <set>
#include <vector>

#include "costmodel/check.h"
#include "costmodel/json_to_proto.h"

namespace stagecraft {
namespace {

using nlohmann::json;

constexpr int kMaxNesting = 100;

std::string LineAndColumn(const std::string& text, size_t byte) {
  int64_t line = 1;
  int64_t column = 1;
  for (size_t i = 0; i + 1 < byte && i < text.size(); ++i) {
    column = text[i] == '\n' ? 1 : column + 1;
    if (text[i] == '\n') ++line;
  }
  return ":" + std::to_string(line) + ":" + std::to_string(column);
}

// Refuses what nlohmann's parser would accept: keys that occur twice, and unlimited nesting.
class KeyChecker {
 public:
  explicit KeyChecker(const std::string& name) : name_(name) {}

  bool operator()(int depth, json::parse_event_t event, json& parsed) {
    if (depth > kMaxNesting) {
      throw InputError(name_ + ": got JSON nested deeper than " + std::to_string(kMaxNesting) +
                       ", want a flatter one");
    }
    if (event == json::parse_event_t::object_start) keys_.emplace_back();
    if (event == json::parse_event_t::object_end) keys_.pop_back();
    if (event == json::parse_event_t::key && !keys_.back().insert(parsed).second) {
      throw InputError(name_ + ": key " + parsed.dump() + " is given twice in one map, want once");
    }
    return true;
  }

 private:
  std::string name_;
  std::vector<std::set<json>> keys_;
};

}  // namespace

json ParseJson(const std::string& text, const std::string& name) {
  try {
    return json::parse(text, KeyChecker(name));
  } catch (const json::parse_error& error) {
    throw InputError(name + LineAndColumn(text, error.byte) +
                     ": got a syntax error or the end of the file, want JSON");
  } catch (const json::out_of_range&) {
    throw InputError(name + ": got a number too large for any field, want a finite number");
  }
}

}  // namespace stagecraft
