// OpMemory: the ops of layers, which plans of one workload have in common.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "costmodel/op.h"
#include "sim/shard/shard.h"
#include "sim/workload/workload.h"

namespace stagecraft {

// Numbers the distinct ops of all plans, and keeps what the passes of layers run by these numbers.
// What it returns never depends on earlier calls, but for the numbers themselves. The workload must
// outlive it.
class OpMemory {
 public:
  struct Sequence {
    std::vector<int32_t> ops;    // numbers
    std::vector<uint8_t> flags;  // StepFlags, by op
  };
  struct Layer {
    Sequence forward, backward;
  };

  explicit OpMemory(const Workload& workload) : workload_(workload) {}

  // Begins another plan, before which everything may be forgotten: numbers and layers are valid
  // until then.
  void BeginPlan();
  int32_t NumberOf(const Op& op);
  const Op& op(int32_t number) const { return *ops_[number]; }
  // Returns the ShardLayer() of a kind of layers, without the vocabulary if stages share it. `spec`
  // is that of the layer (LayerSpec).
  const Layer& LayerOf(int kind, const ShardSpec& spec);

 private:
  struct Key {
    int kind = 0;
    ShardSpec spec;
    friend bool operator==(const Key&, const Key&) = default;
  };
  struct KeyHash {
    size_t operator()(const Key& key) const;
  };
  Sequence Number(const Steps& steps);

  const Workload& workload_;
  std::unordered_map<Op, int32_t> numbers_;
  std::vector<const Op*> ops_;  // by number
  std::unordered_map<Key, Layer, KeyHash> layers_;
};

}  // namespace stagecraft
