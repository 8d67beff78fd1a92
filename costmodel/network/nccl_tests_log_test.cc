#include "costmodel/network/nccl_tests_log.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "costmodel/error_of.h"
#include "costmodel/network/collective_table.h"
#include "costmodel/network/network_files_testing.h"
#include "costmodel/shared_csv.h"

namespace stagecraft {
namespace {

constexpr char kNewLog[] =
    "# nThread 1 nGpus 2 minBytes 8 maxBytes 4194304 step: 2(factor)\n"
    "#\n"
    "# Using devices\n"
    "#  Rank  0 Group  0 Pid   4242 on      node0 device  0 [0000:18:00] NVIDIA H100 80GB HBM3\n"
    "#  Rank  1 Group  0 Pid   4242 on      node1 device  1 [0000:98:00] NVIDIA H100 80GB HBM3\n"
    "#\n"
    "#       size         count      type   redop    root     time   algbw   busbw  #wrong     "
    "time  "
    " algbw   busbw  #wrong\n"
    "#        (B)    (elements)                               (us)  (GB/s)  (GB/s)             "
    "(us) "
    " (GB/s)  (GB/s)\n"
    "     1048576        262144     float     sum      -1    30.12   34.81   34.81       0    "
    "29.87  "
    " 35.10   35.10     N/A\n"
    "# Avg bus bandwidth    : 34.9\n";

TEST(NcclTestsLogTest, TodaysColumnsAreRead) {
  const NcclTestsLog log = ParseNcclTestsLog(kNewLog, "log");
  EXPECT_EQ(log.kind, OpKind::kAllReduce);
  ASSERT_EQ(log.ranks.size(), 2);
  EXPECT_EQ(log.ranks[1].host, "node1");
  EXPECT_EQ(log.ranks[1].gpu, "NVIDIA H100 80GB HBM3");
  EXPECT_EQ(log.RanksByHost(), (std::vector<int>{1, 1}));
  ASSERT_EQ(log.rows.size(), 1);
  EXPECT_EQ(log.rows[0].bytes, Bytes(1 << 20));
  EXPECT_EQ(log.rows[0].time, Duration::Nanoseconds(30'120));
}

// Returns the log with the first `from` replaced by `to`.
std::string With(const std::string& from, const std::string& to) {
  std::string text = kNewLog;
  text.replace(text.find(from), from.size(), to);
  return text;
}

TEST(NcclTestsLogTest, MalformedLogsAreOneSentence) {
  const auto error = [](const std::string& text) {
    return ErrorOf([&] { ParseNcclTestsLog(text, "all_reduce.log"); });
  };
  EXPECT_EQ(error(With("30.12", "abc")),
            "all_reduce.log:9: time: got \"abc\", want microseconds > 0");
  EXPECT_EQ(error(With("34.81   34.81", "34.81   69.62")),
            "all_reduce.log:9: busbw: got \"69.62\", want 34.81, as all-reduce over 2 ranks has");
  EXPECT_EQ(error(With("Rank  1", "Rank  3")),
            "all_reduce.log:5: rank: got \"3\", want 1, the one after");
  EXPECT_NE(error(With("     0    29.87", "")).find("log:9: row: got"), std::string::npos);
  EXPECT_NE(error(std::string(kNewLog).substr(0, 400)).find("rows: got \"none\""),
            std::string::npos);
  EXPECT_NE(error("\x01\x02 noise").find("log:1: line: got"), std::string::npos);
  EXPECT_NE(error("").find("want a log of nccl-tests"), std::string::npos);
}

TEST(NcclTestsLogTest, NcclsOwnLinesArePassedOver) {
  const NcclTestsLog log =
      ParseNcclTestsLog(With("# nThread 1",
                             "node0:42:42 [0] NCCL INFO Bootstrap\nNCCL version "
                             "2.21.5+cuda12.4\n# nThread 1"),
                        "log");
  EXPECT_EQ(log.rows.size(), 1);
  EXPECT_EQ(log.software, "nccl-2.21.5");
  EXPECT_EQ(log.dtype, "fp32");
}

TEST(NcclTestsLogTest, RanksAreOfWholeProcesses) {
  const std::string third =
      "#  Rank  2 Group  0 Pid   4243 on      node1 device  0 [0000:18:00] NVIDIA H100\n#\n#   ";
  EXPECT_NE(ErrorOf([&] {
              ParseNcclTestsLog(With("#\n#       size", third + "    size"), "x.log");
            }).find("x.log: devices: got \"3 ranks\", want a multiple of the 2 of each process"),
            std::string::npos);
}

constexpr char kJson[] = R"({"version": "2.17", "args": ["./build/all_gather_perf", "-J", "o.json"],
  "nccl_version": 22809,
  "config": {"devices": [
    {"rank": 0, "group": 0, "pid": 42, "hostname": "a", "device": 0, "device_info": "NVIDIA H100"},
    {"rank": 1, "group": 0, "pid": 43, "hostname": "b", "device": 0, "device_info": "NVIDIA H100"}]},
  "results": [{"size": 1048576, "count": 131072, "type": "bfloat16", "redop": "none", "root": -1,
    "out_of_place": {"time": 30.12, "alg_bw": 34.81, "bus_bw": 17.41, "nwrong": 0},
    "in_place": {"time": 29.87, "alg_bw": 35.1, "bus_bw": 17.55, "nwrong": "N/A"}}]})";

TEST(NcclTestsLogTest, JsonIsRead) {
  EXPECT_TRUE(IsNcclTestsLog(kJson));
  const NcclTestsLog log = ParseNcclTestsLog(kJson, "o.json");
  EXPECT_EQ(log.kind, OpKind::kAllGather);
  EXPECT_EQ(log.RanksByHost(), (std::vector<int>{1, 1}));
  EXPECT_EQ(log.software, "nccl-2.28.9");
  EXPECT_EQ(log.dtype, "bf16");
  ASSERT_EQ(log.rows.size(), 1);
  EXPECT_EQ(log.rows[0].time, 30'120_ns);
}

TEST(NcclTestsLogTest, TheCollectiveMayBeInTheName) {
  std::string text = With("sum", "none");
  EXPECT_NE(ErrorOf([&] { ParseNcclTestsLog(text, "x.log"); }).find("collective"),
            std::string::npos);
  EXPECT_NE(ErrorOf([&] { ParseNcclTestsLog(text, "all_gather_perf.log"); }).find("busbw"),
            std::string::npos);
  EXPECT_EQ(ParseNcclTestsLog(text, "sendrecv_perf.log").kind, OpKind::kSendRecv);
}

// With two ranks, a reduction to one rank has the same bus bandwidth as an all-reduce.
TEST(NcclTestsLogTest, AReductionToOneRankIsRefused) {
  EXPECT_NE(ErrorOf([] {
              ParseNcclTestsLog(With("     -1 ", "      0 "), "x.log");
            }).find("x.log: collective: got \"x.log\", want its name"),
            std::string::npos);
}

TEST(NcclTestsLogTest, ANameOfTwoCollectivesIsRefused) {
  EXPECT_EQ(
      ErrorOf([] { ParseNcclTestsLog(kNewLog, "logs/all_reduce_after_sendrecv.log"); }),
      "logs/all_reduce_after_sendrecv.log: collective: got \"all_reduce_after_sendrecv.log\", "
      "want the name of one, or given");
  EXPECT_EQ(ParseNcclTestsLog(kNewLog, "sendrecv/all_reduce.log").kind, OpKind::kAllReduce);
}

TEST(NcclTestsLogTest, TheCollectiveIsThatOfTheProgramNotOfItsOtherArguments) {
  std::string text = kJson;
  text.replace(text.find("o.json"), 6, "all_reduce.json");
  EXPECT_EQ(ParseNcclTestsLog(text, "o.json").kind, OpKind::kAllGather);
  text.replace(text.find("\"bfloat16\""), 10, "null");
  EXPECT_EQ(ParseNcclTestsLog(text, "o.json").dtype, "");
}

TEST(NcclTestsLogTest, TheSharedExampleListsTwoOfItsEightGpus) {
  if (!HasSharedData()) GTEST_SKIP() << kNoSharedData;
  const NcclTestsLog log = ReadNcclTestsLog(std::string(std::getenv("STAGECRAFT_SHARED")) +
                                            "/examples/nccl_tests_all_reduce.txt");
  EXPECT_EQ(log.RanksByHost(), std::vector<int>{8});
  EXPECT_EQ(log.rows.size(), 3);
}

TEST(NcclTestsLogTest, TheSharedLogsAgreeWithTheirTable) {
  if (!HasSharedData()) GTEST_SKIP() << kNoSharedData;
  const std::string folder = std::string(std::getenv("STAGECRAFT_SHARED")) + "/data/network/";
  const CollectiveTable table = ReadCollectiveTable(folder + "nd_a100_v4_all_reduce.csv");
  size_t rows = 0;
  for (const int ranks : {2, 4, 8, 16, 32}) {
    const NcclTestsLog log =
        ReadNcclTestsLog(fmt::format("{}nccl_tests_nd_a100_v4/nccl_{}.log", folder, ranks));
    EXPECT_EQ(log.ranks.size(), ranks);
    for (const NetworkSample& sample : table.samples) {
      if (sample.op.fabric.ranks != ranks) continue;
      const auto row = std::find_if(log.rows.begin(), log.rows.end(), [&](const auto& candidate) {
        return candidate.bytes == sample.op.bytes;
      });
      ASSERT_NE(row, log.rows.end());
      EXPECT_EQ(row->time, sample.time);
      ++rows;
    }
  }
  EXPECT_EQ(rows, table.samples.size());
}

}  // namespace
}  // namespace stagecraft
