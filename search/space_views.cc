#include "search/space_views.h"

#include <utility>

namespace stagecraft {
namespace {

constexpr Duration kUnknown = Duration::Nanoseconds(-1);

class Remembered : public PlanSpace {
 public:
  explicit Remembered(PlanSpace& space) : PlanSpace(space.problem()), space_(space) {}

  size_t size() const override { return space_.size(); }
  std::optional<double> BoundOfRest(ScheduleClass schedules, Overlaps overlaps) const override {
    return space_.BoundOfRest(schedules, overlaps);
  }
  void EnumerateMore(ScheduleClass schedules, Overlaps overlaps) override {
    space_.EnumerateMore(schedules, overlaps);
  }
  std::string name() const override { return space_.name(); }
  Duration LeastTime(size_t index) override {
    if (times_.size() <= index) times_.resize(size(), kUnknown);
    Duration& time = times_[index];
    if (time == kUnknown) time = space_.LeastTime(index);
    return time;
  }
  MemoryNeed LeastMemory(size_t index) override {
    if (memory_.size() <= index) memory_.resize(size());
    MemoryNeed& need = memory_[index];
    if (need.capacity == Bytes()) need = space_.LeastMemory(index);
    return need;
  }
  std::vector<int> GroupDevices(size_t index) const override { return space_.GroupDevices(index); }
  Plan Make(size_t index) const override { return space_.Make(index); }
  PlanKey Key(size_t index) const override { return space_.Key(index); }
  std::string Describe(size_t index) const override { return space_.Describe(index); }
  PipelineSchedule Order(size_t index) const override { return space_.Order(index); }
  bool ChoosesOverlap(size_t index) const override { return space_.ChoosesOverlap(index); }
  std::unique_ptr<PlanSpace> Under(const SearchProblem& other) const override {
    return space_.Under(other);
  }

 private:
  PlanSpace& space_;
  std::vector<Duration> times_;
  std::vector<MemoryNeed> memory_;  // no capacity: unknown
};

}  // namespace

std::unique_ptr<PlanSpace> RememberBounds(PlanSpace& space) {
  return std::make_unique<Remembered>(space);
}

}  // namespace stagecraft
