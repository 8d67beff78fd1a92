// KeptTensors: what the operators of a layer keep on one rank from their forward for their
// backward.
#pragma once

#include <cstdint>
#include <vector>

#include "costmodel/units.h"
#include "sim/memory/framework_memory.h"
#include "sim/shard/shard.h"
#include "sim/workload/layer_gradients.h"
#include "sim/workload/workload.h"

namespace stagecraft {

struct KeptTensor {
  enum class Use : uint8_t {
    kInput,          // the operator reads it
    kMade,           // the operator makes it besides its output: statistics, a mask, a cast weight
    kScores,         // the operator makes it, with one row per key
    kDroppedScores,  // the operator makes it: scores after dropout
    kScoreMask,      // the operator makes it: the mask of that dropout
  };
  Use use = Use::kInput;
  Bytes size;
};

// Operators are given by their vertex in the layer. What the constructor takes by reference must
// outlive the object.
class KeptTensors {
 public:
  // With `has_narrow_weights` there is nothing for FrameworkMemory::casts_weights to cast.
  KeptTensors(const LayerKind& layer, const ShardSpec& spec, const FrameworkMemory& framework,
              bool has_narrow_weights)
      : layer_(layer),
        spec_(spec),
        framework_(framework),
        casts_weights_(framework.casts_weights && !has_narrow_weights) {}

  // Returns what a backward that computes these gradients needs, in the order of Operator::saved;
  // then the copy of an attention's output in another layout and the cast of a GEMM's weights.
  std::vector<KeptTensor> Of(int v, const OperatorGradients& gradients) const;

  // Returns the bytes of the gradient of a GEMM's output that waits for a later pass, which
  // computes the gradient of the weights.
  Bytes WaitingGradient(int v) const;

  // Returns the bytes that a layer that repeats its operators (Recompute::kOperators) keeps besides
  // its input: the output of every second GEMM from the first one on (torchtitan, parallelize.py:
  // _apply_ac_to_transformer_block), and what fused attention makes. 0 for other layers.
  Bytes BesidesInput() const;

 private:
  const Operator& op(int v) const { return layer_.operators[v]; }
  Bytes SavedSize(const SavedTensor& tensor, int v) const;
  // Whether what an operator keeps for its weights may have 8 bits.
  bool KeepsIn8Bits(int v) const;
  bool IsKeptIn8Bits(const SavedTensor& tensor, int v) const;
  bool CopiesOutput(int v) const;
  Bytes GemmOutputs(int v, int64_t& gemms) const;
  Bytes MadeByFusedAttention(int v) const;

  const LayerKind& layer_;
  const ShardSpec& spec_;
  const FrameworkMemory& framework_;
  const bool casts_weights_;
};

}  // namespace stagecraft
