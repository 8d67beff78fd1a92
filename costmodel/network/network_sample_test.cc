#include "costmodel/network/network_sample.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "costmodel/error_of.h"
#include "costmodel/learned/samples/gzip.h"
#include "costmodel/network/collective_table.h"
#include "costmodel/network/measured_networks.h"
#include "costmodel/network/network_files_testing.h"
#include "costmodel/proto_file.h"
#include "costmodel/shared_csv.h"

namespace stagecraft {
namespace {

constexpr char kHeader[] =
    "source,system,gpu_id,node_id,nodes,gpus_per_node,fabric,op,library,algo,dtype,groups,stride,"
    "n_ranks,bytes,time_us,repeat,valid,invalid_reason\n";

CollectiveTable Parse(const std::string& row) {
  return ParseCollectiveTable(kHeader + row + "\n", "c.csv");
}

TEST(NetworkSampleTest, ARingOfTwoSendsTheWholeBufferOnce) {
  const auto factor = [](OpKind kind, int ranks) {
    Fabric fabric;
    fabric.ranks = ranks;
    return BusBandwidth(Op::Collective(kind, Bytes(1), fabric), 1000_ms).bytes_per_s();
  };
  EXPECT_EQ(factor(OpKind::kAllReduce, 2), 1);
  EXPECT_EQ(factor(OpKind::kAllGather, 2), 0.5);
  EXPECT_EQ(factor(OpKind::kAllReduce, 4), 1.5);
  EXPECT_EQ(factor(OpKind::kSendRecv, 2), 1);
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

// Nodes of V100 are hybrid cube meshes: one NVLink of 25 GB/s joins the first two GPUs, two join
// the best pair, and all eight have six rings.
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

TEST(CollectiveTableTest, GpusInSlotsHaveNoMeshAndInterfacesAreCounted) {
  const std::vector<NetworkSample> samples =
      Parse("s,y,v100-pcie-16gb,,2,4,PCIe3 + 2x25GbE,all_reduce,nccl,auto,fp16,1,1,8,1024,10,0,1,")
          .samples;
  ASSERT_EQ(samples.size(), 1u);
  EXPECT_EQ(samples[0].op.fabric.intra, (Link{LinkKind::kPcie, 1_us, Bandwidth(15.75e9)}));
  EXPECT_EQ(samples[0].op.fabric.inter,
            (Link{LinkKind::kNetwork, 25_us, Bandwidth(6.25e9), NetworkKind::kEthernet}));
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
            "c.csv:2: n_ranks: got \"1\", want at least 2 in a valid row: a single rank exchanges "
            "nothing");
  EXPECT_EQ(ErrorOf([] { ParseCollectiveTable("source,system\n", "c.csv"); }),
            "c.csv:1: got no column \"gpu_id\", want one, as in a table of collectives");
}

TEST(CollectiveTableTest, GpusOfUnknownLinksTakeTheirNodesOrAreSkippedAndCounted) {
  const std::string rows =
      "s,y,b200-sxm-180gb,dgx-b200,2,4,NVLink5,all_reduce,nccl,auto,fp16,1,2,8,1024,10,0,1,\n"
      "s,y,b200-sxm-180gb,,1,2,NVLink5,all_reduce,nccl,auto,fp16,1,1,2,1024,10,0,1,\n"
      "s,y,b200-sxm-180gb,box,1,2,NVLink5,all_reduce,nccl,auto,fp16,1,1,2,1024,10,0,1,\n"
      "s,y,a100-sxm4-40gb,,1,2,NVLink3,all_reduce,nccl,auto,fp16,1,1,2,1024,10,0,1,";
  Fabric known = {8, 2, 4, {LinkKind::kNvlink, 600_ns, Bandwidth(900e9)}, {}, true};
  known.inter = {LinkKind::kNetwork, 2_us, Bandwidth(200e9)};
  std::vector<GroupOnNodes> asked;
  const CollectiveTable table = ParseCollectiveTable(
      kHeader + rows + "\n", "c.csv", [&](const GroupOnNodes& group) -> std::optional<Fabric> {
        asked.push_back(group);
        if (group.node != "dgx-b200") return std::nullopt;
        return known;
      });
  ASSERT_EQ(table.samples.size(), 2u);
  EXPECT_EQ(table.samples[0].op.fabric, known);
  EXPECT_TRUE(table.samples[0].is_network_stated);
  EXPECT_EQ(table.samples[1].gpu, "a100-sxm4-40gb");
  ASSERT_EQ(asked.size(), 2u);
  EXPECT_EQ(asked[0].nodes, 2);
  EXPECT_EQ(asked[0].ranks_per_node, 4);
  EXPECT_EQ(asked[0].stride, 2);
  int skipped = 0;
  for (const auto& [what, count] : table.skipped) {
    EXPECT_EQ(what.first, "b200-sxm-180gb");
    skipped += count;
  }
  EXPECT_EQ(skipped, 2);
  EXPECT_EQ(Parse("s,y,tpu,,1,2,ICI,all_reduce,nccl,auto,fp16,1,1,2,8,1,0,1,").skipped.size(), 1u);
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
  EXPECT_EQ(
      ErrorOf([&] { FormatCollectiveTable(std::vector{sample}, "c.csv"); }),
      "c.csv: got 3 ranks on 2 nodes, 1 on one of them, want the same number on each in a table");
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

std::string TwoNodes(const std::string& words) {
  return fmt::format("s,y,a100-sxm4-40gb,,2,2,{},all_reduce,nccl,auto,fp16,1,1,4,8,1,0,1,", words);
}

// The network between nodes is never guessed: words that name no known network are refused,
// whatever other words are beside them.
TEST(CollectiveTableTest, UnknownNetworksBetweenNodesAreRefused) {
  for (const std::string network :
       {"", "PCIe4", "NVLink3/NVSwitch", "unknown", "400G", "Slingshot", "fast Ethernet", "IB"}) {
    for (const std::string inside : {"", "NVLink3/NVSwitch + ", "a + b + "}) {
      const std::string words = inside + network;
      const std::string error = ErrorOf([&] { Parse(TwoNodes(words)); });
      EXPECT_TRUE(
          error.starts_with("c.csv:2: fabric: got \"" + words +
                            "\", which names no known network between the nodes, want one of "))
          << error;
    }
  }
}

TEST(CollectiveTableTest, ANetworkThatItsTableCallsUnknownIsMarked) {
  const auto is_stated = [](const std::string& words) {
    return Parse(TwoNodes(words)).samples.at(0).is_network_stated;
  };
  EXPECT_FALSE(is_stated("NVLink3/NVSwitch + unknown inter-node network"));
  EXPECT_TRUE(is_stated("NVLink3/NVSwitch + 8x200G HDR InfiniBand"));
  EXPECT_TRUE(is_stated("10GbE"));
  EXPECT_TRUE(is_stated("NVLink3/NVSwitch + 4x100G EFA"));
}

// Facts about sources are data: for a source that is not in the table, the columns alone count.
TEST(CollectiveTableTest, SitesAndTimingAreAsTheTableOfSourcesSays) {
  const auto sample = [](const std::string& source) {
    return Parse(source +
                 ",y,a100-sxm4-40gb,,2,2,10GbE,all_reduce,nccl-2.9,auto,fp16,1,1,4,8,1,0,1,")
        .samples.at(0);
  };
  EXPECT_EQ(sample("s").site, "s y nccl-2.9");
  EXPECT_EQ(sample("s").timing, Timing::kCollective);
  EXPECT_EQ(sample("nccl-tests").site, "y");
  EXPECT_EQ(sample("dexhunter").site, "dexhunter 10GbE");
  EXPECT_EQ(sample("alpa-osdi22").site, "alpa-osdi22");
  EXPECT_EQ(sample("alpa-osdi22").timing, Timing::kFramework);
}

TEST(MeasuredNetworksTest, BadTablesSayWhere) {
  const std::pair<const char*, const char*> cases[] = {
      {"networks { words: \"a\" bandwidth_bytes_per_s: 1 }",
       "t: networks[0].origin: got none, want a document or a reason"},
      {"networks { words: \"a\" origin: \"b\" }",
       "t: networks[0].bandwidth_bytes_per_s: got 0, want > 0"},
      {"networks { words: \"a\" bandwidth_bytes_per_s: 1 kind: \"token ring\" origin: \"b\" }",
       "t: networks[0].kind: got \"token ring\", want a kind of network, such as infiniband or "
       "cloud-tcp"},
      {"nodes { links_of_pair: 1 }", "t: nodes[0].origin: got none, want a document or a reason"},
      {"nodes { links_of_pair: -1 origin: \"b\" }",
       "t: nodes[0].links_of_pair: got -1, want 0 to 1024"},
      {"sources { source: \"a\" site: \"b\" origin: \"c\" }",
       "t: sources[0].site: got \"b\", want one of source, system, fabric, library"},
      {"sources { source: \"a\" }", "t: sources[0].origin: got none, want a document or a reason"},
  };
  for (const auto& one : cases) {
    EXPECT_EQ(ErrorOf([&] { MeasuredNetworks::Parse(one.first, "t"); }), one.second);
  }
}

// The number of rows of a shared table, and how many of them are valid, counted without the reader
// of tables.
struct RowCount {
  size_t all = 0, valid = 0;
};
RowCount CountRows(const std::string& path) {
  std::string text = ReadFile(path);
  if (IsGzip(text)) text = Gunzip(text, path);
  RowCount count;
  ForEachCsvRow(text, [&](const CsvRow& row) {
    ++count.all;
    if (row.at("valid") == "1") ++count.valid;
  });
  return count;
}

TEST(CollectiveTableTest, AllRowsOfTheSharedTablesAreRead) {
  if (!HasSharedData()) GTEST_SKIP() << kNoSharedData;
  for (const char* file : {"collectives.csv.gz", "nd_a100_v4_all_reduce.csv"}) {
    const std::string path = SharedDataPath(std::string("network/") + file);
    const CollectiveTable table = ReadCollectiveTable(path);
    const RowCount count = CountRows(path);
    EXPECT_GT(count.valid, 0u) << file;
    EXPECT_EQ(table.samples.size(), count.valid) << file;
    EXPECT_EQ(table.samples.size() + table.invalid, count.all) << file;
  }
}

}  // namespace
}  // namespace stagecraft
