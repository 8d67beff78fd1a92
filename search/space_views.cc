#include "search/space_views.h"

#include <utility>

namespace stagecraft {
namespace {

constexpr Duration kUnknown = Duration::Nanoseconds(-1);

class Remembered : public PlanSpace {
 public:
  explicit Remembered(PlanSpace& space)
      : PlanSpace(space.problem()),
        space_(space),
        times_(space.size(), kUnknown),
        memory_(space.size()) {}

  size_t size() const override { return space_.size(); }
  std::string name() const override { return space_.name(); }
  Duration LeastTime(size_t index) override {
    Duration& time = times_[index];
    if (time == kUnknown) time = space_.LeastTime(index);
    return time;
  }
  MemoryNeed LeastMemory(size_t index) override {
    MemoryNeed& need = memory_[index];
    if (need.capacity == Bytes()) need = space_.LeastMemory(index);
    return need;
  }
  std::vector<int> GroupDevices(size_t index) const override { return space_.GroupDevices(index); }
  Plan Make(size_t index) const override { return space_.Make(index); }
  std::string Describe(size_t index) const override { return space_.Describe(index); }
  std::unique_ptr<PlanSpace> Under(const SearchProblem& other) const override {
    return space_.Under(other);
  }

 private:
  PlanSpace& space_;
  std::vector<Duration> times_;
  std::vector<MemoryNeed> memory_;  // no capacity: unknown
};

class Some : public PlanSpace {
 public:
  Some(PlanSpace& space, std::vector<size_t> indices, std::unique_ptr<PlanSpace> own = nullptr)
      : PlanSpace(space.problem()),
        own_(std::move(own)),
        space_(space),
        indices_(std::move(indices)) {}

  size_t size() const override { return indices_.size(); }
  std::string name() const override { return space_.name(); }
  Duration LeastTime(size_t index) override { return space_.LeastTime(indices_[index]); }
  MemoryNeed LeastMemory(size_t index) override { return space_.LeastMemory(indices_[index]); }
  std::vector<int> GroupDevices(size_t index) const override {
    return space_.GroupDevices(indices_[index]);
  }
  Plan Make(size_t index) const override { return space_.Make(indices_[index]); }
  std::string Describe(size_t index) const override { return space_.Describe(indices_[index]); }
  std::unique_ptr<PlanSpace> Under(const SearchProblem& other) const override {
    std::unique_ptr<PlanSpace> under = space_.Under(other);
    PlanSpace& seen = *under;
    return std::make_unique<Some>(seen, indices_, std::move(under));
  }

 private:
  const std::unique_ptr<PlanSpace> own_;  // may be null
  PlanSpace& space_;
  const std::vector<size_t> indices_;
};

}  // namespace

std::unique_ptr<PlanSpace> RememberBounds(PlanSpace& space) {
  return std::make_unique<Remembered>(space);
}

std::unique_ptr<PlanSpace> SomeOf(PlanSpace& space, std::vector<size_t> indices) {
  return std::make_unique<Some>(space, std::move(indices));
}

}  // namespace stagecraft
