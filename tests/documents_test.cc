// Tests that README.md and docs/ show what the program prints: every command of their "console"
// blocks is run, and its output compared with the one shown (documents.h). Documents that differ
// are written anew to the test's outputs; README.md in this folder says how to copy them from
// there.
#include "tests/documents.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "tests/bad_input.h"

namespace stagecraft::documents {
namespace {

namespace fs = std::filesystem;

// The folder with README.md, docs/, examples/ and data/. It is found before any test changes the
// current folder.
const fs::path& Root() {
  static const fs::path root = fs::current_path();
  return root;
}
const fs::path& kRootFoundFirst = Root();

std::string ReadText(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// README.md, CONTRIBUTING.md, examples/README.md and docs/*.md, relative to the root.
std::vector<fs::path> DocumentPaths() {
  std::vector<fs::path> paths = {"README.md", "CONTRIBUTING.md", "examples/README.md"};
  for (const auto& entry : fs::directory_iterator(Root() / "docs")) {
    if (entry.path().extension() == ".md") paths.push_back("docs" / entry.path().filename());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

// What a terminal shows: all results and, from stderr, only errors and warnings, without progress.
Lines Print(const std::vector<std::string>& words) {
  std::istringstream in;
  std::ostringstream out;
  std::ostringstream err;
  const int code = RunCommandLine(words, in, out, err);
  Lines lines = SplitLines(out.str());
  for (const std::string& line : SplitLines(err.str())) {
    if (code != 0 || line.starts_with("warning:")) lines.push_back(line);
  }
  while (!lines.empty() && lines.back().empty()) lines.pop_back();
  return lines;
}

// Makes the current folder a new one for this document, to write in, with links to the folders that
// commands name.
void EnterFolderOf(const fs::path& document) {
  const fs::path folder = fs::path(testing::TempDir()) / "documents" / document.stem();
  fs::remove_all(folder);
  fs::create_directories(folder);
  for (const char* name : {"examples", "data"}) {
    fs::create_directory_symlink(Root() / name, folder / name);
  }
  fs::current_path(folder);
}

void WriteRenewed(const fs::path& document, const Lines& lines) {
  const char* outputs = std::getenv("TEST_UNDECLARED_OUTPUTS_DIR");
  if (outputs == nullptr) return;
  const fs::path path = fs::path(outputs) / document;
  fs::create_directories(path.parent_path());
  std::ofstream out(path, std::ios::binary);
  for (const std::string& line : lines) out << line << "\n";
}

struct Tally {
  int run = 0, left_out = 0;
};

void RunDocument(const fs::path& document, Tally& tally) {
  const std::string text = ReadText(Root() / document);
  Lines renewed = SplitLines(text);
  std::ptrdiff_t shift = 0;
  bool differs = false;
  EnterFolderOf(document);
  for (const ShownCommand& command : CommandsOf(text, "console")) {
    ++tally.run;
    const Lines printed = Print(command.words);
    const std::string difference = FindDifference(command.shown, printed);
    if (difference.empty()) continue;
    ADD_FAILURE() << document.string() << ":" << command.line << "\n" << difference;
    differs = true;
    const Lines shown = Renewed(command.shown, printed);
    const auto at = renewed.begin() + command.first_shown - 1 + shift;
    const auto length = static_cast<std::ptrdiff_t>(command.shown.size());
    renewed.insert(renewed.erase(at, at + length), shown.begin(), shown.end());
    shift += static_cast<std::ptrdiff_t>(shown.size()) - length;
  }
  fs::current_path(Root());
  tally.left_out += static_cast<int>(CommandsOf(text, "text").size());
  if (differs) WriteRenewed(document, renewed);
}

TEST(DocumentsTest, CommandsPrintWhatDocumentsShow) {
  Tally tally;
  for (const fs::path& document : DocumentPaths()) RunDocument(document, tally);
  std::cout << tally.run << " commands of documents run, " << tally.left_out
            << " left out (text blocks)\n";
  EXPECT_GT(tally.run, 40);
}

// The parts of a word between commas, which may name files.
Lines PartsOf(const std::string& word) {
  Lines parts;
  std::istringstream in(word);
  for (std::string part; std::getline(in, part, ',');) parts.push_back(part);
  return parts;
}

// Commands of text blocks are not run, but nothing outside of the repository may be their input.
TEST(DocumentsTest, CommandsThatAreNotRunNameOnlyFilesOfTheRepository) {
  int files = 0;
  for (const fs::path& document : DocumentPaths()) {
    for (const ShownCommand& command : CommandsOf(ReadText(Root() / document), "text")) {
      for (const std::string& word : command.words) {
        for (const std::string& part : PartsOf(word)) {
          EXPECT_FALSE(part.starts_with("../") || part.starts_with("/"))
              << document.string() << ":" << command.line << " " << part;
          if (!part.starts_with("examples/") && !part.starts_with("data/")) continue;
          ++files;
          EXPECT_TRUE(fs::exists(Root() / part))
              << document.string() << ":" << command.line << " " << part;
        }
      }
    }
  }
  EXPECT_GE(files, 5);
}

// The value for which a unit stands: the step time, the pipeline bubble, or the peak memory.
double ValueOf(const std::string& unit, const nlohmann::json& report) {
  if (unit == "ms") return report["step_time_ms"];
  if (unit == "%") return 100 * report["bubble_fraction"].get<double>();
  EXPECT_EQ(unit, "GiB");
  return report["peak_memory_gib"];
}

TEST(DocumentsTest, FiguresOfTablesAreThoseOfTheirCommands) {
  int rows = 0;
  for (const fs::path& document : DocumentPaths()) {
    for (ShownFigures& row : FiguresOf(ReadText(Root() / document))) {
      ++rows;
      row.words.push_back("--json");
      std::istringstream in;
      std::ostringstream out;
      std::ostringstream err;
      ASSERT_EQ(RunCommandLine(row.words, in, out, err), 0) << err.str();
      const auto report = nlohmann::json::parse(out.str());
      EXPECT_FALSE(row.figures.empty()) << document.string() << ":" << row.line;
      for (const Figure& figure : row.figures) {
        EXPECT_EQ(figure.shown, WithDigitsOf(figure.shown, ValueOf(figure.unit, report)))
            << document.string() << ":" << row.line << " " << figure.unit;
      }
    }
  }
  EXPECT_GT(rows, 10);
}

TEST(DocumentsTest, LinksLeadToFilesAndHeadings) {
  int links = 0;
  for (const fs::path& document : DocumentPaths()) {
    const std::string text = ReadText(Root() / document);
    for (const Link& link : LinksOf(text)) {
      ++links;
      const fs::path target =
          link.path.empty() ? Root() / document : (Root() / document).parent_path() / link.path;
      EXPECT_TRUE(fs::exists(target.lexically_normal()))
          << document.string() << ":" << link.line << " " << link.path;
      if (link.anchor.empty()) continue;
      const std::vector<std::string> anchors = AnchorsOf(ReadText(target.lexically_normal()));
      EXPECT_NE(std::find(anchors.begin(), anchors.end(), link.anchor), anchors.end())
          << document.string() << ":" << link.line << " " << link.path << "#" << link.anchor;
    }
  }
  EXPECT_GT(links, 50);
}

// The numbers that are words of their own: "3,758" and "9.5", but not "H100" or "16-bit".
std::set<std::string> NumbersOf(const std::string& text) {
  constexpr const char* kDigits = "0123456789";
  std::string words = text;
  std::replace_if(
      words.begin(), words.end(), [](char c) { return c == '(' || c == '|'; }, ' ');
  std::istringstream in(words);
  std::set<std::string> numbers;
  for (std::string word; in >> word;) {
    word.erase(word.find_last_not_of(".,;:)") + 1);
    const bool is_number = word.find_first_not_of("0123456789.,") == std::string::npos;
    if (is_number && word.find_first_of(kDigits) == 0) numbers.insert(word);
  }
  return numbers;
}

TEST(DocumentsTest, ReadmeRepeatsNoFigureThatItsSourcesLack) {
  const std::string readme = ReadText(Root() / "README.md");
  std::set<std::string> known;
  for (const char* source : {"docs/accuracy.md", "docs/network.md", "docs/speed.md"}) {
    known.merge(NumbersOf(ReadText(Root() / source)));
  }
  const size_t begin = readme.find("## How accurate it is");
  const size_t end = readme.find("## How it is laid out");
  ASSERT_LT(begin, end);
  const std::set<std::string> repeated = NumbersOf(readme.substr(begin, end - begin));
  EXPECT_GT(repeated.size(), 20);
  for (const std::string& number : repeated) EXPECT_TRUE(known.contains(number)) << number;
}

TEST(DocumentsTest, ReadmeIsAtMost150Lines) {
  EXPECT_LE(SplitLines(ReadText(Root() / "README.md")).size(), 150);
}

constexpr char kDocument[] =
    "Words.\n"
    "```console\n"
    "$ ./stagecraft check a.yaml \\\n"
    "    \"b c\"  # a comment\n"
    "first\n"
    "…\n"
    "step time 12.5 ms\n"
    "$ ./stagecraft catalogue gpus\n"
    "```\n"
    "```text\n"
    "$ ./stagecraft validate\n"
    "```\n";

TEST(DocumentsTest, CommandsOfABlockAreReadWithWhatTheyPrint) {
  const auto commands = CommandsOf(kDocument, "console");
  ASSERT_EQ(commands.size(), 2);
  EXPECT_EQ(commands[0].line, 3);
  EXPECT_EQ(commands[0].first_shown, 5);
  EXPECT_EQ(commands[0].words, (std::vector<std::string>{"check", "a.yaml", "b c"}));
  EXPECT_EQ(commands[0].shown, (Lines{"first", "…", "step time 12.5 ms"}));
  EXPECT_EQ(commands[1].words, (std::vector<std::string>{"catalogue", "gpus"}));
  EXPECT_TRUE(commands[1].shown.empty());
  EXPECT_EQ(CommandsOf(kDocument, "text").size(), 1);
}

TEST(DocumentsTest, AFigureChangedByHandIsFound) {
  const Lines shown = CommandsOf(kDocument, "console")[0].shown;
  EXPECT_EQ(FindDifference(shown, {"first", "second", "step time 12.5 ms"}), "");
  EXPECT_EQ(FindDifference(shown, {"first", "second", "step time 12.6 ms"}),
            "shown:   \"step time 12.5 ms\"\nprinted: \"step time 12.6 ms\"");
  EXPECT_NE(FindDifference(shown, {"zeroth", "first", "step time 12.5 ms"}), "");
  EXPECT_NE(FindDifference(shown, {"first", "step time 12.5 ms", "last"}), "");
  EXPECT_NE(FindDifference(shown, {"step time 12.5 ms", "first"}), "");
  EXPECT_NE(FindDifference({}, {"first"}), "");
  EXPECT_NE(FindDifference({"first", "first"}, {"first"}), "");
  EXPECT_EQ(FindDifference({"…", "b", "…"}, {"a", "b", "c"}), "");
  EXPECT_EQ(FindDifference({"…"}, {}), "");
  EXPECT_EQ(FindDifference({"…", "b"}, {"b", "a", "b"}), "");
}

TEST(DocumentsTest, FiguresOfARowAreReadWithTheirUnits) {
  const auto rows = FiguresOf(
      "```figures\n$ ./stagecraft simulate --pp 8 …\n--schedule zb-v --vpp 2    2778 ms   5.0 "
      "%\n```\n");
  ASSERT_EQ(rows.size(), 1);
  EXPECT_EQ(rows[0].words, (std::vector<std::string>{"simulate", "--pp", "8", "--schedule", "zb-v",
                                                     "--vpp", "2"}));
  ASSERT_EQ(rows[0].figures.size(), 2);
  EXPECT_EQ(rows[0].figures[1].shown, "5.0");
  EXPECT_EQ(rows[0].figures[1].unit, "%");
  EXPECT_EQ(WithDigitsOf("5.0", 4.96), "5.0");
  EXPECT_EQ(WithDigitsOf("2778", 2778.3), "2778");
}

TEST(DocumentsTest, WallTimesMayDiffer) {
  EXPECT_EQ(FindDifference({"evaluated 3, in 2.1 s"}, {"evaluated 3, in 14.0 s"}), "");
  EXPECT_NE(FindDifference({"evaluated 3, in 2.1 s"}, {"evaluated 4, in 2.1 s"}), "");
  const Lines shown = {"algorithm  gap  seconds", "mcmc       1 %     0.01", "", "a 0.01"};
  EXPECT_EQ(FindDifference(shown, {shown[0], "mcmc       1 %    10.22", "", "a 0.01"}), "");
  EXPECT_NE(FindDifference(shown, {shown[0], "mcmc       2 %     0.01", "", "a 0.01"}), "");
  EXPECT_NE(FindDifference(shown, {shown[0], "mcmc       1 %     0.01", "", "a 0.02"}), "");
}

TEST(DocumentsTest, WhatIsShownIsRenewedByTheLinesMostLikeIt) {
  EXPECT_EQ(Renewed({"old"}, {"a", "b"}), (Lines{"a", "b"}));
  EXPECT_EQ(
      Renewed({"…", "step time 12.5 ms", "rate 7 tokens/s", "…", "pp 3 ms", "…"},
              {"plan", "step time 13.5 ms", "rate 8 tokens/s", "compute 9 ms", "pp 4 ms", "end"}),
      (Lines{"…", "step time 13.5 ms", "rate 8 tokens/s", "…", "pp 4 ms", "…"}));
}

TEST(DocumentsTest, AnchorsAreThoseThatGitHubMakes) {
  EXPECT_EQ(AnchorsOf("# What `validate` assumes besides\n```\n# no heading\n```\n## A, b?\n"),
            (std::vector<std::string>{"what-validate-assumes-besides", "a-b"}));
  const auto links = LinksOf("[a](b.md#c) ![d](e.svg) [f](https://g.h) [i](#j)\n");
  ASSERT_EQ(links.size(), 3);
  EXPECT_EQ(links[0].anchor, "c");
  EXPECT_EQ(links[1].path, "e.svg");
  EXPECT_EQ(links[2].path, "");
}

}  // namespace
}  // namespace stagecraft::documents
