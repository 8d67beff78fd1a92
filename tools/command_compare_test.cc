#include <gtest/gtest.h>

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "costmodel/check.h"
#include "costmodel/shared_csv.h"
#include "tools/command.h"

namespace stagecraft {
namespace {

std::string Output(CommandFunction command, const Args& args) {
  std::istringstream in;
  std::ostringstream out, err;
  EXPECT_EQ(command(args, in, out, err), kExitOk);
  return out.str();
}

std::string Logs(const std::string& name) {
  return std::string(std::getenv("STAGECRAFT_SHARED")) + "/data/network/nccl_tests_nd_a100_v4/" +
         name;
}

TEST(CommandCompareTest, WhatIsMissingIsSaid) {
  std::istringstream in;
  std::ostringstream out, err;
  EXPECT_THROW(RunCompare({"--network", "x.log"}, in, out, err), InputError);
  EXPECT_THROW(RunCompare({"--cluster", "dgx-a100:1"}, in, out, err), InputError);
}

TEST(CommandCompareTest, ALogOfTheMeasuredClusterIsAsPredicted) {
  if (!HasSharedData()) GTEST_SKIP() << kNoSharedData;
  const auto report = nlohmann::json::parse(Output(
      RunCompare, {"--network", Logs("nccl_16.log"), "--cluster", "azure-nd96asr-v4:2", "--json"}));
  EXPECT_EQ(report["verdicts"][Logs("nccl_16.log")], "as predicted");
  EXPECT_EQ(report["rows"].size(), 25);
}

TEST(CommandCompareTest, ALogOfMoreRanksThanTheClusterHasIsRefused) {
  if (!HasSharedData()) GTEST_SKIP() << kNoSharedData;
  std::istringstream in;
  std::ostringstream out, err;
  EXPECT_THROW(RunCompare({"--network", Logs("nccl_32.log"), "--cluster", "azure-nd96asr-v4:2"}, in,
                          out, err),
               InputError);
}

TEST(CommandCompareTest, ASitesLogsAdaptTheModel) {
  if (!HasSharedData()) GTEST_SKIP() << kNoSharedData;
  const std::string model = testing::TempDir() + "/site.pb";
  const auto report = nlohmann::json::parse(
      Output(RunFit, {"--network", Logs("nccl_8.log"), Logs("nccl_16.log"), "--cluster",
                      "azure-nd96asr-v4:2", "-o", model, "--json", "--quiet"}));
  for (const auto& correction : report["corrections"]) {
    EXPECT_LT(correction["mape_after"], 3) << correction.dump();
  }
  const auto compared = nlohmann::json::parse(
      Output(RunCompare, {"--network", Logs("nccl_8.log"), "--cluster", "azure-nd96asr-v4:2",
                          "--cost-model", model, "--json"}));
  EXPECT_EQ(compared["verdicts"][Logs("nccl_8.log")], "as predicted");
}

TEST(CommandCompareTest, EvaluateTakesTablesOfCollectives) {
  if (!HasSharedData()) GTEST_SKIP() << kNoSharedData;
  const std::string table =
      std::string(std::getenv("STAGECRAFT_SHARED")) + "/data/network/nd_a100_v4_all_reduce.csv";
  const auto report = nlohmann::json::parse(
      Output(RunEvaluate, {"--network", table, "--split", "leave-out:group=4x32x1x1", "--json"}));
  EXPECT_EQ(report["overall_rows"]["shipped"]["rows"], 21);
  EXPECT_LT(report["overall_rows"]["shipped"]["mape"], 25);
}

}  // namespace
}  // namespace stagecraft
