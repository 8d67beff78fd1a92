#include "search/training/trained_states.h"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <span>
#include <utility>

#include "costmodel/check.h"
#include "costmodel/op.h"
#include "search/balance/measured_loads.h"
#include "search/balance/repacking.h"
#include "search/training/state_move.h"

namespace stagecraft {
namespace {

constexpr Bytes kLoadBytes(8);  // of a load in a message

class StateTrainer {
 public:
  explicit StateTrainer(const TrainingJob& job) : job_(job), plan_(job.plan) {}

  std::vector<TrainedState> Train() {
    std::vector<TrainedState> states;
    const bool changes_first = !job_.changes.empty() && job_.changes.front().step == 0;
    if (!changes_first) states.push_back(TrainAs(job_.workload, {0, {}, ""}, std::nullopt));
    for (size_t i = 0; i < job_.changes.size(); ++i) {
      const NetworkChange& change = job_.changes[i];
      Workload changed = job_.workload;
      ApplyLayerStates(fmt::format("the network from step {} on", change.step), change.states,
                       changed);
      const int64_t end = i + 1 < job_.changes.size() ? job_.changes[i + 1].step : job_.steps;
      const bool may_move = !states.empty();
      states.push_back(
          TrainAs(changed, change, may_move ? std::optional(end - change.step) : std::nullopt));
    }
    return states;
  }

 private:
  // `steps`: how long the state lasts, if a balancer may decide; it is not asked at the start.
  TrainedState TrainAs(const Workload& workload, const NetworkChange& change,
                       std::optional<int64_t> steps) {
    TrainedState state;
    state.step = change.step;
    state.change = change.reason;
    state.plan = plan_;
    std::optional<Evaluation> known;
    if (steps && job_.policy.balancer != Balancer::kNone) {
      known = Balance(workload, *steps, state);
    }
    state.evaluation = known ? *std::move(known) : Evaluate(state.plan, workload);
    if (!state.evaluation.fits) {
      throw InputError(fmt::format(
          "the network from step {} on: got a plan whose memory does not suffice, want one that "
          "fits ({})",
          state.step, "simulate with --layer-state shows each stage"));
    }
    const BalanceProblem truth = Problem(state.plan, workload, LoadBasis::kTrueTime);
    state.stage_seconds = StageLoads(truth, DivisionOf(state.plan));
    plan_ = state.plan;
    return state;
  }

  Evaluation Evaluate(const Plan& plan, const Workload& workload) const {
    return SimulateStep(plan, workload, job_.cluster, job_.model, job_.options).evaluation;
  }

  BalanceProblem Problem(const Plan& plan, const Workload& workload, LoadBasis by) const {
    BalanceProblem problem;
    problem.loads = by == LoadBasis::kParameters
                        ? LayerParameters(workload)
                        : LayerSeconds(plan, workload, job_.cluster, job_.model);
    problem.speeds = StageSpeeds(plan, workload, job_.cluster, job_.model);
    return problem;
  }

  // Decides about the division for `steps` steps. Returns the evaluation of the plan if it is
  // already known.
  std::optional<Evaluation> Balance(const Workload& workload, int64_t steps, TrainedState& state) {
    const BalancePolicy& policy = job_.policy;
    BalanceRequest request = {policy.balancer, Problem(plan_, workload, policy.by),
                              DivisionOf(plan_)};
    if (policy.by == LoadBasis::kMeasuredTime) {
      request.problem.loads = MeasuredLoads(request.problem.loads, policy.noise,
                                            job_.seed + static_cast<uint64_t>(state.step));
    }
    const BalanceDecision decision = DecideBalance(request);
    state.decision = decision.reason;
    Division division = decision.division.value_or(request.present);
    Plan next = WithDivision(plan_, division);
    if (policy.repacks) Pack(request.problem, division, next, state.decision);
    Evaluation before = Evaluate(plan_, workload);
    if (policy.by != LoadBasis::kParameters) {
      state.cost.profiling = Duration::RoundedNanoseconds(
          policy.profiling_share * static_cast<double>(before.step_time.ns()));
    }
    state.cost.decision = DecisionTime(decision);
    state.cost.barrier = Message(AllDevices(plan_), Bytes(4), OpKind::kAllReduce);
    if (next.stages.size() == plan_.stages.size() && division == request.present) return before;
    Evaluation after = Evaluate(next, workload);
    const StateMove move =
        MoveStates(plan_, next, workload, job_.cluster, job_.model, job_.options);
    const std::string refusal = Refusal(before, after, next, move, steps);
    if (!refusal.empty()) {
      state.decision = refusal;
      return before;
    }
    state.cost.move = move.time;
    state.cost.moved = move.bytes;
    state.moves = true;
    state.plan = std::move(next);
    return after;
  }

  // Returns why the layers stay where they are although the balancer would move them; empty if
  // they do not.
  std::string Refusal(const Evaluation& before, const Evaluation& after, const Plan& next,
                      const StateMove& move, int64_t steps) const {
    if (!before.fits) return {};
    if (!after.fits) return "the layers stay: their new division does not fit memory";
    for (size_t stage = 0; stage < after.memory.size(); ++stage) {
      const StageMemory& own = after.memory[stage];
      const Bytes resident = own.weights + own.optimizer + own.framework + move.most_beside;
      if (resident > own.capacity) {
        return "the layers stay: what moves does not fit beside what it leaves";
      }
    }
    const bool frees = next.stages.size() < plan_.stages.size();
    const Duration gain = before.step_time - after.step_time;
    if (job_.policy.only_if_worth && !frees && !WorthIt(gain, steps, move.time)) {
      return fmt::format("the layers stay: {:.3f} ms a step for {} steps are less than the move",
                         gain.seconds() * 1e3, steps);
    }
    return {};
  }

  // Frees stages that the network does not need any more.
  void Pack(const BalanceProblem& problem, const Division& division, Plan& next,
            std::string& reason) const {
    const auto packed = Repack(problem, division, job_.policy.repack_loss);
    if (!packed || packed->freed.empty()) return;
    Plan smaller = plan_;
    smaller.stages.clear();
    for (const int stage : packed->kept) smaller.stages.push_back(plan_.stages[stage]);
    next = WithDivision(std::move(smaller), packed->division);
    reason += fmt::format("; {} of {} stages are freed", packed->freed.size(), division.size());
  }

  static std::vector<int> AllDevices(const Plan& plan) {
    std::vector<int> devices;
    for (const Stage& stage : plan.stages) {
      for (const auto& replica : stage.replicas) {
        devices.insert(devices.end(), replica.begin(), replica.end());
      }
    }
    return devices;
  }

  Duration Message(std::span<const int> devices, Bytes bytes, OpKind kind) const {
    if (devices.size() < 2) return {};
    const Op op = Op::Collective(kind, bytes, job_.cluster.DescribeGroup(devices));
    return job_.model.Predict({&op, 1}, job_.cluster.device(devices[0]))[0].time;
  }

  // The stages of the first pipeline tell each other their loads: all of them at once, or, in
  // diffusion, neighbours in every round.
  Duration DecisionTime(const BalanceDecision& decision) const {
    std::vector<int> stages;
    for (const Stage& stage : plan_.stages) stages.push_back(stage.replicas[0][0]);
    if (job_.policy.balancer == Balancer::kPartition) {
      const auto layers = static_cast<int64_t>(job_.workload.layers.size());
      return Message(stages, layers * kLoadBytes, OpKind::kAllGather);
    }
    Duration slowest;
    for (size_t i = 0; i + 1 < stages.size(); ++i) {
      const Op op = Op::Collective(OpKind::kSendRecv, kLoadBytes,
                                   job_.cluster.DescribePair(stages[i], stages[i + 1], 1));
      slowest =
          std::max(slowest, job_.model.Predict({&op, 1}, job_.cluster.device(stages[i]))[0].time);
    }
    return decision.rounds * slowest;
  }

  const TrainingJob& job_;
  Plan plan_;  // the present one
};

}  // namespace

double TrainedState::Imbalance() const {
  const double sum = std::accumulate(stage_seconds.begin(), stage_seconds.end(), 0.0);
  const double most = *std::max_element(stage_seconds.begin(), stage_seconds.end());
  return sum > 0 ? most * static_cast<double>(stage_seconds.size()) / sum : 1;
}

Plan WithDivision(Plan plan, const Division& division) {
  CHECK(plan.stages.size() == division.size());
  int first = 0;
  for (size_t stage = 0; stage < division.size(); ++stage) {
    plan.stages[stage].chunks = {{first, division[stage]}};
    first += division[stage];
  }
  return plan;
}

Division DivisionOf(const Plan& plan) {
  Division division;
  for (const Stage& stage : plan.stages) division.push_back(stage.chunks[0].count);
  return division;
}

void CheckDivisible(const Plan& plan) {
  const auto refuse = [](std::string_view got, std::string_view want) {
    throw InputError(fmt::format("--balance: got {}, want {}", got, want));
  };
  if (plan.stages.size() < 2) refuse("a pipeline of one stage", "two or more (--pp)");
  if (plan.chunk_count() > 1) {
    refuse("stages of several chunks", "a pipeline schedule with one chunk on each stage");
  }
  if (plan.SplitsVocabulary()) refuse("a vocabulary split over stages", "a whole one");
  for (const Stage& stage : plan.stages) {
    if (!stage.recomputed.empty()) {
      refuse("ranges of recomputed layers", "--recompute without a choice of layers");
    }
    if (stage.chunks[0].count < 1) refuse("a stage without layers", "one or more on each stage");
  }
}

std::vector<TrainedState> TrainStates(const TrainingJob& job) { return StateTrainer(job).Train(); }

}  // namespace stagecraft
