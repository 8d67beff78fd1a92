#include "search/step_probe.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <utility>

#include "sim/engine/bound_costs.h"
#include "sim/engine/sparse_products.h"
#include "sim/lowering/lowering.h"
#include "sim/pipeline/pass_order.h"
#include "sim/pipeline/pipeline_schedule.h"
#include "sim/schedule/schedule.h"

namespace stagecraft {
namespace {

// A tag can number at most this many parts of a pass; plans with longer passes are not probed.
constexpr size_t kMostParts = 255;

// Returns whether passes of one kind may differ: gradients are reduced or parameters gathered
// beside the last or the first of them only, which is divided into parts.
bool DividesEdges(const Plan& plan) {
  const bool reduces = plan.zero < 2 && plan.overlap_grad_reduce;
  const bool gathers = (plan.zero == 1 || plan.zero == 2) && plan.overlap_param_gather;
  return reduces || gathers;
}

// Returns whether no replica has more than one micro-batch for a chain.
bool HasSinglePasses(const Plan& plan, const ChunkMap& map) {
  const auto replicas = static_cast<int>(plan.stages[0].replicas.size());
  for (int replica = 0; replica < replicas; ++replica) {
    if (map.MicroBatches(0, ReplicaMicroBatches(plan, 0, replica)) > 1) return false;
  }
  return true;
}

// Returns the plan with as many micro-batches for each chain as show every pass that it has: two if
// passes of one kind differ, else one.
Plan ShortPlan(const Plan& plan) {
  Plan probe = plan;
  const ChunkMap map = MapOf(plan);
  const auto replicas = static_cast<int64_t>(plan.stages[0].replicas.size());
  const int64_t each = DividesEdges(plan) && !HasSinglePasses(plan, map) ? 2 : 1;
  std::vector<Phase> backwards{Phase::kBackward};
  if (SplitsBackward(plan.schedule)) backwards = {Phase::kBackwardInput, Phase::kBackwardWeight};
  if (plan.forward_only) backwards.clear();
  PassOrder order;
  const auto add = [&](Phase phase) {
    for (int micro_batch = 0; micro_batch < each; ++micro_batch) {
      for (int16_t chunk = 0; chunk < map.chunks(); ++chunk) {
        order.push_back({phase, chunk, micro_batch});
      }
    }
  };
  add(Phase::kForward);
  for (const Phase phase : backwards) add(phase);
  probe.placement = PlacementOf(plan);
  probe.schedule = PipelineSchedule::kCustom;
  probe.schedule_options = {};
  probe.orders.assign(map.stages(), order);
  probe.offload.activations = 0;
  for (Stage& stage : probe.stages) stage.replica_micro_batches.clear();
  probe.global_batch = each * replicas * map.chains() * plan.micro_batch;
  return probe;
}

// Returns whether nothing but computation is sure to hold up a plan's passes: other passes may run
// beside them.
bool PairsPasses(const Plan& plan) {
  const auto pairs_some = [](const PassOrder& order) {
    return std::any_of(order.begin(), order.end(),
                       [](const Pass& pass) { return pass.beside_next; });
  };
  return TraitsOf(plan.schedule).pairs_passes || plan.schedule_options.pairs_passes ||
         std::any_of(plan.orders.begin(), plan.orders.end(), pairs_some);
}

// ProbeReading reads what a plan's tasks take from a lowered step.
class ProbeReading {
 public:
  ProbeReading(const Plan& plan, const Schedule& schedule, const BoundCosts& costs)
      : plan_(plan), schedule_(schedule), costs_(costs), pairs_passes_(PairsPasses(plan)) {
    step_.splits_backward = SplitsBackward(plan.schedule);
  }

  std::optional<ProbedStep> Run() {
    AddWorkers();
    FindGathers();
    FindWaiting();
    for (TaskId task = 0; task < schedule_.task_count(); ++task) ReadExchange(task);
    for (int lane = 0; lane < schedule_.lane_count(); ++lane) {
      if (schedule_.lane_infos()[lane].kind == LaneKind::kCompute) ReadPasses(Lane(lane));
    }
    for (ProbedWorker& worker : step_.workers) {
      for (ProbedChunk& chunk : worker.chunks) {
        for (ProbedPass* pass : {&chunk.forward, &chunk.backward, &chunk.weights}) {
          if (pass->ends.size() > kMostParts) return std::nullopt;
          if (pass->alone == Duration::Max()) *pass = {};
        }
      }
    }
    return std::move(step_);
  }

 private:
  struct Part {
    Duration time;
    Duration gather;
    // The launches of the host: by how much they delay an idle device, and how long all of them
    // take. `waits`: the host turns to the part only when it may begin, since it waited for a
    // message.
    Duration lead, host;
    bool waits = false;
  };

  // If every device of a replica has a rank of its own, the first one stands for all.
  void AddWorkers() {
    std::set<std::pair<int, int>> seen;
    for (const RankInfo& rank : schedule_.ranks()) {
      const bool is_first = seen.emplace(rank.stage, rank.replica).second;
      worker_of_rank_.push_back(is_first ? static_cast<int>(step_.workers.size()) : -1);
      if (!is_first) continue;
      ProbedWorker& worker = step_.workers.emplace_back();
      worker.stage = rank.stage;
      worker.replica = rank.replica;
      worker.sends_block = !plan_.overlap_p2p && plan_.stages.size() > 1;
      worker.chunks.resize(plan_.chunk_count());
      for (ProbedChunk& chunk : worker.chunks) {
        for (ProbedPass* pass : {&chunk.forward, &chunk.backward, &chunk.weights}) {
          pass->alone = pass->next = pass->host = Duration::Max();
        }
      }
    }
  }

  // Returns the worker of a task; null if it is one of another rank than the first of a worker.
  ProbedWorker* WorkerOf(TaskId task) {
    const int32_t rank = schedule_.tag(task).rank;
    const int worker = rank < 0 ? -1 : worker_of_rank_[rank];
    return worker < 0 ? nullptr : &step_.workers[worker];
  }

  Duration TimeOf(TaskId task) const { return costs_.TaskTimes(schedule_, task).device; }

  // Returns what a task computes, without collectives.
  Duration ComputationOf(TaskId task) const {
    Duration sum;
    for (const OpId op : schedule_.ops(schedule_.op_sequence(task))) {
      if (!IsCollective(schedule_.op(op).kind)) sum += costs_.OpTime(schedule_, task, op);
    }
    return sum;
  }

  // Finds the passes that follow a message.
  void FindWaiting() {
    waits_.assign(schedule_.task_count(), false);
    for (TaskId task = 0; task < schedule_.task_count(); ++task) {
      const Phase phase = schedule_.tag(task).phase;
      if (phase != Phase::kSendForward && phase != Phase::kSendBackward) continue;
      for (const TaskId next : schedule_.successors(task)) waits_[next] = true;
    }
  }

  // Finds for each part of a pass what gathers its parameters: tasks that follow one another.
  void FindGathers() {
    gather_of_.assign(schedule_.task_count(), Duration());
    for (TaskId task = 0; task < schedule_.task_count(); ++task) {
      const Tag& tag = schedule_.tag(task);
      if (tag.phase != Phase::kParamGather || tag.micro_batch < 0 || !WorkerOf(task)) continue;
      const Duration so_far = gather_of_[task] + TimeOf(task);
      for (const TaskId next : schedule_.successors(task)) gather_of_[next] += so_far;
    }
  }

  void ReadExchange(TaskId task) {
    const Tag& tag = schedule_.tag(task);
    if (tag.phase == Phase::kGradNorm) step_.norm = TimeOf(task);
    ProbedWorker* const worker = WorkerOf(task);
    if (tag.phase == Phase::kGradNorm || worker == nullptr) return;
    const auto keep_longest = [&](Duration& longest) { longest = std::max(longest, TimeOf(task)); };
    switch (tag.phase) {
      case Phase::kSendForward:
        keep_longest(worker->chunks[tag.chunk].forward_send);
        break;
      case Phase::kSendBackward:
        keep_longest(worker->chunks[tag.chunk].backward_send);
        break;
      case Phase::kOptimizer:
        worker->update += TimeOf(task) + LeadOfUpdate(task, *worker);
        break;
      case Phase::kParamGather:
        if (tag.chunk < 0) worker->late_gathers += TimeOf(task);
        break;
      case Phase::kGradReduce:
        if (tag.chunk < 0) {
          worker->late_reductions += TimeOf(task);
        } else {
          ReadReduction(task, worker->chunks[tag.chunk]);
        }
        break;
      default:
        break;
    }
  }

  // The host waits for the norm before it launches the first kernel of the update.
  Duration LeadOfUpdate(TaskId task, const ProbedWorker& worker) const {
    const bool follows_norm = step_.norm > Duration() && worker.update == Duration();
    return follows_norm ? costs_.TaskTimes(schedule_, task).lead : Duration();
  }

  // Every micro-batch reduces the same, so only the reductions of the first one are read.
  void ReadReduction(TaskId task, ProbedChunk& chunk) {
    const Tag& tag = schedule_.tag(task);
    std::vector<Duration>& reductions =
        (step_.splits_backward ? chunk.weights : chunk.backward).reductions;
    if (tag.micro_batch >= 0) {
      const auto [first, is_first] =
          first_reduced_.try_emplace({tag.rank, tag.chunk}, tag.micro_batch);
      if (!is_first && first->second != tag.micro_batch) return;
    }
    if (reductions.size() <= tag.segment) reductions.resize(tag.segment + size_t{1});
    reductions[tag.segment] += TimeOf(task);
  }

  void ReadPasses(Lane lane) {
    const std::span<const TaskId> order = schedule_.order(lane);
    const int worker = worker_of_rank_[schedule_.lane_infos()[Index(lane)].rank];
    if (worker < 0) return;
    for (size_t i = 0; i < order.size();) {
      const Tag& tag = schedule_.tag(order[i]);
      size_t end = i + 1;
      if (IsPass(tag.phase)) {
        const auto continues = [&](const Tag& other) {
          return other.phase == tag.phase && other.chunk == tag.chunk &&
                 other.micro_batch == tag.micro_batch;
        };
        while (end < order.size() && continues(schedule_.tag(order[end]))) ++end;
        ReadPass(order.subspan(i, end - i), step_.workers[worker].chunks[tag.chunk]);
      }
      i = end;
    }
  }

  void ReadPass(std::span<const TaskId> tasks, ProbedChunk& chunk) {
    const Phase phase = schedule_.tag(tasks[0]).phase;
    ProbedPass& pass = phase == Phase::kForward          ? chunk.forward
                       : phase == Phase::kBackwardWeight ? chunk.weights
                                                         : chunk.backward;
    std::vector<Part> parts;
    for (const TaskId task : tasks) {
      if (pairs_passes_) {
        parts.push_back({ComputationOf(task), gather_of_[task], {}, {}});
      } else {
        const OpSequenceTimes times = costs_.TaskTimes(schedule_, task);
        parts.push_back({times.device, gather_of_[task], times.lead, times.host, waits_[task]});
      }
    }
    pass.alone = std::min(pass.alone, EndsOf(parts, pass.reductions, phase, false).back());
    pass.ends = EndsOf(parts, pass.reductions, phase, true);
    pass.next = std::min(pass.next, pass.ends.back());
    pass.waits = parts[0].waits;
    Duration host;
    pass.gathers = pass.longest_gather = Duration();
    for (const Part& part : parts) {
      host += part.host;
      pass.gathers += part.gather;
      pass.longest_gather = std::max(pass.longest_gather, part.gather);
    }
    pass.host = std::min(pass.host, host);
  }

  // Returns when the parts of a pass end that begins at 0, with the exchanges beside it as
  // AddShardedTraffic() orders them. A gather waits for the part before the last one, or for the
  // last one if gathers are late. `follows`: a pass before it ends at 0; otherwise whatever its
  // gathers wait for may be long over. The host is ahead of the device unless it waits.
  std::vector<Duration> EndsOf(const std::vector<Part>& parts,
                               const std::vector<Duration>& reductions, Phase phase,
                               bool follows) const {
    const Framework& framework = plan_.framework;
    const bool is_late =
        framework.parameter_gather == ParameterGather::kTensors ||
        (IsBackward(phase) && framework.backward_prefetch == BackwardPrefetch::kAfter);
    const bool reduces_every_pass = plan_.zero >= 2;
    std::vector<Duration> ends;
    Duration end, end_before, traffic, host;
    bool is_host_known = false;
    for (size_t i = 0; i < parts.size(); ++i) {
      const auto flush = [&] {
        if (!reduces_every_pass || i == 0 || i > reductions.size()) return;
        traffic = std::max(traffic, end) + reductions[i - 1];
      };
      if (is_late) flush();
      Duration begin = end;
      const bool is_held = is_late ? i > 0 || follows : i > 1 || (i == 1 && follows);
      if (parts[i].gather > Duration() && is_held) {
        traffic = std::max(traffic, is_late ? end : end_before) + parts[i].gather;
        begin = std::max(begin, traffic);
      }
      if (!is_late) flush();
      if (parts[i].waits) {
        host = std::max(host, begin);
        is_host_known = true;
      }
      if (is_host_known) begin = std::max(begin, host + parts[i].lead);
      host += parts[i].host;
      end_before = end;
      end = begin + parts[i].time;
      ends.push_back(end);
    }
    return ends;
  }

  const Plan& plan_;
  const Schedule& schedule_;
  const BoundCosts& costs_;
  const bool pairs_passes_;
  ProbedStep step_;
  std::vector<int> worker_of_rank_;  // into the workers of step_; -1: not its first rank
  std::vector<bool> waits_;          // by task: it follows a message
  std::vector<Duration> gather_of_;  // by task: the gathers for which it alone waits
  // By rank and chunk: the micro-batch whose reductions are read.
  std::map<std::pair<int, int>, int> first_reduced_;
};

}  // namespace

std::optional<ProbedStep> StepProbe::Measure(const Plan& plan) {
  const bool flushes = !IsAsynchronous(plan.schedule) && !plan.post_validation;
  if (!flushes || !HasSeparatePipelines(plan) || plan.SplitsVocabulary()) return std::nullopt;
  const Plan probe = ShortPlan(plan);
  const Schedule schedule = WithFasterProducts(Lower(probe, problem_.workload, problem_.cluster,
                                                     {.framework = problem_.framework}, lowering_),
                                               problem_.cluster, problem_.model);
  const BoundCosts costs = BindCosts(schedule, problem_.cluster, problem_.model);
  return ProbeReading(plan, schedule, costs).Run();
}

}  // namespace stagecraft
