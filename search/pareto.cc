#include "search/pareto.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "costmodel/hash.h"
#include "search/candidate.h"
#include "search/divided_work.h"
#include "search/findings.h"
#include "search/packed_evaluation.h"
#include "search/packing.h"

namespace stagecraft {
namespace {

// The number of plans that are evaluated side by side. Does not depend on the number of threads.
constexpr size_t kWave = 64;

// Point holds the three objectives of a plan; less is better.
struct Point {
  double step = 0;  // seconds
  double cost = 0;
  double memory = 0;  // of the capacity

  bool NoMoreThan(const Point& other) const {
    return step <= other.step && cost <= other.cost && memory <= other.memory;
  }
};

struct Candidate {
  size_t index = 0;  // in the space
  Point bound;
};

struct Looked {
  std::optional<RankedPlan> ranked;  // no value: there is no such plan
  bool is_beaten = false;            // by its memory and bounds, so that it is not simulated
};

template <typename Bytes, Is<Looked> Value>
void PassAlong(Bytes& bytes, Value& value) {
  auto& [ranked, is_beaten] = value;
  bytes(ranked, is_beaten);
}

class Search {
 public:
  Search(const SearchProblem& problem, PlanSpace& space, const SearchOptions& options)
      : problem_(problem), space_(space), findings_(problem, space, options) {}

  SearchResult Run() {
    BoundAll();
    size_t next = 0;
    while (next < queue_.size() && !findings_.IsSpent()) {
      next = EvaluateWave(next);
      Report(next);
    }
    return Finish(next);
  }

 private:
  void BoundAll() {
    while (space_.BoundOfRest() && !findings_.IsSpent()) space_.EnumerateMore();
    for (size_t i = 0; i < space_.size(); ++i) {
      const MemoryNeed memory = space_.LeastMemory(i);
      const Duration least = space_.LeastTime(i);
      if (memory.Share() > 1) {
        findings_.NoteStates(memory, i);
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

  // Returns whether a candidate is beaten even at its bounds, close ones included.
  bool IsBeaten(const Candidate& candidate) {
    if (IsBeaten(candidate.bound)) return true;
    const Duration close = space_.CloseTime(candidate.index);
    if (close == Duration::Max()) return true;
    Point bound = candidate.bound;
    bound.step = close.seconds();
    bound.cost = bound.step * CostRate(problem_, space_.GroupDevices(candidate.index));
    return IsBeaten(bound);
  }

  // Evaluates the next candidates that are not beaten even at their bounds. Returns where the rest
  // begins.
  size_t EvaluateWave(size_t first) {
    const size_t room = findings_.Room(kWave);
    std::vector<Candidate> wave;
    size_t next = first;
    for (; next < queue_.size() && wave.size() < room; ++next) {
      if (!IsBeaten(queue_[next])) wave.push_back(queue_[next]);
    }
    std::vector<Looked> looked = ComputeTogether<Looked>(
        findings_.watch(), wave.size(), [&](size_t i) { return LookAt(wave[i]); },
        [&](size_t i, Hash& hash) {
          hash.Add(static_cast<int64_t>(wave[i].index))
              .Add(std::bit_cast<int64_t>(wave[i].bound.step));
        });
    for (size_t i = 0; i < wave.size(); ++i) Keep(std::move(looked[i]), wave[i].index);
    return next;
  }

  Looked LookAt(const Candidate& candidate) {
    Looked looked;
    std::optional<Plan> plan = MakeCandidate(problem_, space_, candidate.index);
    if (!plan) return looked;
    Point bound = candidate.bound;
    bound.memory = MemoryShare(findings_.ranker().Memory(*plan));
    looked.is_beaten = bound.memory <= 1 && IsBeaten(bound);
    if (!looked.is_beaten) looked.ranked = findings_.ranker().Rank(std::move(*plan));
    return looked;
  }

  void Keep(Looked looked, size_t index) {
    findings_.CountEvaluation();
    if (looked.is_beaten) findings_.CountFeasible();
    if (!looked.ranked) return;
    const Evaluation& evaluation = looked.ranked->evaluation;
    if (evaluation.fits || findings_.NeedsPlanOf(*looked.ranked)) {
      AddMissingPlan(problem_, space_, index, *looked.ranked);
    }
    if (!evaluation.fits) {
      return findings_.NoteMisfit(*looked.ranked, [&] { return space_.Describe(index); });
    }
    findings_.CountFeasible();
    const Point point{evaluation.step_time.seconds(), CostOf(problem_, evaluation),
                      MemoryShare(evaluation.memory)};
    if (IsBeaten(point)) return;
    for (size_t i = front_.size(); i-- > 0;) {
      if (!point.NoMoreThan(front_[i])) continue;
      front_.erase(front_.begin() + static_cast<std::ptrdiff_t>(i));
      plans_.erase(plans_.begin() + static_cast<std::ptrdiff_t>(i));
    }
    front_.push_back(point);
    plans_.push_back(std::move(*looked.ranked));
  }

  double Best() const {
    double best = std::numeric_limits<double>::infinity();
    for (const Point& point : front_) best = std::min(best, point.step);
    return best;
  }

  void Report(size_t next) const {
    const double bound = next < queue_.size() ? std::min(queue_[next].bound.step, Best()) : Best();
    findings_.Report(static_cast<int64_t>(queue_.size() - next), Best(), bound);
  }

  SearchResult Finish(size_t next) {
    while (next < queue_.size() && IsBeaten(queue_[next].bound)) ++next;
    const std::optional<double> rest = space_.BoundOfRest();
    const bool is_done = next == queue_.size() && !rest;
    const bool has_plan = !plans_.empty();
    double bound = Best();
    if (next < queue_.size()) bound = std::min(bound, queue_[next].bound.step);
    if (rest) bound = std::min(bound, *rest);
    if (is_done && !has_plan) bound = 0;
    std::sort(plans_.begin(), plans_.end(), [&](const RankedPlan& a, const RankedPlan& b) {
      if (a.score != b.score) return a.score < b.score;
      return CostOf(problem_, a.evaluation) < CostOf(problem_, b.evaluation);
    });
    return findings_.FinishWith(std::move(plans_), bound, is_done && has_plan);
  }

  const SearchProblem& problem_;
  PlanSpace& space_;
  Findings findings_;
  std::vector<Candidate> queue_;  // by bound of the step time
  std::vector<Point> front_;
  std::vector<RankedPlan> plans_;  // of the front, in its order
};

}  // namespace

SearchResult SearchPareto(const SearchProblem& problem, PlanSpace& space,
                          const SearchOptions& options) {
  return Search(problem, space, options).Run();
}

}  // namespace stagecraft
