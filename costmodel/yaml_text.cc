// ParseYaml: builds JSON from yaml-cpp's events, in one pass over the text.
//
// yaml-cpp's own YAML::LoadAll() is not used: after a comma or a bracket that closes nothing it
// makes empty documents without end.
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <string_view>
#include <utility>
#include <vector>

#include "costmodel/check.h"
#include "costmodel/json_to_proto.h"
#include "costmodel/text.h"

namespace stagecraft {
namespace {

using nlohmann::json;

constexpr int kMaxNesting = 100;
// Anchors let a short YAML text expand to any size.
constexpr int64_t kMaxNodes = 5'000'000;

bool LooksNumeric(const std::string& text) {
  for (const char c : text) {
    if (std::isdigit(static_cast<unsigned char>(c)) == 0 && c != '.' && c != 'e' && c != 'E' &&
        c != '+' && c != '-') {
      return false;
    }
  }
  return !text.empty() && text.find_first_of("0123456789") != std::string::npos;
}

json PlainScalar(const std::string& text) {
  if (text == "true" || text == "True" || text == "TRUE") return true;
  if (text == "false" || text == "False" || text == "FALSE") return false;
  if (text.empty() || text == "~" || text == "null" || text == "Null" || text == "NULL") {
    return nullptr;
  }
  if (!LooksNumeric(text)) return text;
  const std::string_view number = std::string_view(text).substr(text[0] == '+' ? 1 : 0);
  if (const auto whole = ParseNumber<int64_t>(number)) return *whole;
  if (const auto large = ParseNumber<uint64_t>(number)) return *large;
  if (const auto real = ParseNumber<double>(number)) return *real;
  return text;
}

std::string Quoted(const std::string& text) {
  return json(text).dump(-1, ' ', true, json::error_handler_t::replace);
}

// The number of nodes of a tree, including its root, and its depth.
struct Extent {
  int64_t nodes = 1;
  int depth = 1;
};

Extent ExtentOf(const json& tree) {
  Extent all;
  if (!tree.is_structured()) return all;
  for (const json& child : tree) {
    const Extent own = ExtentOf(child);
    all.nodes += own.nodes;
    all.depth = std::max(all.depth, 1 + own.depth);
  }
  return all;
}

class JsonBuilder : public YAML::EventHandler {
 public:
  explicit JsonBuilder(const std::string& name) : name_(name) {}

  json Take() { return std::move(root_); }

  [[noreturn]] void Fail(const YAML::Mark& mark, const std::string& what) const {
    const std::string place = mark.is_null() ? ""
                                             : ":" + std::to_string(mark.line + 1) + ":" +
                                                   std::to_string(mark.column + 1);
    throw InputError(name_ + place + ": " + what);
  }

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (has_begun_) Fail(mark, "got more after the end of the document, want one YAML document");
    has_begun_ = true;
  }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    Add(mark, anchor, {nullptr, std::nullopt, {}});
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& text) override {
    // yaml-cpp tags quoted and block scalars "!".
    const bool is_text = tag == "!" || tag == "tag:yaml.org,2002:str";
    Add(mark, anchor, {is_text ? json(text) : PlainScalar(text), text, {}});
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto anchored = anchored_.find(anchor);
    if (anchored == anchored_.end()) Fail(mark, kEndless);  // an alias within its own anchor
    Add(mark, YAML::NullAnchor, anchored->second);
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    Open(mark, anchor, json::array());
  }
  void OnSequenceEnd() override { Close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    Open(mark, anchor, json::object());
  }
  void OnMapEnd() override { Close(); }

 private:
  static constexpr const char* kEndless = "expands without end, want a flatter document";

  struct Node {
    json value;
    std::optional<std::string> text;  // of scalars: as written
    Extent extent;
  };
  // A list or map whose end has not been read yet.
  struct Collection {
    YAML::Mark mark;
    YAML::anchor_t anchor;
    json value;
    std::optional<std::string> key;  // of a map: the key whose value comes next
  };

  bool WantsKey() const {
    return !open_.empty() && open_.back().value.is_object() && !open_.back().key;
  }

  void Open(const YAML::Mark& mark, YAML::anchor_t anchor, json value) {
    if (WantsKey()) Fail(mark, "got a key that is not text");
    Count(mark, {});
    open_.push_back({mark, anchor, std::move(value), std::nullopt});
  }

  void Close() {
    Collection closed = std::move(open_.back());
    open_.pop_back();
    Node node{std::move(closed.value), std::nullopt, {}};
    if (closed.anchor != YAML::NullAnchor) node.extent = ExtentOf(node.value);
    Place(closed.mark, closed.anchor, std::move(node));
  }

  void Count(const YAML::Mark& mark, const Extent& extent) {
    nodes_ += extent.nodes;
    const int depth = static_cast<int>(open_.size()) + extent.depth;
    if (nodes_ > kMaxNodes || depth > kMaxNesting) Fail(mark, kEndless);
  }

  void Add(const YAML::Mark& mark, YAML::anchor_t anchor, Node node) {
    Count(mark, node.extent);
    Place(mark, anchor, std::move(node));
  }

  void Place(const YAML::Mark& mark, YAML::anchor_t anchor, Node node) {
    if (anchor != YAML::NullAnchor) anchored_[anchor] = node;
    if (open_.empty()) {
      root_ = std::move(node.value);
    } else if (open_.back().value.is_array()) {
      open_.back().value.push_back(std::move(node.value));
    } else if (!open_.back().key) {
      PlaceKey(mark, node);
    } else {
      open_.back().value[*open_.back().key] = std::move(node.value);
      open_.back().key.reset();
    }
  }

  void PlaceKey(const YAML::Mark& mark, const Node& node) {
    if (!node.text) Fail(mark, "got a key that is not text");
    if (open_.back().value.contains(*node.text)) {
      Fail(mark, "key " + Quoted(*node.text) + " is given twice in one map, want once");
    }
    open_.back().key = node.text;
  }

  std::string name_;
  bool has_begun_ = false;
  json root_;
  std::vector<Collection> open_;
  std::map<YAML::anchor_t, Node> anchored_;
  int64_t nodes_ = 0;
};

}  // namespace

json ParseYaml(const std::string& text, const std::string& name) {
  JsonBuilder builder(name);
  try {
    std::istringstream stream(text);
    YAML::Parser parser(stream);
    if (!parser.HandleNextDocument(builder)) {
      throw InputError(name + ": got no YAML document, want one");
    }
    // A second document, or text that belongs to no document, begins with an event that `builder`
    // refuses.
    parser.HandleNextDocument(builder);
  } catch (const YAML::Exception& error) {
    builder.Fail(error.mark, "got \"" + error.msg + "\", want YAML");
  }
  return builder.Take();
}

}  // namespace stagecraft
