// Tests the planners of DAPPLE, PipeDream-2BW and HetPipe.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "costmodel/random.h"
#include "costmodel/shared_csv.h"
#include "costmodel/units.h"
#include "search/partition/antichain_states.h"
#include "search/partition/check_planners.h"
#include "search/partition/dag.h"
#include "search/partition/dapple.h"
#include "search/partition/het_pipe.h"
#include "search/partition/partition_check.h"
#include "search/partition/timed_graph.h"
#include "search/partition/two_buffer.h"
#include "sim/workload/readers/graph_txt.h"

namespace stagecraft {
namespace {

// Returns the states of a chain, one operator for each entry of `ms`, which is its time in all;
// each has an output of `activation` bytes and `parameters` bytes of parameters.
AntichainStates Chain(const std::vector<int>& ms, int64_t activation, int64_t parameters) {
  TimedGraph graph;
  graph.name = "chain";
  std::vector<std::string> names;
  std::vector<DagEdge> edges;
  for (size_t n = 0; n < ms.size(); ++n) {
    names.push_back("n" + std::to_string(n));
    graph.nodes.push_back({names[n], Duration::Seconds(ms[n] * 1e-3), Duration(), Bytes(activation),
                           Bytes(parameters)});
    if (n > 0) edges.push_back({static_cast<int>(n) - 1, static_cast<int>(n)});
  }
  graph.dag = MakeDag(names, edges, graph.name);
  return FindAntichainStates(graph);
}

struct SharedNetwork {
  TimedGraph graph;
  AntichainStates states;
};

SharedNetwork ReadShared(const std::string& network) {
  const std::string path = SharedDataPath("planning/pipedream/graphs/" + network + "/graph.txt");
  const TimedGraph graph = ToTimedGraph(ReadProfiledGraph(path), path);
  return {graph, FindAntichainStates(graph)};
}

void ExpectSound(const PartitionCheck& check, double objective) {
  EXPECT_TRUE(check.errors.empty()) << check.errors.front();
  EXPECT_NEAR(check.objective / objective, 1, 1e-12);
}

// Two equal stages and four micro-batches take (4 + 2 - 1) (F + B).
TEST(DappleTest, EqualBlocksTakeThePipelinesTime) {
  const std::vector<DappleBlock> blocks = {{1, 1, 0}, {1, 1, 0}};
  EXPECT_DOUBLE_EQ(DappleStepSeconds(blocks, 4), 10);
  const std::vector<DappleBlock> one = {{1, 2, 5}};
  EXPECT_DOUBLE_EQ(DappleStepSeconds(one, 3), 14);
  // The slower first stage is the pivot; the all-reduce of the second is hidden.
  const std::vector<DappleBlock> uneven = {{3, 3, 0}, {1, 1, 2}};
  EXPECT_DOUBLE_EQ(DappleStepSeconds(uneven, 4), 3 + 18 + 3);
}

TEST(DappleTest, NetworksWithoutParametersAreCopiedEverywhere) {
  const AntichainStates states = Chain({4, 4}, 1000, 0);
  const DapplePlan plan =
      *SolveDapple(states, {.machines = 2, .devices_per_machine = 2, .micro_batches = 3});
  ASSERT_EQ(plan.stages.size(), 1u);
  EXPECT_EQ(plan.stages[0].devices, (std::vector<int>{0, 1, 2, 3}));
  EXPECT_DOUBLE_EQ(plan.step_s, 3 * 8e-3 / 4);
  EXPECT_DOUBLE_EQ(plan.data_parallel_s, plan.step_s);
}

TEST(DappleTest, HeavyParametersStayOnOneMachine) {
  // With 1 GB each, an all-reduce between machines takes longer than the step.
  const AntichainStates states = Chain({4, 4}, 1000, 1'000'000'000);
  const DapplePlan plan =
      *SolveDapple(states, {.machines = 2, .devices_per_machine = 1, .micro_batches = 8});
  ASSERT_EQ(plan.stages.size(), 2u);
  EXPECT_NE(plan.stages[0].devices, plan.stages[1].devices);
  EXPECT_LT(plan.step_s, plan.data_parallel_s);
}

TEST(DappleTest, PlansOfProfiledNetworksAreSound) {
  if (!HasSharedData()) GTEST_SKIP() << kNoSharedData;
  for (const std::string name : {"vgg16", "gnmt", "resnet50"}) {
    const SharedNetwork network = ReadShared(name);
    const DappleOptions options{.machines = 2, .devices_per_machine = 8, .micro_batches = 16};
    const auto plan = SolveDapple(network.states, options);
    ASSERT_TRUE(plan.has_value());
    EXPECT_LE(plan->step_s, plan->data_parallel_s * (1 + 1e-12)) << name;
    ExpectSound(CheckDapple(network.graph, options, *plan), plan->step_s);
  }
}

// On two servers of eight V100 the published strategies are GNMT-16 in two halves, and ResNet-50
// copied everywhere.
TEST(DappleTest, PublishedStrategiesAreFound) {
  if (!HasSharedData()) GTEST_SKIP() << kNoSharedData;
  const DappleOptions options{.machines = 2, .devices_per_machine = 8, .micro_batches = 16};
  const DapplePlan gnmt = *SolveDapple(ReadShared("gnmt_large").states, options);
  ASSERT_EQ(gnmt.stages.size(), 2u);
  EXPECT_EQ(gnmt.stages[0].devices.size(), 8u);
  EXPECT_EQ(gnmt.stages[1].devices.size(), 8u);
  EXPECT_EQ(SolveDapple(ReadShared("resnet50").states, options)->stages.size(), 1u);
}

TEST(TwoBufferTest, PlansOfProfiledNetworksAreSound) {
  if (!HasSharedData()) GTEST_SKIP() << kNoSharedData;
  const SharedNetwork network = ReadShared("vgg16");
  for (const double memory : {8e9, 16e9, 64e9}) {
    const TwoBufferOptions options{.devices = 16,
                                   .bandwidth = Bandwidth(1.25e9),
                                   .batch = 64,
                                   .memory = Bytes(static_cast<int64_t>(memory))};
    const auto plan = SolveTwoBuffer(network.states, options);
    ASSERT_TRUE(plan.has_value()) << memory;
    ExpectSound(CheckTwoBuffer(network.graph, options, *plan), plan->rate_per_s);
  }
}

TEST(HetPipeTest, WorkersOfProfiledNetworksAreSound) {
  if (!HasSharedData()) GTEST_SKIP() << kNoSharedData;
  const SharedNetwork network = ReadShared("resnet50");
  HetPipeOptions options;
  for (const double speed : {1.0, 1.1, 0.5, 0.4}) {
    options.servers.push_back({4, speed, Bytes(24'000'000'000)});
  }
  options.inside = Bandwidth(12e9);
  options.between = Bandwidth(5e9);
  options.latency = Duration::Nanoseconds(20'000);
  options.most_in_flight = 4;
  for (const VirtualWorkerPolicy policy :
       {VirtualWorkerPolicy::kNodePartition, VirtualWorkerPolicy::kEqualDistribution,
        VirtualWorkerPolicy::kHybrid}) {
    options.policy = policy;
    for (const std::vector<int>& gpus : VirtualWorkerGpus(options)) {
      const auto worker = SolveVirtualWorker(network.states, options, gpus);
      ASSERT_TRUE(worker.has_value());
      ExpectSound(CheckVirtualWorker(network.graph, options, gpus, *worker), worker->rate_per_s);
    }
  }
}

// 8 ms in all. On two devices width 2 does two minibatches in 8 ms; depth 2 does one in 4 ms, and
// transfers 2 * 1 MB in 2 ms in addition.
TEST(TwoBufferTest, WidthWinsIfSynchronizationIsFree) {
  const AntichainStates states = Chain({4, 4}, 1'000'000, 0);
  const TwoBufferPlan plan = *SolveTwoBuffer(
      states, {.devices = 2, .bandwidth = Bandwidth(1e9), .batch = 4, .most_per_micro_batch = 1});
  EXPECT_EQ(plan.width, 2);
  EXPECT_EQ(plan.micro_batches, 2);
  EXPECT_DOUBLE_EQ(plan.rate_per_s, 250);
}

TEST(TwoBufferTest, DepthWinsIfWeightsAreHeavyOrMemoryIsShort) {
  const AntichainStates states = Chain({4, 4}, 1000, 100'000'000);
  TwoBufferOptions options{
      .devices = 2, .bandwidth = Bandwidth(1e9), .batch = 4, .most_per_micro_batch = 1};
  EXPECT_EQ(SolveTwoBuffer(states, options)->depth, 2);
  options.bandwidth = Bandwidth(1e15);
  EXPECT_EQ(SolveTwoBuffer(states, options)->depth, 1);
  options.memory = Bytes(300'000'000);  // two versions of one stage's weights
  const TwoBufferPlan plan = *SolveTwoBuffer(states, options);
  EXPECT_EQ(plan.depth, 2);
  EXPECT_LE(plan.stages[0].memory_bytes, 300e6);
  options.memory = Bytes(100'000'000);
  EXPECT_FALSE(SolveTwoBuffer(states, options).has_value());
}

HetPipeOptions TwoServers(double slow_speed) {
  return {.servers = {{2, 1, Bytes(1'000'000'000)}, {2, slow_speed, Bytes(1'000'000'000)}},
          .inside = Bandwidth(1e12),
          .between = Bandwidth(1e12)};
}

TEST(HetPipeTest, PoliciesShareOutTheGpus) {
  HetPipeOptions options = TwoServers(0.5);
  EXPECT_EQ(VirtualWorkerGpus(options), (std::vector<std::vector<int>>{{0, 1}, {0, 1}}));
  options.policy = VirtualWorkerPolicy::kNodePartition;
  EXPECT_EQ(VirtualWorkerGpus(options), (std::vector<std::vector<int>>{{0, 0}, {1, 1}}));
  options.policy = VirtualWorkerPolicy::kHybrid;
  EXPECT_EQ(VirtualWorkerGpus(options), (std::vector<std::vector<int>>{{0, 1}, {0, 1}}));
  options.servers[1].devices = 3;
  EXPECT_TRUE(VirtualWorkerGpus(options).empty());
}

// Six operators of 2 ms: a GPU of speed 1 takes four, one of speed 1/2 takes two.
TEST(HetPipeTest, FasterGpusTakeMoreOperators) {
  const AntichainStates states = Chain({2, 2, 2, 2, 2, 2}, 0, 1000);
  const VirtualWorker worker = *SolveVirtualWorker(states, TwoServers(0.5), {0, 1});
  EXPECT_DOUBLE_EQ(worker.bottleneck_s, 8e-3);
  EXPECT_EQ(worker.in_flight, 2);
  EXPECT_DOUBLE_EQ(worker.rate_per_s, 125);
  for (const HetPipeStage& stage : worker.stages) {
    EXPECT_EQ(stage.nodes.count(), stage.server == 0 ? 4u : 2u);
  }
}

// This holds however unlike the servers are: no worker stays ahead, and equal ones lose nothing.
TEST(HetPipeTest, WorkersTogetherGoAtTheRateOfTheSlowest) {
  const AntichainStates states = Chain({2, 3, 1, 2, 4, 2}, 1000, 1000);
  int unlike = 0;
  for (uint64_t seed = 0; seed < 60; ++seed) {
    Random random(seed);
    HetPipeOptions options = TwoServers(static_cast<double>(random.Integer(1, 10)) / 4);
    options.policy = static_cast<VirtualWorkerPolicy>(random.Integer(0, 2));
    std::vector<VirtualWorker> workers;
    double slowest = std::numeric_limits<double>::infinity();
    for (const std::vector<int>& gpus : VirtualWorkerGpus(options)) {
      workers.push_back(*SolveVirtualWorker(states, options, gpus));
      slowest = std::min(slowest, workers.back().rate_per_s);
    }
    EXPECT_DOUBLE_EQ(WaveRate(workers), 2 * slowest) << "seed " << seed;
    EXPECT_LE(WaveRate(workers), AddedRate(workers) * (1 + 1e-12)) << "seed " << seed;
    if (options.policy != VirtualWorkerPolicy::kNodePartition) {
      EXPECT_DOUBLE_EQ(WaveRate(workers), AddedRate(workers)) << "seed " << seed;
    } else if (options.servers[1].speed != 1) {
      EXPECT_LT(WaveRate(workers), AddedRate(workers)) << "seed " << seed;
      ++unlike;
    }
  }
  EXPECT_GT(unlike, 5);
}

TEST(HetPipeTest, MemoryLimitsWhatIsInFlight) {
  const AntichainStates states = Chain({2, 2}, 0, 600'000'000);
  const VirtualWorker worker = *SolveVirtualWorker(states, TwoServers(1), {0, 1});
  EXPECT_EQ(worker.in_flight, 1);  // two copies of 600 MB do not fit
  EXPECT_DOUBLE_EQ(worker.rate_per_s, 1 / 4e-3);
  EXPECT_FALSE(SolveVirtualWorker(states, TwoServers(1), {0}).has_value());
}

// Returns the least time of the slowest stage, over all cuts of a chain and all orders of the GPUs.
double LeastBottleneck(const std::vector<int>& ms, const HetPipeOptions& options,
                       std::vector<int> order, double transfer_s) {
  double least = std::numeric_limits<double>::infinity();
  const size_t layers = ms.size();
  std::sort(order.begin(), order.end());
  do {
    for (unsigned cuts = 0; cuts < 1u << (layers - 1); ++cuts) {
      if (static_cast<size_t>(__builtin_popcount(cuts)) + 1 != order.size()) continue;
      double slowest = 0;
      size_t layer = 0;
      for (size_t stage = 0; stage < order.size(); ++stage) {
        double time = 0;
        do {
          time += ms[layer++] * 1e-3 / options.servers[order[stage]].speed;
        } while (layer < layers && (cuts >> (layer - 1) & 1) == 0);
        if (stage > 0 && order[stage] != order[stage - 1]) time += transfer_s;
        if (stage + 1 < order.size() && order[stage] != order[stage + 1]) time += transfer_s;
        slowest = std::max(slowest, time);
      }
      least = std::min(least, slowest);
    }
  } while (std::next_permutation(order.begin(), order.end()));
  return least;
}

TEST(HetPipeTest, NoCutAndNoOrderIsFaster) {
  Random random(7);
  for (int round = 0; round < 200; ++round) {
    HetPipeOptions options;
    options.most_in_flight = 1;
    options.inside = Bandwidth(1e18);
    options.between = Bandwidth(1e9);
    for (int server = 0; server < 3; ++server) {
      const double speed = static_cast<double>(random.Integer(1, 8)) / 4;
      options.servers.push_back({2, speed, Bytes(1'000'000'000)});
    }
    const std::vector<int> gpus = {0, 0, 1, 2};
    std::vector<int> ms;
    for (int64_t layers = random.Integer(4, 8); layers > 0; --layers) {
      ms.push_back(static_cast<int>(random.Integer(1, 9)));
    }
    constexpr int64_t kActivation = 1'000'000;
    const auto worker = SolveVirtualWorker(Chain(ms, kActivation, 1), options, gpus);
    ASSERT_TRUE(worker.has_value());
    const double least = LeastBottleneck(ms, options, gpus, 2.0 * kActivation / 1e9);
    EXPECT_NEAR(worker->bottleneck_s, least, least * 1e-6) << "round " << round;
  }
}

}  // namespace
}  // namespace stagecraft
