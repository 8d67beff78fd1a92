#include "sim/lowering/lowering.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "costmodel/check.h"
#include "sim/plan/layer_split.h"
#include "sim/shard/optimizer_op.h"
#include "sim/shard/shard.h"
#include "sim/shard/stage_order.h"
#include "sim/testing/lowering_testing.h"
#include "sim/workload/networks/test_decoders.h"

namespace stagecraft {
namespace {

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
    for (const OpId op : schedule.ops(schedule.op_sequence(task))) {
      sum += executor.costs().estimates[0][op].time;
    }
  }
  EXPECT_EQ(timeline.makespan(), sum);
}

// Each of four stages runs each of 16 micro-batches once, and all but the last send it on.
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

// The calls of the host before the first op of each pass, summed over the passes.
int CallsBeforePasses(const Schedule& schedule) {
  int calls = 0;
  for (TaskId task = 0; task < schedule.task_count(); ++task) {
    const Phase phase = schedule.tag(task).phase;
    if (phase != Phase::kForward && phase != Phase::kBackward) continue;
    const Op& first = schedule.op(schedule.ops(schedule.op_sequence(task)).front());
    if (first.kind == OpKind::kNone) calls += first.kernels;
  }
  return calls;
}

// Each of four stages runs 16 forwards and 16 backwards, with ten calls before each. Gradients that
// are reduced beside the last backward divide it into parts; the calls are made once.
TEST(LoweringTest, AHostThatWaitsForMessagesMakesCallsBeforeEveryPass) {
  const Workload workload = MakeWorkload();
  for (const int replicas : {1, 2}) {
    const Cluster cluster = MakeCluster(replicas, 4);
    PlanDegrees degrees = Degrees(1, 4);
    degrees.overlap_grad_reduce = true;
    EXPECT_EQ(CallsBeforePasses(Lower(MakePlan(degrees, workload, cluster), workload, cluster)), 0);
    degrees.overlap_p2p = false;
    const Schedule schedule = Lower(MakePlan(degrees, workload, cluster), workload, cluster);
    EXPECT_EQ(CallsBeforePasses(schedule), 4 * 2 * 16 * 10 / replicas);
  }
}

TEST(LoweringTest, AHostWithoutMessagesMakesNoCallsBetweenPasses) {
  const Workload workload = MakeWorkload();
  const Cluster cluster = MakeCluster(1, 1);
  PlanDegrees degrees = Degrees(1, 1);
  degrees.overlap_p2p = false;
  EXPECT_EQ(CallsBeforePasses(Lower(MakePlan(degrees, workload, cluster), workload, cluster)), 0);
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

// Rows of 101 numbers in 16 bits begin at multiples of 2 bytes; divided ones are padded.
TEST(LoweringTest, FeaturesThatNobodyDividesAreNotPadded) {
  LayerKind kind;
  Operator matrix{.name = "matrix", .kind = OperatorKind::kLinear, .split = Split::kColumn};
  matrix.in_features = 64;
  matrix.out_features = 101;
  kind.operators.Add(matrix);
  ShardSpec spec;
  spec.sequence = 16;
  EXPECT_EQ(ShardLayer(kind, spec).forward[0].op.alignment, 2);
  EXPECT_EQ(ShardLayer(kind, spec).backward.back().op.alignment, 2);
  spec.tensor = 2;
  EXPECT_EQ(ShardLayer(kind, spec).forward[0].op.alignment, kAlignedBytes);
}

// Each of two ranks sends half of an activation over 25 GB/s in place of all of it; then the stage
// gathers the halves over 300 GB/s.
TEST(LoweringTest, ScatteredMessagesSendAPartOfEachActivation) {
  const Workload workload = MakeWorkload();
  const Cluster cluster = MakeCluster(2, 2);
  PlanDegrees degrees = Degrees(2, 2);
  degrees.sequence_parallel = 0;
  const auto sends = [&] {
    const Plan plan = MakePlan(degrees, workload, cluster);
    const Schedule schedule = Lower(plan, workload, cluster);
    const PlainModel model;
    const Timeline timeline = SimExecutor(cluster, model).Execute(schedule);
    std::vector<Duration> times;
    for (TaskId task = 0; task < schedule.task_count(); ++task) {
      if (schedule.tag(task).phase != Phase::kSendForward) continue;
      times.push_back(timeline.end(task) - timeline.start(task));
    }
    return times;
  };
  const std::vector<Duration> whole = sends();
  degrees.framework.scatters_messages = true;
  const std::vector<Duration> parts = sends();
  ASSERT_FALSE(whole.empty());
  ASSERT_EQ(parts.size(), whole.size());
  const double bytes = (whole[0] - 5_us).seconds() * 25e9;
  const double expected = 5e-6 + bytes / 2 / 25e9 + 1e-6 + bytes / 300e9;
  EXPECT_NEAR(parts[0].seconds(), expected, 1e-8);
  degrees.sequence_parallel = 1;  // each rank has only its part
  const std::vector<Duration> split = sends();
  degrees.framework.scatters_messages = false;
  EXPECT_EQ(split, sends());
}

// The bytes that all passes of a layer move between its GEMMs.
int64_t MovedBytes(const LayerSteps& steps) {
  int64_t bytes = 0;
  for (const Steps* pass : {&steps.forward, &steps.backward}) {
    for (const Step& step : *pass) {
      if (!HasOperands(step.op.kind)) bytes += step.op.bytes.count();
    }
  }
  return bytes;
}

TEST(LoweringTest, AnEagerFrameworkMovesAMultiple) {
  const Workload workload = MakeWorkload();
  const LayerKind& layer = workload.layer(1);
  ShardSpec spec;
  spec.sequence = 512;
  const auto fused = static_cast<double>(MovedBytes(ShardLayer(layer, spec)));
  spec.elementwise_traffic = 1.5;
  EXPECT_NEAR(static_cast<double>(MovedBytes(ShardLayer(layer, spec))), 1.5 * fused, 16);
}

TEST(LoweringTest, WhatIsListedKernelByKernelMovesNoMore) {
  Workload workload = MakeWorkload();
  const Plan plan = MakePlan(Degrees(1, 1), workload, MakeCluster(1, 1));
  const double traffic = plan.framework.elementwise_traffic;
  EXPECT_GT(traffic, 1);
  EXPECT_EQ(StageDivision(plan, workload, 0).elementwise_traffic, traffic);
  workload.lists_kernels = true;
  EXPECT_EQ(StageDivision(plan, workload, 0).elementwise_traffic, 1);
}

// A kernel of its own reads each gradient, in 2 bytes, and reads and writes the sum, in 4; a GEMM
// reads and writes the sum in place of the gradient.
TEST(LoweringTest, GradientsOfMicroBatchesAreAddedUp) {
  const Workload workload = MakeWorkload();
  const LayerKind& layer = workload.layer(1);
  ShardSpec spec;
  spec.sequence = 512;
  const int64_t before = MovedBytes(ShardLayer(layer, spec));
  spec.gradient_bytes = 4;
  int64_t matrices = 0;
  for (const Operator& op : layer.operators) {
    if (op.kind == OperatorKind::kLinear) matrices += op.in_features * op.out_features;
  }
  EXPECT_EQ(MovedBytes(ShardLayer(layer, spec)) - before, 6 * matrices);
  spec.adds_gradients_apart = true;
  EXPECT_EQ(MovedBytes(ShardLayer(layer, spec)) - before, 10 * matrices);
}

// Copies read and write 2 bytes of every parameter: what was gathered for either pass, or
// gradients. A forward that runs again in the backward makes its copy itself.
TEST(LoweringTest, ShardsAreCopied) {
  const Workload workload = MakeWorkload();
  const LayerKind& layer = workload.layer(1);
  ShardSpec spec;
  spec.sequence = 512;
  const LayerSteps before = ShardLayer(layer, spec);
  const int64_t parameters = ShardParameters(layer, 1, 1).dense;
  const auto more = [&] {
    const LayerSteps after = ShardLayer(layer, spec);
    return std::pair(MovedBytes({after.forward, {}}) - MovedBytes({before.forward, {}}),
                     MovedBytes({{}, after.backward}) - MovedBytes({{}, before.backward}));
  };
  spec.shard_copies = ShardCopies::kGradients;
  EXPECT_EQ(more(), std::pair(int64_t{0}, 4 * parameters));
  spec.shard_copies = ShardCopies::kParameters;
  EXPECT_EQ(more(), std::pair(4 * parameters, int64_t{0}));
  spec.gathers_for_backward = true;
  EXPECT_EQ(more(), std::pair(4 * parameters, 4 * parameters));
  spec.recompute = Recompute::kFull;
  EXPECT_EQ(more(), std::pair(4 * parameters, int64_t{0}));
}

// Only what is sharded is gathered.
TEST(LoweringTest, WithoutShardsNothingIsCopied) {
  const Workload workload = MakeWorkload();
  const Cluster cluster = MakeCluster(1, 4);
  PlanDegrees degrees = Degrees(1, 1);
  degrees.framework.shard_copies = ShardCopies::kParameters;
  for (const int zero : {0, 1, 2, 3}) {
    degrees.zero = zero;
    const Plan plan = MakePlan(degrees, workload, cluster);
    EXPECT_EQ(StageDivision(plan, workload, 0).shard_copies == ShardCopies::kParameters, zero == 3);
  }
}

// Weights of 4 bytes are read and those of 2 written, and gradients the other way; so is what the
// first of two norms makes for its GEMM, and what the second does.
TEST(LoweringTest, AutocastCasts) {
  const Workload workload = MakeWorkload();
  const LayerKind& layer = workload.layer(1);
  ShardSpec spec;
  spec.sequence = 512;
  const int64_t before = MovedBytes(ShardLayer(layer, spec));
  int64_t matrices = 0, norms = 0, read = 0;
  for (const Operator& op : layer.operators) {
    if (op.kind == OperatorKind::kLinear) matrices += op.parameters;
    if (op.kind == OperatorKind::kNorm) norms += op.forward_elements + op.backward_elements;
    if (op.kind == OperatorKind::kLinear && op.split == Split::kColumn) read += op.in_features;
  }
  spec.casts_weights = true;
  EXPECT_EQ(MovedBytes(ShardLayer(layer, spec)) - before, 2 * 6 * matrices);
  spec.casts_activations = true;
  const int64_t least = 512 * (2 * norms + 2 * 6 * read);
  EXPECT_GT(MovedBytes(ShardLayer(layer, spec)) - before, 2 * 6 * matrices + least);
}

// What a layer moves more if its operators are composed, in bytes per token.
int64_t MovedMoreIfComposed(const char* family, ShardSpec spec) {
  const DecoderConfig config = SizedDecoder(
      family,
      {.layers = 1, .hidden = 64, .heads = 4, .ffn = 256, .vocab = 512, .max_sequence = 512});
  const Workload workload = BuildDecoder(config, AttentionBackend::kFlash, family);
  spec.sequence = 512;
  const int64_t fused = MovedBytes(ShardLayer(workload.layer(1), spec));
  spec.composes_operators = true;
  const int64_t difference = MovedBytes(ShardLayer(workload.layer(1), spec)) - fused;
  EXPECT_EQ(difference % 512, 0) << family;
  return difference / 512;
}

// A block of Llama has two norms of 64 features, rotates 64 of queries and of keys, and has 256
// inner features. In 16 bits a norm moves 36 bytes a feature in the forward and 92 in the backward
// in place of 4 and 6, a rotation 20 and 30 in place of 4 each, and an activation 10 and 18 in
// place of 6 and 10.
TEST(LoweringTest, ComposedOperatorsMoveWhatTheirKernelsDo) {
  ShardSpec spec;
  EXPECT_EQ(MovedMoreIfComposed("llama", spec), 2 * 64 * 118 + 128 * 42 + 256 * 12);
  spec.tensor = 2;
  EXPECT_EQ(MovedMoreIfComposed("llama", spec), 2 * 64 * 118 + 64 * 42 + 128 * 12);
  spec.tensor = 1;
  spec.precision = DType::kFp32;  // needs no casts
  EXPECT_EQ(MovedMoreIfComposed("llama", spec), 2 * 64 * 100 + 128 * 84 + 256 * 24);
}

// GELU with a tanh takes 18 and 28 accesses in place of 2 and 3; the cube makes autocast compute
// most of it in 32 bits. Other networks call a library.
TEST(LoweringTest, OnlySomeNetworksComposeTheirGelu) {
  ShardSpec spec;
  EXPECT_EQ(MovedMoreIfComposed("gpt", spec), 256 * (36 + 56 - 4 - 6));
  spec.casts_weights = spec.casts_activations = true;
  EXPECT_EQ(MovedMoreIfComposed("gpt", spec), 256 * (76 + 118 - 4 - 6));
  for (const char* family : {"mpt", "bloom", "opt", "nemotron"}) {
    const int64_t rotated = std::string(family) == "nemotron" ? 64 : 0;
    EXPECT_EQ(MovedMoreIfComposed(family, {}), rotated * 42) << family;
  }
}

// Framework::elementwise_traffic has no part in what is counted kernel by kernel.
TEST(LoweringTest, WhatIsComposedIsNoMultiple) {
  ShardSpec spec;
  const int64_t once = MovedMoreIfComposed("gpt", spec);
  spec.elementwise_traffic = 3;
  EXPECT_EQ(MovedMoreIfComposed("gpt", spec), once - 2 * 256 * (4 + 6));
}

TEST(LoweringTest, AutocastNeeds16Bits) {
  const Workload workload = MakeWorkload();
  const Cluster cluster = MakeCluster(1, 1);
  PlanDegrees degrees = Degrees(1, 1);
  degrees.framework.autocasts = true;
  const auto casts = [&] {
    return StageDivision(MakePlan(degrees, workload, cluster), workload, 0).casts_weights;
  };
  EXPECT_TRUE(casts());
  degrees.precision = DType::kFp32;
  EXPECT_FALSE(casts());
}

// Adam's operations read or write 20 numbers of 4 bytes for every parameter; its norm reads the
// gradient, and the 16-bit copy is written.
TEST(LoweringTest, OperationsOfAnUpdateAreKernels) {
  const Workload workload = MakeWorkload();
  const Cluster cluster = MakeCluster(1, 1);
  PlanDegrees degrees = Degrees(1, 1);
  const auto bytes = [&] {
    const Plan plan = MakePlan(degrees, workload, cluster);
    return OptimizerOp(plan, 0, {.dense = 1000, .expert = 0}, 1).bytes.count() -
           1000 * plan.gradient_bytes;
  };
  const int64_t fused = bytes();
  degrees.framework.updates_by_operations = true;
  EXPECT_EQ(bytes(), 1000 * (20 * 4 + 2));
  EXPECT_GT(bytes(), 2 * fused);
  degrees.optimizer = Optimizer::kSgd;
  EXPECT_EQ(bytes(), 1000 * (11 * 4 + 2));
  degrees.optimizer = Optimizer::kAdam8Bit;
  EXPECT_LT(bytes(), fused);
}

// A GEMM writes a gradient of 4 bytes, or reads and writes its sum of 2 bytes, which is as much.
TEST(LoweringTest, ASumOfHalfTheWidthMovesNothingMore) {
  const Workload workload = MakeWorkload();
  const LayerKind& layer = workload.layer(1);
  ShardSpec spec;
  spec.sequence = 512;
  for (const DType precision : {DType::kFp32, DType::kTf32}) {
    spec.precision = precision;
    spec.gradient_bytes = 0;
    const LayerSteps before = ShardLayer(layer, spec);
    spec.gradient_bytes = 2;
    const LayerSteps after = ShardLayer(layer, spec);
    EXPECT_EQ(after.backward, before.backward) << Name(precision);
    for (const Step& step : after.backward) {
      EXPECT_TRUE(HasOperands(step.op.kind) || step.op.bytes > Bytes(0)) << Describe(step.op);
    }
  }
}

TEST(LoweringTest, RepeatedOperatorsTakeHalfOfTheGemms) {
  const Workload workload = MakeWorkload();
  const LayerKind& layer = workload.layer(1);
  ShardSpec spec;
  spec.sequence = 512;
  double gemms = 0;
  for (const Step& step : ShardLayer(layer, spec).forward) {
    if (step.op.kind == OpKind::kGemm) gemms += step.op.Flops().count();
  }
  const size_t kept = ShardLayer(layer, spec).backward.size();
  spec.recompute = Recompute::kOperators;
  EXPECT_NEAR(RecomputedFlops(layer, spec).count(), gemms / 2, 1e-6 * gemms);
  EXPECT_GT(ShardLayer(layer, spec).backward.size(), kept);
  EXPECT_FALSE(RecomputesWhole(layer, spec));
}

// Eight blocks and a head that takes as long as two of them, on three stages: the stage of the head
// keeps two blocks, so that no stage has more work than four blocks.
TEST(LoweringTest, TheStageOfTheHeadGivesBlocksAway) {
  // A block computes 2·12·256² + 4·256·512/2 FLOPs per token, the head 2·256·vocab.
  constexpr int64_t kVocab = (2 * 12 * 256 * 256 + 2 * 256 * 512) * 2 / (2 * 256);
  const DecoderConfig config = SizedDecoder(
      "gpt", {.layers = 8, .hidden = 256, .heads = 8, .vocab = kVocab, .max_sequence = 512});
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

// A cast of 1,024 elements reads 2 bytes and writes 1, in both layouts; the current recipe first
// finds a maximum; the MX recipe has 32 scales in each layout; the rowwise recipe reads each layout
// twice, for its maxima and for the cast; the block recipe has a scale of 4 bytes for every 128.
TEST(LoweringTest, CastsMoveWhatTheirRecipeNeeds) {
  const auto moved = [](DType precision, Fp8Recipe recipe) {
    return CastOf(precision, recipe, 1024).bytes;
  };
  EXPECT_EQ(moved(DType::kFp8, Fp8Recipe::kDelayed), Bytes(4096));
  EXPECT_EQ(moved(DType::kFp8, Fp8Recipe::kCurrent), Bytes(6144));
  EXPECT_EQ(moved(DType::kFp8, Fp8Recipe::kMx), Bytes(4096 + 64));
  EXPECT_EQ(moved(DType::kFp8, Fp8Recipe::kRowwise), Bytes(4096 + 3 * 2048));
  EXPECT_EQ(CastOf(DType::kFp8, Fp8Recipe::kRowwise, 1024).kernels, 4);
  EXPECT_EQ(moved(DType::kFp8, Fp8Recipe::kBlock), Bytes(4096 + 2 * 4 * 8));
  EXPECT_EQ(moved(DType::kNvfp4, Fp8Recipe::kDelayed), Bytes(2 * 2048 + 2 * (512 + 64)));
  EXPECT_EQ(CastOf(DType::kBf16, Fp8Recipe::kDelayed, 1024).kernels, 0);
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
  EXPECT_GT(delayed, sixteen);  // the rates are equal here, so casts only add time
  EXPECT_GT(time(), delayed);
  degrees.fp8_recipe = Fp8Recipe::kMx;
  EXPECT_THROW(time(), InputError);  // a Hopper GPU cannot run it
}

TEST(LoweringTest, TheHeadKeepsSixteenBits) {
  const Workload workload = MakeWorkload();
  ShardSpec spec;
  spec.sequence = 128;
  for (const DType precision : {DType::kFp8, DType::kNvfp4}) {
    spec.precision = precision;
    std::map<LayerRole, std::set<DType>> formats;
    for (const LayerKind& kind : workload.kinds) {
      for (const Step& step : ShardLayer(kind, spec).forward) {
        if (step.op.kind == OpKind::kGemm) formats[kind.role].insert(step.op.dtype);
      }
    }
    EXPECT_EQ(formats[LayerRole::kHead], std::set<DType>{DType::kBf16}) << Name(precision);
    EXPECT_TRUE(formats[LayerRole::kBlock].contains(precision)) << Name(precision);
  }
}

TEST(LoweringTest, SizesBeyond64BitsAreRefused) {
  const Workload workload = MakeWorkload();
  const Cluster cluster = MakeCluster(1, 1);
  Plan plan = MakePlan(Degrees(1, 1), workload, cluster);
  plan.micro_batch = plan.global_batch = 1'000'000'000;
  plan.sequence = 1'000'000'000;
  const std::vector<std::string> errors = FindErrors(plan, workload, cluster);
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_TRUE(errors[0].starts_with("micro_batch: 1000000000 samples of 1000000000 rows make "))
      << errors[0];
}

// One position on two ranks: both compute a row, so that none is lost.
TEST(LoweringTest, RowsThatDoNotDivideAreRoundedUp) {
  ShardSpec spec;
  spec.micro_batch = 1;
  spec.sequence = 8;
  spec.context = 2;
  spec.tensor = 4;
  spec.sequence_parallel = true;
  EXPECT_EQ(spec.Rows(), 4);
  EXPECT_EQ(spec.Rows(1), 1);
  Operator op;
  EXPECT_EQ(spec.SplitRowsOf(op), 1);
  op.positions = 1;
  EXPECT_EQ(spec.SplitRowsOf(op), 1);
}

}  // namespace
}  // namespace stagecraft
