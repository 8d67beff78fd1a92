#include "search/partition/stages/stage_gradient.h"

#include <fmt/core.h>

#include <limits>
#include <vector>

#include "costmodel/check.h"
#include "search/partition/stages/piece_times.h"
#include "search/partition/stages/stage_costs.h"
#include "search/partition/stages/stage_cuts.h"
#include "search/partition/stages/stage_mcmc.h"
#include "search/partition/stages/stage_relaxation.h"

namespace stagecraft {
namespace {

// Returns the stage on `kind` with the most replicas, the first among equals; -1 if there is none.
int GreatestOn(int kind, const std::vector<StageReplicas>& replicas) {
  int greatest = -1;
  for (int stage = 0; stage < static_cast<int>(replicas.size()); ++stage) {
    if (replicas[stage].kind != kind) continue;
    if (greatest < 0 || replicas[stage].replicas > replicas[greatest].replicas) greatest = stage;
  }
  return greatest;
}

// Makes room for one more device of another kind, and returns that kind.
int OtherKind(int kind, std::vector<StageReplicas>& replicas, std::vector<int>& unused) {
  for (int other = 0; other < static_cast<int>(unused.size()); ++other) {
    if (other != kind && unused[other] > 0) return other;
  }
  for (StageReplicas& on : replicas) {
    if (on.kind == kind || on.replicas < 2) continue;
    --on.replicas;
    ++unused[on.kind];
    return on.kind;
  }
  return kind;
}

StagePlan PlanOf(const std::vector<int>& order, const RoundedStages& stages) {
  return PlanFromCuts(order, stages.ends, stages.replicas);
}

// Descent keeps the best of the roundings that are found from one start.
class Descent {
 public:
  Descent(const StageCosts& costs, StageTrials& trials) : scorer_(costs), trials_(trials) {}

  // Scores a plan; one of the last two plans again costs nothing.
  void Try(const StagePlan& plan) {
    if (trials_.IsSpent() || plan == last_[0] || plan == last_[1]) return;
    last_[turn_] = plan;
    turn_ = 1 - turn_;
    const double score = scorer_.Score(plan);
    trials_.Add(score, plan);
    if (score >= best_score_) return;
    best_score_ = score;
    best_ = plan;
  }
  const StagePlan& best() const { return best_; }

 private:
  StageScorer scorer_;
  StageTrials& trials_;
  double best_score_ = std::numeric_limits<double>::infinity();
  StagePlan best_;
  StagePlan last_[2];
  int turn_ = 0;
};

void RequireFewPieces(const StageProblem& problem) {
  const double nodes = problem.graph.dag.size();
  if (nodes * (nodes + 1) / 2 * problem.devices() <= kMostPieceTimes) return;
  throw InputError(fmt::format(
      "{}: got {} operators on {} devices, for gradients want operators x (operators + "
      "1) x devices up to {:g}",
      problem.graph.name, problem.graph.dag.size(), problem.devices(), 2 * kMostPieceTimes));
}

// Takes fewer replicas or other kinds until the devices suffice. Precondition: there are at most as
// many stages as devices.
void FitReplicas(const StageProblem& problem, std::vector<StageReplicas>& replicas) {
  std::vector<int> unused;
  for (const StageDeviceKind& kind : problem.kinds) unused.push_back(kind.count);
  for (const StageReplicas& on : replicas) unused[on.kind] -= on.replicas;
  for (int kind = 0; kind < static_cast<int>(unused.size()); ++kind) {
    while (unused[kind] < 0 && replicas[GreatestOn(kind, replicas)].replicas > 1) {
      --replicas[GreatestOn(kind, replicas)].replicas;
      ++unused[kind];
    }
  }
  for (int kind = 0; kind < static_cast<int>(unused.size()); ++kind) {
    while (unused[kind] < 0) {
      const int other = OtherKind(kind, replicas, unused);
      replicas[GreatestOn(kind, replicas)] = {other, 1};
      ++unused[kind];
      --unused[other];
    }
  }
}

// Returns ScorePieces() with a look at the stop sign for the shortest piece from each node. It
// throws Stopped.
PieceScore StoppableScore(const StageProblem& problem, const std::vector<int>& order,
                          const StopSign& stop) {
  return [score = ScorePieces(problem, order), &stop](const PieceStage& stage) {
    if (stage.end == stage.begin + 1) stop.Check();
    return score(stage);
  };
}

// Descends from one start and repairs the result. Throws Stopped.
void Descend(const StageCosts& costs, const StageDevices& devices,
             const StageGradientOptions& options, uint64_t start, StageTrials& trials) {
  const StageProblem& problem = costs.problem();
  const Random random(options.seed);
  Random order_random = random.Child("stage order", start);
  const Dag& dag = problem.graph.dag;
  const bool is_drawn = start % 2 == 1;
  const std::vector<int> order = is_drawn ? DrawOrder(dag, order_random) : dag.order;
  const PieceTimes times(dag.size(), ReplicaChoices(problem),
                         StoppableScore(problem, order, trials.stop()));
  const auto stages = static_cast<int>(order_random.Integer(1, MostStages(problem)));
  StageRelaxation relaxation(devices, times, stages, options.relaxation, trials.best_score(),
                             random.Child("stage gradient", start), trials.stop());
  Descent descent(costs, trials);
  for (int step = 0; step < options.steps && !trials.IsSpent(); ++step) {
    descent.Try(PlanOf(order, relaxation.RoundLogits()));
    descent.Try(PlanOf(order, relaxation.RoundDegrees()));
    if (trials.IsSpent()) return;
    relaxation.Step(static_cast<double>(step) / options.steps, trials.best_score(), trials.stop());
  }
  if (!trials.IsSpent()) RepairStagePlan(problem, descent.best(), options.repairs, trials);
}

}  // namespace

void SearchByGradient(const StageProblem& problem, const StageGradientOptions& options,
                      StageTrials& trials) {
  RequireFewPieces(problem);
  const StageCosts costs(problem);
  StageDevices devices;
  for (const StageDeviceKind& kind : problem.kinds) devices.counts.push_back(kind.count);
  devices.fit = [&](std::vector<StageReplicas>& replicas) { FitReplicas(problem, replicas); };
  trials.Add(StageScorer(costs).Score(OneStage(problem)), OneStage(problem));
  try {
    for (uint64_t start = 0; !trials.IsSpent(); ++start) {
      Descend(costs, devices, options, start, trials);
    }
  } catch (const Stopped&) {
    // The trials have the best so far.
  }
}

}  // namespace stagecraft
