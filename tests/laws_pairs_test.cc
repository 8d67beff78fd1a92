// Tests the same laws for every parallelism alone and for every two together, on a dense network
// and on a mixture of experts, on equal GPUs and on two GPU types.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "costmodel/analytical_model.h"
#include "costmodel/check.h"
#include "costmodel/embedded_nccl_tuning.h"
#include "sim/cluster/cluster_spec.h"
#include "sim/lowering/lowering.h"
#include "sim/memory/stage_memory.h"
#include "sim/pipeline/chunk_map.h"
#include "sim/pipeline/vocabulary_placement.h"
#include "sim/plan/plan.h"
#include "sim/step/evaluation.h"
#include "sim/workload/networks/decoder.h"
#include "sim/workload/networks/test_decoders.h"
#include "tests/laws.h"

namespace stagecraft {
namespace {

using laws::OnOneDevice;
using laws::RepresentedDevices;
using laws::TotalFlops;

constexpr int kDevices = 16;
constexpr int64_t kBatch = 32;
constexpr int64_t kSequence = 1024;
constexpr double kImbalance = 1.5;

// Two parallelisms of one axis are alternatives, which make no pair.
enum class Axis {
  kTensor,
  kPipeline,
  kSharing,
  kContext,
  kExpert,
  kRecompute,
  kGather,
  kReduce,
  kP2p
};

struct Parallelism {
  const char* name;
  Axis axis;
  void (*apply)(PlanDegrees&);
};

const std::vector<Parallelism> kParallelisms = {
    {"tp", Axis::kTensor, [](PlanDegrees& d) { d.tensor = 4; }},
    {"tp without sequence parallelism", Axis::kTensor,
     [](PlanDegrees& d) { d.tensor = 4, d.sequence_parallel = 0; }},
    {"tp overlapped", Axis::kTensor, [](PlanDegrees& d) { d.tensor = 4, d.overlap_tensor = true; }},
    {"pp", Axis::kPipeline, [](PlanDegrees& d) { d.pipeline = 2; }},
    {"pp gpipe", Axis::kPipeline,
     [](PlanDegrees& d) { d.pipeline = 2, d.schedule = PipelineSchedule::kGpipe; }},
    {"pp interleaved", Axis::kPipeline, [](PlanDegrees& d) { d.pipeline = 2, d.chunks = 2; }},
    {"pp with the vocabulary split", Axis::kPipeline,
     [](PlanDegrees& d) {
       d.pipeline = 2, d.schedule_options.vocabulary = VocabularyPlacement::kVocab1;
     }},
    {"pp with the vocabulary split, one barrier", Axis::kPipeline,
     [](PlanDegrees& d) {
       d.pipeline = 2, d.schedule_options.vocabulary = VocabularyPlacement::kVocab2;
     }},
    {"pp v-half with the vocabulary split", Axis::kPipeline,
     [](PlanDegrees& d) {
       d.pipeline = 2, d.chunks = 2, d.schedule = PipelineSchedule::kVHalf;
       d.schedule_options.vocabulary = VocabularyPlacement::kVocab1;
     }},
    {"pp interlaced with the vocabulary", Axis::kPipeline,
     [](PlanDegrees& d) {
       d.pipeline = 2, d.schedule_options.vocabulary = VocabularyPlacement::kInterlaced;
     }},
    {"zero 0", Axis::kSharing, [](PlanDegrees& d) { d.zero = 0; }},
    {"zero 1", Axis::kSharing, [](PlanDegrees& d) { d.zero = 1; }},
    {"zero 2", Axis::kSharing, [](PlanDegrees& d) { d.zero = 2; }},
    {"zero 3", Axis::kSharing, [](PlanDegrees& d) { d.zero = 3; }},
    {"zero 3 kept", Axis::kSharing,
     [](PlanDegrees& d) { d.zero = 3, d.reshard_after_forward = false; }},
    {"zero 1 by groups", Axis::kSharing, [](PlanDegrees& d) { d.zero = 1, d.zero_group = 4; }},
    {"zero 3 by groups", Axis::kSharing, [](PlanDegrees& d) { d.zero = 3, d.zero_group = 4; }},
    {"cp ring", Axis::kContext, [](PlanDegrees& d) { d.context = 2; }},
    {"cp gather", Axis::kContext,
     [](PlanDegrees& d) { d.context = 2, d.context_exchange = ContextExchange::kGather; }},
    {"cp ulysses", Axis::kContext,
     [](PlanDegrees& d) { d.context = 2, d.context_exchange = ContextExchange::kUlysses; }},
    {"ep", Axis::kExpert, [](PlanDegrees& d) { d.expert = 2; }},
    {"ep uneven", Axis::kExpert,
     [](PlanDegrees& d) { d.expert = 2, d.expert_imbalance = kImbalance; }},
    {"recompute", Axis::kRecompute, [](PlanDegrees& d) { d.recompute = Recompute::kFull; }},
    {"recompute operators", Axis::kRecompute,
     [](PlanDegrees& d) { d.recompute = Recompute::kOperators; }},
    {"zero 3 gathered late", Axis::kSharing,
     [](PlanDegrees& d) { d.zero = 3, d.framework.backward_prefetch = BackwardPrefetch::kAfter; }},
    {"zero 3 by tensors", Axis::kSharing,
     [](PlanDegrees& d) { d.zero = 3, d.framework.parameter_gather = ParameterGather::kTensors; }},
    {"zero 1 by broadcasts", Axis::kSharing,
     [](PlanDegrees& d) {
       d.zero = 1, d.framework.parameter_exchange = ParameterExchange::kBroadcasts;
     }},
    {"parameter gather overlapped", Axis::kGather,
     [](PlanDegrees& d) { d.overlap_param_gather = true; }},
    {"gradient reduction not overlapped", Axis::kReduce,
     [](PlanDegrees& d) { d.overlap_grad_reduce = false; }},
    {"p2p not overlapped", Axis::kP2p, [](PlanDegrees& d) { d.overlap_p2p = false; }},
};

// A pair that is refused; all of these are listed, so that none is left out unnoticed. An empty
// second name stands for any other.
struct Refusal {
  const char* network;
  const char* first;
  const char* second;
  const char* wants;  // a part of the sentence
};

const std::vector<Refusal> kRefusals = {
    {"dense", "ep", "", "expert_parallel: got 2, but dense has no experts"},
    {"dense", "ep uneven", "", "expert_parallel: got 2, but dense has no experts"},
};

const Refusal* FindRefusal(const std::string& network, const std::set<std::string>& names) {
  for (const Refusal& refusal : kRefusals) {
    if (network != refusal.network || !names.contains(refusal.first)) continue;
    if (*refusal.second == '\0' || names.contains(refusal.second)) return &refusal;
  }
  return nullptr;
}

// Every size is a multiple of every degree, so that nothing is padded.
DecoderConfig ConfigOf(const std::string& network) {
  DecoderConfig config =
      SizedDecoder(network == "dense" ? "llama" : "mixtral", {.layers = 6,
                                                              .hidden = 512,
                                                              .heads = 8,
                                                              .kv_heads = 4,
                                                              .ffn = 1024,
                                                              .vocab = 4096,
                                                              .max_sequence = kSequence});
  config.tied_embeddings = network == "dense";
  if (network == "sparse") {
    config.moe.experts = 8;
    config.moe.experts_per_token = 2;
  }
  return Completed(config);
}

struct Traffic {
  int64_t tasks = 0;
  int64_t bytes = 0;
  friend bool operator==(const Traffic&, const Traffic&) = default;
};
void PrintTo(const Traffic& traffic, std::ostream* out) {
  *out << traffic.tasks << " tasks, " << traffic.bytes << " bytes";
}

// The tasks of all devices by phase, and the buffers that they exchange by phase and kind.
std::map<std::string, Traffic> TrafficOf(const Schedule& schedule) {
  std::map<std::string, Traffic> all;
  for (TaskId task = 0; task < schedule.task_count(); ++task) {
    int64_t devices = 0;
    for (const Lane lane : schedule.lanes(task)) {
      devices += schedule.ranks()[schedule.lane_infos()[Index(lane)].rank].multiplicity;
    }
    const std::string phase = Name(schedule.tag(task).phase);
    all[phase].tasks += devices;
    for (const OpId id : schedule.ops(schedule.op_sequence(task))) {
      const Op& op = schedule.op(id);
      if (!IsCollective(op.kind)) continue;
      Traffic& traffic = all[phase + " " + Name(op.kind)];
      traffic.tasks += devices;
      traffic.bytes += devices * op.bytes.count();
    }
  }
  return all;
}

// The bytes that each micro-batch sends over each border between virtual stages in a phase.
std::map<std::pair<int, int>, int64_t> Sent(const Schedule& schedule, const ChunkMap& map,
                                            Phase phase) {
  std::map<std::pair<int, int>, int64_t> sent;
  for (TaskId task = 0; task < schedule.task_count(); ++task) {
    const Tag& tag = schedule.tag(task);
    if (tag.phase != phase) continue;
    const int from = map.PartAt({tag.stage, tag.chunk}).index;
    const int border = phase == Phase::kSendForward ? from : from - 1;
    for (const OpId op : schedule.ops(schedule.op_sequence(task))) {
      sent[{tag.micro_batch, border}] += schedule.op(op).bytes.count();
    }
  }
  return sent;
}

void ExpectNoLaneDoesTwoThings(const SimulatedStep& step) {
  for (int lane = 0; lane < step.schedule.lane_count(); ++lane) {
    Duration free;
    for (const TaskId task : step.schedule.order(Lane(lane))) {
      EXPECT_GE(step.timeline.start(task), free);
      free = step.timeline.end(task);
    }
    EXPECT_LE(free, step.evaluation.step_time);
  }
}

class Checker {
 public:
  Checker(const std::string& network, const std::string& cluster)
      : config_(ConfigOf(network)),
        workload_(BuildDecoder(config_, AttentionBackend::kFlash, network)),
        cluster_(ParseCluster(cluster)) {}

  // Throws InputError if the plan is refused.
  void Check(const PlanDegrees& degrees) {
    const Plan plan = MakePlan(degrees, workload_, cluster_);
    const SimulatedStep folded = SimulateStep(plan, workload_, cluster_, model_);
    const SimulatedStep unfolded =
        SimulateStep(plan, workload_, cluster_, model_, {.unfold = true});
    EXPECT_EQ(folded.evaluation.step_time, unfolded.evaluation.step_time);
    EXPECT_EQ(unfolded.schedule.ranks().size(), static_cast<size_t>(kDevices));
    EXPECT_EQ(TrafficOf(folded.schedule), TrafficOf(unfolded.schedule));
    const double flops = ExpectedFlops(degrees);
    for (const SimulatedStep* step : {&folded, &unfolded}) {
      EXPECT_EQ(RepresentedDevices(step->schedule), kDevices);
      EXPECT_NEAR(TotalFlops(step->schedule) / flops, 1.0, 1e-12);
      ExpectNoLaneDoesTwoThings(*step);
      const auto forward = Sent(step->schedule, MapOf(plan), Phase::kSendForward);
      EXPECT_EQ(forward, Sent(step->schedule, MapOf(plan), Phase::kSendBackward));
      const int borders = degrees.pipeline * degrees.chunks - 1;
      EXPECT_EQ(forward.empty(), borders == 0);
    }
    CheckParameters(plan);
    CheckMemory(plan);
  }

 private:
  // The FLOPs of one device alone, and those that a plan is known to add: without sequence
  // parallelism every rank of a tensor group routes all rows, and with uneven routing all ranks do
  // as much as the fullest one.
  double ExpectedFlops(const PlanDegrees& degrees) {
    PlanDegrees alone = OnOneDevice(degrees);
    alone.expert_imbalance = 1;
    double& flops = flops_alone_[degrees.recompute];
    const Cluster one = ParseCluster("h100-sxm:1x1");
    if (flops == 0) flops = TotalFlops(Lower(MakePlan(alone, workload_, one), workload_, one));
    const double passes = degrees.recompute == Recompute::kFull        ? 4
                          : degrees.recompute == Recompute::kOperators ? 3.5
                                                                       : 3;
    const double per_weight = 2 * passes * static_cast<double>(kBatch * kSequence);
    const int64_t router = config_.layers * config_.hidden * config_.moe.experts;
    const int64_t experts =
        config_.layers * config_.moe.experts_per_token * 3 * config_.hidden * config_.moe.ffn;
    const int routers = degrees.sequence_parallel == 0 ? degrees.tensor : 1;
    return flops + per_weight * (static_cast<double>(router) * (routers - 1) +
                                 static_cast<double>(experts) * (degrees.expert_imbalance - 1));
  }

  // All tensor and expert ranks of all stages together hold the network, with a copy on every
  // tensor rank of what is not split.
  void CheckParameters(const Plan& plan) const {
    int64_t unsplit = 0;
    for (int layer = 0; layer < workload_.layer_count(); ++layer) {
      for (const Operator& op : workload_.layer(layer).operators) {
        if (op.split == Split::kTokens) unsplit += op.parameters;
      }
    }
    int64_t held = 0;
    for (size_t s = 0; s < plan.stages.size(); ++s) {
      const Stage& stage = plan.stages[s];
      for (const ParameterCount& chunk : ChunkParameters(plan, workload_, static_cast<int>(s))) {
        held += stage.tensor_parallel * (chunk.dense + chunk.expert * stage.expert_parallel);
      }
    }
    const int64_t copied = unsplit * (plan.stages[0].tensor_parallel - 1);
    // Head and embedding share a tensor only if they are on one stage, or if every stage holds the
    // same share of both.
    const bool has_copy = plan.stages.size() > 1 && !plan.SplitsVocabulary();
    const int64_t tied =
        has_copy ? workload_.layer(workload_.layer_count() - 1).tied_parameters : 0;
    EXPECT_EQ(held, workload_.Parameters() + tied + copied);
  }

  // The devices of a stage hold as many copies of weights, gradients and optimizer states as it has
  // shard groups (or ranks, if these share nothing), and less than two elements of padding each.
  void CheckMemory(const Plan& plan) const {
    const std::vector<StageMemory> memory = EstimateMemory(plan, workload_, cluster_);
    for (size_t s = 0; s < plan.stages.size(); ++s) {
      const Stage& stage = plan.stages[s];
      const int64_t ranks = static_cast<int64_t>(stage.replicas.size()) * stage.context_parallel;
      const int64_t devices = ranks * stage.tensor_parallel;
      ParameterCount own;
      for (const ParameterCount& chunk : ChunkParameters(plan, workload_, static_cast<int>(s))) {
        own += chunk;
      }
      const auto expect = [&](Bytes each, int from_zero, int64_t element, const char* what) {
        const bool shares = plan.zero >= from_zero;
        const int64_t group = plan.zero_group > 0 ? plan.zero_group : ranks;
        const int64_t dense = own.dense * (shares ? ranks / group : ranks);
        const int64_t expert =
            own.expert * (shares ? ranks / group * stage.expert_parallel : ranks);
        const int64_t whole = stage.tensor_parallel * (dense + expert) * element;
        EXPECT_GE(devices * each.count(), whole) << what << " of stage " << s;
        EXPECT_LT(devices * each.count(), whole + 2 * devices * element)
            << what << " of stage " << s;
      };
      constexpr int64_t kAdamBytes = 12;  // a master copy and two moments of 32 bits each
      expect(memory[s].weights, 3, plan.WorkingBytes(), "weights");
      expect(memory[s].gradients, 2, plan.gradient_bytes, "gradients");
      expect(memory[s].optimizer, 1, kAdamBytes, "optimizer states");
    }
  }

  DecoderConfig config_;
  Workload workload_;
  Cluster cluster_;
  AnalyticalModel model_;
  std::map<Recompute, double> flops_alone_;  // of one device, zero before it is known
};

struct Setting {
  const char* network;
  const char* cluster;
  DType precision;
};

class LawsPairsTest : public testing::TestWithParam<Setting> {
 protected:
  LawsPairsTest() : checker_(GetParam().network, GetParam().cluster) {}

  void Check(const Parallelism& first, const Parallelism& second) {
    PlanDegrees degrees;
    degrees.global_batch = kBatch;
    degrees.sequence = kSequence;
    degrees.precision = GetParam().precision;
    first.apply(degrees);
    if (&second != &first) second.apply(degrees);
    const Refusal* refusal = FindRefusal(GetParam().network, {first.name, second.name});
    SCOPED_TRACE(fmt::format("{} + {}: {}", first.name, second.name, laws::Describe(degrees)));
    std::string error;
    try {
      checker_.Check(degrees);
    } catch (const InputError& refused) {
      error = refused.what();
    }
    const std::string wants = refusal == nullptr ? "" : refusal->wants;
    EXPECT_EQ(error.empty(), wants.empty()) << error;
    EXPECT_NE(error.find(wants), std::string::npos) << error;
    ++(error.empty() ? simulated_ : refused_);
    if (refusal != nullptr) met_.insert(refusal);
  }

  Checker checker_;
  int simulated_ = 0;
  int refused_ = 0;
  std::set<const Refusal*> met_;
};

TEST_P(LawsPairsTest, HoldForEveryParallelismAloneAndInPairs) {
  for (size_t i = 0; i < kParallelisms.size(); ++i) {
    Check(kParallelisms[i], kParallelisms[i]);
    for (size_t j = i + 1; j < kParallelisms.size(); ++j) {
      if (kParallelisms[i].axis != kParallelisms[j].axis) Check(kParallelisms[i], kParallelisms[j]);
    }
  }
  for (const Refusal& refusal : kRefusals) {
    const bool is_due = refusal.network == std::string(GetParam().network);
    EXPECT_EQ(met_.contains(&refusal), is_due) << refusal.first << " + " << refusal.second;
  }
  RecordProperty("simulated", simulated_);
  RecordProperty("refused", refused_);
  fmt::print("{} plans simulated, {} refused\n", simulated_, refused_);
}

INSTANTIATE_TEST_SUITE_P(
    Settings, LawsPairsTest,
    testing::Values(Setting{"dense", "h100-sxm:2x8", DType::kBf16},
                    Setting{"sparse", "h100-sxm:2x8", DType::kBf16},
                    Setting{"dense", "a100-sxm4-80gb:1x8+v100-sxm2-32gb:1x8", DType::kFp16},
                    Setting{"sparse", "a100-sxm4-80gb:1x8+v100-sxm2-32gb:1x8", DType::kFp16}));

// With tp = pp = dp = 1, ops run one after another.
TEST(LawsOneDeviceTest, AStepIsTheSumOfItsOps) {
  for (const char* network : {"dense", "sparse"}) {
    for (const Recompute recompute : {Recompute::kNone, Recompute::kFull}) {
      const Workload workload = BuildDecoder(ConfigOf(network), AttentionBackend::kFlash, network);
      const Cluster cluster = ParseCluster("h100-sxm:1x1");
      PlanDegrees degrees;
      degrees.global_batch = 4;
      degrees.sequence = kSequence;
      degrees.recompute = recompute;
      const Plan plan = MakePlan(degrees, workload, cluster);
      const AnalyticalModel launches_for_free(EmbeddedNcclTuning(), {.host_dispatch = Duration()});
      const SimulatedStep step = SimulateStep(plan, workload, cluster, launches_for_free);
      Duration sum;
      for (TaskId task = 0; task < step.schedule.task_count(); ++task) {
        for (const OpId op : step.schedule.ops(step.schedule.op_sequence(task))) {
          sum += step.costs.estimates[0][op].time;
        }
      }
      EXPECT_EQ(step.evaluation.step_time, sum) << network << " " << Name(recompute);
    }
  }
}

}  // namespace
}  // namespace stagecraft
