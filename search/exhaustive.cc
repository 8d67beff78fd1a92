#include "search/exhaustive.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <optional>
#include <queue>
#include <utility>
#include <vector>

#include "costmodel/check.h"
#include "costmodel/hash.h"
#include "costmodel/units.h"
#include "search/candidate.h"
#include "search/divided_work.h"
#include "search/findings.h"
#include "search/packed_evaluation.h"
#include "search/packing.h"
#include "sim/pipeline/pipeline_schedule.h"

namespace stagecraft {
namespace {

// The most plans of a wave, which are evaluated side by side. Does not depend on the number of
// threads.
constexpr size_t kMostOfAWave = 16;
// If a plan that is worth evaluating waits, the space is asked for more plans at most this often
// between two waves, so that enumeration does not take the whole budget. Waves are then small.
constexpr int kMostSteps = 4096;
constexpr size_t kWaveBetweenSteps = 8;
// The most plans that are looked at side by side before they may be evaluated.
constexpr size_t kMostLooks = 16;
// Plans of the next scope are evaluated, too, once there were kLeastEvaluations evaluations in the
// present one and kPatience times as many as it took to find the best of its plans.
constexpr int64_t kLeastEvaluations = 1024;
constexpr int64_t kPatience = 4;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Which plans are evaluated: those with the usual schedules that overlap only what the problem
// gives, all with the usual schedules, or all. The first scope is for searches with a budget, which
// more choice must not lead astray.
enum class Scope { kAsGiven, kUsual, kAll };

struct Candidate {
  size_t index = 0;  // in the space
  double bound = 0;
  bool is_close = false;  // the bound is PlanSpace::CloseBound()

  // Orders a heap so that the least bound is on top, among equals the first.
  friend bool operator<(const Candidate& a, const Candidate& b) {
    return a.bound != b.bound ? a.bound > b.bound : a.index > b.index;
  }
};

struct Evaluated {
  bool is_done = false;
  std::optional<RankedPlan> plan;  // no value: its schedule needs more memory than it may use
};

template <typename Bytes, Is<Evaluated> Value>
void PassAlong(Bytes& bytes, Value& value) {
  auto& [is_done, plan] = value;
  bytes(is_done, plan);
}

// What tells whether a plan is worth an evaluation.
struct Looked {
  bool is_done = false;
  std::optional<RankedPlan> misfit;  // if its tensors alone do not fit
  Duration close;                    // PlanSpace::ComputeCloseTime(), unless it is a misfit
};

template <typename Bytes, Is<Looked> Value>
void PassAlong(Bytes& bytes, Value& value) {
  auto& [is_done, misfit, close] = value;
  bytes(is_done, misfit, close);
}

// CandidateQueue holds the candidates that wait, by pipeline schedule and whether their overlap is
// that of the problem, and then by bound. Schedules take turns, so that one whose bounds are loose
// does not keep the others from being evaluated.
class CandidateQueue {
 public:
  void Add(PipelineSchedule pipeline_schedule, bool chooses_overlap, const Candidate& candidate) {
    const size_t heap = 2 * static_cast<size_t>(pipeline_schedule) + (chooses_overlap ? 1 : 0);
    if (heaps_.size() <= heap) heaps_.resize(heap + 1);
    heaps_[heap].push(candidate);
    ++size_;
  }
  size_t size() const { return size_; }

  // Returns the least bound of the candidates in a scope; infinity if none waits.
  double LeastBound(Scope scope) const {
    double least = kInfinity;
    for (size_t i = 0; i < heaps_.size(); ++i) {
      const Heap& heap = heaps_[i];
      if (!heap.empty() && ScopeOf(i) <= scope) least = std::min(least, heap.top().bound);
    }
    return least;
  }

  // Takes the next candidate of a scope with a bound below `bound`; no value if there is none.
  std::optional<Candidate> Take(Scope scope, double bound) {
    for (size_t tried = 0; tried < heaps_.size(); ++tried) {
      const size_t i = turn_;
      turn_ = (turn_ + 1) % heaps_.size();
      Heap& heap = heaps_[i];
      if (ScopeOf(i) > scope || heap.empty() || heap.top().bound >= bound) continue;
      const Candidate taken = heap.top();
      heap.pop();
      --size_;
      return taken;
    }
    return std::nullopt;
  }

 private:
  using Heap = std::priority_queue<Candidate>;

  static Scope ScopeOf(size_t heap) {
    const bool is_usual = ClassOf(static_cast<PipelineSchedule>(heap / 2)) == ScheduleClass::kUsual;
    return !is_usual ? Scope::kAll : heap % 2 == 1 ? Scope::kUsual : Scope::kAsGiven;
  }

  std::vector<Heap> heaps_;
  size_t turn_ = 0;
  size_t size_ = 0;
};

class Search {
 public:
  Search(const SearchProblem& problem, PlanSpace& space, const SearchOptions& options)
      : problem_(problem),
        space_(space),
        findings_(problem, space, options),
        is_limited_(options.budget.evaluations > 0 || options.budget.seconds > 0) {
    const Choices& choices = problem.choices;
    const bool chooses = choices.chooses_tensor_overlap || choices.chooses_gather_overlap;
    scope_ = is_limited_ && chooses ? Scope::kAsGiven : Scope::kUsual;
  }

  SearchResult Run() {
    QueueFrom(0);
    // The first waves are small, so that a search with a short budget finds a plan, too.
    for (size_t wave = 1; findings_.MayGoOn(); wave = std::min(2 * wave, kMostOfAWave)) {
      EnumerateWhatMayBeLeast();
      const size_t most = is_behind_ ? std::min(wave, kWaveBetweenSteps) : wave;
      const std::vector<size_t> taken = TakeWave(findings_.Room(most));
      if (taken.empty() && scope_ == Scope::kAll) break;
      Evaluate(taken);
      if (scope_ != Scope::kAll && (taken.empty() || IsTimeForOthers())) WidenScope();
      findings_.Report(static_cast<int64_t>(queue_.size()), findings_.best_score(),
                       std::min(LeastUnseen(), findings_.best_score()));
    }
    return Finish();
  }

 private:
  double LeastUnseen() const {
    return std::min(queue_.LeastBound(Scope::kAll), space_.BoundOfRest().value_or(kInfinity));
  }

  bool IsTimeForOthers() const {
    const SearchResult& result = findings_.result();
    const int64_t last = result.curve.empty() ? 0 : result.curve.back().evaluations;
    const int64_t own = std::max<int64_t>(0, last - before_scope_);
    return result.evaluated - before_scope_ >= std::max(kLeastEvaluations, kPatience * own);
  }

  void WidenScope() {
    scope_ = scope_ == Scope::kAsGiven ? Scope::kUsual : Scope::kAll;
    before_scope_ = findings_.result().evaluated;
  }

  void EnumerateWhatMayBeLeast() {
    is_behind_ = false;
    EnumerateWhatMayBeLeast(ScheduleClass::kUsual);
    if (scope_ == Scope::kAll) EnumerateWhatMayBeLeast(ScheduleClass::kOther);
  }

  // Enumerates as long as a plan of this class that is not enumerated yet may be kept and score
  // less than all plans that wait. If plans wait, this ends when the budget is spent or after many
  // steps; a stop of the search ends it at once.
  void EnumerateWhatMayBeLeast(ScheduleClass schedules) {
    const Overlaps overlaps = scope_ == Scope::kAsGiven ? Overlaps::kAsGiven : Overlaps::kAny;
    for (int step = 0;; ++step) {
      const std::optional<double> rest = space_.BoundOfRest(schedules, overlaps);
      if (!rest) return;
      const double waiting = queue_.LeastBound(scope_);
      if (*rest > waiting || *rest >= findings_.WorstKept()) return;
      if (queue_.size() > 0 ? findings_.IsSpent() : findings_.IsStopped()) return;
      is_behind_ = step >= kMostSteps && waiting < findings_.WorstKept();
      if (is_behind_) return;
      const size_t before = space_.size();
      space_.EnumerateMore(schedules, overlaps);
      QueueFrom(before);
    }
  }

  void QueueFrom(size_t from) {
    for (size_t i = from; i < space_.size(); ++i) {
      const double bound = space_.Bound(i);
      if (bound < kInfinity) Requeue({i, bound});
    }
  }

  void Requeue(const Candidate& candidate) {
    const size_t index = candidate.index;
    const bool is_apart = is_limited_ && space_.ChoosesOverlap(index);
    queue_.Add(space_.Order(index), is_apart, candidate);
  }

  // Takes the next plans to be evaluated, at most `most`, without those whose least memory does not
  // fit. A plan whose close bound is larger than its first one waits again with it.
  std::vector<size_t> TakeWave(size_t most) {
    std::vector<size_t> wave;
    while (wave.size() < most) {
      const std::vector<size_t> unknown =
          TakeUnknown(std::min(most - wave.size(), kMostLooks), wave);
      if (unknown.empty()) break;
      const std::vector<Looked> looked = LookAt(unknown);
      for (size_t i = 0; i < unknown.size(); ++i) Note(looked[i], unknown[i], wave);
      if (findings_.IsSpent()) break;
      if (!is_behind_) EnumerateWhatMayBeLeast();
    }
    return wave;
  }

  // Takes plans with the least bounds, at most `most`. Adds those with close bounds to the wave and
  // returns the others.
  std::vector<size_t> TakeUnknown(size_t most, std::vector<size_t>& wave) {
    std::vector<size_t> unknown;
    for (size_t taken = 0; taken < most && !(taken > 0 && findings_.IsSpent());) {
      const std::optional<Candidate> next = queue_.Take(scope_, findings_.WorstKept());
      if (!next) break;
      if (next->is_close) {
        wave.push_back(next->index);
        ++taken;
        continue;
      }
      const MemoryNeed memory = space_.LeastMemory(next->index);
      if (memory.Share() <= 1) {
        unknown.push_back(next->index);
        ++taken;
      } else {
        findings_.NoteStates(memory, next->index);
        if (findings_.IsSpent()) break;
        EnumerateWhatMayBeLeast();
      }
    }
    return unknown;
  }

  std::vector<Looked> LookAt(const std::vector<size_t>& indices) {
    return ComputeTogether<Looked>(
        findings_.watch(), indices.size(),
        [&](size_t i) { return findings_.MayGoOnHere() ? LookAt(indices[i]) : Looked{}; },
        [&](size_t i, Hash& hash) { NameTo(hash, indices[i]); });
  }

  // The memory of tensors takes a tenth of the time of a close bound, and most plans with the least
  // bounds do not fit.
  Looked LookAt(size_t index) {
    Looked looked{.is_done = true, .misfit = {}, .close = Duration::Max()};
    try {
      const Plan plan = space_.Make(index);
      // Without passes nothing is known of the memory.
      if (!NeedsCosts(plan.schedule)) looked.misfit = findings_.ranker().RankIfTensorsMisfit(plan);
      if (looked.misfit) return looked;
      looked.close = CloseTimeOf(index, plan);
    } catch (const InputError&) {
    }
    return looked;
  }

  Duration CloseTimeOf(size_t index, const Plan& plan) {
    if (problem_.objective == Objective::kMemory) return Duration();
    const std::optional<Duration> shared = space_.SharedCloseTime(index);
    return shared ? *shared : space_.ComputeCloseTime(plan);
  }

  void Note(const Looked& looked, size_t index, std::vector<size_t>& wave) {
    if (!looked.is_done) return Requeue({index, space_.Bound(index)});
    if (looked.misfit) {
      findings_.CountMisfit();
      return NoteMisfit(*looked.misfit, index);
    }
    space_.RememberCloseTime(index, looked.close);
    const double bound = space_.CloseBound(index);
    if (bound >= findings_.WorstKept()) return;
    // As long as many plans are not enumerated yet, a close bound says little about the order.
    if (is_behind_) {
      wave.push_back(index);
    } else {
      Requeue({index, bound, true});
    }
  }

  // Evaluates plans. Those for which the budget is not enough wait again.
  void Evaluate(const std::vector<size_t>& indices) {
    std::vector<Evaluated> found = ComputeTogether<Evaluated>(
        findings_.watch(), indices.size(),
        [&](size_t i) {
          return findings_.MayGoOnHere() ? Evaluated{true, Evaluate(indices[i])} : Evaluated{};
        },
        [&](size_t i, Hash& hash) { NameTo(hash, indices[i]); });
    for (size_t i = 0; i < indices.size(); ++i) {
      if (found[i].is_done) {
        Keep(std::move(found[i].plan), indices[i]);
      } else {
        Requeue({indices[i], space_.CloseBound(indices[i]), true});
      }
    }
  }

  // Adds what a plan is to a hash.
  void NameTo(Hash& hash, size_t index) {
    hash.Add(static_cast<int64_t>(index)).Add(std::bit_cast<int64_t>(space_.Bound(index)));
  }

  // Returns no value if the plan's pipeline schedule needs more memory than it may use.
  std::optional<RankedPlan> Evaluate(size_t index) {
    std::optional<Plan> plan = MakeCandidate(problem_, space_, index);
    if (!plan) return std::nullopt;
    return findings_.ranker().Rank(std::move(*plan));
  }

  void Keep(std::optional<RankedPlan> found, size_t index) {
    findings_.CountEvaluation();
    if (!found) return;
    if (!found->evaluation.fits) return NoteMisfit(std::move(*found), index);
    findings_.NoteSeen(SeenPlanOf(*found, index));
    if (findings_.NeedsPlanOf(*found)) AddMissingPlan(problem_, space_, index, *found);
    findings_.Keep(std::move(*found));
  }

  void NoteMisfit(RankedPlan found, size_t index) {
    findings_.NoteSeen(SeenPlanOf(found, index));
    // Once there is a plan, nobody asks why others do not fit.
    if (!findings_.result().plans.empty() || !findings_.NeedsPlanOf(found)) return;
    AddMissingPlan(problem_, space_, index, found);
    findings_.NoteMisfit(found, [&] { return space_.Describe(index); });
  }

  SearchResult Finish() {
    const double best = findings_.best_score();
    const double unseen = LeastUnseen();
    const double bound = std::min(unseen, best);
    const bool has_plan = !findings_.result().plans.empty();
    return findings_.Finish(bound == kInfinity ? 0 : bound, has_plan && unseen >= best);
  }

  const SearchProblem& problem_;
  PlanSpace& space_;
  Findings findings_;
  CandidateQueue queue_;
  bool is_behind_ = false;  // plans that are not enumerated yet may score less than those that wait
  const bool is_limited_;   // by a budget
  Scope scope_ = Scope::kUsual;
  int64_t before_scope_ = 0;  // evaluations before this scope
};

}  // namespace

SearchResult SearchExhaustively(const SearchProblem& problem, PlanSpace& space,
                                const SearchOptions& options) {
  return Search(problem, space, options).Run();
}

}  // namespace stagecraft
