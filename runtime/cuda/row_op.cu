#include <algorithm>
#include <string>

#include "runtime/cuda/cuda_call.h"
#include "runtime/cuda/packed.h"
#include "runtime/cuda/random_fill.h"
#include "runtime/cuda/row_op.h"

namespace stagecraft {
namespace {

using Bf16 = __nv_bfloat16;

constexpr int kWarp = 32;
constexpr int kMostThreads = 512;
// The inputs of a row of up to this many bytes stay in shared memory between the two passes; longer
// ones are read again.
constexpr int kMostCached = 48 * 1024;
constexpr float kEpsilon = 1e-5f;

// The sums that the first pass finds for a row.
struct Sums {
  float a, b;
};

// Kernels of two passes. In the first, Add() adds an element to the sums and Merge() joins the sums
// of two threads; in the second, Apply() computes the output for an element with weight w.
struct RmsNorm {
  static constexpr int kInputs = 1;
  static __device__ Sums Empty() { return {0, 0}; }
  static __device__ void Add(const float (&in)[1], float, Sums& sums) { sums.a += in[0] * in[0]; }
  static __device__ Sums Merge(Sums x, Sums y) { return {x.a + y.a, x.b + y.b}; }
  static __device__ float Apply(const float (&in)[1], float w, Sums sums, float width) {
    return in[0] * rsqrtf(sums.a / width + kEpsilon) * w;
  }
};
// Inputs: x and the gradient of the output.
struct RmsNormBackward {
  static constexpr int kInputs = 2;
  static __device__ Sums Empty() { return {0, 0}; }
  static __device__ void Add(const float (&in)[2], float w, Sums& sums) {
    sums.a += in[0] * in[0];
    sums.b += in[0] * in[1] * w;
  }
  static __device__ Sums Merge(Sums x, Sums y) { return {x.a + y.a, x.b + y.b}; }
  static __device__ float Apply(const float (&in)[2], float w, Sums sums, float width) {
    const float scale = rsqrtf(sums.a / width + kEpsilon);
    return scale * (in[1] * w - in[0] * scale * scale * sums.b / width);
  }
};
struct LayerNorm {
  static constexpr int kInputs = 1;
  static __device__ Sums Empty() { return {0, 0}; }
  static __device__ void Add(const float (&in)[1], float, Sums& sums) {
    sums.a += in[0];
    sums.b += in[0] * in[0];
  }
  static __device__ Sums Merge(Sums x, Sums y) { return {x.a + y.a, x.b + y.b}; }
  static __device__ float Apply(const float (&in)[1], float w, Sums sums, float width) {
    const float mean = sums.a / width;
    return (in[0] - mean) * rsqrtf(sums.b / width - mean * mean + kEpsilon) * w;
  }
};
// a is the maximum so far, b the sum of exp(x - a).
struct Softmax {
  static constexpr int kInputs = 1;
  static __device__ Sums Empty() { return {-1e30f, 0}; }
  static __device__ void Add(const float (&in)[1], float, Sums& sums) {
    sums = Merge(sums, {in[0], 1});
  }
  static __device__ Sums Merge(Sums x, Sums y) {
    const float most = fmaxf(x.a, y.a);
    return {most, x.b * __expf(x.a - most) + y.b * __expf(y.a - most)};
  }
  static __device__ float Apply(const float (&in)[1], float, Sums sums, float) {
    return __expf(in[0] - sums.a) / sums.b;
  }
};
// Inputs: the softmax and the gradient of its output.
struct SoftmaxBackward {
  static constexpr int kInputs = 2;
  static __device__ Sums Empty() { return {0, 0}; }
  static __device__ void Add(const float (&in)[2], float, Sums& sums) { sums.a += in[0] * in[1]; }
  static __device__ Sums Merge(Sums x, Sums y) { return {x.a + y.a, x.b + y.b}; }
  static __device__ float Apply(const float (&in)[2], float, Sums sums, float) {
    return in[0] * (in[1] - sums.a);
  }
};

template <typename Kernel>
__device__ Sums MergeBlock(Sums sums) {
  __shared__ Sums of_warps[kMostThreads / kWarp];
  for (int step = kWarp / 2; step > 0; step /= 2) {
    const Sums other = {__shfl_xor_sync(~0u, sums.a, step), __shfl_xor_sync(~0u, sums.b, step)};
    sums = Kernel::Merge(sums, other);
  }
  if (threadIdx.x % kWarp == 0) of_warps[threadIdx.x / kWarp] = sums;
  __syncthreads();
  sums = of_warps[0];
  for (int warp = 1; warp < static_cast<int>(blockDim.x) / kWarp; ++warp) {
    sums = Kernel::Merge(sums, of_warps[warp]);
  }
  return sums;
}

// Runs a kernel on tensors of rows x width, which lie one after another: inputs, output, then one
// row of weights.
template <typename Kernel>
__global__ void RunRows(Bf16* operands, int64_t rows, int width, bool is_cached) {
  extern __shared__ uint4 cache[];  // each thread reads only what it wrote
  const int64_t tensor = rows * width;
  const Bf16* const weights = operands + (Kernel::kInputs + 1) * tensor;
  const int64_t first = static_cast<int64_t>(blockIdx.x) * width / kPack;
  const int packs = width / kPack;
  Bf16* const kept = reinterpret_cast<Bf16*>(cache);
  const auto load = [&](bool again, int pack, float(&in)[Kernel::kInputs][kPack]) {
#pragma unroll
    for (int i = 0; i < Kernel::kInputs; ++i) {
      if (again && is_cached) {
        LoadPack(kept, i * packs + pack, in[i]);
      } else {
        LoadPack(operands + i * tensor, first + pack, in[i]);
        if (is_cached) StorePack(in[i], kept, i * packs + pack);
      }
    }
  };
  const auto element = [](const float(&in)[Kernel::kInputs][kPack], int lane,
                          float(&one)[Kernel::kInputs]) {
#pragma unroll
    for (int i = 0; i < Kernel::kInputs; ++i) one[i] = in[i][lane];
  };
  Sums sums = Kernel::Empty();
  for (int pack = static_cast<int>(threadIdx.x); pack < packs;
       pack += static_cast<int>(blockDim.x)) {
    float in[Kernel::kInputs][kPack], one[Kernel::kInputs], w[kPack];
    load(false, pack, in);
    LoadPack(weights, pack, w);
#pragma unroll
    for (int lane = 0; lane < kPack; ++lane) {
      element(in, lane, one);
      Kernel::Add(one, w[lane], sums);
    }
  }
  sums = MergeBlock<Kernel>(sums);
  for (int pack = static_cast<int>(threadIdx.x); pack < packs;
       pack += static_cast<int>(blockDim.x)) {
    float in[Kernel::kInputs][kPack], one[Kernel::kInputs], w[kPack], out[kPack];
    load(true, pack, in);
    LoadPack(weights, pack, w);
#pragma unroll
    for (int lane = 0; lane < kPack; ++lane) {
      element(in, lane, one);
      out[lane] = Kernel::Apply(one, w[lane], sums, static_cast<float>(width));
    }
    StorePack(out, operands + Kernel::kInputs * tensor, first + pack);
  }
}

using Launcher = void (*)(Bf16* operands, int64_t rows, int width, cudaStream_t stream);

template <typename Kernel>
void LaunchRows(Bf16* operands, int64_t rows, int width, cudaStream_t stream) {
  const int packs = width / kPack;
  const int threads = std::clamp((packs + kWarp - 1) / kWarp * kWarp, kWarp, kMostThreads);
  const int bytes = Kernel::kInputs * width * static_cast<int>(sizeof(Bf16));
  // Shared memory also holds the sums of the thread block.
  const bool is_cached = bytes <= kMostCached - 1024;
  RunRows<Kernel><<<static_cast<unsigned>(rows), threads, is_cached ? bytes : 0, stream>>>(
      operands, rows, width, is_cached);
}

struct NamedLauncher {
  const char* name;
  Launcher launch;
  int tensors;
};
constexpr NamedLauncher kLaunchers[] = {
    {"rms_norm", LaunchRows<RmsNorm>, 2},
    {"rms_norm_backward", LaunchRows<RmsNormBackward>, 3},
    {"layer_norm", LaunchRows<LayerNorm>, 2},
    {"softmax", LaunchRows<Softmax>, 2},
    {"softmax_backward", LaunchRows<SoftmaxBackward>, 3},
};

class RowOp final : public DeviceOp {
 public:
  RowOp(const NamedLauncher& launcher, int64_t rows, int width)
      : launcher_(launcher), rows_(rows), width_(width) {}

  size_t operand_bytes() const override {
    return Aligned(static_cast<size_t>(Numbers()) * sizeof(Bf16));
  }
  void Fill(std::byte* operands, cudaStream_t stream) override {
    FillRandom(operands, Numbers(), DType::kBf16, 1, stream);
  }
  void Launch(std::byte* operands, cudaStream_t stream) override {
    launcher_.launch(reinterpret_cast<Bf16*>(operands), rows_, width_, stream);
    CHECK_CUDA(cudaGetLastError());
  }

 private:
  int64_t Numbers() const { return launcher_.tensors * rows_ * width_ + width_; }

  const NamedLauncher& launcher_;
  int64_t rows_;
  int width_;
};

}  // namespace

std::unique_ptr<DeviceOp> MakeRowOp(const ProfileCase& one) {
  if (one.op.n % kPack != 0 || one.op.dtype != DType::kBf16) {
    throw Unsupported("rows whose width is not a multiple of 8, or that are not in bf16");
  }
  for (const NamedLauncher& launcher : kLaunchers) {
    if (one.kernel != launcher.name) continue;
    return std::make_unique<RowOp>(launcher, one.op.m, static_cast<int>(one.op.n));
  }
  throw Unsupported("no kernel \"" + one.kernel + "\"");
}

}  // namespace stagecraft
