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

std::optional<double> FamilyQueue::LeastScore(ScheduleClass schedules) const {
  const std::priority_queue<Branch>& rest = rest_[static_cast<size_t>(schedules)];
  return rest.empty() ? std::nullopt : std::optional(rest.top().least_score);
}

std::optional<DegreeFamily> FamilyQueue::Divide(ScheduleClass schedules) {
  std::priority_queue<Branch>& rest = rest_[static_cast<size_t>(schedules)];
  if (rest.empty()) return std::nullopt;
  Branch branch = rest.top();
  rest.pop();
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
  rest_[static_cast<size_t>(branch.family.part.schedules)].push(std::move(branch));
}

}  // namespace stagecraft
