// Tests that YAML with parts cut, doubled or mistyped is read or refused, within bounds of time and
// memory.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "costmodel/check.h"
#include "costmodel/json_to_proto.h"
#include "costmodel/random.h"

namespace stagecraft {
namespace {

using nlohmann::json;

// Returns the error; empty if there is none.
std::string ErrorOf(const std::string& text) {
  try {
    ParseYaml(text, "x.yaml");
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

size_t NodeCount(const json& tree) {
  size_t nodes = 1;
  if (!tree.is_structured()) return nodes;
  for (const json& child : tree) nodes += NodeCount(child);
  return nodes;
}

// The limit of CPU time kills a reader that never ends before it has taken all memory.
class YamlTextTest : public testing::Test {
 protected:
  void SetUp() override {
    rlimit limit;
    getrlimit(RLIMIT_CPU, &limit);
    limit.rlim_cur = 20;
    setrlimit(RLIMIT_CPU, &limit);
  }
};

TEST_F(YamlTextTest, WhatFollowsTheDocumentIsRefusedWhereItStands) {
  for (const auto& [text, place] : std::vector<std::pair<std::string, std::string>>{
           {"{},\n", "1:3"},
           {"[1],", "1:4"},
           {"{\"name\": \"lab\"},", "1:16"},
           {"{\"name\": \"lab\"}\n,\n", "2:1"},
           {"a: 1\n---\nb: 2\n", "2:1"},
       }) {
    EXPECT_EQ(ErrorOf(text), "x.yaml:" + place +
                                 ": got more after the end of the document, want one YAML document")
        << text;
  }
  EXPECT_EQ(ErrorOf("# only a comment\n"), "x.yaml: got no YAML document, want one");
}

TEST_F(YamlTextTest, AnchorsQuotesAndTagsMeanWhatYamlSays) {
  EXPECT_EQ(ParseYaml("a: &x [1, '2']\nb: *x\n&k c: 3.5\nd: {*k : true}\n...\n", "x.yaml"),
            json::parse(R"({"a": [1, "2"], "b": [1, "2"], "c": 3.5, "d": {"c": true}})"));
  EXPECT_EQ(ParseYaml("- ~\n- !!str 5\n- |\n  7\n- \"8\"\n", "x.yaml"),
            json::parse(R"([null, "5", "7\n", "8"])"));
  EXPECT_EQ(ErrorOf("? [a]\n: b\n"), "x.yaml:1:3: got a key that is not text");
  EXPECT_EQ(ErrorOf("a: &a [*a]\n"), "x.yaml:1:8: expands without end, want a flatter document");
}

// Every text is read in one pass, so it gives no more nodes than it has characters, apart from
// those that its anchors repeat.
TEST_F(YamlTextTest, NoMutationOfATextIsReadWithoutEnd) {
  const std::vector<std::string> seeds = {
      "{},\n",
      "{\"name\": \"lab\", \"rows\": [1, [2, 3], {}]}\n",
      "node_groups:\n- count: 2\n  node: {devices: 8, name: 'lab'}\n- count: 1\n",
      "a: &x [1, 2]\nb: *x\nc:\n- d: e\n  f: \"g\\n\"\n- ? h\n  : i\n",
      "%YAML 1.2\n---\na: !!str 5\nb: |\n  text\n  more\n...\n",
  };
  const std::string alphabet = "{}[],:-?&*!|>'\"%@`#\n \tab1~.<\\";
  Random random(20);
  const auto below = [&](size_t count) {
    return count == 0 ? size_t{0} : static_cast<size_t>(random.Bits() % count);
  };
  int read = 0;
  for (int i = 0; i < 20'000; ++i) {
    std::string text = seeds[below(seeds.size())];
    for (size_t changes = 1 + below(5); changes > 0; --changes) {
      const size_t at = below(text.size());
      const size_t kind = below(4);
      if (kind == 0) text.insert(at, 1, alphabet[below(alphabet.size())]);
      if (kind == 1) text.erase(at, 1 + below(20));
      if (kind == 2) text.insert(at, text.substr(below(text.size()), 30));
      if (kind == 3) text.resize(at);
    }
    try {
      const json tree = ParseYaml(text, "x.yaml");
      ++read;
      if (text.find('*') == std::string::npos) {
        ASSERT_LE(NodeCount(tree), text.size() + 1) << text;
      }
    } catch (const InputError& error) {
      ASSERT_EQ(std::string(error.what()).find("x.yaml"), 0u) << text;
    }
  }
  EXPECT_GT(read, 2'000);
}

}  // namespace
}  // namespace stagecraft
