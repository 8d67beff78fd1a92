#include "costmodel/network/network_sample.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "costmodel/check.h"
#include "costmodel/network/collective_table.h"
#include "costmodel/network/nccl_tests_log.h"
#include "costmodel/shared_csv.h"

namespace stagecraft {
namespace {

constexpr char kHeader[] =
    "source,system,gpu_id,node_id,nodes,gpus_per_node,fabric,op,library,algo,dtype,groups,stride,"
    "n_ranks,bytes,time_us,repeat,valid,invalid_reason\n";

CollectiveTable Parse(const std::string& row) {
  return ParseCollectiveTable(kHeader + row + "\n", "c.csv");
}

std::string ErrorOf(const std::function<void()>& action) {
  try {
    action();
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(NetworkSampleTest, ARingOfTwoSendsTheWholeBufferOnce) {
  EXPECT_EQ(BusFactor(OpKind::kAllReduce, 2), 1);
  EXPECT_EQ(BusFactor(OpKind::kAllGather, 2), 0.5);
  EXPECT_EQ(BusFactor(OpKind::kAllReduce, 4), 1.5);
  EXPECT_EQ(BusFactor(OpKind::kSendRecv, 2), 1);
}

TEST(CollectiveTableTest, ARowIsAnOpOverNominalLinks) {
  const CollectiveTable table = Parse(
      "alpa-osdi22,p3.16xlarge 4x8,v100-sxm2-16gb,aws-p3.16xlarge,4,2,NVLink2 + "
      "25GbE,all_reduce,nccl,auto,fp16,4,4,8,1048576,3624.5,0,1,");
  ASSERT_EQ(table.samples.size(), 1);
  const NetworkSample& sample = table.samples[0];
  EXPECT_EQ(sample.op.kind, OpKind::kAllReduce);
  EXPECT_EQ(sample.op.fabric.ranks, 8);
  EXPECT_EQ(sample.op.fabric.intra.bandwidth.bytes_per_s(), 25e9);
  // Four groups share 25 Gb/s.
  EXPECT_EQ(sample.sharing, 4);
  EXPECT_EQ(sample.op.fabric.inter.bandwidth.bytes_per_s(), 3.125e9 / 4);
  EXPECT_EQ(sample.time, Duration::Nanoseconds(3'624'500));
  EXPECT_EQ(sample.timing, Timing::kFramework);
  EXPECT_EQ(GroupLabel(sample), "4x8x4x4");
}

// Nodes of V100 are hybrid cube meshes: one NVLink of 25 GB/s joins the first two,
// two the best pair, and eight have six rings.
TEST(CollectiveTableTest, PairsOfAMeshHaveTheLinksThatJoinThem) {
  const struct {
    std::string row;
    double gb_per_s;
  } cases[] = {
      {"vTrain,v,v100-sxm2-16gb,,1,2,NVLink2 hybrid cube mesh,all_reduce,nccl,auto,fp16,1,1,2", 25},
      {"Aceso,V,v100-sxm2-32gb,,1,2,NVLink2,all_reduce,nccl,auto,fp16,1,1,2", 50},
      {"Aceso,V,v100-sxm2-16gb,,1,2,NVLink2 (GCP),all_reduce,nccl,auto,fp16,1,1,2", 75},
      {"Aceso,V,v100-sxm2-32gb,,1,8,NVLink2,all_reduce,nccl,auto,fp16,1,1,8", 150}};
  for (const auto& known : cases) {
    const std::vector<NetworkSample> samples = Parse(known.row + ",1024,10,0,1,").samples;
    ASSERT_EQ(samples.size(), 1u) << known.row;
    EXPECT_EQ(samples[0].op.fabric.intra.bandwidth.bytes_per_s(), known.gb_per_s * 1e9)
        << known.row;
  }
}

TEST(CollectiveTableTest, BoardsInSlotsHaveNoMeshAndInterfacesAreCounted) {
  const std::vector<NetworkSample> samples =
      Parse("s,y,v100-pcie-16gb,,2,4,PCIe3 + 2x25GbE,all_reduce,nccl,auto,fp16,1,1,8,1024,10,0,1,")
          .samples;
  ASSERT_EQ(samples.size(), 1u);
  EXPECT_EQ(samples[0].op.fabric.intra, (Link{LinkKind::kPcie, 1_us, Bandwidth(15.75e9)}));
  EXPECT_EQ(samples[0].op.fabric.inter, (Link{LinkKind::kNetwork, 25_us, Bandwidth(6.25e9)}));
}

TEST(CollectiveTableTest, RowsThatAreNoMeasurementsArePassedOver) {
  const CollectiveTable table = Parse(
      "Aceso,V100-32G DGX,v100-sxm2-32gb,,1,2,NVLink2,all_reduce,nccl,auto,fp16,1,1,2,0,inf,0,0,"
      "non_finite_time");
  EXPECT_TRUE(table.samples.empty());
  EXPECT_EQ(table.invalid, 1);
}

TEST(CollectiveTableTest, WhatIsWrongIsNamed) {
  const auto error = [](const std::string& row) { return ErrorOf([&] { Parse(row); }); };
  EXPECT_EQ(error("s,y,a100-sxm4-40gb,,1,2,NVLink3,sum,nccl,auto,fp16,1,1,2,8,1,0,1,"),
            "c.csv:2: op: got \"sum\", want all_reduce, all_gather, reduce_scatter, all_to_all, "
            "broadcast or send_recv");
  EXPECT_EQ(error("s,y,a100-sxm4-40gb,,1,2,NVLink3,all_reduce,nccl,auto,fp16,1,1,4,8,1,0,1,"),
            "c.csv:2: n_ranks: got \"4\", want 1 nodes x 2 of each");
  EXPECT_EQ(error("s,y,a100-sxm4-40gb,,1,1,NVLink3,all_reduce,nccl,auto,fp16,1,1,1,8,1,0,1,"),
            "c.csv:2: n_ranks: got \"1\", want at least 2 in a valid row: one rank alone exchanges "
            "nothing");
  EXPECT_EQ(error("s,y,tpu,,1,2,ICI,all_reduce,nccl,auto,fp16,1,1,2,8,1,0,1,"),
            "c.csv:2: gpu_id: got \"tpu\", want one whose links are known");
  EXPECT_EQ(ErrorOf([] { ParseCollectiveTable("source,system\n", "c.csv"); }),
            "c.csv:1: got no column \"gpu_id\", want one, as in a table of collectives");
}

TEST(CollectiveTableTest, LinksMayBeWrittenOut) {
  const CollectiveTable table = Parse(
      "nccl-tests,lab,h100-sxm5-80gb,,2,8,nvlink 450000000000 B/s 600 ns + network 4e11 B/s 2000 "
      "ns + nvls,all_reduce,nccl,auto,fp32,1,1,16,1024,9.5,0,1,");
  ASSERT_EQ(table.samples.size(), 1);
  const Fabric& fabric = table.samples[0].op.fabric;
  EXPECT_EQ(fabric.intra, (Link{LinkKind::kNvlink, 600_ns, Bandwidth(450e9)}));
  EXPECT_EQ(fabric.inter, (Link{LinkKind::kNetwork, 2_us, Bandwidth(400e9)}));
  EXPECT_TRUE(fabric.nvls);
}

TEST(CollectiveTableTest, WhatIsWrittenIsReadBack) {
  Fabric fabric = {4, 2, 2, {LinkKind::kPcie, 1_us, Bandwidth(31.5e9)}, {}, false};
  fabric.inter = {LinkKind::kNetwork, 25_us, Bandwidth(1e10 / 3)};
  NetworkSample sample;
  sample.gpu = "a100-pcie-80gb";
  sample.node = "azure-nc96ads-a100-v4";
  sample.time = 34'660_ns;
  sample.dtype = "fp32";
  sample.system = "lab, \"old\"";
  sample.software = "nccl-2.21.5";
  sample.source = "nccl-tests";
  std::vector<NetworkSample> samples;
  for (const OpKind kind : {OpKind::kAllReduce, OpKind::kAllToAll, OpKind::kBroadcast}) {
    sample.op = Op::Collective(kind, Bytes(4096), fabric);
    ++sample.repeat;
    samples.push_back(sample);
  }
  const std::string text = FormatCollectiveTable(samples, "c.csv");
  EXPECT_TRUE(IsCollectiveTable(text));
  CollectiveTable table = ParseCollectiveTable(text, "c.csv");
  for (NetworkSample& read : table.samples) {
    EXPECT_EQ(read.site, "lab, \"old\"");
    read.site.clear();
  }
  EXPECT_EQ(table.samples, samples);
}

TEST(CollectiveTableTest, OneRankIsNoMeasurementAndUnevenNodesHaveNoColumn) {
  NetworkSample sample;
  sample.gpu = "h100-sxm5-80gb";
  sample.source = "nccl-tests";
  sample.time = 1_us;
  Fabric fabric = {1, 1, 1, {LinkKind::kNvlink, 600_ns, Bandwidth(450e9)}, {}, false};
  sample.op = Op::Collective(OpKind::kAllReduce, Bytes(8), fabric);
  const std::string text = FormatCollectiveTable(std::vector{sample}, "c.csv");
  EXPECT_EQ(ParseCollectiveTable(text, "c.csv").invalid, 1);
  EXPECT_TRUE(text.ends_with(",0,single_rank\n")) << text;
  fabric.ranks = 3;
  fabric.nodes = 2;
  sample.op = Op::Collective(OpKind::kAllReduce, Bytes(8), fabric);
  EXPECT_EQ(ErrorOf([&] { FormatCollectiveTable(std::vector{sample}, "c.csv"); }),
            "c.csv: got 3 ranks on 2 nodes of which one has 1, want as many on each in a table");
}

TEST(CollectiveTableTest, WordsThatStateNoLinksAreRefused) {
  const auto error = [](const std::string& words, int nodes) {
    return ErrorOf([&] {
      Parse(fmt::format("s,y,a100-sxm4-40gb,,{},2,{},all_reduce,nccl,auto,fp16,1,1,{},8,1,0,1,",
                        nodes, words, 2 * nodes));
    });
  };
  EXPECT_EQ(error("nvlink 3e11 B/s 600 ns", 2),
            "c.csv:2: fabric: got \"nvlink 3e11 B/s 600 ns\", want a second link, between the 2 "
            "nodes");
  for (const char* words :
       {"nvlink 0 B/s 600 ns", "nvlink -1 B/s 6 ns", "nvlink inf B/s 6 ns", "wire 1e9 B/s 6 ns",
        "nvlink 1e9 B/s 6", "nvls + nvlink 1e9 B/s 6 ns", "nvlink 1e9 B/s 6 ns + nvls + nvls"}) {
    EXPECT_NE(error(words, 1).find("c.csv:2: fabric: got \""), std::string::npos) << words;
  }
}

TEST(CollectiveTableTest, TheSharedTableHasAsManyRowsAsItsReadmeSays) {
  if (!HasSharedData()) GTEST_SKIP() << kNoSharedData;
  const std::string folder = std::string(std::getenv("STAGECRAFT_SHARED")) + "/data/network/";
  const CollectiveTable all = ReadCollectiveTable(folder + "collectives.csv.gz");
  EXPECT_EQ(all.samples.size(), 56'191);
  EXPECT_EQ(all.samples.size() + all.invalid, 58'911);
  EXPECT_EQ(ReadCollectiveTable(folder + "nd_a100_v4_all_reduce.csv").samples.size(), 132);
}

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

// `from` in the log, once, is `to`.
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

// At two ranks a reduction to one rank has the bus bandwidth of one to all.
TEST(NcclTestsLogTest, ASumForOneRankIsNoneOfOurs) {
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
