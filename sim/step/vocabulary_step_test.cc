// Steps whose stages share the vocabulary.
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "costmodel/cost_model.h"
#include "costmodel/units.h"
#include "sim/cluster/cluster.h"
#include "sim/cluster/cluster_spec.h"
#include "sim/engine/sim_executor.h"
#include "sim/lowering/lowering.h"
#include "sim/memory/stage_memory.h"
#include "sim/pipeline/pipeline_schedule.h"
#include "sim/pipeline/vocabulary_placement.h"
#include "sim/plan/plan.h"
#include "sim/schedule/schedule.h"
#include "sim/workload/networks/decoder.h"
#include "sim/workload/networks/test_decoders.h"
#include "sim/workload/workload.h"

namespace stagecraft {
namespace {

constexpr int64_t kHidden = 64;
constexpr int64_t kVocabulary = 4 * kHidden;
constexpr int64_t kSequence = 128;
constexpr VocabularyPlacement kSplit[] = {
    VocabularyPlacement::kVocab1, VocabularyPlacement::kVocab2, VocabularyPlacement::kInterlaced};

// A GPT with GEMMs of 12 h^2 numbers in each block, and of V h in the head.
Workload Network(int layers, bool is_tied) {
  DecoderConfig config = SizedDecoder("gpt", {.layers = layers,
                                              .hidden = kHidden,
                                              .heads = 4,
                                              .vocab = kVocabulary,
                                              .max_sequence = kSequence});
  config.tied_embeddings = is_tied;
  return BuildDecoder(config, AttentionBackend::kFlash, "gpt");
}

Plan PlanOf(const Workload& workload, const Cluster& cluster, int stages, int micro_batches,
            VocabularyPlacement placement,
            PipelineSchedule schedule = PipelineSchedule::kOneForwardOneBackward) {
  PlanDegrees degrees;
  degrees.schedule = schedule;
  degrees.chunks = LeastChunks(schedule);
  degrees.pipeline = stages;
  degrees.sequence = kSequence;
  degrees.global_batch = micro_batches * cluster.device_count() / stages;
  degrees.schedule_options.vocabulary = placement;
  return MakePlan(degrees, workload, cluster);
}

// A GEMM of h^2 numbers and all rows takes one microsecond, and so does a collective; all else
// takes no time.
class GemmsAndCollectives : public CostModel {
 public:
  std::vector<Estimate> Predict(std::span<const Op> ops, const Device& /*device*/) const override {
    constexpr int64_t kOne = kSequence * kHidden * kHidden;
    std::vector<Estimate> estimates;
    for (const Op& op : ops) {
      Estimate estimate;
      if (op.kind == OpKind::kGemm) estimate.time = (op.m * op.n * op.k / kOne) * 1_us;
      if (IsCollective(op.kind) && op.kind != OpKind::kSendRecv) estimate.time = 1_us;
      estimates.push_back(estimate);
    }
    return estimates;
  }
};

Duration TimeOf(VocabularyPlacement placement) {
  const Cluster cluster = ParseCluster("h100-sxm:1x2");
  const Workload workload = Network(2, false);
  const GemmsAndCollectives model;
  SimExecutor executor(cluster, model);
  const Plan plan = PlanOf(workload, cluster, 2, 4, placement);
  return executor.Execute(Lower(plan, workload, cluster, {.with_optimizer = false})).makespan();
}

// In microseconds, a forward through the block of a stage takes F = 12 and a backward B = 24, the
// logits of a stage S = 2 and their gradients T = 4 (with vocab-2 I = 2 and W = 2), the statistics
// s = 3, and the other exchanges 1. The step of the last stage alone would be 4 x 42 = 168.
//
// vocab-1, with the pass orders that VocabularyOrdersTest draws:
// stage 0: F0 1-13, F1 -25, F2 -37, S0 -39, F3 -51, T0 -55, S1 -57, T1 60-64, S2 -66, T2 69-73,
//          B0 90-114, S3 -116, B1 130-154, T3 -158, B2 -182, B3 185-209
// stage 1: F0 13-25, F1 -37, S0 -39, F2 -51, T0 -55, S1 -57, T1 60-64, S2 -66, B0 -90, T2 -94,
//          F3 -106, B1 -130, S3 -132, B2 -156, T3 -160, B3 161-185
// and the gradient of the embedding 209-210.
TEST(VocabularyStepTest, TwoStagesTakeTheTimesOfTheirDrawings) {
  EXPECT_EQ(TimeOf(VocabularyPlacement::kVocab1), 210_us);
  // stage 0: F0 1-13, F1 -25, F2 -37, S0 I0 -41, S1 I1 -45, W0 W1 -49, B0 71-95, S2 I2 -99,
  //          F3 -111, B1 -135, S3 I3 -139, W2 -141, B2 151-175, W3 -177, B3 182-206
  // stage 1: F0 13-25, F1 -37, S0 I0 -41, S1 I1 -45, W0 -47, B0 -71, W1 -73, F2 -85, B1 -109,
  //          S2 I2 -113, F3 -125, W2 -127, B2 -151, S3 I3 -155, W3 156-158, B3 -182
  EXPECT_EQ(TimeOf(VocabularyPlacement::kVocab2), 207_us);
  // Both stages wait for all exchanges:
  // stage 0: F0 1-13, S0 27-29, T0 32-36, F1 37-49, S1 75-77, T1 80-84, F2 85-97, B0 -121,
  //          S2 123-125, T2 128-132, F3 134-146, B1 -170, S3 171-173, T3 176-180, B2 182-206,
  //          B3 207-231
  // stage 1: F0 13-25, S0, T0, B0 37-61, F1 -73, S1, T1, B1 85-109, F2 -121, S2, T2, B2 134-158,
  //          F3 -170, S3, T3, B3 182-206
  EXPECT_EQ(TimeOf(VocabularyPlacement::kInterlaced), 232_us);
  // The last stage has all logits: F + 2 S = 16 and B + 2 T = 32, four times, after F0 and before
  // the last backward of the first stage.
  EXPECT_EQ(TimeOf(VocabularyPlacement::kFirstLast), (12 + 4 * 48 + 24) * 1_us);
}

// FLOPs of GEMMs by stage.
std::vector<double> FlopsOf(const Plan& plan, const Workload& workload, const Cluster& cluster) {
  const Schedule schedule = Lower(plan, workload, cluster, {.with_optimizer = false});
  std::vector<double> flops(plan.stages.size());
  for (TaskId task = 0; task < schedule.task_count(); ++task) {
    if (!IsPass(schedule.tag(task).phase)) continue;
    for (const OpId op : schedule.ops(schedule.op_sequence(task))) {
      flops[schedule.tag(task).stage] += schedule.op(op).Flops().count();
    }
  }
  return flops;
}

TEST(VocabularyStepTest, StagesShareTheWorkOfTheHeadEvenly) {
  const Cluster cluster = ParseCluster("h100-sxm:1x4");
  const Workload workload = Network(8, false);
  const auto flops = [&](VocabularyPlacement placement) {
    return FlopsOf(PlanOf(workload, cluster, 4, 6, placement), workload, cluster);
  };
  const std::vector<double> whole = flops(VocabularyPlacement::kFirstLast);
  const double head = 6.0 * 6 * kSequence * kVocabulary * kHidden;
  EXPECT_DOUBLE_EQ(whole[3] - whole[0], head);
  for (const VocabularyPlacement placement : kSplit) {
    for (const double of_stage : flops(placement)) {
      EXPECT_DOUBLE_EQ(of_stage, whole[0] + head / 4) << Name(placement);
    }
  }
}

// In a V the first stage has both ends of the network.
TEST(VocabularyStepTest, TheStagesOfAVShareItEvenly) {
  const Cluster cluster = ParseCluster("h100-sxm:1x4");
  const Workload workload = Network(8, false);
  const GemmsAndCollectives model;
  constexpr int kMicroBatches = 40;
  const double head = 6.0 * kMicroBatches * kSequence * kVocabulary * kHidden;
  for (const PipelineSchedule schedule : {PipelineSchedule::kVHalf, PipelineSchedule::kVMin}) {
    const auto plan = [&](VocabularyPlacement placement, int micro_batches) {
      return PlanOf(workload, cluster, 4, micro_batches, placement, schedule);
    };
    const auto time = [&](VocabularyPlacement placement, int micro_batches) {
      SimExecutor executor(cluster, model);
      const Plan of_step = plan(placement, micro_batches);
      return executor.Execute(Lower(of_step, workload, cluster, {.with_optimizer = false}))
          .makespan();
    };
    const std::vector<double> whole =
        FlopsOf(plan(VocabularyPlacement::kFirstLast, kMicroBatches), workload, cluster);
    EXPECT_DOUBLE_EQ(whole[0] - whole[1], head);
    for (const VocabularyPlacement placement :
         {VocabularyPlacement::kVocab1, VocabularyPlacement::kVocab2}) {
      for (const double of_stage : FlopsOf(plan(placement, kMicroBatches), workload, cluster)) {
        EXPECT_DOUBLE_EQ(of_stage, whole[1] + head / 4) << Name(placement);
      }
      // Every stage has 2 x 36 + 3 us of work for a micro-batch; no pass waits for another.
      const Duration more = time(placement, 2 * kMicroBatches) - time(placement, kMicroBatches);
      EXPECT_EQ(more, kMicroBatches * 75_us) << Name(schedule) << ", " << Name(placement);
    }
  }
}

TEST(VocabularyStepTest, StagesHoldEqualSharesOfTheVocabulary) {
  const Cluster cluster = ParseCluster("h100-sxm:1x4");
  const Workload untied = Network(8, false);
  const Workload tied = Network(8, true);
  const auto parameters = [&](const Workload& workload, VocabularyPlacement placement) {
    const Plan plan = PlanOf(workload, cluster, 4, 8, placement);
    std::vector<int64_t> of_stages;
    for (const StageMemory& memory : EstimateMemory(plan, workload, cluster)) {
      of_stages.push_back(memory.weights.count() / plan.WorkingBytes());
      EXPECT_EQ(memory.gradients.count(), of_stages.back() * plan.gradient_bytes);
      EXPECT_EQ(memory.optimizer.count(), of_stages.back() * 12);  // Adam's, in 32 bits
    }
    return of_stages;
  };
  constexpr int64_t kTable = kVocabulary * kHidden;
  constexpr int64_t kPositions = kSequence * kHidden;
  constexpr int64_t kNorm = 2 * kHidden;
  const std::vector<int64_t> whole = parameters(untied, VocabularyPlacement::kFirstLast);
  const int64_t blocks = whole[1];
  EXPECT_EQ(whole,
            (std::vector{blocks + kTable + kPositions, blocks, blocks, blocks + kTable + kNorm}));
  for (const VocabularyPlacement placement : kSplit) {
    const int64_t share = kTable / 4;
    EXPECT_EQ(parameters(untied, placement),
              (std::vector{blocks + 2 * share + kPositions, blocks + 2 * share, blocks + 2 * share,
                           blocks + 2 * share + kNorm}));
    EXPECT_EQ(parameters(tied, placement), (std::vector{blocks + share + kPositions, blocks + share,
                                                        blocks + share, blocks + share + kNorm}));
  }
}

// A stage keeps, from the logits to their gradients, the softmax in 32 bits and the input.
TEST(VocabularyStepTest, MoreMicroBatchesAreInFlight) {
  const Cluster cluster = ParseCluster("h100-sxm:1x4");
  const Workload workload = Network(8, false);
  const auto activations = [&](VocabularyPlacement placement) {
    const Plan plan = PlanOf(workload, cluster, 4, 16, placement);
    return EstimateMemory(plan, workload, cluster)[1].activations.count();
  };
  const int64_t whole = activations(VocabularyPlacement::kFirstLast);  // 3 micro-batches
  const int64_t one = whole / 3;
  const int64_t kept = kSequence * (4 * kVocabulary / 4 + 2 * kHidden);
  for (const auto& [placement, more] :
       std::map<VocabularyPlacement, int>{{VocabularyPlacement::kVocab1, 2},
                                          {VocabularyPlacement::kVocab2, 1},
                                          {VocabularyPlacement::kInterlaced, 1}}) {
    EXPECT_GE(activations(placement), whole + more * one) << Name(placement);
    EXPECT_LE(activations(placement), whole + more * one + 3 * kept) << Name(placement);
  }
}

// What one micro-batch exchanges: b s h numbers of 16 bits four times, and three numbers of 32 bits
// for each row.
TEST(VocabularyStepTest, ExchangesCarryHiddenStatesAndStatistics) {
  const Cluster cluster = ParseCluster("h100-sxm:1x2");
  const Workload workload = Network(2, false);
  constexpr int64_t kRows = kSequence;
  for (const VocabularyPlacement placement : kSplit) {
    const Plan plan = PlanOf(workload, cluster, 2, 3, placement);
    const Schedule schedule = Lower(plan, workload, cluster);
    std::map<std::pair<OpKind, int64_t>, int> seen;
    for (TaskId task = 0; task < schedule.task_count(); ++task) {
      if (schedule.tag(task).phase != Phase::kVocabularyExchange) continue;
      const Op& op = schedule.op(schedule.ops(schedule.op_sequence(task))[0]);
      ++seen[{op.kind, op.bytes.count()}];
      EXPECT_EQ(schedule.lanes(task).size(), 2U);
      const DeviceGroups& groups = schedule.communicators()[schedule.communicator(task)];
      const bool is_hidden = op.kind == OpKind::kBroadcast &&
                             schedule.tag(task).chunk == OutputChunk(plan.chunk_count());
      EXPECT_EQ(groups, is_hidden ? (DeviceGroups{{1, 0}}) : (DeviceGroups{{0, 1}}));
    }
    EXPECT_EQ(seen, (std::map<std::pair<OpKind, int64_t>, int>{
                        {{OpKind::kAllReduce, 2 * kRows * kHidden}, 2 * 3},
                        {{OpKind::kAllReduce, 4 * kRows}, 3 * 3},
                        {{OpKind::kBroadcast, 2 * kRows * kHidden}, 2 * 3}}));
  }
}

}  // namespace
}  // namespace stagecraft
