#include "search/exhaustive.h"

#include <oneapi/tbb/parallel_for.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <optional>
#include <utility>

#include "search/candidate.h"
#include "search/obstacle.h"

namespace stagecraft {
namespace {

// Evaluated side by side; the same at any number of threads.
constexpr size_t kWave = 64;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Candidate {
  size_t index = 0;  // in the space
  double bound = 0;
};

class Search {
 public:
  Search(const SearchProblem& problem, PlanSpace& space, const SearchOptions& options)
      : problem_(problem), options_(options), space_(space), ranker_(problem) {}

  SearchResult Run() {
    result_.space = space_.name();
    result_.candidates = static_cast<int64_t>(space_.size());
    BoundAll();
    size_t next = 0;
    while (next < queue_.size() && queue_[next].bound < WorstKept() && !IsSpent()) {
      next = EvaluateWave(next);
      Report(next);
    }
    Finish(next);
    return std::move(result_);
  }

 private:
  double Seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  }

  bool IsSpent() const { return options_.budget.IsSpent(result_.evaluated, Seconds()); }

  // What a plan must stay below to be returned.
  double WorstKept() const {
    const auto top = static_cast<size_t>(options_.top);
    return result_.plans.size() < top ? kInfinity : result_.plans.back().score;
  }

  void BoundAll() {
    for (size_t i = 0; i < space_.size(); ++i) {
      const MemoryNeed memory = space_.LeastMemory(i);
      if (memory.Share() > 1) {
        obstacle_.NoteStates(memory, space_, i);
        continue;
      }
      queue_.push_back({i, space_.Bound(i)});
    }
    std::sort(queue_.begin(), queue_.end(), [](const Candidate& a, const Candidate& b) {
      return a.bound != b.bound ? a.bound < b.bound : a.index < b.index;
    });
  }

  size_t EvaluateWave(size_t first) {
    size_t last = std::min(first + kWave, queue_.size());
    if (options_.budget.evaluations > 0) {
      const auto left = static_cast<size_t>(options_.budget.evaluations - result_.evaluated);
      last = std::min(last, first + left);
    }
    const double worst = WorstKept();
    while (last > first && queue_[last - 1].bound >= worst) --last;
    std::vector<std::optional<RankedPlan>> wave(last - first);
    tbb::parallel_for(first, last, [&](size_t i) { wave[i - first] = Evaluate(queue_[i].index); });
    for (size_t i = first; i < last; ++i) Keep(std::move(wave[i - first]), queue_[i].index);
    return last;
  }

  // Nothing where its orders need more memory than they may use.
  std::optional<RankedPlan> Evaluate(size_t index) {
    std::optional<Plan> plan = MakeCandidate(problem_, space_, index);
    if (!plan) return std::nullopt;
    return ranker_.Rank(std::move(*plan));
  }

  void Keep(std::optional<RankedPlan> found, size_t index) {
    ++result_.evaluated;
    if (!found) return;
    const Evaluation& evaluation = found->evaluation;
    result_.seen.push_back(SeenPlanOf(*found, index));
    if (!evaluation.fits) {
      if (!obstacle_.IsNearer(evaluation)) return;
      return obstacle_.NoteStage(ranker_.Misfit(found->plan), space_.Describe(index));
    }
    ++result_.feasible;
    if (found->score < best_) {
      best_ = found->score;
      result_.curve.push_back({result_.evaluated, Seconds(), best_});
    }
    const auto place =
        std::upper_bound(result_.plans.begin(), result_.plans.end(), found->score,
                         [](double score, const RankedPlan& other) { return score < other.score; });
    result_.plans.insert(place, std::move(*found));
    if (result_.plans.size() > static_cast<size_t>(options_.top)) result_.plans.pop_back();
  }

  void Report(size_t next) const {
    if (!options_.report) return;
    const double bound = next < queue_.size() ? std::min(queue_[next].bound, best_) : best_;
    options_.report({result_.evaluated, static_cast<int64_t>(queue_.size() - next), best_, bound});
  }

  void Finish(size_t next) {
    const bool is_done = next == queue_.size() || queue_[next].bound >= WorstKept();
    const double unseen = next < queue_.size() ? queue_[next].bound : kInfinity;
    result_.bound = std::min(unseen, best_);
    if (result_.bound == kInfinity) result_.bound = 0;  // there is no plan
    result_.is_optimal = !result_.plans.empty() && (is_done || unseen >= best_);
    if (result_.plans.empty()) result_.obstacle = obstacle_.Text(space_);
  }

  const SearchProblem& problem_;
  const SearchOptions& options_;
  PlanSpace& space_;
  PlanRanker ranker_;
  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  std::vector<Candidate> queue_;
  SearchResult result_;
  double best_ = kInfinity;
  Obstacle obstacle_;
};

}  // namespace

SearchResult SearchExhaustively(const SearchProblem& problem, PlanSpace& space,
                                const SearchOptions& options) {
  return Search(problem, space, options).Run();
}

}  // namespace stagecraft
