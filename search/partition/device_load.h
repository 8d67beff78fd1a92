// DeviceLoad: the load of one device from the operators placed on it, kept up to date as groups
// come and go.
#pragma once

#include <cstdint>
#include <vector>

#include "search/partition/placement_problem.h"

namespace stagecraft {

inline constexpr double kPicosecondsPerMs = 1e9;

// PlacementCosts is a placement problem in whole picoseconds and bytes, so that what was added can
// be subtracted exactly.
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
  const Dag& dag;  // the problem's
};

// DeviceLoad adds up, in picoseconds per sample, the device's operators, every output that comes
// from elsewhere, once, and every output that is needed elsewhere, once. O(degree) for each node.
class DeviceLoad {
 public:
  // On a CPU transfers are free and memory is unlimited. `costs` must outlive it.
  DeviceLoad(const PlacementCosts& costs, bool is_accelerator);

  void Add(int node);
  void Remove(int node);
  int64_t load_ps() const { return load_ps_; }
  // Returns the bytes beyond the memory; never negative.
  int64_t excess_bytes() const;

 private:
  // Returns the time to transfer the output of `node` in or out, depending on where the node and
  // its consumers are.
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
