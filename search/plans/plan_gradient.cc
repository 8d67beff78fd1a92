#include "search/plans/plan_gradient.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>

#include "costmodel/hash.h"
#include "search/divided_work.h"
#include "search/plans/beam.h"
#include "search/plans/packed_draft.h"
#include "search/plans/shape_stages.h"

namespace stagecraft {
namespace {

// Descent is the descent from one start.
class Descent {
 public:
  Descent(const SearchProblem& problem, const PlanDraft& shape, const PlanGradientOptions& options,
          Random random)
      : stages_(problem, shape), options_(options) {
    if (stages_.choices().empty() || stages_.table().blocks() < stages_.stages()) return;
    times_ = std::make_unique<PieceTimes>(
        stages_.table().blocks(), stages_.choices(),
        [this](const PieceStage& stage) { return stages_.Score(stage); });
    StageDevices devices{stages_.units(),
                         [this](std::vector<StageReplicas>& on) { stages_.Fit(on); }};
    slowest_ = stages_.LeastSeconds();
    relaxation_ = std::make_unique<StageRelaxation>(std::move(devices), *times_, stages_.stages(),
                                                    options.relaxation, slowest_, random);
  }
  Descent(const Descent&) = delete;
  Descent& operator=(const Descent&) = delete;

  bool is_possible() const { return relaxation_ != nullptr; }

  // Runs the whole descent and returns two roundings.
  std::vector<PlanDraft> Run() {
    for (int step = 0; step < options_.steps; ++step) {
      relaxation_->Step(static_cast<double>(step) / options_.steps, slowest_);
    }
    const RoundedStages cuts = relaxation_->RoundDegrees();
    const RoundedStages logits = relaxation_->RoundLogits();
    return {stages_.Draft(cuts.ends, cuts.replicas), stages_.Draft(logits.ends, logits.replicas)};
  }

 private:
  const ShapeStages stages_;
  const PlanGradientOptions options_;
  std::unique_ptr<PieceTimes> times_;
  std::unique_ptr<StageRelaxation> relaxation_;
  double slowest_ = 0;  // seconds
};

}  // namespace

void SearchPlansByGradient(const SearchProblem& problem, const std::vector<PlanStart>& all,
                           const PlanGradientOptions& options, PlanTrials& trials) {
  constexpr size_t kWave = 32;     // starts side by side
  constexpr int kRepairEvery = 8;  // waves
  const std::vector<PlanStart> shapes = OrderShapes(all, trials);
  const Random random(options.seed);
  int waves = 0;
  // The best rounding since the last repair.
  double rounded_score = std::numeric_limits<double>::infinity();
  PlanDraft rounded_draft;
  size_t next = 0, idle = 0;
  while (!trials.IsSpent() && idle < shapes.size()) {
    const int64_t before = trials.evaluations();
    const auto shape = [&](size_t i) { return shapes[(next + i) % shapes.size()].draft; };
    const auto descend = [&](size_t i) {
      Descent descent(problem, shape(i), options, random.Child("plan gradient", next + i));
      return descent.is_possible() ? descent.Run() : std::vector<PlanDraft>();
    };
    const auto rounded = ComputeTogether<std::vector<PlanDraft>>(
        trials.watch(), std::min(kWave, shapes.size()), descend,
        [&](size_t i, Hash& hash) { hash.Add(shape(i).Describe()); });
    next += rounded.size();
    std::vector<PlanDraft> drafts;
    for (const std::vector<PlanDraft>& two : rounded) {
      drafts.insert(drafts.end(), two.begin(), two.end());
    }
    const std::vector<double> scores = trials.Score(drafts);
    const auto best = std::min_element(scores.begin(), scores.end());
    if (best != scores.end() && *best < rounded_score) {
      rounded_score = *best;
      rounded_draft = drafts[best - scores.begin()];
    }
    const bool is_due = ++waves % kRepairEvery == 0;
    const bool is_best = rounded_score <= trials.best_score();
    if ((is_best || is_due) && std::isfinite(rounded_score) && !trials.IsSpent()) {
      Descend(problem, rounded_draft, trials, options.repairs);
      rounded_score = std::numeric_limits<double>::infinity();
    }
    idle = trials.evaluations() == before ? idle + rounded.size() : 0;
  }
}

}  // namespace stagecraft
