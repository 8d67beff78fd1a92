#include "search/joined_space.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <utility>

#include "costmodel/check.h"

namespace stagecraft {
namespace {

struct Member {
  uint32_t space = 0;
  uint32_t index = 0;  // in that space
};

bool AreSame(const Stage& a, const Stage& b) {
  return a.chunks == b.chunks && a.tensor_parallel == b.tensor_parallel &&
         a.context_parallel == b.context_parallel && a.replicas == b.replicas &&
         a.replica_micro_batches == b.replica_micro_batches && a.recompute == b.recompute &&
         a.expert_parallel == b.expert_parallel && a.recomputed == b.recomputed;
}

// Returns whether two plans with the same key are the same plan.
bool AreSame(const Plan& a, const Plan& b) {
  return std::equal(a.stages.begin(), a.stages.end(), b.stages.begin(), b.stages.end(),
                    [](const Stage& x, const Stage& y) { return AreSame(x, y); });
}

class Joined : public PlanSpace {
 public:
  Joined(const SearchProblem& problem, std::vector<std::unique_ptr<PlanSpace>> spaces,
         std::string name, SpaceOverlap overlap, std::vector<Member> members)
      : PlanSpace(problem),
        spaces_(std::move(spaces)),
        name_(std::move(name)),
        overlap_(overlap),
        members_(std::move(members)) {}

  // Adds the plans that the spaces have enumerated so far.
  void TakeAll() {
    for (size_t space = 0; space < spaces_.size(); ++space) Take(space, 0);
  }

  size_t size() const override { return members_.size(); }
  std::optional<double> BoundOfRest(ScheduleClass schedules, Overlaps overlaps) const override {
    const std::optional<size_t> least = LeastSpace(schedules, overlaps);
    return least ? spaces_[*least]->BoundOfRest(schedules, overlaps) : std::nullopt;
  }
  void EnumerateMore(ScheduleClass schedules, Overlaps overlaps) override {
    const std::optional<size_t> least = LeastSpace(schedules, overlaps);
    if (!least) return;
    const size_t before = spaces_[*least]->size();
    spaces_[*least]->EnumerateMore(schedules, overlaps);
    Take(*least, before);
  }
  std::string name() const override { return name_; }
  Duration LeastTime(size_t index) override { return Of(index).LeastTime(members_[index].index); }
  MemoryNeed LeastMemory(size_t index) override {
    return Of(index).LeastMemory(members_[index].index);
  }
  std::vector<int> GroupDevices(size_t index) const override {
    return Of(index).GroupDevices(members_[index].index);
  }
  Plan Make(size_t index) const override { return Of(index).Make(members_[index].index); }
  PlanKey Key(size_t index) const override { return Of(index).Key(members_[index].index); }
  std::string Describe(size_t index) const override {
    return Of(index).Describe(members_[index].index);
  }
  PipelineSchedule Order(size_t index) const override {
    return Of(index).Order(members_[index].index);
  }
  bool ChoosesOverlap(size_t index) const override {
    return Of(index).ChoosesOverlap(members_[index].index);
  }
  std::unique_ptr<PlanSpace> Under(const SearchProblem& other) const override {
    std::vector<std::unique_ptr<PlanSpace>> under;
    for (const std::unique_ptr<PlanSpace>& space : spaces_) under.push_back(space->Under(other));
    return std::make_unique<Joined>(other, std::move(under), name_, overlap_, members_);
  }

 private:
  PlanSpace& Of(size_t index) const { return *spaces_[members_[index].space]; }

  // Returns the space whose remaining plans may have the least score, the first among equals; no
  // value if no space has remaining plans.
  std::optional<size_t> LeastSpace(ScheduleClass schedules, Overlaps overlaps) const {
    std::optional<size_t> least;
    double bound = 0;
    for (size_t space = 0; space < spaces_.size(); ++space) {
      const std::optional<double> own = spaces_[space]->BoundOfRest(schedules, overlaps);
      if (!own || (least && *own >= bound)) continue;
      least = space;
      bound = *own;
    }
    return least;
  }

  void Take(size_t space, size_t from) {
    for (size_t i = from; i < spaces_[space]->size(); ++i) {
      members_.push_back({static_cast<uint32_t>(space), static_cast<uint32_t>(i)});
      if (overlap_ == SpaceOverlap::kSome && !IsNew(members_.size() - 1)) members_.pop_back();
    }
  }

  // Returns whether no member before this one is the same plan, and remembers it if so.
  bool IsNew(size_t index) {
    const PlanKey key = Key(index);
    const auto [begin, end] = known_.equal_range(key);
    const bool is_known = std::any_of(begin, end, [&](const auto& known) {
      return (key.is_whole && known.first.is_whole) || AreSamePlan(index, known.second);
    });
    if (!is_known) known_.emplace(key, static_cast<uint32_t>(index));
    return !is_known;
  }

  // Returns whether two members with the same key are the same plan. A plan that cannot be made is
  // never the same as another.
  bool AreSamePlan(size_t a, size_t b) const {
    try {
      return AreSame(Make(a), Make(b));
    } catch (const InputError&) {
      return false;
    }
  }

  const std::vector<std::unique_ptr<PlanSpace>> spaces_;
  const std::string name_;
  const SpaceOverlap overlap_;
  std::vector<Member> members_;
  // The indices of members; only used if the spaces overlap.
  std::unordered_multimap<PlanKey, uint32_t, PlanKeyHash> known_;
};

}  // namespace

std::unique_ptr<PlanSpace> JoinSpaces(std::vector<std::unique_ptr<PlanSpace>> spaces,
                                      std::string name, SpaceOverlap overlap) {
  const SearchProblem& problem = spaces[0]->problem();
  auto joined = std::make_unique<Joined>(problem, std::move(spaces), std::move(name), overlap,
                                         std::vector<Member>());
  joined->TakeAll();
  return joined;
}

}  // namespace stagecraft
