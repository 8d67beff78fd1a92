#include "search/step_bound.h"

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include "costmodel/divide.h"
#include "sim/memory/model_states.h"
#include "sim/pipeline/in_flight.h"
#include "sim/plan/layer_split.h"

namespace stagecraft {
namespace {

// Returns whether collectives of the plan's passes may be hidden by other passes.
bool HidesCollectives(const PlanDegrees& degrees) {
  return TraitsOf(degrees.schedule).pairs_passes || degrees.schedule_options.pairs_passes;
}

PipelineEnds EndsOf(const PlanDegrees& degrees) {
  // Between steps asynchronous pipelines neither fill nor drain.
  const bool flushes = !IsAsynchronous(degrees.schedule);
  return {.fills = flushes && !degrees.post_validation,
          .drains = flushes && !SplitsBackward(degrees.schedule)};
}

// Returns the bound for plans whose layers take these times. Precondition: every part has layers.
PipelineTimes TimesOf(const PlanDegrees& degrees, const Workload& workload,
                      const std::vector<LayerTimes>& times, bool computes_alone) {
  const ChunkMap map(PlacementOf(degrees), degrees.pipeline, degrees.chunks);
  PartTimes parts{std::vector<Duration>(map.length()), std::vector<Duration>(map.length())};
  const std::vector<int> layers = PartLayers(degrees, workload);
  int layer = 0;
  for (int part = 0; part < map.length(); ++part) {
    for (int end = layer + layers[part]; layer < end; ++layer) {
      const LayerTimes& own = times[workload.layers[layer]];
      parts.forward[part] += computes_alone ? own.forward_compute : own.forward;
      parts.backward[part] += computes_alone ? own.backward_compute : own.backward;
    }
  }
  return {map, parts, EndsOf(degrees)};
}

// Returns pipelines of so many stages with which plans of a class of schedules are tried, one for
// all schedules of which the bounds are the same.
std::vector<PlanDegrees> PipelinesToTry(const SearchProblem& problem, int pipeline,
                                        ScheduleClass schedules) {
  using Shape = std::tuple<Placement, int, bool, bool, bool>;
  std::set<Shape> known;
  std::vector<PlanDegrees> found;
  PlanDegrees degrees = problem.given;
  degrees.pipeline = pipeline;
  for (const PipelineSchedule schedule : SchedulesToTry(problem)) {
    const bool is_tried = pipeline > 1 || schedule == ScheduleOfOneStage(problem);
    if (!is_tried || ClassOf(schedule) != schedules) continue;
    degrees.schedule = schedule;
    for (const int chunks : ChunksToTry(problem, schedule, pipeline)) {
      degrees.chunks = chunks;
      const PipelineEnds ends = EndsOf(degrees);
      const Shape shape{PlacementOf(degrees), chunks, ends.fills, ends.drains,
                        HidesCollectives(degrees)};
      if (known.insert(shape).second) found.push_back(degrees);
    }
  }
  return found;
}

}  // namespace

StepBound::StepBound(const SearchProblem& problem, std::vector<int> devices, LayerTimesMemo& memo)
    : problem_(problem), memo_(memo), places_(problem, std::move(devices)) {}

StepBound::Key StepBound::KeyOf(const PlanDegrees& degrees, int64_t other) {
  const bool splits_tokens = degrees.sequence_parallel != 0;
  return {
      degrees.tensor,
      degrees.context,
      degrees.expert,
      degrees.micro_batch,
      static_cast<int64_t>(degrees.recompute) << 2 | degrees.overlap_tensor << 1 | splits_tokens,
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
  const PipelineKey key{KeyOf(degrees, places_.KeyOf(degrees)), degrees.pipeline, degrees.chunks,
                        degrees.schedule};
  auto known = times_.find(key);
  if (known == times_.end()) {
    PipelineTimes times =
        TimesOf(degrees, problem_.workload, LayersOf(degrees), HidesCollectives(degrees));
    known = times_.emplace(key, std::move(times)).first;
  }
  return known->second.Of(
      DivideUp(degrees.global_batch / degrees.micro_batch, int64_t{degrees.data}));
}

void StepBound::CountExperts(PlanDegrees degrees, bool computes_alone, PassTimes& passes) {
  for (const Recompute recompute : RecomputesToTry(problem_)) {
    degrees.recompute = recompute;
    const std::vector<LayerTimes>& times = LayersOf(degrees);
    Duration sum;
    for (const int kind : problem_.workload.layers) {
      const LayerTimes& own = times[kind];
      sum +=
          computes_alone ? own.forward_compute + own.backward_compute : own.forward + own.backward;
    }
    passes.time = std::min(passes.time, sum);
    passes.layers = passes.layers.empty() ? times : LeastOf(passes.layers, times);
  }
}

std::vector<StepBound::PassTimes>& StepBound::PassesOf(const DegreeFamily& family,
                                                       ScheduleClass schedules) {
  const bool is_anywhere = !family.device_list;
  const auto [entry, is_new] =
      pass_times_.try_emplace({family.tensor, family.context, family.splits_tokens,
                               family.overlaps_tensor, static_cast<int>(schedules), is_anywhere});
  if (!is_new) return entry->second;
  PlanDegrees degrees = problem_.given;
  degrees.tensor = family.tensor;
  degrees.context = family.context;
  degrees.sequence_parallel = family.splits_tokens;
  degrees.overlap_tensor = family.overlaps_tensor;
  degrees.rank_order = kDefaultRankOrder;
  degrees.pipeline = 1;
  const bool hides = MayHide(schedules);
  for (const int64_t size : MicroBatchesToTry(problem_)) {
    degrees.micro_batch = size;
    PassTimes passes{.micro_batch = size};
    for (const int expert : ExpertsToTry(problem_)) {
      degrees.expert = expert;
      degrees.data = SharingReplicas(expert, family.context);
      const int64_t model = int64_t{family.tensor} * family.context * degrees.data;
      if (model > static_cast<int64_t>(places_.devices().size())) continue;
      const bool is_elsewhere = is_anywhere || places_.MayLieElsewhere(degrees);
      passes.is_elsewhere = passes.is_elsewhere || is_elsewhere;
      CountExperts(degrees, is_elsewhere || hides, passes);
    }
    if (passes.time == Duration::Max()) passes.time = Duration();
    entry->second.push_back(std::move(passes));
  }
  return entry->second;
}

bool StepBound::MayHide(ScheduleClass schedules) const {
  const std::vector<PipelineSchedule> pipeline_schedules = SchedulesToTry(problem_);
  return problem_.given.schedule_options.pairs_passes ||
         std::any_of(pipeline_schedules.begin(), pipeline_schedules.end(),
                     [&](PipelineSchedule pipeline_schedule) {
                       return ClassOf(pipeline_schedule) == schedules &&
                              TraitsOf(pipeline_schedule).pairs_passes;
                     });
}

Duration StepBound::StepTime(const DegreeFamily& family) {
  Duration least = Duration::Max();
  for (const PassTimes& pass : PassesOf(family, family.part.schedules)) {
    const Duration all = MicroBatches(family, pass) * pass.time;
    least = std::min(least, Duration::Nanoseconds(all.ns() / family.pipeline));
  }
  return least;
}

Duration StepBound::CloseStepTime(const DegreeFamily& family) {
  Duration least = Duration::Max();
  for (PassTimes& pass : PassesOf(family, family.part.schedules)) {
    if (pass.layers.empty()) return StepTime(family);
    const int64_t micro_batches = MicroBatches(family, pass);
    for (const PipelineTimes& pipeline : PipelinesOf(family, pass)) {
      least = std::min(least, pipeline.Of(micro_batches));
    }
  }
  return least;
}

const std::vector<PipelineTimes>& StepBound::PipelinesOf(const DegreeFamily& family,
                                                         PassTimes& passes) {
  const auto [entry, is_new] = passes.pipelines.try_emplace(family.pipeline);
  if (!is_new) return entry->second;
  const auto [tried, are_new] =
      pipelines_.try_emplace({family.pipeline, static_cast<int>(family.part.schedules)});
  if (are_new) {
    tried->second = PipelinesToTry(problem_, family.pipeline, family.part.schedules);
  }
  for (const PlanDegrees& degrees : tried->second) {
    const bool computes_alone = passes.is_elsewhere || HidesCollectives(degrees);
    entry->second.push_back(TimesOf(degrees, problem_.workload, passes.layers, computes_alone));
  }
  return entry->second;
}

int64_t StepBound::MicroBatches(const DegreeFamily& family, const PassTimes& pass) const {
  return DivideUp(problem_.given.global_batch / pass.micro_batch, int64_t{family.data});
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
  plan.overlap_tensor = degrees.overlap_tensor;
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
  }
  // Stages share alike, except that those of asynchronous pipelines keep unlike numbers of weights.
  const bool are_unlike = IsAsynchronous(degrees.schedule);
  probe.stages[0].replicas.resize(degrees.data);
  for (Stage& stage : probe.stages) {
    if (are_unlike) stage.replicas = probe.stages[0].replicas;
  }
  const StateSharing first = SharingOf(probe, workload, 0, problem_.framework);
  const int64_t micro_batches = degrees.global_batch / degrees.micro_batch / degrees.data;
  Bytes most;
  for (int stage = 0; stage < map.stages(); ++stage) {
    const StateSharing sharing =
        are_unlike ? SharingOf(probe, workload, stage, problem_.framework) : first;
    const ModelStates states = ShareOut(by_stage[stage], trained[stage], sharing);
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
