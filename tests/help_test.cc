// Tests that the help of every verb describes each flag once, so that a stranger can understand it.
#include <gtest/gtest.h>

#include <cctype>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "tests/bad_input.h"
#include "tools/verb/command.h"

namespace stagecraft::bad_input {
namespace {

using nlohmann::json;

constexpr size_t kWidth = 80;
constexpr int kMostCommon = 16;

json Described(const std::string& verb) { return json::parse(RunLine(verb + " --help-json").out); }
json FlagsOf(const std::string& verb) { return Described(verb)["flags"]; }

std::vector<std::string> LinesOf(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

// A flag as the help shows it: "--[no-]explain", "-o, --output".
std::string Label(const json& flag) {
  std::string label;
  for (const json& name : flag["names"]) {
    if (!label.empty()) label += ", ";
    const std::string text = name.get<std::string>();
    label += flag["negations"].empty() ? text : "--[no-]" + text.substr(2);
  }
  return label;
}

// How many lines each flag begins.
std::map<std::string, int> ShownFlags(const std::string& help, const json& flags) {
  std::map<std::string, int> shown;
  for (const std::string& line : LinesOf(help)) {
    for (const json& flag : flags) {
      const std::string opening = "  " + Label(flag);
      const bool ends = line.size() == opening.size() || line[opening.size()] == ' ';
      if (line.starts_with(opening) && ends) ++shown[Label(flag)];
    }
  }
  return shown;
}

TEST(HelpTest, NoLineIsWiderThanATerminal) {
  std::vector<std::string> commands = {"--help"};
  for (const Command& verb : Commands()) {
    commands.push_back(verb.name + std::string(" --help"));
    commands.push_back(verb.name + std::string(" --help-all"));
  }
  for (const std::string& command : commands) {
    const Result result = RunLine(command);
    EXPECT_EQ(result.code, kExitOk) << command;
    EXPECT_EQ(result.err, "") << command;
    for (const std::string& line : LinesOf(result.out)) {
      EXPECT_LE(line.size(), kWidth) << command << ": " << line;
    }
  }
}

TEST(HelpTest, EveryFlagIsInOneGroupOfTheWholeHelpAndTheCommonOnesAreInTheShortOne) {
  for (const Command& verb : Commands()) {
    const std::string name = verb.name;
    const json flags = FlagsOf(name);
    const auto all = ShownFlags(RunLine(name + " --help-all").out, flags);
    const auto common = ShownFlags(RunLine(name + " --help").out, flags);
    for (const json& flag : flags) {
      const auto in_all = all.find(Label(flag));
      EXPECT_TRUE(in_all != all.end() && in_all->second == 1) << name << " " << Label(flag);
      EXPECT_EQ(common.contains(Label(flag)), flag["common"].get<bool>())
          << name << " " << Label(flag);
    }
  }
}

TEST(HelpTest, TheShortHelpIsShortAndSaysHowManyFlagsItLeavesOut) {
  for (const Command& verb : Commands()) {
    int common = 0, others = 0;
    for (const json& flag : FlagsOf(verb.name)) {
      ++(flag["common"].get<bool>() ? common : others);
    }
    EXPECT_GT(common, 0) << verb.name;
    EXPECT_LE(common, kMostCommon) << verb.name;
    const std::string line = std::string("stagecraft ") + verb.name + " --help-all lists " +
                             std::to_string(others) + " more flags.";
    EXPECT_EQ(RunLine(verb.name + std::string(" --help")).out.find(line) != std::string::npos,
              others > 0)
        << line;
  }
}

TEST(HelpTest, EveryFlagIsExplainedInWholeSentences) {
  for (const Command& verb : Commands()) {
    for (const json& flag : FlagsOf(verb.name)) {
      const std::string place = verb.name + (" " + Label(flag));
      const std::string help = flag["help"].get<std::string>();
      ASSERT_GT(help.size(), 10u) << place;
      EXPECT_TRUE(help.ends_with('.')) << place << ": " << help;
      EXPECT_TRUE(std::isupper(help[0])) << place << ": " << help;
      EXPECT_EQ(help.find("  "), std::string::npos) << place << ": " << help;
      const bool has_value = flag["type"] != "switch" && Label(flag).starts_with("-");
      const std::string value = flag["value"].get<std::string>();
      EXPECT_EQ(has_value, value.starts_with('<')) << place << ": " << value;
    }
  }
}

TEST(HelpTest, EveryVerbIsQuietAndReportsAsJsonWhatItReports) {
  for (const Command& verb : Commands()) {
    std::set<std::string> names;
    for (const json& flag : FlagsOf(verb.name)) {
      for (const json& name : flag["names"]) names.insert(name.get<std::string>());
    }
    EXPECT_TRUE(names.contains("--quiet")) << verb.name;
    EXPECT_EQ(names.contains("--json"), verb.name != std::string("completion")) << verb.name;
    EXPECT_EQ(names.contains("-o"), names.contains("--output")) << verb.name;
  }
}

// A word like "--tp" in an example is a flag of its verb.
TEST(HelpTest, EveryVerbHasTwoExamplesWithFlagsThatItHas) {
  for (const Command& verb : Commands()) {
    const json help = Described(verb.name);
    std::set<std::string> names;
    for (const json& flag : help["flags"]) {
      for (const json& name : flag["names"]) names.insert(name.get<std::string>());
    }
    EXPECT_GE(help["examples"].size(), 2u) << verb.name;
    for (const json& example : help["examples"]) {
      std::istringstream words(example.get<std::string>());
      std::string word;
      words >> word;
      EXPECT_EQ(word, verb.name);
      while (words >> word) {
        if (!word.starts_with('-')) continue;
        EXPECT_TRUE(names.contains(word)) << verb.name << " " << word;
      }
    }
    const std::string text = RunLine(verb.name + std::string(" --help")).out;
    const size_t examples = text.find("\nExamples:\n  stagecraft " + std::string(verb.name));
    EXPECT_LT(examples, text.find("--quiet")) << text;
  }
}

TEST(HelpTest, VerbsStandInGroups) {
  const std::string help = RunLine("--help").out;
  size_t last = 0;
  for (const char* group :
       {"\nPredict:\n  simulate ", "\nSearch:\n  search ", "\nMeasure and learn:\n  run ",
        "\nFiles:\n  import ", "\nExamples:\n  stagecraft simulate "}) {
    const size_t at = help.find(group);
    ASSERT_NE(at, std::string::npos) << group << help;
    EXPECT_GT(at, last);
    last = at;
  }
  for (const Command& verb : Commands()) {
    EXPECT_NE(help.find("\n  " + std::string(verb.name) + " "), std::string::npos) << verb.name;
  }
}

TEST(HelpTest, HelpIsPrintedWhateverElseIsWrong) {
  EXPECT_EQ(RunLine("simulate --nonsense --trace /nowhere/x --help-all").code, kExitOk);
  EXPECT_EQ(RunLine("search -o /nowhere/x.yaml -h").code, kExitOk);
}

}  // namespace
}  // namespace stagecraft::bad_input
