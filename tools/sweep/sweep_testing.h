// SweepTest: a fixture with a folder of its own, in which sweeps run as commands.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "costmodel/proto_file.h"
#include "tools/verb/command.h"

namespace stagecraft {

struct SweepOutcome {
  int code = 0;
  std::string out, err;
};

// A grid of 24 points in milliseconds: some fit, some do not, some are refused.
inline constexpr const char* kSmallGrid =
    "flags:\n"
    "  model: [gpt2-tiny, llama2-70b]\n"
    "  cluster: h100-sxm:1x4\n"
    "  global-batch: 8\n"
    "  seq: 128\n"
    "  tp: [1, 2, 4, 8]\n"
    "  micro-batch: [1, 2, 3]\n";

class SweepTest : public testing::Test {
 protected:
  void SetUp() override {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    folder_ = std::filesystem::path(testing::TempDir()) /
              (std::string(test->name()) + std::to_string(getpid()));
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
    Write("grid.yaml", kSmallGrid);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string Path(const std::string& name) const { return (folder_ / name).string(); }
  void Write(const std::string& name, const std::string& contents) const {
    std::ofstream(folder_ / name, std::ios::binary) << contents;
  }
  std::string Read(const std::string& name) const { return ReadFile(Path(name)); }
  bool Exists(const std::string& name) const { return std::filesystem::exists(folder_ / name); }

  // Runs `sweep` or `merge` with the words of a line, in which $ stands for the folder.
  static int RunWords(const std::string& line, const std::string& folder, std::ostream& out,
                      std::ostream& err) {
    const std::vector<Command> commands{{"", "sweep", "", RunSweep}, {"", "merge", "", RunMerge}};
    Args args;
    std::istringstream words(line), in;
    for (std::string word; words >> word;) {
      const size_t at = word.find('$');
      args.push_back(at == std::string::npos ? word : word.replace(at, 1, folder + "/"));
    }
    return RunOneOf(commands, "", args, in, out, err);
  }
  SweepOutcome Run(const std::string& line) const {
    std::ostringstream out, err;
    const int code = RunWords(line, folder_.string(), out, err);
    return {code, out.str(), err.str()};
  }

  // The rows of a database, as --csv writes them.
  std::string Table(const std::string& database) const {
    const SweepOutcome listed = Run("sweep --list $" + database + " --csv $table.csv --quiet");
    EXPECT_EQ(listed.code, kExitOk) << listed.err;
    return listed.code == kExitOk ? Read("table.csv") : "";
  }
  // Returns the table that one undisturbed sweep of the grid writes.
  std::string WholeTable() const {
    const SweepOutcome swept = Run("sweep $grid.yaml -o $whole.db --threads 1 --quiet");
    EXPECT_EQ(swept.code, kExitOk) << swept.err;
    return Table("whole.db");
  }
  void ExpectRefused(const std::string& line, const std::string& sentence) const {
    const SweepOutcome outcome = Run(line);
    EXPECT_EQ(outcome.code, kExitBadInput) << line << "\n" << outcome.err;
    EXPECT_EQ(outcome.out, "") << line;
    EXPECT_NE(outcome.err.find(sentence), std::string::npos) << line << "\n" << outcome.err;
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
  }

  std::filesystem::path folder_;
};

}  // namespace stagecraft
