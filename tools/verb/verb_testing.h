// VerbTest: a test with a folder of its own that runs verbs in its own process.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "costmodel/check.h"
#include "tools/verb/command.h"

namespace stagecraft {

class VerbTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::path(testing::TempDir()) /
              testing::UnitTest::GetInstance()->current_test_info()->name();
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }

  std::string Path(const std::string& name) const { return (folder_ / name).string(); }

  // Writes a file in the test's folder and returns its path. Makes folders that `name` goes
  // through.
  std::string Write(const std::string& name, const std::string& contents) const {
    const std::string path = Path(name);
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    std::ofstream(path, std::ios::binary) << contents;
    return path;
  }

  static std::string Read(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  // Runs a verb and returns its exit code; what it printed is in out_ and err_.
  int Run(CommandFunction verb, const Args& args) {
    std::istringstream in;
    out_.str("");
    err_.str("");
    return verb(args, in, out_, err_);
  }

  std::string Output(CommandFunction verb, const Args& args) {
    EXPECT_EQ(Run(verb, args), kExitOk) << err_.str();
    return out_.str();
  }

  nlohmann::json Json(CommandFunction verb, Args args) {
    args.push_back("--json");
    return nlohmann::json::parse(Output(verb, args));
  }

  // Returns the error of a verb that refuses its arguments; it must not have printed results.
  std::string ErrorOf(CommandFunction verb, const Args& args) {
    try {
      Run(verb, args);
    } catch (const InputError& error) {
      EXPECT_EQ(out_.str(), "");
      return error.what();
    }
    return "no error";
  }

  std::filesystem::path folder_;
  std::ostringstream out_, err_;
};

}  // namespace stagecraft
