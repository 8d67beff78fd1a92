#include "search/training/trained_states.h"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <span>
#include <utility>

#include "costmodel/check.h"
#include "costmodel/op.h"
#include "search/balance/balance_problem.h"
#include "search/balance/measured_loads.h"
#include "search/balance/repacking.h"
#include "search/training/plan_division.h"
#include "search/training/stage_loads.h"
#include "search/training/state_move.h"
#include "sim/memory/stage_memory.h"

namespace stagecraft {
namespace {

constexpr double kSecondsPerHour = 3600;
constexpr Bytes kLoadBytes(8);     // of a load in a message
constexpr Bytes kBarrierBytes(4);  // of the all-reduce after which all devices know

// A plan for a state of the network, and what became of it.
struct Trial {
  Plan plan;
  Evaluation evaluation;
  SparseProducts products;
};

// Trains one state after another: each begins with the plan of the one before.
class StateTrainer {
 public:
  explicit StateTrainer(const Job& job) : job_(job), plan_(job.plan) {}

  TrainedState Train(int number) {
    const NetworkChange* change = job_.ChangeTo(number);
    const Workload network = job_.NetworkIn(number);
    TrainedState state;
    state.step = job_.FirstStep(number);
    if (change != nullptr) state.change = change->reason;
    const bool may_move = number > 0 && job_.balance.balancer != Balancer::kNone;
    Trial trial = may_move ? Balance(network, job_.FirstStep(number + 1) - state.step, state)
                           : Try(plan_, network);
    if (!trial.evaluation.fits) {
      throw InputError(fmt::format(
          "the network from step {} on: got a plan whose memory does not suffice, want one that "
          "fits (simulate with --layer-state shows each stage)",
          state.step));
    }
    state.stage_seconds =
        StageLoads(Problem(trial.plan, network, LoadBasis::kTrueTime), DivisionOf(trial.plan));
    state.plan = plan_ = std::move(trial.plan);
    state.evaluation = std::move(trial.evaluation);
    state.products = trial.products;
    return state;
  }

 private:
  Trial Try(const Plan& plan, const Workload& network) const {
    SimulatedStep step = SimulateStep(plan, network, job_.cluster, job_.model, job_.options);
    return {plan, std::move(step.evaluation), CountSparseProducts(step.schedule)};
  }

  BalanceProblem Problem(const Plan& plan, const Workload& network, LoadBasis by) const {
    return {by == LoadBasis::kParameters ? LayerParameters(network)
                                         : LayerSeconds(plan, network, job_.cluster, job_.model),
            StageSpeeds(plan, network, job_.cluster, job_.model)};
  }

  // Has the balancer decide about a state that lasts so many steps, and moves layers if nothing
  // speaks against it. Sets what the state says about that.
  Trial Balance(const Workload& network, int64_t steps, TrainedState& state) const {
    const BalanceProblem known = KnownProblem(network, state.step);
    const BalanceDecision decision =
        DecideBalance({job_.balance.balancer, known, DivisionOf(plan_)});
    state.decision = decision.reason;
    const Plan next = Proposed(network, known, decision, state.decision);
    Trial present = Try(plan_, network);
    state.cost = CostOfDeciding(decision, present.evaluation.step_time);
    if (DivisionOf(next) == DivisionOf(plan_)) return present;

    Trial moved = Try(next, network);
    const StateMove move = MoveStates(plan_, next, network, job_.cluster, job_.model, job_.options);
    std::string refusal = Refusal(present.evaluation, moved, move, steps);
    if (!refusal.empty()) {
      state.decision = std::move(refusal);
      return present;
    }
    state.moves = true;
    state.cost.move = move.time;
    state.cost.moved = move.bytes;
    return moved;
  }

  // Returns the layers and stages as the balancer knows them at this step: it never sees the
  // simulator's times unless it is asked to.
  BalanceProblem KnownProblem(const Workload& network, int64_t step) const {
    const BalancePolicy& policy = job_.balance;
    BalanceProblem problem = Problem(plan_, network, policy.by);
    if (policy.by == LoadBasis::kMeasuredTime) {
      problem.loads =
          MeasuredLoads(problem.loads, policy.noise, job_.seed + static_cast<uint64_t>(step));
    }
    return problem;
  }

  // Returns the plan that the balancer wants, re-packed if that is asked for and possible, which is
  // added to the reason.
  Plan Proposed(const Workload& network, const BalanceProblem& known,
                const BalanceDecision& decision, std::string& reason) const {
    const Division division = decision.division.value_or(DivisionOf(plan_));
    if (job_.balance.repacks) {
      if (std::optional<Plan> packed = Packed(network, known, division)) {
        reason += fmt::format("; {} of {} stages are freed",
                              plan_.stages.size() - packed->stages.size(), plan_.stages.size());
        return *std::move(packed);
      }
    }
    return WithDivision(plan_, division);
  }

  // Returns the plan on the fewest stages that keep the pace and whose memory suffices; no value if
  // no stage can be freed.
  std::optional<Plan> Packed(const Workload& network, const BalanceProblem& known,
                             const Division& division) const {
    for (int least = 1;;) {
      const std::optional<Repacking> packed =
          Repack(known, division, job_.balance.repack_loss, least);
      if (!packed || packed->freed.empty()) return std::nullopt;
      Plan smaller = plan_;
      smaller.stages.clear();
      for (const int stage : packed->kept) smaller.stages.push_back(plan_.stages[stage]);
      smaller = WithDivision(std::move(smaller), packed->division);
      if (StagesFit(smaller, network)) return smaller;
      least = static_cast<int>(packed->kept.size()) + 1;
    }
  }

  bool StagesFit(const Plan& plan, const Workload& network) const {
    const std::vector<StageMemory> memory =
        EstimateMemory(plan, network, job_.cluster, job_.options.framework);
    return std::all_of(memory.begin(), memory.end(),
                       [](const StageMemory& stage) { return stage.fits(); });
  }

  BalanceCost CostOfDeciding(const BalanceDecision& decision, Duration step) const {
    BalanceCost cost;
    if (job_.balance.by != LoadBasis::kParameters) {
      cost.profiling = Duration::RoundedNanoseconds(job_.balance.profiling_share *
                                                    static_cast<double>(step.ns()));
    }
    cost.decision = job_.balance.balancer == Balancer::kPartition ? GatherTime()
                                                                  : decision.rounds * RoundTime();
    cost.barrier = CollectiveTime(OpKind::kAllReduce, kBarrierBytes, DevicesOf(plan_));
    return cost;
  }

  // Returns why the layers stay where they are although the balancer would move them; empty if
  // they do not.
  std::string Refusal(const Evaluation& present, const Trial& moved, const StateMove& move,
                      int64_t steps) const {
    const Evaluation& after = moved.evaluation;
    if (!present.fits) return {};
    if (!after.fits) return "the layers stay: their new division does not fit memory";
    for (const StageMemory& own : present.memory) {  // what a device has, until all has arrived
      const Bytes beside = own.weights + own.optimizer + own.framework + move.most_beside;
      if (beside > own.capacity) {
        return "the layers stay: what moves does not fit beside what it leaves";
      }
    }
    const bool frees = moved.plan.stages.size() < plan_.stages.size();
    const Duration gain = present.step_time - after.step_time;
    if (job_.balance.only_if_worth && !frees && !WorthIt(gain, steps, move.time)) {
      return fmt::format("the layers stay: {:.3f} ms a step for {} steps are less than the move",
                         gain.seconds() * 1e3, steps);
    }
    return {};
  }

  // The first pipeline's stages tell all others their loads at once.
  Duration GatherTime() const {
    std::vector<int> stages;
    for (const Stage& stage : plan_.stages) stages.push_back(stage.replicas[0][0]);
    const auto layers = static_cast<int64_t>(job_.workload.layers.size());
    return CollectiveTime(OpKind::kAllGather, layers * kLoadBytes, stages);
  }

  // The first pipeline's neighbours tell each other a load, all at once: the slowest pair counts.
  Duration RoundTime() const {
    Duration slowest;
    for (size_t i = 0; i + 1 < plan_.stages.size(); ++i) {
      const int from = plan_.stages[i].replicas[0][0], to = plan_.stages[i + 1].replicas[0][0];
      const Op op =
          Op::Collective(OpKind::kSendRecv, kLoadBytes, job_.cluster.DescribePair(from, to, 1));
      slowest = std::max(slowest, TimeOf(op, from));
    }
    return slowest;
  }

  Duration CollectiveTime(OpKind kind, Bytes bytes, std::span<const int> devices) const {
    if (devices.size() < 2) return {};
    return TimeOf(Op::Collective(kind, bytes, job_.cluster.DescribeGroup(devices)), devices[0]);
  }

  Duration TimeOf(const Op& op, int device) const {
    return job_.model.Predict({&op, 1}, job_.cluster.device(device))[0].time;
  }

  const Job& job_;
  Plan plan_;  // the present one
};

}  // namespace

double TrainedState::Imbalance() const {
  const double sum = std::accumulate(stage_seconds.begin(), stage_seconds.end(), 0.0);
  const double most = *std::max_element(stage_seconds.begin(), stage_seconds.end());
  return sum > 0 ? most * static_cast<double>(stage_seconds.size()) / sum : 1;
}

TrainedStates TrainStates(const Job& job) {
  StateTrainer trainer(job);
  TrainedStates trained;
  trained.states.push_back(trainer.Train(0));
  try {
    for (int state = 1; state < job.states(); ++state) {
      trained.states.push_back(trainer.Train(state));
    }
  } catch (...) {
    trained.failure = std::current_exception();
  }
  return trained;
}

const TrainedState& StateAt(const std::vector<TrainedState>& states, int64_t step) {
  CHECK(!states.empty());
  const auto after =
      std::upper_bound(states.begin() + 1, states.end(), step,
                       [](int64_t at, const TrainedState& state) { return at < state.step; });
  return *(after - 1);
}

double FreedGpuHours(const std::vector<TrainedState>& states, const History& history) {
  double hours = 0;
  for (const RunPhase& phase : history.phases) {
    const int freed = history.totals.devices - StateAt(states, phase.first_step).devices();
    hours += phase.length.seconds() / kSecondsPerHour * freed;
  }
  return hours;
}

}  // namespace stagecraft
