#include "search/partition/stages/stage_ppo.h"

#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "search/partition/stages/stage_costs.h"
#include "search/partition/stages/stage_cuts.h"
#include "search/stopwatch.h"

namespace stagecraft {
namespace {

constexpr double kLongestGradient = 1;

// Returns the rewards less their mean, in standard deviations.
Eigen::VectorXd Advantages(const std::vector<double>& scores) {
  Eigen::VectorXd rewards(scores.size());
  for (size_t plan = 0; plan < scores.size(); ++plan) rewards(plan) = -std::log(scores[plan]);
  rewards.array() -= rewards.mean();
  constexpr double kLeastDeviation = 1e-6;
  const double variance = rewards.squaredNorm() / static_cast<double>(scores.size());
  return rewards / (std::sqrt(variance) + kLeastDeviation);
}

StagePlan PlanOf(const PolicyGraph& graph, const PolicyBatch& batch, int plan) {
  std::vector<StageReplicas> replicas;
  for (const int choice : batch.choices[plan]) replicas.push_back(graph.choices()[choice]);
  return PlanFromCuts(batch.order, batch.ends[plan], replicas);
}

// Returns a drawn number of stages or, every second time, that of the best plan so far.
int NextStages(const StageProblem& problem, int round, const StageTrials& trials, Random& random) {
  const auto drawn = static_cast<int>(random.Integer(1, MostStages(problem)));
  return round % 2 == 1 && trials.evaluations() > 0 ? trials.best().stages() : drawn;
}

// Plays one round: draws a batch, scores it, and learns from it. Returns false if the trials are
// used up before it learns. Throws Stopped.
bool PlayRound(const PolicyGraph& graph, int round, const StagePpoOptions& options,
               StagePolicy& policy, PolicyLearner& learner, Random& random, StageTrials& trials) {
  const StopSign& stop = trials.stop();
  const Dag& dag = graph.costs().dag();
  std::vector<int> order = round / 2 % 2 == 1 ? DrawOrder(dag, random) : dag.order;
  const int stages = NextStages(graph.problem(), round, trials, random);
  const PolicyBatch batch =
      policy.Draw(graph, std::move(order), stages, options.batch, random, stop);
  StageScorer scorer(graph.costs());
  std::vector<double> scores;
  for (int plan = 0; plan < batch.plans() && !trials.IsSpent(); ++plan) {
    const StagePlan drawn = PlanOf(graph, batch, plan);
    scores.push_back(scorer.Score(drawn));
    trials.Add(scores.back(), drawn);
  }
  if (trials.IsSpent()) return false;
  learner.Learn(graph, batch, scores, stop);
  return true;
}

// Returns the time that is left for one more batch; no value if there are not enough evaluations
// left for all of it, since a batch is learned from as a whole.
std::optional<Budget> LeftForBatch(const Budget& budget, int batches_done, int batch,
                                   double seconds) {
  std::optional<Budget> left = budget.Left(int64_t{batches_done} * batch, seconds);
  if (!left || (left->evaluations > 0 && left->evaluations < batch)) return std::nullopt;
  left->evaluations = 0;
  return left;
}

}  // namespace

PolicyLearner::PolicyLearner(const StagePpoOptions& options, StagePolicy& policy)
    : options_(options),
      policy_(policy),
      adam_(policy.parameters().all(),
            {.rate = options.rate, .longest_gradient = kLongestGradient}) {}

void PolicyLearner::Learn(const PolicyGraph& graph, const PolicyBatch& batch,
                          const std::vector<double>& scores, const StopSign& stop) {
  const Eigen::VectorXd advantages = Advantages(scores);
  Matrix before;
  for (int epoch = 0; epoch < options_.epochs; ++epoch) {
    Tape tape;
    const PolicyDecisions decisions = policy_.Decisions(tape, graph, batch, stop);
    if (epoch == 0) before = tape.value(decisions.log_probability);
    tape.Backward(Loss(tape, decisions, before, advantages));
    adam_.Step();
  }
}

Variable PolicyLearner::Loss(Tape& tape, const PolicyDecisions& decisions, const Matrix& before,
                             const Eigen::VectorXd& advantages) const {
  const Variable ratio =
      Exp(tape, Subtract(tape, decisions.log_probability, tape.Constant(before)));
  const Variable gains = tape.Constant(advantages.replicate(1, before.cols()));
  const Variable clipped = Clamp(tape, ratio, 1 - options_.clip, 1 + options_.clip);
  const Variable gain = Minimum(tape, Multiply(tape, ratio, gains), Multiply(tape, clipped, gains));
  const Variable variety = Scale(tape, Mean(tape, decisions.entropy), options_.entropy);
  return Scale(tape, Add(tape, Mean(tape, gain), variety), -1);
}

int SearchByPolicy(const StageProblem& problem, const StagePpoOptions& options, StagePolicy& policy,
                   StageTrials& trials) {
  const PolicyGraph graph(problem);
  PolicyLearner learner(options, policy);
  Random random = Random(options.seed).Child("stage policy", 0);
  int learned = 0;
  try {
    for (int round = 0; !trials.IsSpent(); ++round) {
      if (PlayRound(graph, round, options, policy, learner, random, trials)) ++learned;
    }
  } catch (const Stopped&) {
    // What was learned is kept.
  }
  return learned;
}

int TrainPolicy(std::span<const StageProblem> problems, int rounds, const StagePpoOptions& options,
                StagePolicy& policy, const std::function<void(int rounds_done)>& report,
                const Budget& budget) {
  const Stopwatch watch;
  std::vector<PolicyGraph> graphs;
  for (const StageProblem& problem : problems) graphs.emplace_back(problem);
  PolicyLearner learner(options, policy);
  Random random = Random(options.seed).Child("stage policy training", 0);
  int learned = 0;
  try {
    for (int round = 0; round < rounds; ++round) {
      for (const PolicyGraph& graph : graphs) {
        const std::optional<Budget> left =
            LeftForBatch(budget, learned, options.batch, watch.Seconds());
        if (!left) return learned;
        StageTrials trials(*left);
        if (!PlayRound(graph, round, options, policy, learner, random, trials)) return learned;
        ++learned;
      }
      if (report) report(round + 1);
    }
  } catch (const Stopped&) {
    // What was learned is kept.
  }
  return learned;
}

}  // namespace stagecraft
