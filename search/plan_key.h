// PlanKey: distinguishes plans before they are made.
#pragma once

#include <cstddef>
#include <cstdint>

#include "costmodel/hash.h"
#include "sim/plan/plan.h"

namespace stagecraft {

// PlanKey is a hash of 128 bits, long enough that unlike plans never share a key by chance.
struct PlanKey {
  uint64_t first = 0, second = 0;
  // Whether the key describes the whole plan. Plans that share a key are the same if both keys do;
  // otherwise they may differ in how many layers each stage has.
  bool is_whole = false;

  friend bool operator==(const PlanKey& a, const PlanKey& b) {
    return a.first == b.first && a.second == b.second;
  }
};

struct PlanKeyHash {
  size_t operator()(const PlanKey& key) const { return static_cast<size_t>(key.first); }
};

// PlanKeyBuilder builds the key of a plan of equal stages and replicas.
class PlanKeyBuilder {
 public:
  PlanKeyBuilder() { second_.Add(1); }

  PlanKeyBuilder& Add(int64_t value) {
    first_.Add(value);
    second_.Add(value);
    return *this;
  }
  // Says that the next `count` ranks take devices [device, device + count).
  PlanKeyBuilder& AddDevices(int device, int count) {
    if (device != end_) Add(count_).Add(device);
    count_ += count;
    end_ = device + count;
    return *this;
  }
  // Returns the key. The degrees must be resolved, and all devices must have been added.
  PlanKey Build(const PlanDegrees& degrees, bool is_whole) {
    const bool splits_tokens = degrees.tensor > 1 && degrees.sequence_parallel != 0;
    Add(count_).Add(degrees.tensor).Add(degrees.context).Add(degrees.pipeline).Add(degrees.data);
    Add(degrees.expert).Add(degrees.chunks).Add(degrees.micro_batch).Add(degrees.zero);
    Add(static_cast<int64_t>(degrees.schedule)).Add(static_cast<int64_t>(degrees.recompute));
    Add(splits_tokens ? 1 : 0);
    const bool overlaps_tensor = degrees.tensor > 1 && degrees.overlap_tensor;
    Add(overlaps_tensor * 4 + degrees.overlap_param_gather * 2 + degrees.overlap_p2p);
    first_.Add(degrees.rank_order);
    second_.Add(degrees.rank_order);
    return {first_.value(), second_.value(), is_whole};
  }

 private:
  Hash first_, second_;
  int count_ = 0;  // devices so far
  int end_ = -1;   // one past the last of them
};

}  // namespace stagecraft
