#include "search/step_bound.h"

#include <algorithm>
#include <utility>

#include "costmodel/divide.h"
#include "sim/memory/model_states.h"
#include "sim/pipeline/in_flight.h"
#include "sim/plan/layer_split.h"

namespace stagecraft {
namespace {

// Returns the time of all parts before each part; `own` are the times of parts 0, 1, ...
std::vector<Duration> Before(const std::vector<Duration>& own) {
  std::vector<Duration> before(own.size());
  for (size_t i = 1; i < own.size(); ++i) before[i] = before[i - 1] + own[i - 1];
  return before;
}

}  // namespace

StepBound::StepBound(const SearchProblem& problem, std::vector<int> devices, LayerTimesMemo& memo)
    : problem_(problem), memo_(memo), places_(problem, std::move(devices)) {}

StepBound::Key StepBound::KeyOf(const PlanDegrees& degrees, int64_t other) {
  const bool splits_tokens = degrees.sequence_parallel != 0;
  return {degrees.tensor,
          degrees.context,
          degrees.expert,
          degrees.micro_batch,
          static_cast<int64_t>(degrees.recompute) << 1 | splits_tokens,
          other};
}

const std::vector<LayerTimes>& StepBound::LayersOf(const PlanDegrees& degrees) {
  const Key key = KeyOf(degrees, places_.KeyOf(degrees));
  const auto [entry, is_new] = layer_times_.try_emplace(key);
  if (!is_new) return entry->second;
  for (const ShardSpec& shard : places_.ShardsOf(degrees)) {
    const std::vector<LayerTimes>& times = memo_.Of(shard, places_.devices()[0]);
    entry->second = entry->second.empty() ? times : LeastOf(entry->second, times);
  }
  return entry->second;
}

Duration StepBound::StepTime(const PlanDegrees& degrees) {
  const bool hides_collectives =
      TraitsOf(degrees.schedule).pairs_passes || degrees.schedule_options.pairs_passes;
  const Workload& workload = problem_.workload;
  const std::vector<LayerTimes>& times = LayersOf(degrees);
  const ChunkMap map(PlacementOf(degrees), degrees.pipeline, degrees.chunks);
  std::vector<Duration> forward(map.length()), backward(map.length());
  int layer = 0;
  const std::vector<int> parts = PartLayers(degrees, workload);
  for (int part = 0; part < map.length(); ++part) {
    for (int end = layer + parts[part]; layer < end; ++layer) {
      const LayerTimes& own = times[workload.layers[layer]];
      forward[part] += hides_collectives ? own.forward_compute : own.forward;
      backward[part] += hides_collectives ? own.backward_compute : own.backward;
    }
  }
  const std::vector<Duration> forwards_before = Before(forward);
  const std::vector<Duration> backwards_before = Before(backward);
  const auto micro_batches =
      static_cast<int>(DivideUp(degrees.global_batch / degrees.micro_batch, int64_t{degrees.data}));
  Duration longest;
  for (int stage = 0; stage < map.stages(); ++stage) {
    Duration own, head = Duration::Max(), tail = Duration::Max();
    for (int chunk = 0; chunk < map.chunks(); ++chunk) {
      const ChunkMap::Part part = map.PartAt({stage, chunk});
      const int share = map.MicroBatches(part.chain, micro_batches);
      own += share * (forward[part.index] + backward[part.index]);
      head = std::min(head, forwards_before[part.index]);
      tail = std::min(tail, backwards_before[part.index]);
    }
    if (SplitsBackward(degrees.schedule)) tail = Duration();
    if (degrees.post_validation) head = Duration();
    // Between steps these pipelines neither fill nor drain.
    if (IsAsynchronous(degrees.schedule)) head = tail = Duration();
    longest = std::max(longest, head + own + tail);
  }
  return longest;
}

Duration StepBound::LeastPass(PlanDegrees degrees, ScheduleClass schedules, bool computes_alone) {
  const std::vector<PipelineSchedule> pipeline_schedules = SchedulesToTry(problem_);
  const auto pairs_passes = [&](PipelineSchedule pipeline_schedule) {
    return ClassOf(pipeline_schedule) == schedules && TraitsOf(pipeline_schedule).pairs_passes;
  };
  const bool may_hide =
      computes_alone || problem_.given.schedule_options.pairs_passes ||
      std::any_of(pipeline_schedules.begin(), pipeline_schedules.end(), pairs_passes) ||
      places_.MayLieElsewhere(degrees);
  Duration least = Duration::Max();
  for (const Recompute recompute : RecomputesToTry(problem_)) {
    degrees.recompute = recompute;
    const std::vector<LayerTimes>& times = LayersOf(degrees);
    Duration sum;
    for (const int kind : problem_.workload.layers) {
      const LayerTimes& own = times[kind];
      sum += may_hide ? own.forward_compute + own.backward_compute : own.forward + own.backward;
    }
    least = std::min(least, sum);
  }
  return least;
}

const std::vector<StepBound::PassTimes>& StepBound::PassesOf(const DegreeFamily& family,
                                                             ScheduleClass schedules) {
  const bool is_anywhere = !family.device_list;
  const auto [entry, is_new] =
      pass_times_.try_emplace({family.tensor, family.context, family.splits_tokens,
                               static_cast<int>(schedules), is_anywhere});
  if (!is_new) return entry->second;
  PlanDegrees degrees = problem_.given;
  degrees.tensor = family.tensor;
  degrees.context = family.context;
  degrees.sequence_parallel = family.splits_tokens;
  degrees.rank_order = kDefaultRankOrder;
  degrees.pipeline = 1;
  for (const int64_t size : MicroBatchesToTry(problem_)) {
    degrees.micro_batch = size;
    Duration least = Duration::Max();
    for (const int expert : ExpertsToTry(problem_)) {
      degrees.expert = expert;
      degrees.data = SharingReplicas(expert, family.context);
      const int64_t model = int64_t{family.tensor} * family.context * degrees.data;
      if (model > static_cast<int64_t>(places_.devices().size())) continue;
      least = std::min(least, LeastPass(degrees, schedules, is_anywhere));
    }
    entry->second.push_back({size, least == Duration::Max() ? Duration() : least});
  }
  return entry->second;
}

Duration StepBound::StepTime(const DegreeFamily& family) {
  Duration least = Duration::Max();
  for (const PassTimes& pass : PassesOf(family, family.part.schedules)) {
    const int64_t micro_batches =
        DivideUp(problem_.given.global_batch / pass.micro_batch, int64_t{family.data});
    const Duration all = micro_batches * pass.time;
    least = std::min(least, Duration::Nanoseconds(all.ns() / family.pipeline));
  }
  return least;
}

Duration StepBound::StepTime(const DegreeFamily& division, ScheduleClass schedules, int devices) {
  Duration least = Duration::Max();
  const int64_t set = int64_t{division.tensor} * division.context;
  if (set > devices) return least;
  for (const PassTimes& pass : PassesOf(division, schedules)) {
    const int64_t micro_batches = problem_.given.global_batch / pass.micro_batch;
    const Duration all = micro_batches * set * pass.time;
    least = std::min(least, Duration::Nanoseconds(all.ns() / devices));
  }
  return least;
}

const std::vector<Bytes>& StepBound::SavedOf(const PlanDegrees& degrees) {
  const Key key = KeyOf(degrees, degrees.zero);
  const auto [entry, is_new] = saved_.try_emplace(key);
  std::vector<Bytes>& saved = entry->second;
  if (!is_new) return saved;
  const Workload& workload = problem_.workload;
  saved.resize(workload.kinds.size());
  const PlanDegrees& given = problem_.given;
  const bool recomputes_some = !(given.recompute_choice == RecomputeChoice());
  if (given.forward_only || given.offload.activations > 0 || recomputes_some) return saved;
  const Plan probe = OneStage(degrees);
  std::vector<bool> is_measured(saved.size());  // needed because a layer may keep nothing
  for (int layer = 0; layer < workload.layer_count(); ++layer) {
    const int kind = workload.layers[layer];
    if (is_measured[kind]) continue;
    saved[kind] = MeasureLayerMemory(problem_, probe, layer).saved;
    is_measured[kind] = true;
  }
  return saved;
}

Plan StepBound::OneStage(const PlanDegrees& degrees) const {
  Plan plan = PlanWithoutStages(problem_, degrees.micro_batch, degrees.sequence_parallel != 0,
                                degrees.zero);
  Stage stage = StageWithDegrees(degrees);
  const int set = degrees.tensor * degrees.context;
  const std::vector<int>& devices = places_.devices();
  for (int replica = 0; replica < SharingReplicas(degrees.expert, degrees.context); ++replica) {
    const auto first = devices.begin() + int64_t{replica} * set;
    stage.replicas.emplace_back(first, first + set);
  }
  plan.stages = {stage};
  return plan;
}

Bytes StepBound::Memory(const PlanDegrees& degrees) {
  // Looks for the rank with the most parameters, not counting tied ones.
  const Workload& workload = problem_.workload;
  const ChunkMap map(PlacementOf(degrees), degrees.pipeline, degrees.chunks);
  const std::vector<int> parts = PartLayers(degrees, workload);
  std::vector<ParameterCount> by_kind, trained_by_kind;
  for (const LayerKind& kind : workload.kinds) {
    by_kind.push_back(ShardParameters(kind, degrees.tensor, degrees.expert));
    trained_by_kind.push_back(ShardTrained(kind, degrees.tensor, degrees.expert));
    const int64_t tied = DivideUp(kind.tied_parameters, degrees.tensor);
    by_kind.back().dense -= tied;
    if (kind.TrainsTied()) trained_by_kind.back().dense -= tied;
  }
  const std::vector<Bytes>& saved_by_kind = SavedOf(degrees);
  std::vector<ParameterCount> by_stage(map.stages()), trained(map.stages());
  std::vector<Bytes> saved(map.length());  // by part
  int layer = 0;
  for (int index = 0; index < map.length(); ++index) {
    ParameterCount sum, trained_sum;
    for (int end = layer + parts[index]; layer < end; ++layer) {
      sum += by_kind[workload.layers[layer]];
      trained_sum += trained_by_kind[workload.layers[layer]];
      saved[index] += saved_by_kind[workload.layers[layer]];
    }
    for (int chain = 0; chain < map.chains(); ++chain) {
      const int stage = map.PlaceOf({chain, index}).stage;
      by_stage[stage] += sum;
      trained[stage] += trained_sum;
    }
  }
  Plan probe;
  static_cast<StepOptions&>(probe) = degrees;
  probe.zero = degrees.zero;
  probe.gradient_bytes = degrees.gradient_bytes;
  probe.stages.resize(degrees.pipeline);
  for (Stage& stage : probe.stages) {
    stage.chunks.resize(degrees.chunks);
    stage.context_parallel = degrees.context;
    stage.expert_parallel = degrees.expert;
    stage.replicas.resize(degrees.data);
  }
  const int64_t micro_batches = degrees.global_batch / degrees.micro_batch / degrees.data;
  Bytes most;
  for (int stage = 0; stage < map.stages(); ++stage) {
    const ModelStates states = ShareOut(by_stage[stage], trained[stage],
                                        SharingOf(probe, workload, stage, problem_.framework));
    const Bytes optimizer = degrees.offload.optimizer ? Bytes() : states.optimizer;
    const std::vector<int64_t> in_flight =
        LeastInFlight(degrees.schedule, degrees.pipeline, degrees.chunks, stage, micro_batches);
    Bytes kept, least;
    for (int chunk = 0; chunk < map.chunks(); ++chunk) {
      const Bytes own = saved[map.PartAt({stage, chunk}).index];
      kept += in_flight[chunk] * own;
      least = std::max(least, own);
    }
    kept = std::max(kept, least);
    // Gradients without buffers are complete only when the last backward is over.
    const Bytes beside = problem_.framework.keeps_gradients ? states.gradients + kept
                                                            : std::max(states.gradients, kept);
    most = std::max(most, states.weights + optimizer + beside);
  }
  return most + ContextMemory();
}

}  // namespace stagecraft
