#include "search/pareto.h"

#include <oneapi/tbb/parallel_for.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "search/candidate.h"
#include "search/obstacle.h"
#include "sim/memory/stage_memory.h"

namespace stagecraft {
namespace {

// Evaluated side by side; the same at any number of threads.
constexpr size_t kWave = 64;

// What is to be least; less is better.
struct Point {
  double step = 0;  // seconds
  double cost = 0;
  double memory = 0;  // share

  bool NoMoreThan(const Point& other) const {
    return step <= other.step && cost <= other.cost && memory <= other.memory;
  }
};

struct Candidate {
  size_t index = 0;  // in the space
  Point bound;
};

struct Looked {
  std::optional<RankedPlan> ranked;  // nothing: there is no such plan
  bool is_beaten = false;            // by its memory and bounds; not simulated
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
    while (next < queue_.size() && !IsSpent()) {
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

  void BoundAll() {
    for (size_t i = 0; i < space_.size(); ++i) {
      const MemoryNeed memory = space_.LeastMemory(i);
      const Duration least = space_.LeastTime(i);
      if (memory.Share() > 1) {
        obstacle_.NoteStates(memory, space_, i);
      } else if (least != Duration::Max()) {
        queue_.push_back({i, {least.seconds(), space_.LeastCost(i), memory.Share()}});
      }
    }
    std::sort(queue_.begin(), queue_.end(), [](const Candidate& a, const Candidate& b) {
      if (a.bound.step != b.bound.step) return a.bound.step < b.bound.step;
      return a.index < b.index;
    });
  }

  bool IsBeaten(const Point& point) const {
    return std::any_of(front_.begin(), front_.end(),
                       [&](const Point& other) { return other.NoMoreThan(point); });
  }

  // The next ones that are not beaten by their bounds.
  size_t EvaluateWave(size_t first) {
    const int64_t most = options_.budget.evaluations;
    size_t room = kWave;
    if (most > 0) room = std::min(room, static_cast<size_t>(most - result_.evaluated));
    std::vector<Candidate> wave;
    size_t next = first;
    for (; next < queue_.size() && wave.size() < room; ++next) {
      if (!IsBeaten(queue_[next].bound)) wave.push_back(queue_[next]);
    }
    std::vector<Looked> looked(wave.size());
    tbb::parallel_for(size_t{0}, wave.size(), [&](size_t i) { looked[i] = LookAt(wave[i]); });
    for (size_t i = 0; i < wave.size(); ++i) Keep(std::move(looked[i]), wave[i].index);
    return next;
  }

  Looked LookAt(const Candidate& candidate) {
    Looked looked;
    std::optional<Plan> plan = MakeCandidate(problem_, space_, candidate.index);
    if (!plan) return looked;
    Point bound = candidate.bound;
    bound.memory =
        MemoryShare(EstimateMemory(*plan, problem_.workload, problem_.cluster, problem_.framework));
    looked.is_beaten = bound.memory <= 1 && IsBeaten(bound);
    if (!looked.is_beaten) looked.ranked = ranker_.Rank(std::move(*plan));
    return looked;
  }

  void Keep(Looked looked, size_t index) {
    ++result_.evaluated;
    if (looked.is_beaten) ++result_.feasible;
    if (!looked.ranked) return;
    const Evaluation& evaluation = looked.ranked->evaluation;
    if (!evaluation.fits) {
      if (!obstacle_.IsNearer(evaluation)) return;
      return obstacle_.NoteStage(ranker_.Misfit(looked.ranked->plan), space_.Describe(index));
    }
    ++result_.feasible;
    const Point point{evaluation.step_time.seconds(), CostOf(problem_, evaluation),
                      MemoryShare(evaluation.memory)};
    if (IsBeaten(point)) return;
    for (size_t i = front_.size(); i-- > 0;) {
      if (!point.NoMoreThan(front_[i])) continue;
      front_.erase(front_.begin() + static_cast<std::ptrdiff_t>(i));
      result_.plans.erase(result_.plans.begin() + static_cast<std::ptrdiff_t>(i));
    }
    front_.push_back(point);
    result_.plans.push_back(std::move(*looked.ranked));
  }

  double Best() const {
    double best = std::numeric_limits<double>::infinity();
    for (const Point& point : front_) best = std::min(best, point.step);
    return best;
  }

  void Report(size_t next) const {
    if (!options_.report) return;
    const double bound = next < queue_.size() ? std::min(queue_[next].bound.step, Best()) : Best();
    options_.report({result_.evaluated, static_cast<int64_t>(queue_.size() - next), Best(), bound});
  }

  void Finish(size_t next) {
    while (next < queue_.size() && IsBeaten(queue_[next].bound)) ++next;
    const bool is_done = next == queue_.size();
    result_.bound = is_done ? Best() : std::min(Best(), queue_[next].bound.step);
    result_.is_optimal = is_done && !result_.plans.empty();
    if (is_done && result_.plans.empty()) result_.bound = 0;  // there is no plan
    if (result_.plans.empty()) result_.obstacle = obstacle_.Text(space_);
    std::sort(result_.plans.begin(), result_.plans.end(),
              [&](const RankedPlan& a, const RankedPlan& b) {
                if (a.score != b.score) return a.score < b.score;
                return CostOf(problem_, a.evaluation) < CostOf(problem_, b.evaluation);
              });
  }

  const SearchProblem& problem_;
  const SearchOptions& options_;
  PlanSpace& space_;
  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  std::vector<Candidate> queue_;  // by bound of the step
  std::vector<Point> front_;      // of result_.plans
  SearchResult result_;
  Obstacle obstacle_;
  PlanRanker ranker_;
};

}  // namespace

SearchResult SearchPareto(const SearchProblem& problem, PlanSpace& space,
                          const SearchOptions& options) {
  return Search(problem, space, options).Run();
}

}  // namespace stagecraft
