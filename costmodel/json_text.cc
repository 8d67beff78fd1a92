#include <yaml-cpp/yaml.h>

#include <cctype>
#include <charconv>
#include <set>
#include <vector>

#include "costmodel/check.h"
#include "costmodel/json_to_proto.h"

namespace stagecraft {
namespace {

using nlohmann::json;

constexpr int kMaxNesting = 100;
// Anchors let a short YAML text expand to any size.
constexpr int64_t kMaxYamlNodes = 5'000'000;

std::string LineAndColumn(const std::string& text, size_t byte) {
  int64_t line = 1;
  int64_t column = 1;
  for (size_t i = 0; i + 1 < byte && i < text.size(); ++i) {
    column = text[i] == '\n' ? 1 : column + 1;
    if (text[i] == '\n') ++line;
  }
  return ":" + std::to_string(line) + ":" + std::to_string(column);
}

// Refuses what nlohmann's parser would let pass: keys given twice, and nesting
// without end.
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

bool LooksNumeric(const std::string& text) {
  for (const char c : text) {
    if (std::isdigit(static_cast<unsigned char>(c)) == 0 && c != '.' && c != 'e' && c != 'E' &&
        c != '+' && c != '-') {
      return false;
    }
  }
  return !text.empty() && text.find_first_of("0123456789") != std::string::npos;
}

template <typename Number>
bool Parse(const std::string& text, Number* number) {
  const char* begin = text.data() + (text[0] == '+' ? 1 : 0);
  const char* end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(begin, end, *number);
  return error == std::errc() && stopped == end;
}

json PlainScalar(const std::string& text) {
  if (text == "true" || text == "True" || text == "TRUE") return true;
  if (text == "false" || text == "False" || text == "FALSE") return false;
  if (text.empty() || text == "~" || text == "null" || text == "Null" || text == "NULL") {
    return nullptr;
  }
  if (!LooksNumeric(text)) return text;
  int64_t whole = 0;
  if (Parse(text, &whole)) return whole;
  uint64_t large = 0;
  if (Parse(text, &large)) return large;
  double number = 0;
  if (Parse(text, &number)) return number;
  return text;
}

class YamlReader {
 public:
  explicit YamlReader(const std::string& name) : name_(name) {}

  json Read(const YAML::Node& node, int depth) {
    if (depth > kMaxNesting || ++nodes_ > kMaxYamlNodes) {
      Fail(node.Mark(), "expands without end, want a flatter document");
    }
    if (node.IsSequence()) {
      json list = json::array();
      for (const YAML::Node& item : node) list.push_back(Read(item, depth + 1));
      return list;
    }
    if (node.IsMap()) return ReadMap(node, depth);
    if (!node.IsScalar()) return nullptr;
    // yaml-cpp tags quoted and block scalars "!".
    return node.Tag() == "!" ? json(node.Scalar()) : PlainScalar(node.Scalar());
  }

  [[noreturn]] void Fail(const YAML::Mark& mark, const std::string& what) const {
    const std::string place = mark.is_null() ? ""
                                             : ":" + std::to_string(mark.line + 1) + ":" +
                                                   std::to_string(mark.column + 1);
    throw InputError(name_ + place + ": " + what);
  }

 private:
  json ReadMap(const YAML::Node& node, int depth) {
    json map = json::object();
    for (const auto& entry : node) {
      if (!entry.first.IsScalar()) Fail(entry.first.Mark(), "got a key that is not text");
      const std::string& key = entry.first.Scalar();
      if (map.contains(key)) {
        Fail(entry.first.Mark(), "key " +
                                     json(key).dump(-1, ' ', true, json::error_handler_t::replace) +
                                     " is given twice in one map, want once");
      }
      map[key] = Read(entry.second, depth + 1);
    }
    return map;
  }

  std::string name_;
  int64_t nodes_ = 0;
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

json ParseYaml(const std::string& text, const std::string& name) {
  YamlReader reader(name);
  try {
    const std::vector<YAML::Node> documents = YAML::LoadAll(text);
    if (documents.size() != 1) {
      throw InputError(name + ": got " + std::to_string(documents.size()) +
                       " YAML documents, want one");
    }
    return reader.Read(documents[0], 0);
  } catch (const YAML::Exception& error) {
    reader.Fail(error.mark, "got \"" + error.msg + "\", want YAML");
  }
}

}  // namespace stagecraft
