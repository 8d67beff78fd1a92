#include "sim/lowering.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "costmodel/check.h"
#include "costmodel/cost_model.h"
#include "costmodel/random.h"
#include "sim/breakdown.h"
#include "sim/cluster.h"
#include "sim/decoder.h"
#include "sim/memory.h"
#include "sim/plan.h"
#include "sim/sim_executor.h"

namespace stagecraft {
namespace {

// Prices that a reader can check: 1 TFLOP/s of the device's peak, 1 GB/s for
// memory, the link's own bandwidth for messages.
class PlainModel : public CostModel {
 public:
  std::vector<Estimate> Predict(std::span<const Op> ops, const Device& device) const override {
    std::vector<Estimate> estimates;
    for (const Op& op : ops) {
      Estimate estimate;
      if (IsCollective(op.kind)) {
        const Link& link = op.fabric.nodes > 1 ? op.fabric.inter : op.fabric.intra;
        if (op.fabric.ranks > 1) estimate.time = link.latency + op.bytes / link.bandwidth;
      } else {
        estimate.time = op.Flops() / device.Peak(DType::kFp16) + op.Traffic() / Bandwidth(1e12);
      }
      estimates.push_back(estimate);
    }
    return estimates;
  }
};

Device MakeDevice(const std::string& id, double peak) {
  Device device;
  device.id = id;
  device.name = id;
  device.multiprocessors = 100;
  device.peak.fill(FlopRate(peak));
  device.vector_peak = FlopRate(peak / 16);
  device.memory = Bytes(80'000'000'000);
  device.memory_bandwidth = Bandwidth(1e12);
  return device;
}

NodeType MakeNode(const Device& device, int devices) {
  NodeType node;
  node.id = "node-of-" + device.id;
  node.device = device;
  node.devices = devices;
  node.intra = {LinkKind::kNvlink, 1_us, Bandwidth(300e9)};
  node.domain = devices;
  node.fallback = node.intra;
  node.nics = devices;
  node.nic = {LinkKind::kNetwork, 5_us, Bandwidth(25e9)};
  return node;
}

Cluster MakeCluster(int nodes, int devices) {
  return Cluster("test", {{MakeNode(MakeDevice("fast", 100e12), devices), nodes}});
}

Workload MakeWorkload(int layers = 6) {
  DecoderConfig config = DecoderOfFamily("gpt");
  config.layers = layers;
  config.hidden = 256;
  config.heads = 8;
  config.vocab = 1024;
  config.max_sequence = 512;
  return BuildDecoder(config, AttentionBackend::kFlash, "tiny");
}

Timeline Simulate(const Plan& plan, const Workload& workload, const Cluster& cluster, bool unfold,
                  bool with_optimizer = true) {
  const PlainModel model;
  SimExecutor executor(cluster, model);
  return executor.Execute(Lower(plan, workload, cluster, {unfold, with_optimizer}));
}

PlanDegrees Degrees(int tensor, int pipeline) {
  PlanDegrees degrees;
  degrees.tensor = tensor;
  degrees.pipeline = pipeline;
  degrees.micro_batch = 2;
  degrees.global_batch = 32;
  degrees.sequence = 512;
  degrees.precision = DType::kFp16;
  degrees.recompute = Recompute::kNone;
  return degrees;
}

TEST(LoweringTest, OneDeviceTakesTheSumOfItsOps) {
  const Workload workload = MakeWorkload();
  const Cluster cluster = MakeCluster(1, 1);
  const Plan plan = MakePlan(Degrees(1, 1), workload, cluster);
  const Schedule schedule = Lower(plan, workload, cluster);
  const PlainModel model;
  SimExecutor executor(cluster, model);
  const Timeline timeline = executor.Execute(schedule);
  Duration sum;
  for (TaskId task = 0; task < schedule.task_count(); ++task) {
    for (const OpId op : schedule.ops(schedule.block(task))) {
      sum += executor.costs().estimates[0][op].time;
    }
  }
  EXPECT_EQ(timeline.makespan(), sum);
}

// The sixth of a pass that one layer is: embedding, head, L equal blocks.
TEST(LoweringTest, EveryMicroBatchPassesEveryStageOnce) {
  const Workload workload = MakeWorkload();
  const Cluster cluster = MakeCluster(1, 4);
  const Plan plan = MakePlan(Degrees(1, 4), workload, cluster);
  const Schedule schedule = Lower(plan, workload, cluster);
  int forward = 0;
  int backward = 0;
  int sends = 0;
  for (TaskId task = 0; task < schedule.task_count(); ++task) {
    forward += schedule.tag(task).phase == Phase::kForward;
    backward += schedule.tag(task).phase == Phase::kBackward;
    sends += schedule.tag(task).phase == Phase::kSendForward;
  }
  EXPECT_EQ(forward, 4 * 16);
  EXPECT_EQ(backward, 4 * 16);
  EXPECT_EQ(sends, 3 * 16);
}

struct Shape {
  int nodes, devices, tensor, pipeline, chunks, context, zero;
  bool overlap_gather;
};

class FoldingTest : public testing::TestWithParam<Shape> {};

TEST_P(FoldingTest, FoldedAndUnfoldedAgreeToTheNanosecond) {
  const Shape s = GetParam();
  const Workload workload = MakeWorkload(10);
  const Cluster cluster = MakeCluster(s.nodes, s.devices);
  PlanDegrees degrees = Degrees(s.tensor, s.pipeline);
  degrees.chunks = s.chunks;
  degrees.context = s.context;
  degrees.zero = s.zero;
  degrees.overlap_param_gather = s.overlap_gather;
  const Plan plan = MakePlan(degrees, workload, cluster);
  const Schedule folded = Lower(plan, workload, cluster);
  const Schedule unfolded = Lower(plan, workload, cluster, {.unfold = true});
  EXPECT_EQ(static_cast<int>(folded.ranks().size()), s.pipeline);
  EXPECT_EQ(static_cast<int>(unfolded.ranks().size()), s.nodes * s.devices);
  EXPECT_EQ(Simulate(plan, workload, cluster, false).makespan(),
            Simulate(plan, workload, cluster, true).makespan());
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, FoldingTest,
    testing::Values(Shape{1, 8, 2, 2, 1, 1, 1, false}, Shape{2, 8, 4, 2, 1, 1, 0, false},
                    Shape{2, 8, 8, 2, 1, 1, 1, false}, Shape{2, 8, 2, 2, 3, 1, 1, true},
                    Shape{4, 4, 2, 4, 1, 1, 1, true}, Shape{2, 8, 2, 2, 1, 2, 1, false},
                    Shape{2, 8, 1, 1, 1, 1, 0, false}, Shape{2, 8, 1, 1, 1, 4, 1, true},
                    Shape{2, 8, 8, 1, 1, 1, 1, false}, Shape{4, 2, 2, 4, 3, 1, 1, false},
                    Shape{2, 8, 1, 1, 1, 1, 2, false}, Shape{2, 8, 2, 1, 1, 1, 2, true},
                    Shape{2, 8, 1, 1, 1, 1, 3, false}, Shape{2, 8, 2, 2, 1, 1, 3, false},
                    Shape{2, 8, 2, 2, 2, 2, 3, false}));

// Hybrid sharding: gathers stay in groups of four, inside a node.
TEST(LoweringTest, HybridShardingKeepsGathersInTheNode) {
  const Workload workload = MakeWorkload(10);
  const Cluster cluster = MakeCluster(4, 4);
  PlanDegrees degrees = Degrees(1, 1);
  degrees.zero = 3;
  degrees.zero_group = 4;
  degrees.global_batch = 64;
  const Plan plan = MakePlan(degrees, workload, cluster);
  EXPECT_EQ(Simulate(plan, workload, cluster, false).makespan(),
            Simulate(plan, workload, cluster, true).makespan());
  const Schedule schedule = Lower(plan, workload, cluster);
  for (const Op& op : schedule.distinct_ops()) {
    if (op.kind == OpKind::kAllGather) {
      EXPECT_EQ(op.fabric.nodes, 1);
    }
  }
}

// Parameters are gathered twice a micro-batch and reduced once (ZeRO: 3 times
// the parameters on the wire).
TEST(LoweringTest, FullyShardedTrafficIsThreeTimesTheParameters) {
  const Workload workload = MakeWorkload();
  const Cluster cluster = MakeCluster(1, 4);
  PlanDegrees degrees = Degrees(1, 1);
  degrees.zero = 3;
  degrees.gradient_bytes = 2;
  const Plan plan = MakePlan(degrees, workload, cluster);
  const Schedule schedule = Lower(plan, workload, cluster);
  int64_t gathered = 0;
  int64_t reduced = 0;
  for (TaskId task = 0; task < schedule.task_count(); ++task) {
    const Op& op = schedule.op(schedule.ops(schedule.block(task))[0]);
    if (op.kind == OpKind::kAllGather) gathered += op.bytes.count();
    if (op.kind == OpKind::kReduceScatter) reduced += op.bytes.count();
  }
  const int64_t micro_batches = 32 / 2 / 4;
  EXPECT_EQ(gathered, micro_batches * 2 * 2 * workload.Parameters());
  EXPECT_EQ(reduced, micro_batches * 2 * workload.Parameters());
}

TEST(MemoryTest, ShardingDividesWhatItShards) {
  const Workload workload = MakeWorkload();
  const Cluster cluster = MakeCluster(1, 4);
  PlanDegrees degrees = Degrees(1, 1);
  const auto memory = [&] {
    return EstimateMemory(MakePlan(degrees, workload, cluster), workload, cluster)[0];
  };
  degrees.zero = 0;
  const StageMemory whole = memory();
  degrees.zero = 3;
  const StageMemory shared = memory();
  EXPECT_EQ(whole.weights, 4 * shared.weights);
  EXPECT_EQ(whole.gradients, 4 * shared.gradients);
  EXPECT_EQ(whole.optimizer, 4 * shared.optimizer);
  // Without resharding every layer is whole from forward to backward.
  degrees.reshard_after_forward = false;
  EXPECT_EQ(memory().workspace - whole.workspace, whole.weights);
}

// Stage 0 on a device half as fast: it binds, and equal layers take it twice
// as long.
TEST(LoweringTest, TheSlowerKindOfDeviceBinds) {
  const Workload workload = MakeWorkload();
  const Cluster mixed("mixed", {{MakeNode(MakeDevice("slow", 50e12), 1), 1},
                                {MakeNode(MakeDevice("fast", 100e12), 1), 1}});
  const Cluster fast = MakeCluster(2, 1);
  const PlanDegrees degrees = Degrees(1, 2);
  const Duration slow_time =
      Simulate(MakePlan(degrees, workload, mixed), workload, mixed, false).makespan();
  const Duration fast_time =
      Simulate(MakePlan(degrees, workload, fast), workload, fast, false).makespan();
  EXPECT_GT(slow_time, fast_time);
  EXPECT_LT(slow_time, 2 * fast_time);
}

// Forward 2e6 FLOPs a row x 500 rows = 1e9: 10 us at 100 TFLOP/s, 20 us at 50,
// backward twice that; each of the three products moves
// 2·(0.5e6 + 1e6 + 0.5e6) bytes: 4 us more at 1 TB/s. What leaves a layer is
// empty, so a message is its latency, 5 us between nodes.
Workload TwoProducts() {
  Workload workload;
  workload.name = "two products";
  workload.hidden = 1000;
  workload.heads = workload.kv_heads = 1;
  workload.max_sequence = 1;
  for (const LayerRole role : {LayerRole::kEmbedding, LayerRole::kHead}) {
    LayerKind kind;
    kind.name = role == LayerRole::kHead ? "second" : "first";
    kind.role = role;
    Operator product{.name = "product", .kind = OperatorKind::kLinear};
    product.in_features = product.out_features = 1000;
    boost::add_vertex(product, kind.operators);
    workload.kinds.push_back(kind);
    workload.layers.push_back(static_cast<int>(workload.layers.size()));
  }
  return workload;
}
constexpr Duration kFastForward = 14_us, kFastBackward = 28_us;
constexpr Duration kSlowForward = 24_us, kSlowBackward = 48_us;

// Nodes of one device, of a speed each.
Cluster MixedCluster(const std::vector<double>& peaks) {
  std::vector<Cluster::NodeGroup> groups;
  for (const double peak : peaks) {
    groups.push_back({MakeNode(MakeDevice(fmt::format("{:g}", peak), peak), 1), 1});
  }
  return Cluster("mixed", groups);
}

// Micro-batches of 500 rows.
PlanDegrees ProductDegrees(int pipeline, int64_t micro_batches) {
  PlanDegrees degrees = Degrees(1, pipeline);
  degrees.micro_batch = 500;
  degrees.global_batch = 500 * micro_batches;
  degrees.sequence = 1;
  return degrees;
}

// One layer a stage, one product each: the slower stage binds, wherever it is.
TEST(LoweringTest, AMixedPipelineTakesTheTimeAHandComputes) {
  const Workload workload = TwoProducts();
  const Duration slow_pass = 3 * 24_us;
  const auto simulate = [&](double first_peak, double second_peak) {
    const Cluster cluster = MixedCluster({first_peak, second_peak});
    const Plan plan = MakePlan(ProductDegrees(2, 8), workload, cluster);
    return Simulate(plan, workload, cluster, false, /*with_optimizer=*/false).makespan();
  };
  // The second stage never waits once it has begun: forward of the first,
  // message, eight slow passes, message, backward of the first.
  EXPECT_EQ(simulate(100e12, 50e12), 14_us + 5_us + 8 * slow_pass + 5_us + 28_us);
  // The first stage waits for its first backward, which is back at
  // 24 + 5 + 42 + 5 = 76 us when two forwards took 48, and for its last, which
  // needs 5 + 42 + 5 = 52 us after its forward while one backward takes 48.
  EXPECT_EQ(simulate(50e12, 100e12), 8 * slow_pass + 28_us + 4_us);
}

// Three devices: two replicas of the first stage feed one of the second, which
// sees every micro-batch.
TEST(LoweringTest, UnequalReplicasShareTheMicroBatches) {
  const Workload workload = MakeWorkload();
  const Cluster cluster = MakeCluster(1, 3);
  Plan plan = MakePlan(Degrees(1, 3), workload, cluster);
  plan.stages = {{{{0, 4}}, 1, 1, {{0}, {1}}}, {{{4, 4}}, 1, 1, {{2}}}};
  ASSERT_TRUE(FindErrors(plan, workload, cluster).empty());
  const Schedule schedule = Lower(plan, workload, cluster);
  std::vector<int> forwards(3, 0);
  for (TaskId task = 0; task < schedule.task_count(); ++task) {
    const Tag& tag = schedule.tag(task);
    if (tag.phase == Phase::kForward) ++forwards[tag.rank];
  }
  EXPECT_EQ(forwards, (std::vector<int>{8, 8, 16}));
  EXPECT_GT(Simulate(plan, workload, cluster, false).makespan(), Duration());
}

// Six micro-batches: shared evenly, the slow replica makes the fast one wait;
// four to two, the fast one is the last to end.
TEST(LoweringTest, UnevenSharesLetTheFasterReplicaDoMore) {
  const Workload workload = TwoProducts();
  const Cluster cluster = MixedCluster({100e12, 50e12});
  const Duration fast = 2 * (kFastForward + kFastBackward);
  const Duration slow = 2 * (kSlowForward + kSlowBackward);
  PlanDegrees degrees = ProductDegrees(1, 6);
  const auto simulate = [&] {
    const Plan plan = MakePlan(degrees, workload, cluster);
    return Simulate(plan, workload, cluster, false, /*with_optimizer=*/false).makespan();
  };
  EXPECT_EQ(simulate(), 3 * slow);
  degrees.replica_micro_batches = {4, 2};
  EXPECT_EQ(simulate(), 4 * fast);
  degrees.replica_micro_batches = {5, 1};
  EXPECT_EQ(simulate(), 5 * fast);
}

// Two slow replicas of the first stage feed a fast one of the second: it never
// waits once it has begun.
TEST(LoweringTest, TwoSlowReplicasKeepAFastStageBusy) {
  const Workload workload = TwoProducts();
  const Cluster cluster = MixedCluster({50e12, 50e12, 100e12});
  Plan plan = MakePlan(ProductDegrees(2, 4), workload, MixedCluster({50e12, 100e12}));
  plan.zero = 0;
  plan.stages[0].replicas = {{0}, {1}};
  plan.stages[1].replicas = {{2}};
  ASSERT_TRUE(FindErrors(plan, workload, cluster).empty());
  EXPECT_EQ(Simulate(plan, workload, cluster, false, false).makespan(),
            kSlowForward + 5_us + 4 * (kFastForward + kFastBackward) + 5_us + kSlowBackward);
  // Three to one: micro-batches 0, 1 and 3 on the first replica. The forward of
  // 3 runs after the backward of 0, from 124 to 148 us, and is there at 153; the
  // second stage has just done with 2, at 155. So nothing is lost.
  plan.stages[0].replica_micro_batches = {3, 1};
  ASSERT_TRUE(FindErrors(plan, workload, cluster).empty());
  const Schedule schedule = Lower(plan, workload, cluster);
  std::vector<std::vector<int>> forwards(3);
  for (TaskId task = 0; task < schedule.task_count(); ++task) {
    const Tag& tag = schedule.tag(task);
    if (tag.phase == Phase::kForward) forwards[tag.rank].push_back(tag.micro_batch);
  }
  EXPECT_EQ(forwards, (std::vector<std::vector<int>>{{0, 1, 3}, {2}, {0, 1, 2, 3}}));
  EXPECT_EQ(Simulate(plan, workload, cluster, false, false).makespan(), 250_us);
}

// Unequal replicas and uneven shares in every stage: all passes run, none waits
// for ever.
TEST(LoweringTest, AnySharesOfAnyReplicasComeToAnEnd) {
  const Workload workload = MakeWorkload();
  for (int round = 0; round < 60; ++round) {
    Random random = Random(5).Child("shares", round);
    const int stages = static_cast<int>(random.Integer(1, 4));
    const int micro_batches = static_cast<int>(random.Integer(6, 20));
    Plan plan = MakePlan(Degrees(1, stages), workload, MakeCluster(1, stages));
    plan.zero = 0;
    plan.micro_batch = 1;
    plan.global_batch = micro_batches;
    int device = 0;
    for (Stage& stage : plan.stages) {
      const int replicas = static_cast<int>(random.Integer(1, 4));
      stage.replicas.clear();
      for (int r = 0; r < replicas; ++r) stage.replicas.push_back({device++});
      if (random.Integer(0, 2) == 0) continue;
      stage.replica_micro_batches.assign(replicas, 1);
      for (int left = micro_batches - replicas; left > 0; --left) {
        ++stage.replica_micro_batches[random.Integer(0, replicas - 1)];
      }
    }
    const Cluster cluster = MakeCluster(1, device);
    ASSERT_EQ(FindErrors(plan, workload, cluster), std::vector<std::string>()) << round;
    const Schedule schedule = Lower(plan, workload, cluster);
    std::map<std::pair<int, int>, int> forwards;  // by stage and micro-batch
    for (TaskId task = 0; task < schedule.task_count(); ++task) {
      const Tag& tag = schedule.tag(task);
      if (tag.phase == Phase::kForward && tag.segment == 0) {
        forwards[{tag.stage, tag.micro_batch}] += schedule.ranks()[tag.rank].multiplicity;
      }
    }
    // Separate pipelines count their own micro-batches, so tags repeat there.
    if (!HasSeparatePipelines(plan)) {
      EXPECT_EQ(static_cast<int>(forwards.size()), stages * micro_batches) << round;
    }
    int passes = 0;
    for (const auto& [pass, count] : forwards) passes += count;
    EXPECT_EQ(passes, stages * micro_batches) << round;
    EXPECT_GT(Simulate(plan, workload, cluster, false).makespan(), Duration()) << round;
  }
}

TEST(LoweringTest, RefusesSharesThatDoNotAddUp) {
  const Workload workload = TwoProducts();
  const Cluster cluster = MixedCluster({100e12, 50e12});
  Plan plan = MakePlan(ProductDegrees(1, 6), workload, cluster);
  for (const std::vector<int>& shares : {std::vector<int>{4, 1}, {6}, {6, 0}, {2, 2, 2}}) {
    plan.stages[0].replica_micro_batches = shares;
    const std::vector<std::string> errors = FindErrors(plan, workload, cluster);
    ASSERT_EQ(errors.size(), 1u);
    EXPECT_TRUE(errors[0].starts_with("stages[0].replica_micro_batches: got ")) << errors[0];
  }
}

TEST(LoweringTest, AMixedReplicaPairIsNotFolded) {
  const Workload workload = MakeWorkload();
  const Cluster mixed("mixed", {{MakeNode(MakeDevice("slow", 50e12), 1), 1},
                                {MakeNode(MakeDevice("fast", 100e12), 1), 1}});
  const Plan plan = MakePlan(Degrees(1, 1), workload, mixed);
  const Schedule schedule = Lower(plan, workload, mixed);
  EXPECT_EQ(schedule.ranks().size(), 2u);
  EXPECT_EQ(Simulate(plan, workload, mixed, false).makespan(),
            Simulate(plan, workload, mixed, true).makespan());
}

// Eight blocks and a head worth two of them on three stages: the head's stage
// keeps two, so that no stage has more than four blocks' work.
TEST(LoweringTest, TheStageOfTheHeadGivesBlocksAway) {
  DecoderConfig config = DecoderOfFamily("gpt");
  config.layers = 8;
  config.hidden = 256;
  config.heads = 8;
  config.max_sequence = 512;
  // A block multiplies 2·12·256² + 4·256·512/2 a token, the head 2·256·vocab.
  config.vocab = (2 * 12 * 256 * 256 + 2 * 256 * 512) * 2 / (2 * 256);
  const Workload workload = BuildDecoder(config, AttentionBackend::kFlash, "wide head");
  EXPECT_EQ(BalancedBlocks(workload, 512, 3), (std::vector<int>{3, 3, 2}));
  PlanDegrees degrees = Degrees(1, 3);
  degrees.balance_head = true;
  const Plan plan = MakePlan(degrees, workload, MakeCluster(1, 3));
  EXPECT_EQ(plan.stages[0].chunks[0], (LayerRange{0, 4}));
  EXPECT_EQ(plan.stages[2].chunks[0], (LayerRange{7, 3}));
  degrees.chunks = 2;
  EXPECT_THROW(MakePlan(degrees, workload, MakeCluster(1, 3)), InputError);
}

// 1,024 elements: 2 bytes in, 1 out each way; a maximum first; 32 scales each way.
TEST(LoweringTest, CastsMoveWhatTheirRecipeNeeds) {
  EXPECT_EQ(CastBytes(Fp8Recipe::kDelayed, 1024), Bytes(4096));
  EXPECT_EQ(CastBytes(Fp8Recipe::kCurrent, 1024), Bytes(6144));
  EXPECT_EQ(CastBytes(Fp8Recipe::kMx, 1024), Bytes(4096 + 64));
  const Workload workload = MakeWorkload();
  const Cluster cluster = MakeCluster(1, 1);
  PlanDegrees degrees = Degrees(1, 1);
  const auto time = [&] {
    const Plan plan = MakePlan(degrees, workload, cluster);
    return Simulate(plan, workload, cluster, false).makespan();
  };
  const Duration sixteen = time();
  degrees.precision = DType::kFp8;
  degrees.gradient_bytes = 2;
  const Duration delayed = time();
  degrees.fp8_recipe = Fp8Recipe::kCurrent;
  EXPECT_GT(delayed, sixteen);  // the rates are equal here, so casts only cost
  EXPECT_GT(time(), delayed);
  degrees.fp8_recipe = Fp8Recipe::kMx;
  EXPECT_THROW(time(), InputError);  // a Hopper
}

// Experts in groups of four ranks, two to an expert: gathered among the two that
// hold the same ones in a group, summed over the two groups.
TEST(LoweringTest, ExpertsAreShardedWithinTheirGroup) {
  DecoderConfig config = DecoderOfFamily("llama");
  config.layers = 4;
  config.hidden = 256;
  config.heads = 8;
  config.kv_heads = 8;
  config.ffn = 512;
  config.vocab = 1024;
  config.max_sequence = 512;
  config.moe.experts = 4;
  config.moe.experts_per_token = 2;
  config.moe.ffn = 512;
  const Workload workload = BuildDecoder(config, AttentionBackend::kFlash, "experts");
  const Cluster cluster = MakeCluster(2, 4);
  PlanDegrees degrees = Degrees(1, 1);
  degrees.expert = 2;
  degrees.zero_group = 4;
  for (const int zero : {1, 2, 3}) {
    degrees.zero = zero;
    const Plan plan = MakePlan(degrees, workload, cluster);
    EXPECT_EQ(Simulate(plan, workload, cluster, false).makespan(),
              Simulate(plan, workload, cluster, true).makespan())
        << zero;
    const Schedule schedule = Lower(plan, workload, cluster);
    std::set<std::pair<OpKind, int>> seen;  // with ranks
    for (const Op& op : schedule.distinct_ops()) {
      if (IsCollective(op.kind)) seen.insert({op.kind, op.fabric.ranks});
    }
    EXPECT_TRUE(seen.contains({OpKind::kReduceScatter, 2})) << zero;
    EXPECT_TRUE(seen.contains({OpKind::kReduceScatter, 4})) << zero;
    EXPECT_TRUE(seen.contains({OpKind::kAllReduce, 2})) << zero;
    EXPECT_TRUE(seen.contains({OpKind::kAllGather, 2})) << zero;
    EXPECT_FALSE(seen.contains({OpKind::kReduceScatter, 8})) << zero;
  }
  degrees.zero_group = 2;
  degrees.expert = 4;
  EXPECT_THROW(MakePlan(degrees, workload, cluster), InputError);
}

TEST(LoweringTest, OverlappedReductionIsNeverSlower) {
  const Workload workload = MakeWorkload();
  const Cluster cluster = MakeCluster(2, 4);
  PlanDegrees degrees = Degrees(1, 2);
  const Plan overlapped = MakePlan(degrees, workload, cluster);
  degrees.overlap_grad_reduce = false;
  const Plan exposed = MakePlan(degrees, workload, cluster);
  EXPECT_LE(Simulate(overlapped, workload, cluster, false).makespan(),
            Simulate(exposed, workload, cluster, false).makespan());
}

// The parts of a step add up to it, whatever the plan.
TEST(BreakdownTest, PartsAddUpToTheStep) {
  const Workload workload = MakeWorkload(10);
  const Cluster cluster = MakeCluster(2, 8);
  const PlainModel model;
  Random random(7);
  for (int round = 0; round < 24; ++round) {
    PlanDegrees degrees = Degrees(1 << random.Integer(0, 2), 1 << random.Integer(0, 2));
    if (random.Integer(0, 1) == 1 && degrees.pipeline > 1) degrees.chunks = 2;
    degrees.overlap_grad_reduce = random.Integer(0, 1) == 1;
    degrees.overlap_param_gather = random.Integer(0, 1) == 1;
    degrees.global_batch = 128;
    degrees.recompute = static_cast<Recompute>(random.Integer(0, 2));
    const Plan plan = MakePlan(degrees, workload, cluster);
    const Schedule schedule = Lower(plan, workload, cluster);
    SimExecutor executor(cluster, model);
    const Timeline timeline = executor.Execute(schedule);
    const StepProfile profile = ProfileStep(schedule, timeline, executor.costs());
    EXPECT_EQ(profile.breakdown.Total(), timeline.makespan()) << "round " << round;
  }
}

// Two stages, four micro-batches: the first holds two, the second one.
TEST(MemoryTest, EarlierStagesHoldMoreMicroBatches) {
  const Workload workload = MakeWorkload();
  const Cluster cluster = MakeCluster(1, 2);
  const Plan plan = MakePlan(Degrees(1, 2), workload, cluster);
  const std::vector<StageMemory> memory = EstimateMemory(plan, workload, cluster);
  ASSERT_EQ(memory.size(), 2u);
  const ShardSpec spec = StageShard(plan, workload, cluster, 0, 0);
  Bytes block = SavedActivations(workload.layer(1), spec).saved;
  Bytes embedding = SavedActivations(workload.layer(0), spec).saved;
  EXPECT_EQ(memory[0].activations, 2 * (3 * block + embedding));
  // 16-bit weights and gradients, Adam with a master copy: 2 + 2 + 12 bytes.
  const int64_t parameters = ChunkParameters(plan, workload, 0)[0].Total();
  EXPECT_EQ(memory[0].weights, Bytes(2 * parameters));
  EXPECT_EQ(memory[0].gradients, Bytes(2 * parameters));
  EXPECT_EQ(memory[0].optimizer, Bytes(12 * parameters));
}

TEST(MemoryTest, TheCurvePeaksWhereTheEstimateSays) {
  const Workload workload = MakeWorkload();
  const Cluster cluster = MakeCluster(1, 4);
  const Plan plan = MakePlan(Degrees(1, 4), workload, cluster);
  const Schedule schedule = Lower(plan, workload, cluster);
  const PlainModel model;
  SimExecutor executor(cluster, model);
  const Timeline timeline = executor.Execute(schedule);
  const auto curves = MemoryOverTime(plan, workload, cluster, schedule, timeline);
  const std::vector<StageMemory> memory = EstimateMemory(plan, workload, cluster);
  for (size_t rank = 0; rank < curves.size(); ++rank) {
    Bytes peak;
    for (const MemoryChange& change : curves[rank]) peak = std::max(peak, change.used);
    EXPECT_EQ(peak, memory[rank].Peak()) << "rank " << rank;
    EXPECT_EQ(curves[rank].back().used, curves[rank].front().used);
  }
}

}  // namespace
}  // namespace stagecraft
