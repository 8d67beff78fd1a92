// DeviceLoad: the load of one accelerator from the operators placed on it, kept up to date as
// groups come and go.
#pragma once

#include <cstdint>
#include <vector>

#include "search/partition/placement_problem.h"

namespace stagecraft {

inline constexpr double kPicosecondsPerMs = 1e9;

// A placement problem in whole picoseconds and bytes, so that what is added can be subtracted again
// exactly.
class PlacementCosts {
 public:
  explicit PlacementCosts(const PlacementProblem& problem);

  struct Node {
    int64_t accelerator_ps;
    int64_t cpu_ps;
    int64_t transfer_ps;
    int64_t bytes;
  };
  std::vector<Node> nodes;
  int64_t memory_bytes;
  const Dag& dag;  // that of the problem
};

// Picoseconds per sample: its operators, every output that comes from elsewhere, once, and every
// output that is needed elsewhere, once. O(degree) for each node.
class DeviceLoad {
 public:
  // On a CPU transfers are free, and so is memory. `costs` must outlive it.
  DeviceLoad(const PlacementCosts& costs, bool is_accelerator);

  void Add(int node);
  void Remove(int node);
  int64_t load_ps() const { return load_ps_; }
  // Bytes beyond the memory; never negative.
  int64_t excess_bytes() const;

 private:
  // What `node` costs as input or output, depending on where it and its consumers are.
  int64_t Transfer(int node) const;
  void Move(int node, bool comes);

  const PlacementCosts* costs_;
  bool is_accelerator_;
  int64_t load_ps_ = 0;
  int64_t bytes_ = 0;
  std::vector<char> is_here_;        // by node
  std::vector<int> consumers_here_;  // by node
};

}  // namespace stagecraft
