// Attention as a graph of cuDNN: the operations that its fused engines recognise.
#pragma once

#include <cstdint>
#include <vector>

#include "costmodel/op.h"
#include "runtime/cuda/cudnn_graph.h"

namespace stagecraft {

// What a run of the graph is given, by the number of the tensor in the plan.
struct AttentionArguments {
  struct Block {
    int64_t uid;
    int64_t same_as;  // the memory of another tensor, which comes before; 0: its own
    int64_t bytes;
    bool is_fp32;  // otherwise in the format of the op
  };
  struct Number {
    int64_t uid;
    float value;
  };
  std::vector<Block> blocks;    // in device memory; inputs and outputs
  std::vector<Number> numbers;  // passed by value
};

// The heads of a token lie together, as the GEMMs before and after attention have them: sequences x
// tokens x heads x head size. The forward pass also writes what the backward pass needs of it.
AttentionArguments BuildAttention(const Op& op, CudnnGraph& graph);

}  // namespace stagecraft
