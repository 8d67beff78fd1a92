#include <fmt/core.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "costmodel/check.h"
#include "costmodel/network/network_model.h"
#include "costmodel/shared_csv.h"
#include "tools/flags/cost_model_flag.h"
#include "tools/verb/command.h"
#include "tools/verb/flags.h"
#include "tools/verb/sample_testing.h"

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

TEST(CommandCompareTest, MissingInputIsRefused) {
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
  EXPECT_EQ(report["corrections"].size(), 2);
  for (const auto& correction : report["corrections"]) {
    EXPECT_LT(correction["mape_after"], 3) << correction.dump();
  }
  const auto compared = nlohmann::json::parse(
      Output(RunCompare, {"--network", Logs("nccl_8.log"), "--cluster", "azure-nd96asr-v4:2",
                          "--cost-model", model, "--json"}));
  EXPECT_EQ(compared["verdicts"][Logs("nccl_8.log")], "as predicted");
}

constexpr char kLog[] =
    "# nThread 1 nGpus 2 minBytes 8 maxBytes 4194304 step: 2(factor)\n"
    "#  Rank  0 Group  0 Pid   4242 on      node0 device  0 [0000:18:00] NVIDIA H100 80GB HBM3\n"
    "#  Rank  1 Group  0 Pid   4242 on      node0 device  1 [0000:18:00] NVIDIA H100 80GB HBM3\n"
    "#       size         count      type   redop    root     time   algbw   busbw  #wrong\n"
    "     1048576        262144     float     sum      -1    30.12   34.81   34.81       0\n";

class CollectiveVerbTest : public SampleVerbTest {
 protected:
  void SetUp() override {
    SampleVerbTest::SetUp();
    log_ = Write("x.log", kLog);
    table_ = Path("x.csv");
    Run(RunImport, {"nccl-tests", log_, "--cluster", "dgx-h100:1", "-o", table_});
  }

  std::string log_, table_;
};

TEST_F(CollectiveVerbTest, TablesAreNotCompared) {
  EXPECT_EQ(ErrorOf(RunCompare, {"--network", table_, "--cluster", "dgx-h100:1"}),
            "--network: got " + table_ + ", want a log of nccl-tests");
}

TEST_F(CollectiveVerbTest, LogsOfOtherGpusAreRefused) {
  EXPECT_EQ(ErrorOf(RunCompare, {"--network", log_, "--cluster", "dgx-a100:1"}),
            log_ +
                ": devices: got \"NVIDIA H100 80GB HBM3\" as rank 0, want a100-sxm4-80gb, as "
                "--cluster has");
}

TEST_F(CollectiveVerbTest, AModelIsAtHomeOnlyWhereItWasFitted) {
  EXPECT_EQ(ErrorOf(RunFit, {"--network", table_, "--cluster", "dgx-h100:2", "-o", Path("m.pb")}),
            "--cluster: got dgx-h100:2, where nothing of --network was measured, want logs of "
            "nccl-tests from there, or tables that import made of them");
  Run(RunFit, {"--network", table_, "--cluster", "dgx-h100:1", "-o", Path("m.pb")});
  EXPECT_EQ(NetworkModel::Read(Path("m.pb")).home(), "dgx-h100:1");
}

// The name of a cluster file is the name of the site, whatever folder the file is in.
TEST_F(CollectiveVerbTest, ASiteHasNoFolder) {
  const std::string cluster =
      Write("lab.textproto", "node_groups { count: 1 node_type: \"dgx-h100\" }");
  Run(RunFit, {"--network", log_, "--cluster", cluster, "-o", Path("m.textproto")});
  EXPECT_EQ(NetworkModel::Read(Path("m.textproto")).home(), "lab.textproto");
  EXPECT_EQ(Read(Path("m.textproto")).find(folder_.string()), std::string::npos);
}

// Returns a log with `rows` sizes, doubling from 1 MiB, each of which takes `times` as long as at a
// latency of 12 us and 150 GB/s.
std::string LogOf(int rows, double times) {
  std::string log = kLog;
  const std::string row = log.substr(log.rfind("     1048576"));
  log.resize(log.size() - row.size());
  for (int i = 0; i < rows; ++i) {
    const double bytes = 1048576.0 * (1 << i), us = times * (12 + bytes / 150e3);
    log += fmt::format("{} {} float sum -1 {:.2f} {:.2f} {:.2f} 0\n", bytes, bytes / 4, us,
                       bytes / us * 1e-3, bytes / us * 1e-3);
  }
  return log;
}

// One or two rows are too few to tell whether they help. Eight rows show that they do if they are
// far from all that the shipped model knows.
TEST_F(CollectiveVerbTest, FewRowsOfASiteAreWeighedAgainstTheShippedModel) {
  for (const int rows : {1, 2}) {
    const std::string few = Write("few.log", LogOf(rows, 1));
    Run(RunFit, {"--network", few, "--cluster", "dgx-h100:1", "-o", Path("m.pb")});
    EXPECT_NE(err_.str().find(fmt::format("warning: calibration: {} rows of all-reduce are too few "
                                          "to tell whether calibration helps",
                                          rows)),
              std::string::npos)
        << err_.str();
  }
  for (const double times : {5, 20}) {
    const std::string slow = Write("slow.log", LogOf(8, times));
    const nlohmann::json report =
        Json(RunFit, {"--network", slow, "--cluster", "dgx-h100:1", "-o", Path("m.pb")});
    EXPECT_TRUE(report["warnings"].empty()) << report["warnings"].dump();
    EXPECT_TRUE(report["held_out"][0]["shows_gain"]);
  }
}

TEST_F(CollectiveVerbTest, FlagsThatChangeNothingAreRefused) {
  Run(RunFit, {"--network", log_, "--cluster", "dgx-h100:1", "-o", Path("m.pb")});
  EXPECT_EQ(ErrorOf(RunEvaluate,
                    {"--network", table_, "--cost-model", Path("m.pb"), "--split", "random:0.5"}),
            "--cost-model: got --split random:0.5, which fits a model of its own, want none");
  EXPECT_EQ(ErrorOf(RunEvaluate, {"--samples", two_, "--min-bytes", "1"}),
            "--min-bytes: got it without --network, want it only with --network");
}

TEST_F(CollectiveVerbTest, ADamagedNetworkModelIsCalledOne) {
  Run(RunFit, {"--network", log_, "--cluster", "dgx-h100:1", "-o", Path("m.pb")});
  Run(RunFit, {"--network", log_, "--cluster", "dgx-h100:1", "-o", Path("m.textproto")});
  const std::string bytes = Read(Path("m.pb"));
  std::string text = Read(Path("m.textproto"));
  text.replace(text.find("ratios"), 6, "ratioz");
  for (const std::string& damaged :
       {Write("cut.pb", bytes.substr(0, bytes.size() / 2)), Write("odd.textproto", text)}) {
    Flags flags("test", "Loads a cost model.");
    CostModelFlag flag;
    flag.Register(flags);
    std::ostringstream out;
    flags.Parse({"--cost-model", damaged}, out);
    try {
      flag.Load();
      ADD_FAILURE() << damaged;
    } catch (const InputError& error) {
      EXPECT_EQ(std::string(error.what()).find("CostModelProto"), std::string::npos)
          << error.what();
      EXPECT_TRUE(std::string(error.what()).starts_with(damaged)) << error.what();
    }
  }
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
