#include "search/plans/stage_table.h"

#include <algorithm>
#include <numeric>

#include "search/layer_times.h"
#include "sim/lowering.h"
#include "sim/memory/model_states.h"
#include "sim/memory/rank_tensors.h"
#include "sim/shard.h"

namespace stagecraft {
namespace {

constexpr int kMostTensor = 64;

// One stage on the first devices of the choice's pool.
Plan ProbeOf(const SearchProblem& problem, const PlanDraft& shape, const StageChoice& choice,
             const Pool& pool) {
  Plan probe;
  static_cast<StepOptions&>(probe) = problem.given;
  probe.order = PipelineOrder::kOneForwardOneBackward;
  probe.micro_batch = shape.micro_batch;
  probe.sequence_parallel = problem.given.sequence_parallel != 0 && choice.tensor > 1;
  probe.zero = shape.zero;
  probe.gradient_bytes = problem.given.gradient_bytes != 0
                             ? problem.given.gradient_bytes
                             : (probe.precision == DType::kFp16 ? 2 : 4);
  Stage stage;
  stage.chunks = {{0, problem.workload.layer_count()}};
  stage.tensor_parallel = choice.tensor;
  stage.context_parallel = shape.context;
  stage.expert_parallel = shape.expert;
  stage.recompute = choice.recompute;
  int first = pool.first;
  for (int replica = 0; replica < shape.data; ++replica) {
    stage.replicas.emplace_back(choice.tensor * shape.context);
    std::iota(stage.replicas.back().begin(), stage.replicas.back().end(), first);
    first += choice.tensor * shape.context;
  }
  probe.stages = {std::move(stage)};
  return probe;
}

}  // namespace

StageTable::StageTable(const SearchProblem& problem, const PlanDraft& shape)
    : problem_(problem),
      shape_(shape),
      blocks_(problem.workload.layer_count() - 2),
      micro_batches_(problem.given.global_batch / shape.data / shape.micro_batch) {
  const std::vector<Pool> pools = DraftPools(problem.cluster);
  const Choices& choices = problem.choices;
  for (int pool = 0; pool < static_cast<int>(pools.size()); ++pool) {
    for (int tensor = 1; tensor <= std::min(kMostTensor, pools[pool].devices); ++tensor) {
      if (tensor * shape.context * shape.data > pools[pool].devices) break;
      if (tensor > pools[pool].node_devices && tensor % pools[pool].node_devices != 0) continue;
      for (const Recompute recompute :
           {Recompute::kNone, Recompute::kSelective, Recompute::kFull}) {
        if (!choices.recomputes.empty() &&
            std::find(choices.recomputes.begin(), choices.recomputes.end(), recompute) ==
                choices.recomputes.end()) {
          continue;
        }
        const bool selects = problem.workload.attention == AttentionBackend::kUnfused;
        if (recompute == Recompute::kSelective && !selects) continue;
        const StageChoice choice{pool, tensor, recompute};
        std::optional<Sums> sums = Measure(choice);
        if (!sums) continue;
        choices_.push_back(choice);
        sums_.push_back(std::move(*sums));
      }
    }
  }
}

int StageTable::devices(int choice) const {
  return choices_[choice].tensor * shape_.context * shape_.data;
}

std::optional<StageTable::Sums> StageTable::Measure(const StageChoice& choice) const {
  const Workload& workload = problem_.workload;
  const Cluster& cluster = problem_.cluster;
  if (!problem_.choices.tensor.empty() &&
      std::find(problem_.choices.tensor.begin(), problem_.choices.tensor.end(), choice.tensor) ==
          problem_.choices.tensor.end()) {
    return std::nullopt;
  }
  Plan probe = ProbeOf(problem_, shape_, choice, DraftPools(cluster)[choice.pool]);
  if (!FindErrors(probe, workload, cluster).empty()) return std::nullopt;
  const Device& device = cluster.device(probe.stages[0].replicas[0][0]);
  const std::vector<LayerTimes> times =
      MeasureLayers(problem_, StageShard(probe, workload, cluster, 0, 0), device);

  struct KindCost {
    Duration time;
    int64_t states = 0, saved = 0;
  };
  std::vector<std::optional<KindCost>> kinds(workload.kinds.size());
  Sums sums;
  sums.memory = device.memory;
  sums.time.resize(1);
  sums.states = sums.saved = {0};
  for (int layer = 0; layer < workload.layer_count(); ++layer) {
    const int kind = workload.layers[layer];
    if (!kinds[kind]) {
      probe.stages[0].chunks = {{layer, 1}};
      const ParameterCount parameters =
          ShardParameters(workload.layer(layer), choice.tensor, shape_.expert);
      const ModelStates states = ShareOut(parameters, SharingOf(probe, workload, 0));
      const Bytes optimizer = probe.offload.optimizer ? Bytes() : states.optimizer;
      const RankTensors rank =
          RankTensorsMaker(workload, cluster, problem_.framework).Make(probe, 0, 0);
      kinds[kind] = {times[kind].forward + times[kind].backward,
                     (states.weights + states.gradients + optimizer).count(),
                     (*rank.chunks[0])[Phase::kForward].summary.net};
    }
    sums.time.push_back(sums.time.back() + kinds[kind]->time);
    sums.states.push_back(sums.states.back() + kinds[kind]->states);
    sums.saved.push_back(sums.saved.back() + kinds[kind]->saved);
  }
  return sums;
}

namespace {

// Layers of a run of blocks, with the ends of the network.
LayerRange LayersOf(int first, int count, int blocks) {
  const int begin = first == 0 ? 0 : first + 1;
  const int end = first + count == blocks ? blocks + 2 : first + count + 1;
  return {begin, end - begin};
}

}  // namespace

Duration StageTable::Time(int choice, int first, int count) const {
  const LayerRange layers = LayersOf(first, count, blocks_);
  const std::vector<Duration>& time = sums_[choice].time;
  return time[layers.first + layers.count] - time[layers.first];
}

double StageTable::MemoryShare(int choice, int first, int count, double in_flight) const {
  const LayerRange layers = LayersOf(first, count, blocks_);
  const Sums& sums = sums_[choice];
  const int end = layers.first + layers.count;
  const auto states = static_cast<double>(sums.states[end] - sums.states[layers.first]);
  const auto saved = static_cast<double>(sums.saved[end] - sums.saved[layers.first]);
  return (states + in_flight * saved + static_cast<double>(ContextMemory().count())) /
         static_cast<double>(sums.memory.count());
}

double InFlight(const PlanDraft& shape, int stages, int stage, int64_t micro_batches) {
  const auto all = static_cast<double>(micro_batches);
  const double behind = stages - stage - 1;
  if (shape.order == PipelineOrder::kGpipe) return all;
  if (shape.chunks == 1) return std::min(all, behind + 1);
  const double passes = 2 * behind + (shape.chunks - 1.0) * stages + 1;
  return std::min(all, passes / shape.chunks);
}

}  // namespace stagecraft
