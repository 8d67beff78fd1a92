// FolderTest: a fixture for tests of command lines that must be refused, which means exit code 2,
// one sentence on stderr that names the place, nothing on stdout, and nothing written.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "tools/verb/command.h"

namespace stagecraft::bad_input {

struct Case {
  std::string line;        // a command line; $T is the folder of test files
  std::string wants;       // a part of the sentence
  std::string place = "";  // how the sentence begins: with a file of the folder
};

struct Result {
  int code;
  std::string out, err;
};

inline Result RunLine(const std::string& line) {
  std::istringstream words(line);
  Args args;
  for (std::string word; words >> word;) args.push_back(word);
  std::istringstream in;
  std::ostringstream out;
  std::ostringstream err;
  const int code = RunCommandLine(args, in, out, err);
  return {code, out.str(), err.str()};
}

// Has a fresh folder for each test, which is removed after it.
class FolderTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::path(testing::TempDir()) / "stagecraft_bad_input";
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  void Write(const std::string& name, const std::string& contents) const {
    std::filesystem::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name, std::ios::binary) << contents;
  }

  // Writes a model file, and returns a command line in which only this file is wrong.
  Case ModelCase(const std::string& name, const std::string& contents, const char* wants) const {
    Write(name, contents);
    return {"simulate --cluster h100-sxm:1x8 --global-batch 8 --model $T/" + name, wants,
            "$T/" + name};
  }

  void ExpectRefused(const std::vector<Case>& cases) const {
    const size_t files = FileCount();
    for (const Case& bad : cases) {
      const std::string line = Expand(bad.line);
      const Result result = RunLine(line);
      EXPECT_EQ(result.code, kExitBadInput) << line << "\n" << result.err;
      EXPECT_EQ(result.out, "") << line;
      EXPECT_NE(result.err.find(Expand(bad.wants)), std::string::npos)
          << line << "\nwants " << bad.wants << "\n"
          << result.err;
      EXPECT_NE(result.err.find(": " + Expand(bad.place)), std::string::npos)
          << line << "\nwants " << bad.place << "\n"
          << result.err;
      EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << line << "\n"
                                                                           << result.err;
    }
    EXPECT_EQ(FileCount(), files);
  }

  std::string Expand(std::string line) const {
    for (size_t at; (at = line.find("$T")) != std::string::npos;) {
      line.replace(at, 2, folder_.string());
    }
    return line;
  }

 private:
  size_t FileCount() const {
    const std::filesystem::recursive_directory_iterator begin(folder_);
    return static_cast<size_t>(std::distance(begin, {}));
  }

  std::filesystem::path folder_;
};

}  // namespace stagecraft::bad_input
