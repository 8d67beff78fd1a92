// Attention as a graph of cuDNN, made of the operations that its fused engines recognise.
#pragma once

#include <cstdint>
#include <vector>

#include "costmodel/op.h"
#include "runtime/cuda/cudnn_graph.h"

namespace stagecraft {

// The arguments of a run of the graph, each with the number of its tensor in the plan.
struct AttentionArguments {
  struct Block {
    int64_t uid;
    int64_t same_as;  // an earlier tensor whose memory it shares; 0: it has its own
    int64_t bytes;
    bool is_fp32;  // 32-bit numbers; otherwise in the format of the op
  };
  struct Number {
    int64_t uid;
    float value;
  };
  std::vector<Block> blocks;    // inputs and outputs in device memory
  std::vector<Number> numbers;  // passed by value
};

// Adds the attention to the graph. The heads of a token are contiguous, as the GEMMs before and
// after attention need them: sequences x tokens x heads x head size. The forward pass also writes
// what the backward pass needs from it.
AttentionArguments BuildAttention(const Op& op, CudnnGraph& graph);

}  // namespace stagecraft
