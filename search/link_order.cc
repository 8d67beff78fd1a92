#include "search/link_order.h"

#include <algorithm>
#include <cstddef>
#include <limits>

#include "costmodel/check.h"
#include "costmodel/link.h"

namespace stagecraft {
namespace {

LinkValue ValueOf(const Link& link) {
  return {link.bandwidth.bytes_per_s(), -link.latency.seconds()};
}

// RankGroup is a group of ranks.
struct RankGroup {
  size_t sort = 0;
  std::vector<int> ranks;
};

// Returns the groups of several ranks, by their last rank.
std::vector<std::vector<RankGroup>> GroupsByLastRank(const GroupShape& shape) {
  std::vector<std::vector<RankGroup>> by_last(shape.ranks());
  const auto add = [&](size_t sort, int first, int stride, int count) {
    if (count < 2) return;
    RankGroup group{sort, {}};
    for (int i = 0; i < count; ++i) group.ranks.push_back(first + i * stride);
    by_last[group.ranks.back()].push_back(std::move(group));
  };
  const int set = shape.tensor * shape.context;
  const int stage = set * shape.data;
  for (int rank = 0; rank < shape.ranks(); ++rank) {
    if (rank % shape.tensor == 0) add(kTensorSort, rank, 1, shape.tensor);
    if (rank % set < shape.tensor) add(kContextSort, rank, shape.tensor, shape.context);
    // Ranks of a context group hold the same parameters, too, so they reduce gradients together.
    const bool has_replicas = shape.data > 1 && rank % stage < shape.tensor;
    if (has_replicas) add(kDataSort, rank, shape.tensor, shape.context * shape.data);
    if (rank + stage < shape.ranks()) add(kMessageSort, rank, stage, 2);
  }
  return by_last;
}

}  // namespace

// OrderSearch searches depth first, rank by rank. The links of the worst groups only get worse as
// ranks are added, so an order that is no better than the best so far need not be pursued.
class OrderSearch {
 public:
  OrderSearch(LinkOrder& links, const GroupShape& shape, const SortOrder& sorts)
      : links_(links), groups_(GroupsByLastRank(shape)), order_(shape.ranks()) {
    for (size_t place = 0; place < sorts.size(); ++place) place_of_[sorts[place]] = place;
  }

  std::vector<int> Run(WorstLinks* worst) {
    WorstLinks none;
    none.fill({std::numeric_limits<double>::infinity(), 0});
    FindWorst(0, none);
    order_ = best_;
    for (int rank = 0; rank < static_cast<int>(order_.size()); ++rank) See(rank, best_seen_);
    steps_ = 0;
    FindFirst(0, none, {});
    *worst = best_worst_;
    return best_;
  }

 private:
  bool IsUsed(int device) const { return (used_ >> device & 1) != 0; }
  void Use(int device) { used_ ^= uint64_t{1} << device; }
  bool IsOver() const { return steps_ > LinkOrder::kMostSteps && !best_.empty(); }

  // Returns the worst links, including those of the groups whose last rank is this one.
  WorstLinks With(WorstLinks worst, int rank) {
    for (const RankGroup& group : groups_[rank]) {
      LinkValue& own = worst[place_of_[group.sort]];
      own = std::min(own, ValueOfGroup(group));
    }
    return worst;
  }

  // Appends the links of each group whose last rank is this one, and of the pairs with earlier
  // ranks.
  void See(int rank, std::vector<LinkValue>& seen) {
    for (const RankGroup& group : groups_[rank]) seen.push_back(ValueOfGroup(group));
    for (int other = 0; other < rank; ++other) {
      seen.push_back(links_.Pair(order_[other], order_[rank]));
    }
  }

  LinkValue ValueOfGroup(const RankGroup& group) {
    const std::vector<int>& ranks = group.ranks;
    if (group.sort == kMessageSort) return links_.Pair(order_[ranks[0]], order_[ranks[1]]);
    uint64_t members = 0;
    for (const int rank : ranks) members |= uint64_t{1} << order_[rank];
    return links_.Group(members);
  }

  // Sets best_worst_: the best of the worst links that an order can have.
  void FindWorst(int rank, const WorstLinks& so_far) {
    if (rank == static_cast<int>(order_.size())) {
      best_worst_ = so_far;
      best_ = order_;
      return;
    }
    for (int device = 0; device < links_.size() && !IsOver(); ++device) {
      if (IsUsed(device)) continue;
      ++steps_;
      order_[rank] = device;
      const WorstLinks worst = With(so_far, rank);
      if (!best_.empty() && worst <= best_worst_) continue;
      Use(device);
      FindWorst(rank + 1, worst);
      Use(device);
    }
  }

  // Finds, among the orders with these worst links, the one whose ranks have the best links,
  // compared from the first rank on.
  void FindFirst(int rank, const WorstLinks& so_far, std::vector<LinkValue> seen) {
    if (rank == static_cast<int>(order_.size())) {
      if (seen > best_seen_) {
        best_seen_ = std::move(seen);
        best_ = order_;
      }
      return;
    }
    const size_t before = seen.size();
    for (int device = 0; device < links_.size() && !IsOver(); ++device) {
      if (IsUsed(device)) continue;
      ++steps_;
      order_[rank] = device;
      seen.resize(before);
      const WorstLinks worst = With(so_far, rank);
      if (worst < best_worst_) continue;
      See(rank, seen);
      if (IsLess(seen)) continue;
      Use(device);
      FindFirst(rank + 1, worst, seen);
      Use(device);
    }
  }

  // Returns whether these links are worse than the beginning of the best order's links.
  bool IsLess(const std::vector<LinkValue>& seen) const {
    return std::lexicographical_compare(seen.begin(), seen.end(), best_seen_.begin(),
                                        best_seen_.begin() + static_cast<ptrdiff_t>(seen.size()));
  }

  LinkOrder& links_;
  const std::vector<std::vector<RankGroup>> groups_;
  SortOrder place_of_{};  // the place of each sort in WorstLinks
  std::vector<int> order_;
  uint64_t used_ = 0;
  int steps_ = 0;
  std::vector<int> best_;
  WorstLinks best_worst_;
  std::vector<LinkValue> best_seen_;
};

LinkOrder::LinkOrder(const Cluster& cluster, std::vector<int> node_devices)
    : cluster_(cluster), devices_(std::move(node_devices)) {
  CHECK(devices_.size() <= 64);
  for (const int a : devices_) {
    for (const int b : devices_) {
      pairs_.push_back(a == b ? LinkValue()
                              : std::min(ValueOf(cluster.DescribePair(a, b, 1).intra),
                                         ValueOf(cluster.DescribePair(b, a, 1).intra)));
    }
  }
}

const LinkValue& LinkOrder::Group(uint64_t members) {
  const auto [entry, is_new] = groups_.try_emplace(members);
  if (!is_new) return entry->second;
  std::vector<int> group;
  for (int i = 0; i < size(); ++i) {
    if ((members >> i & 1) != 0) group.push_back(devices_[i]);
  }
  entry->second = ValueOf(cluster_.DescribeGroup(group).intra);
  return entry->second;
}

const OrderedDevices& LinkOrder::Best(const GroupShape& shape, const SortOrder& sorts) {
  CHECK(shape.ranks() <= size());
  const auto [entry, is_new] = best_.try_emplace({shape, sorts});
  OrderedDevices& best = entry->second;
  if (!is_new) return best;
  for (const int index : OrderSearch(*this, shape, sorts).Run(&best.worst)) {
    best.devices.push_back(devices_[index]);
  }
  return best;
}

}  // namespace stagecraft
