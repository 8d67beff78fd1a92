#include "sim/lowering/lowering_memory.h"

#include <algorithm>

#include "costmodel/hash.h"

namespace stagecraft {
namespace {

// Above these numbers the oldest placed plan, or all groups, are forgotten: some megabytes for a
// thousand devices.
constexpr size_t kMostPlaced = 256;
constexpr size_t kMostGroups = 10'000;

}  // namespace

PlacedPlan& LoweringMemory::Place(const Plan& plan, bool unfold) {
  const auto found = std::find_if(placed_.begin(), placed_.end(), [&](const PlacedPlan& placed) {
    return placed.Holds(plan, unfold);
  });
  if (found != placed_.end()) {
    placed_.splice(placed_.begin(), placed_, found);
  } else {
    placed_.emplace_front(plan, workload_, cluster_, unfold);
    if (placed_.size() > kMostPlaced) placed_.pop_back();
  }
  return placed_.front();
}

const Fabric& LoweringMemory::DescribeGroup(const std::vector<int>& devices) {
  if (groups_.size() > kMostGroups) groups_.clear();
  const auto [entry, is_new] = groups_.try_emplace(devices);
  if (is_new) entry->second = cluster_.DescribeGroup(devices);
  return entry->second;
}

size_t LoweringMemory::DevicesHash::operator()(const std::vector<int>& devices) const {
  Hash hash;
  hash.Add(static_cast<int64_t>(devices.size()));
  for (size_t i = 0; i < devices.size(); i += 1 + devices.size() / 4) hash.Add(devices[i]);
  return hash.value();
}

}  // namespace stagecraft
