#include "search/plans/plan_policy.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <utility>

#include "search/plans/shape_bandit.h"
#include "search/plans/shape_stages.h"

namespace stagecraft {
namespace {

// ShapeView is a shape as the policy sees it.
struct ShapeView {
  ShapeView(const SearchProblem& problem, const PlanDraft& shape)
      : stages(problem, shape),
        is_possible(!stages.choices().empty() && stages.table().blocks() >= stages.stages()) {
    if (!is_possible) return;
    graph_problem = stages.AsStageProblem();
    is_possible = graph_problem.devices() >= stages.stages();
    if (is_possible) graph.emplace(graph_problem, stages.choices());
  }
  ShapeView(const ShapeView&) = delete;
  ShapeView& operator=(const ShapeView&) = delete;

  const ShapeStages stages;
  bool is_possible;
  StageProblem graph_problem;
  std::optional<PolicyGraph> graph;
  int idle = 0;  // batches in a row with little new
};

std::vector<PlanDraft> DraftsOf(const ShapeView& view, const PolicyBatch& batch) {
  std::vector<PlanDraft> drafts;
  for (int plan = 0; plan < batch.plans(); ++plan) {
    std::vector<StageReplicas> on;
    for (const int choice : batch.choices[plan]) on.push_back(view.graph->choices()[choice]);
    drafts.push_back(view.stages.Draft(batch.ends[plan], on));
  }
  return drafts;
}

}  // namespace

void SearchPlansByPolicy(const SearchProblem& problem, const std::vector<PlanStart>& all,
                         const PlanPolicyOptions& options, StagePolicy& policy,
                         PlanTrials& trials) {
  constexpr int kMostIdle = 3;  // batches of a shape in a row with little new
  // The score of plans that are impossible or do not fit, in multiples of the best score.
  constexpr double kUnfitTimes = 4;
  const std::vector<PlanStart> shapes = OrderShapes(all, trials);
  size_t next_shape = 0;
  const auto next_view = [&]() -> std::unique_ptr<ShapeView> {
    while (next_shape < shapes.size()) {
      auto view = std::make_unique<ShapeView>(problem, shapes[next_shape++].draft);
      if (view->is_possible) return view;
    }
    return nullptr;
  };
  std::vector<std::unique_ptr<ShapeView>> views;
  for (int i = 0; i < options.shapes; ++i) {
    if (std::unique_ptr<ShapeView> view = next_view()) views.push_back(std::move(view));
  }
  if (views.empty()) return;
  ShapeBandit bandit(views.size(), options.shape_rate);
  PolicyLearner learner(options.ppo, policy);
  Random random = Random(options.seed).Child("plan policy", 0);
  size_t left = views.size();
  while (!trials.IsSpent() && left > 0) {
    const size_t drawn = bandit.Draw(random);
    ShapeView& view = *views[drawn];
    const PolicyBatch batch = policy.Draw(*view.graph, view.graph->costs().dag().order,
                                          view.stages.stages(), options.ppo.batch, random);
    const int64_t before = trials.evaluations();
    std::vector<double> scores = trials.Score(DraftsOf(view, batch));
    // There is no more to learn from a shape whose plans are nearly all known.
    const bool is_idle = 4 * (trials.evaluations() - before) < options.ppo.batch;
    view.idle = is_idle ? view.idle + 1 : 0;
    if (trials.evaluations() != before && std::isfinite(trials.best_score())) {
      for (double& score : scores) score = std::min(score, kUnfitTimes * trials.best_score());
      bandit.Learn(drawn, -std::log(*std::min_element(scores.begin(), scores.end())));
      learner.Learn(*view.graph, batch, scores);
    }
    if (view.idle < kMostIdle) continue;
    bandit.Leave(drawn);
    if (std::unique_ptr<ShapeView> other = next_view()) {
      views[drawn] = std::move(other);
      bandit.Renew(drawn);
    } else {
      --left;
    }
  }
}

}  // namespace stagecraft
