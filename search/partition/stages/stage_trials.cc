#include "search/partition/stages/stage_trials.h"

namespace stagecraft {

StageTrials::StageTrials(const Budget& budget) : budget_(budget), stop_(budget) {}

bool StageTrials::IsSpent() const {
  return (budget_.evaluations > 0 && evaluations_ >= budget_.evaluations) || stop_.IsUp();
}

double StageTrials::share_spent() const {
  if (budget_.evaluations == 0) return 0;
  return static_cast<double>(evaluations_) / static_cast<double>(budget_.evaluations);
}

void StageTrials::Add(double score, const StagePlan& plan) {
  ++evaluations_;
  if (score >= best_score_) return;
  best_score_ = score;
  best_ = plan;
  curve_.push_back({evaluations_, watch_.Seconds(), score});
}

}  // namespace stagecraft
