#include "search/plan_space.h"

#include <algorithm>
#include <limits>

#include "costmodel/check.h"

namespace stagecraft {

double LeastScore(const SearchProblem& problem, Duration least_time,
                  std::span<const int> group_devices) {
  if (least_time == Duration::Max()) return std::numeric_limits<double>::infinity();
  switch (problem.objective) {
    case Objective::kStepTime:
      return least_time.seconds();
    case Objective::kCost:
      return least_time.seconds() * CostRate(problem, group_devices);
    case Objective::kMemory:
      break;
  }
  return 0;
}

namespace {

// Returns the class of schedules in which a plan that is not enumerated yet may score least; no
// value once all plans are enumerated.
std::optional<ScheduleClass> LeastClass(const PlanSpace& space) {
  const std::optional<double> usual = space.BoundOfRest(ScheduleClass::kUsual, Overlaps::kAny);
  const std::optional<double> other = space.BoundOfRest(ScheduleClass::kOther, Overlaps::kAny);
  if (!other || (usual && *usual <= *other)) {
    return usual ? std::optional(ScheduleClass::kUsual) : std::nullopt;
  }
  return ScheduleClass::kOther;
}

}  // namespace

std::optional<double> PlanSpace::BoundOfRest() const {
  const std::optional<ScheduleClass> least = LeastClass(*this);
  return least ? BoundOfRest(*least, Overlaps::kAny) : std::nullopt;
}

void PlanSpace::EnumerateMore() {
  if (const std::optional<ScheduleClass> least = LeastClass(*this)) {
    EnumerateMore(*least, Overlaps::kAny);
  }
}

double PlanSpace::LeastCost(size_t index) {
  const Duration least = LeastTime(index);
  if (least == Duration::Max()) return std::numeric_limits<double>::infinity();
  return least.seconds() * CostRate(problem_, GroupDevices(index));
}

double PlanSpace::Bound(size_t index) {
  if (problem_.objective == Objective::kCost) return LeastCost(index);
  const Duration least = LeastTime(index);
  if (least == Duration::Max()) return std::numeric_limits<double>::infinity();
  return problem_.objective == Objective::kStepTime ? least.seconds() : LeastMemory(index).Share();
}

std::optional<Duration> PlanSpace::SharedCloseTime(size_t index) const {
  if (shared_times_ == nullptr) return std::nullopt;
  const PlanKey key = Key(index);
  // Other keys leave open how many layers a stage has, which may depend on memory.
  if (!key.is_whole) return std::nullopt;
  const auto known = shared_times_->find(key);
  return known == shared_times_->end() ? std::nullopt : std::optional(known->second);
}

Duration PlanSpace::CloseTime(size_t index) {
  const auto known = close_times_.find(index);
  if (known != close_times_.end()) return known->second;
  Duration bound = LeastTime(index);
  if (bound < Duration::Max()) {
    try {
      const std::optional<Duration> shared = SharedCloseTime(index);
      bound = shared ? *shared : ComputeCloseTime(Make(index));
    } catch (const InputError&) {
      bound = Duration::Max();
    }
  }
  RememberCloseTime(index, bound);
  return close_times_.at(index);
}

void PlanSpace::RememberCloseTime(size_t index, Duration bound) {
  constexpr size_t kMostShared = 1'000'000;  // of some 50 bytes each
  close_times_.emplace(index, std::max(LeastTime(index), bound));
  const bool says_something = Duration() < bound && bound < Duration::Max();
  if (!says_something || shared_times_ == nullptr || shared_times_->size() >= kMostShared) return;
  if (const PlanKey key = Key(index); key.is_whole) shared_times_->emplace(key, bound);
}

Duration PlanSpace::KnownTime(size_t index) {
  const auto known = close_times_.find(index);
  return known == close_times_.end() ? LeastTime(index) : known->second;
}

double PlanSpace::CloseBound(size_t index) {
  if (problem_.objective == Objective::kMemory) return Bound(index);
  return LeastScore(problem_, CloseTime(index), GroupDevices(index));
}

}  // namespace stagecraft
