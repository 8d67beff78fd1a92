// For tests of the verbs on measured samples: small tables, and the verbs in
// process.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "costmodel/check.h"
#include "tools/command.h"

namespace stagecraft {

inline constexpr const char* kSampleHeader = "kind,gpu,time_us,dtype,m,n,k,split,source\n";

// Forty products of a GPU that multiplies at `teraflop_per_s` and launches in
// 4 us; every fifth is a "test" row.
inline std::string GemmRows(const std::string& gpu, double teraflop_per_s) {
  std::string rows;
  for (int i = 0; i < 40; ++i) {
    const double m = 128 << (i % 5), n = 1024 * (1 + i / 5 % 4), k = 1024 * (1 + i / 20);
    const double us = 4 + 2e-6 * m * n * k / teraflop_per_s * (1 + 0.01 * (i % 3));
    rows += fmt::format("gemm,{},{:.3f},bf16,{},{},{},{},lab\n", gpu, us, m, n, k,
                        i % 5 == 0 ? "test" : "train");
  }
  return rows;
}

class SampleVerbTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::path(testing::TempDir()) /
              testing::UnitTest::GetInstance()->current_test_info()->name();
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
    two_ = Write("two.csv",
                 kSampleHeader + GemmRows("a100-sxm4-80gb", 230) + GemmRows("h100-sxm5-80gb", 600));
  }

  std::string Path(const std::string& name) const { return (folder_ / name).string(); }

  std::string Write(const std::string& name, const std::string& contents) const {
    std::ofstream(Path(name), std::ios::binary) << contents;
    return Path(name);
  }

  static std::string Read(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  int Run(CommandFunction verb, const Args& args) {
    std::istringstream in;
    std::ostringstream err;
    out_.str("");
    return verb(args, in, out_, err);
  }

  std::string ErrorOf(CommandFunction verb, const Args& args) {
    try {
      Run(verb, args);
    } catch (const InputError& error) {
      EXPECT_EQ(out_.str(), "");
      return error.what();
    }
    return "no error";
  }

  nlohmann::json Json(CommandFunction verb, Args args) {
    args.push_back("--json");
    EXPECT_EQ(Run(verb, args), kExitOk);
    return nlohmann::json::parse(out_.str());
  }

  std::filesystem::path folder_;
  std::string two_;  // a table of two boards
  std::ostringstream out_;
};

}  // namespace stagecraft
