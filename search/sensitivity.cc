#include "search/sensitivity.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "costmodel/hash.h"
#include "costmodel/memo_model.h"
#include "search/budget_watch.h"
#include "search/candidate.h"
#include "search/divided_work.h"
#include "search/packed_evaluation.h"

namespace stagecraft {
namespace {

// The number of plans that are evaluated side by side. Does not depend on the number of threads.
constexpr size_t kWave = 16;
// Bounds are doubles multiplied with each other, so they are lowered by the rounding error.
constexpr double kRounding = 1 - 1e-12;

struct Candidate {
  size_t index = 0;
  double floor = 0;  // its score under the present costs is no less
  bool may_fit = true;
  bool is_memory_known = false;  // `may_fit` counts LeastMemory()
};

// Candidates holds the plans that may fit, by their floors, as far as they are enumerated.
class Candidates {
 public:
  Candidates(PlanSpace& space, std::span<const SeenPlan> seen) : space_(space), seen_(seen) {}

  size_t size() const { return by_floor_.size(); }
  Candidate& operator[](size_t index) { return by_floor_[index]; }

  // Enumerates all plans whose floor may be below `score`, as long as spent() is false.
  template <typename Spent>
  void EnumerateBelow(double score, Spent spent) {
    for (std::optional<double> rest = space_.BoundOfRest(); rest && *rest < score && !spent();
         rest = space_.BoundOfRest()) {
      space_.EnumerateMore();
    }
    if (known_ < space_.size()) AddFrom(std::exchange(known_, space_.size()));
    // Most plans are far above every score, and need no order.
    const auto is_above = [&](const Candidate& candidate) { return candidate.floor >= score; };
    const auto end = std::partition(above_.begin(), above_.end(), is_above);
    by_floor_.insert(by_floor_.end(), end, above_.end());
    above_.erase(end, above_.end());
    std::sort(by_floor_.begin(), by_floor_.end(), [](const Candidate& a, const Candidate& b) {
      return a.floor != b.floor ? a.floor < b.floor : a.index < b.index;
    });
  }
  // Returns whether the candidate's memory bound fits.
  bool MayFit(Candidate& candidate) {
    if (!std::exchange(candidate.is_memory_known, true) && candidate.may_fit) {
      candidate.may_fit = space_.LeastMemory(candidate.index).Share() <= 1;
    }
    return candidate.may_fit;
  }
  // Returns whether all plans whose floor may be below `score` are enumerated.
  bool HasAllBelow(double score) const { return space_.BoundOfRest().value_or(score) >= score; }

 private:
  void AddFrom(size_t first) {
    const size_t count = space_.size() - first;
    std::vector<bool> fits(count, true);
    std::vector<Duration> simulated(count);
    for (const SeenPlan& seen : seen_) {
      if (!seen.is_fixed || seen.index < first) continue;
      fits[seen.index - first] = seen.fits;
      simulated[seen.index - first] = seen.unshared_time;
    }
    const SearchProblem& problem = space_.problem();
    const bool counts_cost = problem.objective == Objective::kCost;
    for (size_t i = first; i < space_.size(); ++i) {
      if (!fits[i - first]) continue;
      const Duration least = std::max(space_.KnownTime(i), simulated[i - first]);
      if (least == Duration::Max()) continue;
      const double rate = counts_cost ? CostRate(problem, space_.GroupDevices(i)) : 1;
      above_.push_back({i, least.seconds() * rate});
    }
  }

  PlanSpace& space_;
  const std::span<const SeenPlan> seen_;
  size_t known_ = 0;  // plans of the space that were considered
  std::vector<Candidate> by_floor_;
  std::vector<Candidate> above_;  // those whose floor is above all scores so far, in any order
};

class Change {
 public:
  Change(const SearchProblem& problem, PlanSpace& space, const SpeedChange& change,
         BudgetWatch& watch)
      : watch_(watch),
        scaled_(problem.model, change.speeds),
        memo_(scaled_),
        problem_(WithModel(problem, memo_)),
        base_(space),
        least_share_(change.speeds.LeastShare() * kRounding) {
    answer_.change = change;
  }

  // Finds the answer, and notes which candidates do not fit, whatever the change. `spent` says
  // whether this number of evaluations uses up the budget.
  template <typename Spent>
  ChangedAnswer Run(const RankedPlan& old, Candidates& candidates, Spent spent) {
    answer_.old_score = ranker_.Rank(old.plan).score;
    ++answer_.evaluated;
    const double most = answer_.old_score / least_share_;
    candidates.EnumerateBelow(most, [&] { return spent(answer_.evaluated); });
    const bool has_all = candidates.HasAllBelow(most);
    space_ = base_.Under(problem_);
    space_->UseMemoryOf(base_);
    size_t next = 0;
    while (next < candidates.size() && MayWin(candidates[next]) && !spent(answer_.evaluated)) {
      next = EvaluateWave(candidates, next);
    }
    answer_.is_optimal = has_all && (next == candidates.size() || !MayWin(candidates[next]));
    return std::move(answer_);
  }

 private:
  double Best() const { return answer_.better ? answer_.better->score : answer_.old_score; }
  bool MayWin(const Candidate& candidate) const { return candidate.floor * least_share_ < Best(); }

  size_t EvaluateWave(Candidates& candidates, size_t next) {
    std::vector<Candidate*> wave;
    for (; next < candidates.size() && wave.size() < kWave && MayWin(candidates[next]); ++next) {
      Candidate& candidate = candidates[next];
      if (!candidate.may_fit || space_->Bound(candidate.index) >= Best()) continue;
      if (candidates.MayFit(candidate) && space_->CloseBound(candidate.index) < Best()) {
        wave.push_back(&candidate);
      }
    }
    std::vector<std::optional<RankedPlan>> ranked = ComputeTogether<std::optional<RankedPlan>>(
        watch_, wave.size(),
        [&](size_t i) {
          std::optional<Plan> plan = MakeCandidate(problem_, *space_, wave[i]->index);
          return plan ? std::optional(ranker_.Rank(std::move(*plan))) : std::nullopt;
        },
        [&](size_t i, Hash& hash) {
          hash.Add(static_cast<int64_t>(wave[i]->index))
              .Add(std::bit_cast<int64_t>(wave[i]->floor));
        });
    for (size_t i = 0; i < wave.size(); ++i) {
      ++answer_.evaluated;
      if (!ranked[i]) continue;
      const SeenPlan seen = SeenPlanOf(*ranked[i], wave[i]->index);
      if (!seen.fits) {
        wave[i]->may_fit = !seen.is_fixed;
      } else if (ranked[i]->score < Best()) {
        AddMissingPlan(problem_, *space_, wave[i]->index, *ranked[i]);
        answer_.better = std::move(*ranked[i]);
      }
    }
    return next;
  }

  BudgetWatch& watch_;
  const ScaledModel scaled_;
  const MemoModel memo_;
  const SearchProblem problem_;
  const PlanSpace& base_;
  std::unique_ptr<PlanSpace> space_;  // the enumerated plans of `base_`, with the changed costs
  PlanRanker ranker_{problem_};
  const double least_share_;
  ChangedAnswer answer_;
};

}  // namespace

std::vector<SpeedChange> UsualChanges(const Cluster& cluster) {
  std::vector<SpeedChange> changes;
  const bool has_network = cluster.domain(cluster.node_count() - 1) > 0;
  for (const double factor : {1.1, 0.9}) {
    changes.push_back({"compute", factor, {.compute = factor}});
  }
  for (const double factor : {1.1, 0.9}) {
    changes.push_back({"all links", factor, {.intra = factor, .inter = factor}});
  }
  if (!has_network) return changes;
  for (const double factor : {1.1, 0.9}) {
    changes.push_back({"links within nodes", factor, {.intra = factor}});
  }
  for (const double factor : {1.1, 0.9}) {
    changes.push_back({"network", factor, {.inter = factor}});
  }
  return changes;
}

std::vector<ChangedAnswer> FindSensitivity(const SearchProblem& problem, PlanSpace& space,
                                           const RankedPlan& best, std::span<const SeenPlan> seen,
                                           const std::vector<SpeedChange>& changes,
                                           const Budget& budget) {
  BudgetWatch watch(budget);
  Candidates candidates(space, seen);
  std::vector<ChangedAnswer> answers;
  int64_t evaluated = 0;
  for (const SpeedChange& change : changes) {
    const auto spent = [&](int64_t own) { return watch.IsSpent(evaluated + own); };
    if (spent(0)) break;
    answers.push_back(Change(problem, space, change, watch).Run(best, candidates, spent));
    evaluated += answers.back().evaluated;
  }
  return answers;
}

}  // namespace stagecraft
