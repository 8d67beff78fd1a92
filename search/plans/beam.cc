#include "search/plans/beam.h"

#include <algorithm>
#include <cmath>

#include "search/plans/draft_moves.h"

namespace stagecraft {
namespace {

class Beam {
 public:
  Beam(const SearchProblem& problem, int width, PlanTrials& trials)
      : moves_(problem), width_(width), trials_(trials) {}

  void Add(const std::vector<PlanDraft>& drafts) {
    const std::vector<double> scores = trials_.Score(drafts);
    for (size_t i = 0; i < drafts.size(); ++i) {
      if (std::isfinite(scores[i])) Add(scores[i], drafts[i]);
    }
  }

  // Tries all moves of the best plan whose moves were not tried yet. Returns false if there is
  // none.
  bool Expand() {
    const auto next =
        std::find_if(kept_.begin(), kept_.end(), [](const Kept& one) { return !one.is_expanded; });
    if (next == kept_.end()) return false;
    next->is_expanded = true;
    const PlanDraft from = next->draft;
    Add(moves_.All(from));
    return true;
  }

 private:
  struct Kept {
    double score = 0;
    PlanDraft draft;
    bool is_expanded = false;
  };

  void Add(double score, const PlanDraft& draft) {
    const bool is_known = std::any_of(kept_.begin(), kept_.end(),
                                      [&](const Kept& one) { return one.draft == draft; });
    if (is_known) return;
    const auto place =
        std::upper_bound(kept_.begin(), kept_.end(), score,
                         [](double own, const Kept& one) { return own < one.score; });
    kept_.insert(place, {score, draft});
    if (kept_.size() > width_) kept_.pop_back();
  }

  const DraftMoves moves_;
  const size_t width_;
  PlanTrials& trials_;
  std::vector<Kept> kept_;  // best first
};

}  // namespace

void SearchPlansByBeam(const SearchProblem& problem, const std::vector<PlanStart>& starts,
                       int width, PlanTrials& trials) {
  constexpr size_t kStartsEach = 16;  // starts for each plan of the beam
  const size_t wave = static_cast<size_t>(width) * kStartsEach;
  for (size_t begin = 0; begin < starts.size() && !trials.IsSpent(); begin += wave) {
    Beam beam(problem, width, trials);
    std::vector<PlanDraft> drafts;
    for (size_t i = begin; i < std::min(begin + wave, starts.size()); ++i) {
      drafts.push_back(starts[i].draft);
    }
    beam.Add(drafts);
    while (!trials.IsSpent() && beam.Expand()) {
    }
  }
}

void Descend(const SearchProblem& problem, const PlanDraft& from, PlanTrials& trials,
             int64_t evaluations) {
  Beam beam(problem, 1, trials);
  const int64_t before = trials.evaluations();
  beam.Add({from});
  while (!trials.IsSpent() && trials.evaluations() - before < evaluations && beam.Expand()) {
  }
}

}  // namespace stagecraft
