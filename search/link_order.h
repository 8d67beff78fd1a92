// LinkOrder: which devices of a node ranks take, and in which order, decided by the links of the
// devices and not by their numbers.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "sim/cluster/cluster.h"

namespace stagecraft {

// GroupShape says how the ranks that lie on one node are divided into groups. The innermost
// dimension, whose ranks are neighbours, is the tensor group; then come the context group, the
// replicas of a stage, and the stages.
struct GroupShape {
  int tensor = 1, context = 1, data = 1, pipeline = 1;

  int ranks() const { return tensor * context * data * pipeline; }
  friend auto operator<=>(const GroupShape&, const GroupShape&) = default;
};

// The bandwidth in bytes per second and the negative latency in seconds: greater is better.
using LinkValue = std::pair<double, double>;

// The sorts of groups: tensor groups, context groups, groups that reduce gradients, and pairs of
// ranks through which neighbouring stages exchange messages.
inline constexpr size_t kTensorSort = 0, kContextSort = 1, kDataSort = 2, kMessageSort = 3;
inline constexpr size_t kGroupSorts = 4;
// All sorts of groups, the one that matters most first.
using SortOrder = std::array<size_t, kGroupSorts>;
// The links of the worst group of each sort, the sort that matters most first. They are compared
// lexicographically.
using WorstLinks = std::array<LinkValue, kGroupSorts>;

struct OrderedDevices {
  std::vector<int> devices;  // of the cluster, by rank
  WorstLinks worst;
};

// LinkOrder finds the best order of a node's devices. One order is better than another if its worst
// group of the sort that matters most has better links; if these are equal, the worst group of the
// next sort decides, and so on; finally all groups and pairs are compared, from the first rank on.
// So the numbers of devices decide only between orders in which all groups and pairs have equal
// links. On more than eight devices the search may stop early (kMostSteps); its answer is then no
// worse than the order by numbers. It remembers its answers and the links of groups. Not
// thread-safe.
class LinkOrder {
 public:
  static constexpr int kMostSteps = 120'000;

  // The cluster must outlive it. `node_devices` are devices of one node, at most 64.
  LinkOrder(const Cluster& cluster, std::vector<int> node_devices);

  int size() const { return static_cast<int>(devices_.size()); }
  // Returns the best order. The reference is valid as long as this object. Precondition: there are
  // at most size() ranks.
  const OrderedDevices& Best(const GroupShape& shape, const SortOrder& sorts);
  // The links of every pair of devices, in the order of their numbers. The devices of nodes for
  // which these are equal are joined alike.
  const std::vector<LinkValue>& pairs() const { return pairs_; }

 private:
  friend class OrderSearch;
  const LinkValue& Pair(int a, int b) const { return pairs_[a * size() + b]; }
  // Returns the links that a collective of these devices uses; bit i stands for the i-th device of
  // the node.
  const LinkValue& Group(uint64_t members);

  const Cluster& cluster_;
  const std::vector<int> devices_;
  std::vector<LinkValue> pairs_;  // of the worse direction
  std::map<uint64_t, LinkValue> groups_;
  std::map<std::pair<GroupShape, SortOrder>, OrderedDevices> best_;
};

}  // namespace stagecraft
