#include "search/partition/pipedream.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "costmodel/proto_file.h"
#include "costmodel/shared_csv.h"
#include "costmodel/units.h"
#include "search/partition/antichain_states.h"
#include "search/partition/partition_check.h"
#include "search/partition/timed_graph.h"
#include "sim/workload/readers/graph_txt.h"

namespace stagecraft {
namespace {

constexpr double kTolerance = 1e-9;  // relative

AntichainStates StatesOf(const std::string& text) {
  return FindAntichainStates(ToTimedGraph(ParseProfiledGraph(text, "graph.txt"), "graph.txt"));
}

std::string Node(const std::string& id, int forward_ms, int backward_ms, int activation,
                 int parameters) {
  std::ostringstream line;
  line << id << " -- Linear -- forward_compute_time=" << forward_ms
       << ", backward_compute_time=" << backward_ms << ", activation_size=" << activation
       << ", parameter_size=" << parameters << "\n";
  return line.str();
}

struct SharedNetwork {
  TimedGraph graph;
  AntichainStates states;
};

const SharedNetwork& Shared(const std::string& name) {
  static std::map<std::string, SharedNetwork> networks;
  const auto found = networks.find(name);
  if (found != networks.end()) return found->second;
  const std::string path = SharedDataPath("planning/pipedream/graphs/" + name + "/graph.txt");
  const TimedGraph graph = ToTimedGraph(ReadProfiledGraph(path), path);
  return networks.emplace(name, SharedNetwork{graph, FindAntichainStates(graph)}).first->second;
}

// Returns the bottleneck of the best partition, which must pass the check.
double CheckedBottleneck(const SharedNetwork& network, const PipeDreamOptions& options) {
  const PipeDreamPartition partition = SolvePipeDream(network.states, options);
  const PartitionCheck check = CheckPipeDream(network.graph, options, partition);
  EXPECT_TRUE(check.errors.empty()) << check.errors.front();
  EXPECT_NEAR(check.objective / partition.bottleneck_s, 1, 1e-12);
  return partition.bottleneck_s;
}

// Returns the numbers of a text such as "8e+09x1.25e+09".
std::vector<double> Numbers(const std::string& text) {
  std::vector<double> numbers;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, 'x');) numbers.push_back(std::stod(part));
  return numbers;
}

std::vector<MachineLevel> Levels(const std::vector<double>& machines,
                                 const std::vector<double>& bandwidths) {
  std::vector<MachineLevel> levels;
  for (size_t l = 0; l < machines.size(); ++l) {
    levels.push_back({static_cast<int>(machines[l]), Bandwidth(bandwidths[l])});
  }
  return levels;
}

// a (1 + 1 ms) feeds b (2 + 2 ms). On two machines a | b would take 4 ms; two copies of both take 3
// ms, and without parameters nothing is synchronised.
TEST(PipeDreamTest, TwoOperatorsOnTwoMachinesAreBestCopied) {
  const AntichainStates states =
      StatesOf(Node("a", 1, 1, 0, 0) + Node("b", 2, 2, 0, 0) + "\ta -- b\n");
  PipeDreamOptions options{.levels = {{2, Bandwidth(1e9)}}};
  const PipeDreamPartition copied = SolvePipeDream(states, options);
  EXPECT_DOUBLE_EQ(copied.bottleneck_s, 3e-3);
  ASSERT_EQ(copied.stages.size(), 1u);
  EXPECT_EQ(copied.stages[0].replicas, 2);
  options.straight = true;
  const PipeDreamPartition straight = SolvePipeDream(states, options);
  EXPECT_DOUBLE_EQ(straight.bottleneck_s, 4e-3);
  EXPECT_EQ(straight.stages.size(), 2u);
}

TEST(PipeDreamTest, EveryGoldenBottleneckIsReached) {
  if (!HasSharedData()) GTEST_SKIP() << kNoSharedData;
  const auto rows =
      nlohmann::json::parse(ReadFile(SharedDataPath("golden/pipedream_optimizer_golden.json")));
  ASSERT_EQ(rows.size(), 60u);
  for (const nlohmann::json& row : rows) {
    const SharedNetwork& network = Shared(row.at("model"));
    EXPECT_EQ(network.states.size(), row.at("states"));
    PipeDreamOptions options{.levels = Levels(row.at("machines"), row.at("bandwidths"))};
    if (!row.at("activation_compression_ratio").is_null()) {
      options.activation_compression = row.at("activation_compression_ratio");
    }
    const double expected = row.at("t");
    const double found = CheckedBottleneck(network, options);
    EXPECT_NEAR(found / expected, 1, kTolerance) << row;
    EXPECT_NEAR(
        DataParallelSeconds(network.states, options.levels) / found / row.at("vs_dp").get<double>(),
        1, kTolerance)
        << row;
  }
}

TEST(PipeDreamTest, EveryPublishedResultIsReached) {
  if (!HasSharedData()) GTEST_SKIP() << kNoSharedData;
  const std::vector<CsvRow> rows = ReadSharedTable("planning/pipedream/results.csv");
  ASSERT_EQ(rows.size(), 141u);
  for (const CsvRow& row : rows) {
    const SharedNetwork& network = Shared(row.at("model"));
    EXPECT_EQ(network.states.size(), Number(row, "states"));
    PipeDreamOptions options{
        .levels = Levels(Numbers(row.at("machines")), Numbers(row.at("bandwidth_Bps")))};
    if (!row.at("act_ratio").empty()) options.activation_compression = Number(row, "act_ratio");
    if (!row.at("mem_limit").empty())
      options.memory = Bytes(std::llround(Number(row, "mem_limit")));
    options.straight = row.at("straight") == "True";
    const double found = CheckedBottleneck(network, options);
    const double expected = row.at("stage_time_s").empty() ? std::numeric_limits<double>::infinity()
                                                           : Number(row, "stage_time_s");
    EXPECT_TRUE(found == expected || std::abs(found / expected - 1) < kTolerance)
        << row.at("model") << ' ' << row.at("machines") << ' ' << row.at("bandwidth_Bps") << ' '
        << row.at("mem_limit") << ' ' << row.at("straight") << ": got " << found << ", want "
        << expected;
    EXPECT_NEAR(DataParallelSeconds(network.states, options.levels) / Number(row, "dp_time_s"), 1,
                kTolerance);
  }
}

// The figure is published with six digits.
TEST(PipeDreamTest, TheLargestNetworkReachesItsPublishedBottleneck) {
  if (!HasSharedData()) GTEST_SKIP() << kNoSharedData;
  PipeDreamOptions options{.levels = {{4, Bandwidth(10e9)}}};
  EXPECT_NEAR(CheckedBottleneck(Shared("gnmt_large"), options), 0.137129, 5e-7);
}

}  // namespace
}  // namespace stagecraft
