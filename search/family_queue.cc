#include "search/family_queue.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace stagecraft {

FamilyQueue::FamilyQueue(const SearchProblem& problem, const DegreeSpace& degrees,
                         FamilyScores scores)
    : problem_(problem), degrees_(degrees), scores_(std::move(scores)) {
  for (const DegreePart& part : degrees.Parts()) {
    Push({.least_score = scores_.of_part(part), .level = Level::kPart, .family = {.part = part}});
  }
}

std::optional<size_t> FamilyQueue::LeastHeap(ScheduleClass schedules, Overlaps overlaps) const {
  const size_t as_given = 2 * static_cast<size_t>(schedules), chosen = as_given + 1;
  const Heap &given_rest = rest_[as_given], &chosen_rest = rest_[chosen];
  const bool may_choose = overlaps == Overlaps::kAny && !chosen_rest.empty();
  if (may_choose && (given_rest.empty() || given_rest.top() < chosen_rest.top())) return chosen;
  return given_rest.empty() ? std::nullopt : std::optional(as_given);
}

std::optional<double> FamilyQueue::LeastScore(ScheduleClass schedules, Overlaps overlaps) const {
  const std::optional<size_t> heap = LeastHeap(schedules, overlaps);
  return heap ? std::optional(rest_[*heap].top().least_score) : std::nullopt;
}

std::optional<DegreeFamily> FamilyQueue::Divide(ScheduleClass schedules, Overlaps overlaps) {
  const std::optional<size_t> heap = LeastHeap(schedules, overlaps);
  if (!heap) return std::nullopt;
  Branch branch = rest_[*heap].top();
  rest_[*heap].pop();
  if (branch.level == Level::kPart) {
    DividePart(branch);
    return std::nullopt;
  }
  if (!branch.is_close) {
    branch.is_close = true;
    const double close = scores_.close(branch.family);
    // If it is still the least, this bound makes no difference.
    if (close > branch.least_score) {
      branch.least_score = close;
      Push(std::move(branch));
      return std::nullopt;
    }
  }
  if (branch.level == Level::kReplicas) {
    PushBelow(branch.family, branch.family.data, branch.least_score);
  }
  if (branch.family.device_list) return branch.family;
  for (const DegreeFamily& family : degrees_.OnLists(branch.family)) {
    Push(Level::kFamily, family, branch.least_score);
  }
  return std::nullopt;
}

void FamilyQueue::DividePart(const Branch& branch) {
  const DegreePart& part = branch.family.part;
  counts_.try_emplace(part.devices, degrees_.ReplicaCountsOf(part.devices));
  for (DegreeFamily& replica : degrees_.ReplicasOf(part)) {
    if (degrees_.has_one_list()) replica.device_list = 0;
    PushBelow(replica, std::numeric_limits<int64_t>::max(), branch.least_score);
  }
}

void FamilyQueue::PushBelow(const DegreeFamily& replica, int64_t below, double least_score) {
  const ReplicaCounts& counts = counts_.at(replica.part.devices);
  const bool falls = problem_.objective != Objective::kStepTime;
  std::optional<DegreeFamily> family = degrees_.FamilyBelow(replica, counts, below);
  if (!falls && family) Push(Level::kReplicas, *family, least_score);
  for (; falls && family; family = degrees_.FamilyBelow(replica, counts, family->data)) {
    Push(Level::kFamily, *family, least_score);
  }
}

void FamilyQueue::Push(Level level, const DegreeFamily& family, double least_score) {
  Push({.least_score = std::max(scores_.of_family(family), least_score),
        .level = level,
        .family = family});
}

void FamilyQueue::Push(Branch branch) {
  branch.number = branches_++;
  const DegreeFamily& family = branch.family;
  const bool is_chosen =
      branch.level != Level::kPart && family.overlaps_tensor != problem_.given.overlap_tensor;
  rest_[2 * static_cast<size_t>(family.part.schedules) + (is_chosen ? 1 : 0)].push(
      std::move(branch));
}

}  // namespace stagecraft
