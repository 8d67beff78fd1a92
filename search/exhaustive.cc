#include "search/exhaustive.h"

#include <oneapi/tbb/parallel_for.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "search/candidate.h"
#include "search/findings.h"

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
      : problem_(problem), space_(space), findings_(problem, space, options) {}

  SearchResult Run() {
    BoundAll();
    size_t next = 0;
    while (next < queue_.size() && queue_[next].bound < findings_.WorstKept() &&
           !findings_.IsSpent()) {
      next = EvaluateWave(next);
      const double best = findings_.best_score();
      const double bound = next < queue_.size() ? std::min(queue_[next].bound, best) : best;
      findings_.Report(static_cast<int64_t>(queue_.size() - next), best, bound);
    }
    return Finish(next);
  }

 private:
  void BoundAll() {
    for (size_t i = 0; i < space_.size(); ++i) {
      const MemoryNeed memory = space_.LeastMemory(i);
      if (memory.Share() > 1) {
        findings_.NoteStates(memory, i);
        continue;
      }
      queue_.push_back({i, space_.Bound(i)});
    }
    std::sort(queue_.begin(), queue_.end(), [](const Candidate& a, const Candidate& b) {
      return a.bound != b.bound ? a.bound < b.bound : a.index < b.index;
    });
  }

  size_t EvaluateWave(size_t first) {
    size_t last = first + findings_.Room(std::min(kWave, queue_.size() - first));
    const double worst = findings_.WorstKept();
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
    return findings_.ranker().Rank(std::move(*plan));
  }

  void Keep(std::optional<RankedPlan> found, size_t index) {
    findings_.CountEvaluation();
    if (!found) return;
    findings_.NoteSeen(SeenPlanOf(*found, index));
    if (found->evaluation.fits) {
      findings_.Keep(std::move(*found));
    } else {
      findings_.NoteMisfit(*found, [&] { return space_.Describe(index); });
    }
  }

  // Plans from `next` on were not looked at.
  SearchResult Finish(size_t next) {
    const double best = findings_.best_score();
    const bool is_done = next == queue_.size() || queue_[next].bound >= findings_.WorstKept();
    const double unseen = next < queue_.size() ? queue_[next].bound : kInfinity;
    const double bound = std::min(unseen, best);
    const bool has_plan = !findings_.result().plans.empty();
    return findings_.Finish(bound == kInfinity ? 0 : bound,
                            has_plan && (is_done || unseen >= best));
  }

  const SearchProblem& problem_;
  PlanSpace& space_;
  Findings findings_;
  std::vector<Candidate> queue_;
};

}  // namespace

SearchResult SearchExhaustively(const SearchProblem& problem, PlanSpace& space,
                                const SearchOptions& options) {
  return Search(problem, space, options).Run();
}

}  // namespace stagecraft
