#include "search/layer_times.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "costmodel/divide.h"
#include "sim/engine/bound_costs.h"
#include "sim/memory/framework_memory.h"
#include "sim/memory/model_states.h"
#include "sim/memory/rank_tensors.h"
#include "sim/schedule/schedule.h"
#include "sim/shard/stage_order.h"

namespace stagecraft {

std::vector<LayerTimes> LeastOf(const std::vector<LayerTimes>& a,
                                const std::vector<LayerTimes>& b) {
  std::vector<LayerTimes> least;
  for (size_t kind = 0; kind < a.size(); ++kind) {
    least.push_back(
        {.forward = std::min(a[kind].forward, b[kind].forward),
         .backward = std::min(a[kind].backward, b[kind].backward),
         .launches = std::min(a[kind].launches, b[kind].launches),
         .forward_compute = std::min(a[kind].forward_compute, b[kind].forward_compute),
         .backward_compute = std::min(a[kind].backward_compute, b[kind].backward_compute)});
  }
  return least;
}

std::vector<LayerTimes> MeasureLayers(const SearchProblem& problem, const ShardSpec& spec,
                                      const Device& device) {
  Schedule::Builder builder;
  const auto add = [&](const Steps& steps) {
    std::vector<OpId> ids;
    std::vector<uint8_t> flags;
    for (const Step& step : steps) {
      ids.push_back(builder.AddOp(step.op));
      flags.push_back(step.flags);
    }
    return builder.AddOpSequence(ids, flags);
  };
  std::vector<std::pair<OpSequenceId, OpSequenceId>> op_sequences;
  for (const LayerKind& kind : problem.workload.kinds) {
    const LayerSteps steps = ShardLayer(kind, spec);
    const OpSequenceId forward = add(steps.forward);
    op_sequences.emplace_back(forward, add(steps.backward));
  }
  const Schedule schedule = builder.Build();
  const std::vector<Estimate> estimates = problem.model.Predict(schedule.distinct_ops(), device);
  const auto compute_of = [&](OpSequenceId op_sequence) {
    Duration sum;
    for (const OpId op : schedule.ops(op_sequence)) {
      const bool computes = !IsCollective(schedule.distinct_ops()[op].kind);
      if (computes) sum += estimates[op].time;
    }
    return sum;
  };
  std::vector<LayerTimes> times;
  for (size_t kind = 0; kind < op_sequences.size(); ++kind) {
    const auto [forward, backward] = op_sequences[kind];
    const OpSequenceTimes there = TimesOf(schedule, forward, estimates);
    LayerTimes own{.forward = there.device,
                   .backward = {},
                   .launches = there.host,
                   .forward_compute = compute_of(forward),
                   .backward_compute = {}};
    if (!problem.given.forward_only) {
      const OpSequenceTimes back = TimesOf(schedule, backward, estimates);
      own.backward = back.device;
      own.backward_compute = compute_of(backward);
      own.launches += back.host;
      if (RecomputesWhole(problem.workload.kinds[kind], spec)) {
        own.backward += there.device;
        own.backward_compute += own.forward_compute;
        own.launches += there.host;
      }
    }
    times.push_back(own);
  }
  return times;
}

const std::vector<LayerTimes>& LayerTimesMemo::Of(const ShardSpec& spec, int device) {
  const int kind = kinds_.of_groups[problem_.cluster.device_group(device)];
  std::deque<Known>& known =
      known_[{kind, spec.tensor, spec.context, spec.expert, spec.micro_batch,
              static_cast<int64_t>(spec.recompute), spec.sequence_parallel ? 1 : 0}];
  const auto found =
      std::find_if(known.begin(), known.end(), [&](const Known& own) { return own.first == spec; });
  if (found != known.end()) return found->second;
  known.emplace_back(spec, MeasureLayers(problem_, spec, problem_.cluster.device(device)));
  return known.back().second;
}

std::vector<LayerTimes> MeasureLayers(const SearchProblem& problem, const Plan& probe) {
  return MeasureLayers(problem, StageShard(probe, problem.workload, problem.cluster, 0, 0),
                       problem.cluster.device(probe.stages[0].replicas[0][0]));
}

namespace {

Bytes StatesOf(const SearchProblem& problem, const Plan& probe, const LayerKind& kind,
               int64_t tied) {
  const Stage& stage = probe.stages[0];
  ParameterCount parameters = ShardParameters(kind, stage.tensor_parallel, stage.expert_parallel);
  ParameterCount trained = ShardTrained(kind, stage.tensor_parallel, stage.expert_parallel);
  const int64_t own_tied = DivideUp(tied, stage.tensor_parallel);
  parameters.dense -= own_tied;
  if (kind.TrainsTied()) trained.dense -= own_tied;
  const ModelStates states =
      ShareOut(parameters, trained, SharingOf(probe, problem.workload, 0, problem.framework));
  const Bytes optimizer = probe.offload.optimizer ? Bytes() : states.optimizer;
  const Bytes indices = ShardIndices(kind, stage.tensor_parallel, stage.expert_parallel);
  return states.weights + indices + states.gradients + optimizer;
}

}  // namespace

Bytes LayerStates(const SearchProblem& problem, const Plan& probe, int layer) {
  return StatesOf(problem, probe, problem.workload.layer(layer), 0);
}

Bytes LeastLayerStates(const SearchProblem& problem, const Plan& probe, int layer) {
  const LayerKind& kind = problem.workload.layer(layer);
  return StatesOf(problem, probe, kind, kind.tied_parameters);
}

LayerMemory MeasureLayerMemory(const SearchProblem& problem, Plan probe, int layer) {
  probe.stages[0].chunks = {{layer, 1}};
  FrameworkMemory framework = problem.framework;
  framework.keeps_outputs = false;  // those of the last layer of a chunk alone
  const RankTensors rank =
      RankTensorsMaker(problem.workload, problem.cluster, framework).Make(probe, 0, 0);
  return {LayerStates(problem, probe, layer),
          Bytes((*rank.chunks[0])[Phase::kForward].summary.net)};
}

}  // namespace stagecraft
