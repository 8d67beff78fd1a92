#include "search/plans/plan_mcmc.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "search/plans/draft_moves.h"

namespace stagecraft {
namespace {

struct Chain {
  Random random;
  PlanDraft draft;
  double score = 0;
  int64_t idle = 0;  // moves since a better plan was found
  int returns = 0;
};

const PlanDraft& DrawStart(const std::vector<PlanStart>& starts, Random& random) {
  return starts[random.Integer(0, static_cast<int64_t>(starts.size()) - 1)].draft;
}

// Returns whether the chain goes on from a plan with that score.
bool Accepts(Chain& chain, double score, double best, double sharpness) {
  if (score <= chain.score) return true;
  if (!std::isfinite(score)) return false;
  const double worse = (score - chain.score) / std::min(best, chain.score);
  return chain.random.Uniform() < std::exp(-sharpness * worse);
}

}  // namespace

void SearchPlansByMcmc(const SearchProblem& problem, const std::vector<PlanStart>& starts,
                       const PlanMcmcOptions& options, PlanTrials& trials) {
  if (starts.empty()) return;
  constexpr int64_t kPatience = 100;
  constexpr int kMostIdleRounds = 1000;
  const DraftMoves moves(problem);
  const Random random(options.seed);
  const std::vector<PlanStart> best = OrderBySimulation(starts, trials);
  std::vector<Chain> chains;
  std::vector<PlanDraft> drafts;
  for (int i = 0; i < options.chains; ++i) {
    Chain chain{random.Child("plan chain", i), {}};
    const bool is_first = i < options.chains / 2 && i < static_cast<int>(best.size());
    chain.draft = is_first ? best[i].draft : DrawStart(starts, chain.random);
    drafts.push_back(chain.draft);
    chains.push_back(std::move(chain));
  }
  std::vector<double> scores = trials.Score(drafts);
  for (size_t i = 0; i < chains.size(); ++i) chains[i].score = scores[i];
  int idle_rounds = 0;
  while (!trials.IsSpent() && idle_rounds < kMostIdleRounds) {
    const int64_t before = trials.evaluations();
    for (size_t i = 0; i < chains.size(); ++i) {
      Chain& chain = chains[i];
      if (chain.idle >= kPatience) {
        const bool restarts = ++chain.returns % 4 == 0 || !std::isfinite(trials.best_score());
        chain.draft = restarts ? DrawStart(starts, chain.random) : trials.best();
        chain.score = trials.Score(chain.draft);
        chain.idle = 0;
      }
      drafts[i] = moves.Draw(chain.draft, chain.random).value_or(chain.draft);
    }
    scores = trials.Score(drafts);
    for (size_t i = 0; i < chains.size(); ++i) {
      Chain& chain = chains[i];
      chain.idle = scores[i] < chain.score ? 0 : chain.idle + 1;
      if (!Accepts(chain, scores[i], trials.best_score(), options.sharpness)) continue;
      chain.draft = drafts[i];
      chain.score = scores[i];
    }
    idle_rounds = trials.evaluations() == before ? idle_rounds + 1 : 0;
  }
}

void SearchPlansRandomly(const std::vector<PlanStart>& starts, uint64_t seed, PlanTrials& trials) {
  constexpr size_t kWave = 64;
  Random random = Random(seed).Child("random plans", 0);
  std::vector<PlanDraft> drafts;
  for (const PlanStart& start : starts) drafts.push_back(start.draft);
  for (size_t i = drafts.size(); i > 1; --i) {
    std::swap(drafts[i - 1], drafts[random.Integer(0, static_cast<int64_t>(i) - 1)]);
  }
  for (size_t begin = 0; begin < drafts.size() && !trials.IsSpent(); begin += kWave) {
    const size_t end = std::min(begin + kWave, drafts.size());
    trials.Score({drafts.begin() + static_cast<ptrdiff_t>(begin),
                  drafts.begin() + static_cast<ptrdiff_t>(end)});
  }
}

}  // namespace stagecraft
