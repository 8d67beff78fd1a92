// Tests what exchanges of tokens between experts send, and what hides them.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "costmodel/error_of.h"
#include "sim/engine/bound_costs.h"
#include "sim/pipeline/chunk_map.h"
#include "sim/pipeline/make_pass_orders.h"
#include "sim/schedule/schedule.h"
#include "sim/shard/shard.h"
#include "sim/shard/stage_order.h"
#include "sim/testing/lowering_testing.h"
#include "sim/testing/mixture_testing.h"

namespace stagecraft {
namespace {

// There are 16 experts in 4 groups, of which a token may use two.
Workload Mixture() {
  DecoderConfig config = MixtureConfig(8, 16, 4);
  config.moe.groups = 4;
  config.moe.groups_per_token = 2;
  return BuildDecoder(config, AttentionBackend::kFlash, "mixture");
}

PlanDegrees WithExperts(int pipeline, int expert) {
  PlanDegrees degrees = Degrees(1, pipeline);
  degrees.expert = expert;
  degrees.data = expert;
  degrees.global_batch = 16 * expert;
  degrees.micro_batch = 1;
  return degrees;
}

std::vector<Step> ExchangesOf(const PlanDegrees& degrees, const Cluster& cluster) {
  const Workload workload = Mixture();
  const Plan plan = MakePlan(degrees, workload, cluster);
  std::vector<Step> exchanges;
  const ShardSpec spec = StageShard(plan, workload, cluster, 0, 0);
  for (const Step& step : ShardLayer(workload.layer(1), spec).forward) {
    if ((step.flags & kExpertGroup) != 0) exchanges.push_back(step);
  }
  return exchanges;
}

constexpr int64_t kRow = 512 * 256;  // elements of the rows of a micro-batch

TEST(ExpertExchangeTest, EveryCopyGoesToItsExpert) {
  PlanDegrees degrees = WithExperts(1, 8);
  const Cluster cluster = MakeCluster(4, 2);
  std::vector<Step> exchanges = ExchangesOf(degrees, cluster);
  ASSERT_EQ(exchanges.size(), 2u);
  EXPECT_EQ(exchanges[0].op.bytes, Bytes(4 * 2 * kRow));
  EXPECT_EQ(exchanges[0], exchanges[1]);
  // On the way there, rows have half as many bytes, and a scale of 4 bytes for every 128.
  degrees.expert_exchange.dispatches_8_bits = true;
  exchanges = ExchangesOf(degrees, cluster);
  EXPECT_EQ(exchanges[0].op.bytes, Bytes(4 * (kRow + kRow / 128 * 4)));
  EXPECT_EQ(exchanges[1].op.bytes, Bytes(4 * 2 * kRow));
}

// Each of four nodes has two ranks and one group of experts: a token goes to two nodes, except if
// all its four experts are among the same four of eight, which has the probability 2 / C(8, 4).
TEST(ExpertExchangeTest, OneCopyGoesToEveryNode) {
  PlanDegrees degrees = WithExperts(1, 8);
  degrees.expert_exchange.sends = ExpertSends::kOncePerNode;
  const std::vector<Step> exchanges = ExchangesOf(degrees, MakeCluster(4, 2));
  ASSERT_EQ(exchanges.size(), 4u);
  const Op& between = exchanges[0].op;
  EXPECT_EQ(between.fabric.ranks, 4);
  EXPECT_EQ(between.fabric.nodes, 4);
  const double nodes = 2 - 2.0 / 70;
  EXPECT_NEAR(static_cast<double>(between.bytes.count()), nodes * 2 * kRow, 1);
  EXPECT_NE(exchanges[0].flags & kOverlapsNext, 0);
  // Inside a node a rank gets one copy for all of its two experts, which are a quarter of the eight
  // experts of two groups.
  const Op& inside = exchanges[1].op;
  EXPECT_EQ(inside.fabric.ranks, 2);
  EXPECT_EQ(inside.fabric.nodes, 1);
  EXPECT_EQ(exchanges[1].flags & kOverlapsNext, 0);
  const double ranks = 4 * (1 - 15.0 / 70);  // C(6, 4) of the C(8, 4) choices miss a rank
  EXPECT_NEAR(static_cast<double>(inside.bytes.count()), ranks * 2 * kRow, 1);
}

TEST(ExpertExchangeTest, AGroupOnOneNodeSendsInsideItAlone) {
  PlanDegrees degrees = WithExperts(1, 8);
  degrees.expert_exchange.sends = ExpertSends::kOncePerNode;
  const std::vector<Step> exchanges = ExchangesOf(degrees, MakeCluster(1, 8));
  ASSERT_EQ(exchanges.size(), 2u);
  EXPECT_EQ(exchanges[0].op.fabric.ranks, 8);
  // Nothing is passed on if every node has one rank.
  const std::vector<Step> apart = ExchangesOf(degrees, MakeCluster(8, 1));
  ASSERT_EQ(apart.size(), 2u);
  EXPECT_EQ(apart[0].op.fabric.nodes, 8);
  EXPECT_EQ(apart[0].flags & kOverlapsNext, 0);
}

TEST(ExpertExchangeTest, ExpertsApartMultiplyAsMuchInMoreGemms) {
  const Workload workload = Mixture();
  ShardSpec spec;
  spec.sequence = 512;
  const auto count = [&] {
    FlopCount flops;
    size_t gemms = 0;
    const LayerSteps steps = ShardLayer(workload.layer(1), spec);
    for (const Steps* part : {&steps.forward, &steps.backward}) {
      for (const Step& step : *part) {
        if (step.op.kind != OpKind::kGemm) continue;
        flops += step.op.Flops();
        ++gemms;
      }
    }
    return std::pair(gemms, flops.count());
  };
  const auto [gemms, flops] = count();
  spec.multiplies_experts_apart = true;
  const auto [more_gemms, same_flops] = count();
  EXPECT_EQ(more_gemms, gemms + 6 * 15);  // two matrices of each expert, in three passes
  EXPECT_DOUBLE_EQ(same_flops, flops);
}

// A unit of two passes takes as long as their computation or as their exchanges, whichever is
// longer.
TEST(ExpertOverlapTest, APairTakesTheLongerOfComputationAndExchanges) {
  const Workload workload = Mixture();
  const Cluster cluster = MakeCluster(8, 2);
  PlanDegrees degrees = WithExperts(2, 8);
  degrees.chunks = 2;
  degrees.schedule = PipelineSchedule::kDualPipe;
  const Plan plan = MakePlan(degrees, workload, cluster);
  const Schedule schedule = Lower(plan, workload, cluster, {});
  const PlainModel model;
  SimExecutor executor(cluster, model);
  const Timeline timeline = executor.Execute(schedule);
  int units = 0;
  for (int lane = 0; lane < schedule.lane_count(); ++lane) {
    if (schedule.lane_infos()[lane].kind != LaneKind::kExpert) continue;
    const auto exchanges = schedule.order(Lane(lane));
    for (size_t i = 0; i + 1 < exchanges.size(); i += 2) {
      EXPECT_EQ(schedule.tag(exchanges[i]).phase, Phase::kExpertExchange);
      // Tasks of a unit have consecutive ids: two passes, then their exchanges.
      const TaskId forward = exchanges[i] - 2;
      const TaskId backward = exchanges[i] - 1;
      ASSERT_EQ(schedule.tag(forward).phase, Phase::kForward);
      ASSERT_TRUE(IsBackward(schedule.tag(backward).phase));
      EXPECT_EQ(timeline.start(exchanges[i]), timeline.start(forward));
      const TaskId last = exchanges[i + 1];
      const Duration over = std::max(timeline.end(backward), timeline.end(last));
      for (const TaskId sent : schedule.successors(last)) {
        EXPECT_GE(timeline.start(sent), over);
      }
      ++units;
    }
  }
  EXPECT_GT(units, 10);
}

Duration StepTime(const PlanDegrees& degrees, const Cluster& cluster, bool unfold = false) {
  const Workload workload = Mixture();
  return Simulate(MakePlan(degrees, workload, cluster), workload, cluster, unfold).makespan();
}

TEST(ExpertOverlapTest, HiddenExchangesMakeStepsShorter) {
  const Cluster cluster = MakeCluster(8, 2);
  for (const auto& [schedule, chunks] : {std::pair(PipelineSchedule::kDualPipe, 2),
                                         {PipelineSchedule::kDualPipeV, 2},
                                         {PipelineSchedule::kInterleaved, 2},
                                         {PipelineSchedule::kOneForwardOneBackward, 1}}) {
    PlanDegrees degrees = WithExperts(2, 8);
    degrees.global_batch = 32 * 8;
    degrees.schedule = schedule;
    degrees.chunks = chunks;
    degrees.schedule_options.pairs_passes = Reads(schedule, kReadsPairing);
    const Duration hidden = StepTime(degrees, cluster);
    EXPECT_EQ(StepTime(degrees, cluster, /*unfold=*/true), hidden) << Name(schedule);
    degrees.framework.hides_exchanges = false;
    EXPECT_LT(hidden, StepTime(degrees, cluster)) << Name(schedule);
  }
}

// With one stage a forward runs beside the backward of the micro-batch before it.
TEST(ExpertOverlapTest, OneStageHidesExchangesToo) {
  const Cluster cluster = MakeCluster(4, 2);
  PlanDegrees degrees = WithExperts(1, 8);
  const Duration exposed = StepTime(degrees, cluster);
  degrees.schedule_options.pairs_passes = true;
  EXPECT_LT(StepTime(degrees, cluster), exposed);
}

TEST(ExpertOverlapTest, PairsAreOfPassesThatDoNotWaitForEachOther) {
  for (const int stages : {1, 2, 4}) {
    for (const int micro_batches : {1, 4, 8, 12}) {
      PipelineScheduleOptions options;
      options.pairs_passes = true;
      const ChunkMap map = ChunkMap::Looped(stages, 1);
      const PassOrders orders = MakePassOrders(PipelineSchedule::kOneForwardOneBackward, options,
                                               map, micro_batches, nullptr);
      int pairs = 0;
      for (const PassOrder& order : orders) {
        for (size_t i = 0; i < order.size(); ++i) {
          if (!order[i].beside_next) continue;
          ++pairs;
          EXPECT_GT(order[i].micro_batch, order[i + 1].micro_batch);
        }
      }
      if (micro_batches > stages) {
        EXPECT_GT(pairs, 0);
      }
    }
  }
}

// Passes that waited for each other would never begin.
TEST(ExpertOverlapTest, FewMicroBatchesArePairedWithoutADeadlock) {
  const Workload workload = Mixture();
  for (const int chunks : {1, 2}) {
    for (const int micro_batches : {1, 2, 4, 5, 8, 16}) {
      PlanDegrees degrees = WithExperts(4, 2);
      degrees.global_batch = micro_batches * 2;
      degrees.chunks = chunks;
      if (chunks > 1) degrees.schedule = PipelineSchedule::kInterleaved;
      degrees.schedule_options.pairs_passes = true;
      EXPECT_GT(StepTime(degrees, MakeCluster(4, 2)), Duration())
          << chunks << " chunks, " << micro_batches << " micro-batches";
    }
  }
}

// Only exchanges between experts are tasks of their own; a pair waits for collectives of tensor
// parallelism.
TEST(ExpertOverlapTest, PairsWaitForAllOtherCollectives) {
  const Workload workload = Mixture();
  const Cluster cluster = MakeCluster(4, 4);
  PlanDegrees degrees = WithExperts(2, 4);
  degrees.tensor = 2;
  degrees.schedule_options.pairs_passes = true;
  const Schedule schedule = Lower(MakePlan(degrees, workload, cluster), workload, cluster, {});
  const BoundCosts costs = BindCosts(schedule, cluster, PlainModel());
  const auto forward_times = [&](LaneKind kind) {
    std::set<Duration> times;
    for (int lane = 0; lane < schedule.lane_count(); ++lane) {
      if (schedule.lane_infos()[lane].kind != kind) continue;
      for (const TaskId task : schedule.order(Lane(lane))) {
        const Tag& tag = schedule.tag(task);
        const bool is_backward = IsBackward(schedule.tag(task - 1).phase);
        const bool is_forward =
            kind == LaneKind::kCompute ? tag.phase == Phase::kForward : is_backward;
        if (is_forward && tag.stage == 0) times.insert(costs.TaskTimes(schedule, task).device);
      }
    }
    return times;
  };
  // The forwards of the first stage alone, those in pairs, and the exchanges of the latter, which
  // come behind the backward of the pair.
  const std::set<Duration> passes = forward_times(LaneKind::kCompute);
  const std::set<Duration> exchanges = forward_times(LaneKind::kExpert);
  ASSERT_EQ(passes.size(), 2u);
  ASSERT_EQ(exchanges.size(), 1u);
  EXPECT_EQ(*passes.begin() + *exchanges.begin(), *passes.rbegin());
}

TEST(ExpertOverlapTest, ActivationsLeaveAndComeBackBesidePairs) {
  for (const int stages : {1, 2, 4}) {
    const Cluster cluster = MakeCluster(2 * stages, 2);
    PlanDegrees degrees = WithExperts(stages, 4);
    degrees.schedule_options.pairs_passes = true;
    const Duration usual = StepTime(degrees, cluster);
    degrees.offload.activations = 1;
    degrees.offload.host_memory = Bytes(int64_t{1} << 40);
    EXPECT_GE(StepTime(degrees, cluster), usual);
  }
}

TEST(ExpertOverlapTest, PlansWhosePassesHideNothingAreRefused) {
  const Workload workload = Mixture();
  const struct {
    void (*change)(PlanDegrees&);
    const char* error;
  } cases[] = {
      {[](PlanDegrees& d) { d.schedule = PipelineSchedule::kGpipe; },
       "pairs_passes: not with gpipe, want 1f1b, interleaved or listed passes"},
      {[](PlanDegrees& d) { d.schedule = PipelineSchedule::kZeroBubbleH1; },
       "pairs_passes: not with zb-h1, want 1f1b, interleaved or listed passes"},
      {[](PlanDegrees& d) { d.schedule_options.vocabulary = VocabularyPlacement::kVocab1; },
       "pairs_passes: wants the vocabulary in the first and the last stage"},
      {[](PlanDegrees& d) { d.expert = 1; },
       "pairs_passes: wants a stage with expert_parallel above 1, without which passes exchange no "
       "tokens"},
      {[](PlanDegrees& d) { d.forward_only = true; },
       "pairs_passes: not with forward_only, where no backward runs"},
      {[](PlanDegrees& d) { d.zero = 2; },
       "pairs_passes: with zero 2, which divides passes, want 0 or 1"},
      {[](PlanDegrees& d) { d.schedule_options.warmup = WarmupPolicy::kB; },
       "pairs_passes: with warmup B, want A, since pairs need their own warm-up"},
  };
  for (const auto& [change, want] : cases) {
    PlanDegrees degrees = WithExperts(2, 8);
    degrees.schedule_options.pairs_passes = true;
    change(degrees);
    EXPECT_EQ(ErrorOf([&] { MakePlan(degrees, workload, MakeCluster(8, 2)); }), want);
  }
}

}  // namespace
}  // namespace stagecraft
