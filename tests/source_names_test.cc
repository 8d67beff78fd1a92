// Tests that what is known about a source of measurements is data with an origin (data/), and never
// a branch on its name: no string in the code is the name of a source or of a file of the shared
// data.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "costmodel/learned/samples/gzip.h"
#include "costmodel/proto_file.h"
#include "costmodel/shared_csv.h"

namespace stagecraft {
namespace {

namespace fs = std::filesystem;

bool IsBlank(char c) { return c == ' ' || c == '\n' || c == '\t'; }

// The string literals of C++ text; those with only blanks between them are one. Comments, names of
// headers, and what is assigned to a field `source` are left out: the reader of a format that has
// no such column says whose format it is.
std::vector<std::string> Literals(const std::string& text) {
  std::vector<std::string> literals;
  size_t after = std::string::npos;  // where the last literal ended
  for (size_t at = 0; at < text.size();) {
    if (text.compare(at, 2, "//") == 0) {
      at = std::min(text.find('\n', at), text.size());
    } else if (text[at] == '\'') {  // of a character, or between the digits of a number
      const size_t end = text.find('\'', at + (text.compare(at + 1, 1, "\\") == 0 ? 3 : 1));
      at = end != text.npos && end - at <= 3 ? end + 1 : at + 1;
    } else if (text[at] != '"') {
      if (!IsBlank(text[at])) after = std::string::npos;
      ++at;
    } else {
      const size_t begin = ++at;
      while (at < text.size() && text[at] != '"') at += text[at] == '\\' ? 2 : 1;
      const std::string literal = text.substr(begin, at - begin);
      ++at;
      const size_t line = text.rfind('\n', begin) + 1;
      const std::string before = text.substr(line, begin - 1 - line);
      if (before.starts_with("#include") || before.ends_with(".source = ")) continue;
      if (after != std::string::npos) {
        literals.back() += literal;
      } else {
        literals.push_back(literal);
      }
      after = at;
    }
  }
  return literals;
}

// Names of several words are looked for within texts. A name of one word may be a common word, and
// counts only if it is the whole text.
bool Mentions(const std::string& literal, const std::string& name) {
  if (literal == name) return true;
  return name.find(' ') != std::string::npos && literal.find(name) != std::string::npos;
}

std::vector<std::string> FindMentions(const std::string& text, const std::set<std::string>& names) {
  std::vector<std::string> found;
  for (const std::string& literal : Literals(text)) {
    for (const std::string& name : names) {
      if (Mentions(literal, name)) found.push_back(name);
    }
  }
  return found;
}

TEST(SourceNamesTest, AMentionIsFoundWhereverItStands) {
  const std::set<std::string> names = {"Some Paper (OSDI20)", "Lab"};
  const auto count = [&](const std::string& text) { return FindMentions(text, names).size(); };
  EXPECT_EQ(count("if (row.source == \"Lab\") return;"), 1u);
  EXPECT_EQ(count("x(\"of Some Paper (OSDI20), table 1\");"), 1u);
  EXPECT_EQ(count("x(\"Some Paper \"\n  \"(OSDI20)\");"), 1u);
  EXPECT_EQ(count("const char* const kAll[] = {\"a\", \"Lab\"};"), 1u);
  EXPECT_EQ(count("c == '\"' || s == \"Lab\""), 1u);
  EXPECT_EQ(count("x = 1'000; s == \"Lab\" ? '\\'' : 'b'"), 1u);
  EXPECT_EQ(count("// as \"Lab\" has it"), 0u);
  EXPECT_EQ(count("sample.source = \"Lab\";"), 0u);
  EXPECT_EQ(count("x(\"Laboratory\", \"the Lab\");"), 0u);
  EXPECT_EQ(count("#include \"Lab\""), 0u);
}

// The values of the column `source` of all measured rows, or the name of their file without its
// ending, which stands for it; and the names of the files.
std::set<std::string> NamesOfSources() {
  std::set<std::string> names;
  for (const char* folder : {"published", "steps", "network"}) {
    for (const fs::directory_entry& file : fs::directory_iterator(SharedDataPath(folder))) {
      const std::string name = file.path().filename().string();
      if (name.find(".csv") == std::string::npos) continue;
      names.insert(name);
      std::string text = ReadFile(file.path().string());
      if (IsGzip(text)) text = Gunzip(text, file.path().string());
      ForEachCsvRow(text, [&](const CsvRow& row) {
        const auto source = row.find("source");
        const bool has_source = source != row.end() && !source->second.empty();
        names.insert(has_source ? source->second : name.substr(0, name.find('.')));
      });
    }
  }
  return names;
}

TEST(SourceNamesTest, NoCodeNamesASourceOfMeasurements) {
  if (!HasSharedData()) GTEST_SKIP() << kNoSharedData;
  const std::set<std::string> names = NamesOfSources();
  ASSERT_GT(names.size(), 50u);
  const fs::path root = fs::path(std::getenv("TEST_SRCDIR")) / std::getenv("TEST_WORKSPACE");
  int files = 0;
  for (const char* folder : {"costmodel", "search", "sim", "tools"}) {
    for (const fs::directory_entry& file : fs::recursive_directory_iterator(root / folder)) {
      const std::string name = file.path().filename().string();
      const bool is_code = name.ends_with(".cc") || name.ends_with(".h");
      const bool is_test =
          name.ends_with("_test.cc") || name.ends_with("_testing.h") || name.starts_with("test_");
      if (!is_code || is_test) continue;
      ++files;
      for (const std::string& found : FindMentions(ReadFile(file.path().string()), names)) {
        ADD_FAILURE() << file.path().lexically_relative(root).string() << ": mentions \"" << found
                      << "\", a source or file of measurements. What is known of it belongs into "
                         "data/row_facts.textproto or data/measured_networks.textproto, with its "
                         "origin, or into a column of its rows.";
      }
    }
  }
  EXPECT_GT(files, 500);
}

// Returns the name of the type that a line of a header begins to define; empty if there is none.
std::string TypeDefinedBy(const std::string& line) {
  for (const std::string keyword : {"struct ", "class "}) {
    const bool is_declared_only =
        line.find(';') != std::string::npos && line.find('{') == std::string::npos;
    if (!line.starts_with(keyword) || is_declared_only) continue;
    const size_t end = line.find_first_of(" {", keyword.size());
    return line.substr(keyword.size(), end - keyword.size());
  }
  return "";
}

// Functions of two types of one name, such as the destructors of their vectors, are one to the
// linker, and one of the two then works on the other's memory.
TEST(SourceNamesTest, NoTwoHeadersDefineATypeOfOneName) {
  const fs::path root = fs::path(std::getenv("TEST_SRCDIR")) / std::getenv("TEST_WORKSPACE");
  std::map<std::string, std::string> files;  // by the name of the type
  for (const char* folder : {"costmodel", "search", "sim", "tools"}) {
    for (const fs::directory_entry& file : fs::recursive_directory_iterator(root / folder)) {
      if (file.path().extension() != ".h") continue;
      const std::string path = file.path().lexically_relative(root).string();
      std::istringstream lines(ReadFile(file.path().string()));
      for (std::string line; std::getline(lines, line);) {
        const std::string name = TypeDefinedBy(line);
        if (name.empty()) continue;
        const auto [known, is_new] = files.emplace(name, path);
        EXPECT_TRUE(is_new) << name << " is defined in " << known->second << " and in " << path;
      }
    }
  }
  EXPECT_GT(files.size(), 500u);
}

}  // namespace
}  // namespace stagecraft
