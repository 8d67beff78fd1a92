// FamilyQueue: the families of a space of degrees, those with the least bounds first.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <queue>
#include <vector>

#include "search/problem.h"
#include "search/space.h"

namespace stagecraft {

// What FamilyQueue asks for: lower bounds of the score of all plans of a set.
struct FamilyScores {
  std::function<double(const DegreePart&)> of_part;
  // Takes some nanoseconds.
  std::function<double(const DegreeFamily&)> of_family;
  // Closer than of_family(). If the objective is the step time, it never falls with the number of
  // replicas, as long as the family is on no list or on the only one.
  std::function<double(const DegreeFamily&)> close;
};

// FamilyQueue divides the plans of a space only as far as bounds ask for it: into parts, then into
// replicas, and these into families with ever fewer replicas. If the objective is not the step
// time, fewer replicas may have a lesser bound, and all families of a part are made at once.
class FamilyQueue {
 public:
  // The arguments must outlive it.
  FamilyQueue(const SearchProblem& problem, const DegreeSpace& degrees, FamilyScores scores);

  // Returns a lower bound of the scores of all plans with schedules of this class, and with such
  // overlaps of tensor parallelism, that Divide() has not returned yet; no value once it has
  // returned all.
  std::optional<double> LeastScore(ScheduleClass schedules, Overlaps overlaps) const;
  // Divides the set with the least bound among these plans. Returns a family that is on a list of
  // devices and need not be divided, if this makes one the next.
  std::optional<DegreeFamily> Divide(ScheduleClass schedules, Overlaps overlaps);

 private:
  // A set of plans: those of the part, of the family with its and fewer replicas, or of the family.
  enum class Level { kPart, kReplicas, kFamily };
  struct Branch {
    double least_score = 0;
    Level level = Level::kPart;
    bool is_close = false;  // the bound is FamilyScores::close()
    DegreeFamily family;    // of kPart only its part
    int64_t number = 0;     // in the order in which branches are found

    // Orders a heap so that the least score is on top, among equals the first.
    friend bool operator<(const Branch& a, const Branch& b) {
      return a.least_score != b.least_score ? a.least_score > b.least_score : a.number > b.number;
    }
  };

  using Heap = std::priority_queue<Branch>;

  // Returns the index in rest_ of what waits with the least bound; no value if nothing does.
  std::optional<size_t> LeastHeap(ScheduleClass schedules, Overlaps overlaps) const;
  void Push(Branch branch);
  // Queues a family that is part of a branch, with the better of their bounds.
  void Push(Level level, const DegreeFamily& family, double least_score);
  // Queues what is left of the plans with such replicas.
  void PushBelow(const DegreeFamily& replica, int64_t below, double least_score);
  void DividePart(const Branch& branch);

  const SearchProblem& problem_;
  const DegreeSpace& degrees_;
  const FamilyScores scores_;
  std::map<DevicePart, ReplicaCounts> counts_;
  int64_t branches_ = 0;  // found so far
  // Two for each class of schedules: what overlaps tensor parallelism as the problem gives it,
  // parts included, and what does not.
  std::array<Heap, 2 * std::size(kScheduleClasses)> rest_;
};

}  // namespace stagecraft
