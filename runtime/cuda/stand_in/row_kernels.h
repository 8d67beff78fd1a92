// Loops that calculate what kernels on elements and rows do.
#pragma once

#include <cuda_bf16.h>

#include <cstdint>
#include <vector>

namespace stagecraft::stand_in {

struct ElementKernel {
  int inputs, outputs;
  void (*apply)(const float* in, float* out);
};
extern const ElementKernel kAdd, kGelu, kGeluBackward, kSwiglu, kSwigluBackward, kCast, kHalve;

// A kernel on one row. `in` holds its inputs one behind another; `weights` and `out` are as long as
// the row.
struct RowKernel {
  int inputs;
  void (*apply)(const std::vector<float>& in, const std::vector<float>& weights,
                std::vector<float>& out);
};
extern const RowKernel kRmsNorm, kRmsNormBackward, kLayerNorm, kSoftmax, kSoftmaxBackward;

// Does the same as RunAdam in stream_op.cu.
void Adam(const float* gradient, float* states, __nv_bfloat16* working, int64_t elements);

}  // namespace stagecraft::stand_in
