#include <array>
#include <string>

#include "runtime/cuda/cuda_call.h"
#include "runtime/cuda/packed.h"
#include "runtime/cuda/random_fill.h"
#include "runtime/cuda/stream_op.h"

namespace stagecraft {
namespace {

using Bf16 = __nv_bfloat16;

constexpr int kThreads = 256;

__device__ float Sigmoid(float x) { return 1 / (1 + __expf(-x)); }

// GELU in its tanh form is 0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))).
constexpr float kGeluScale = 0.7978845608f;
constexpr float kGeluCubic = 0.044715f;
__device__ float GeluTanh(float x) { return tanhf(kGeluScale * (x + kGeluCubic * x * x * x)); }

// Elementwise kernels, with the types and numbers of their inputs and outputs; Apply() works on one
// element.
struct Add {
  using In = Bf16;
  using Out = Bf16;
  static constexpr int kInputs = 2, kOutputs = 1;
  static __device__ void Apply(const float (&in)[2], float (&out)[1]) { out[0] = in[0] + in[1]; }
};
struct Gelu {
  using In = Bf16;
  using Out = Bf16;
  static constexpr int kInputs = 1, kOutputs = 1;
  static __device__ void Apply(const float (&in)[1], float (&out)[1]) {
    out[0] = 0.5f * in[0] * (1 + GeluTanh(in[0]));
  }
};
struct GeluBackward {
  using In = Bf16;
  using Out = Bf16;
  static constexpr int kInputs = 2, kOutputs = 1;
  static __device__ void Apply(const float (&in)[2], float (&out)[1]) {
    const float x = in[0], tanh = GeluTanh(x);
    const float slope = kGeluScale * (1 + 3 * kGeluCubic * x * x) * (1 - tanh * tanh);
    out[0] = in[1] * 0.5f * (1 + tanh + x * slope);
  }
};
struct Swiglu {
  using In = Bf16;
  using Out = Bf16;
  static constexpr int kInputs = 2, kOutputs = 1;
  static __device__ void Apply(const float (&in)[2], float (&out)[1]) {
    out[0] = in[0] * Sigmoid(in[0]) * in[1];
  }
};
struct SwigluBackward {
  using In = Bf16;
  using Out = Bf16;
  static constexpr int kInputs = 3, kOutputs = 2;
  static __device__ void Apply(const float (&in)[3], float (&out)[2]) {
    const float share = Sigmoid(in[0]);
    out[0] = in[2] * in[1] * share * (1 + in[0] * (1 - share));
    out[1] = in[2] * in[0] * share;
  }
};
struct CastFromFp32 {
  using In = float;
  using Out = Bf16;
  static constexpr int kInputs = 1, kOutputs = 1;
  static __device__ void Apply(const float (&in)[1], float (&out)[1]) { out[0] = in[0]; }
};
struct ScaleFp32 {
  using In = float;
  using Out = float;
  static constexpr int kInputs = 1, kOutputs = 1;
  static __device__ void Apply(const float (&in)[1], float (&out)[1]) { out[0] = 0.5f * in[0]; }
};

// Runs a kernel on tensors of `elements` elements each, which lie one after another, inputs first.
template <typename Kernel>
__global__ void RunElementwise(const typename Kernel::In* in, typename Kernel::Out* out,
                               int64_t elements) {
  const int64_t pack = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (pack >= elements / kPack) return;
  float from[Kernel::kInputs][kPack], to[Kernel::kOutputs][kPack];
#pragma unroll
  for (int i = 0; i < Kernel::kInputs; ++i) LoadPack(in + i * elements, pack, from[i]);
#pragma unroll
  for (int lane = 0; lane < kPack; ++lane) {
    float of_one[Kernel::kInputs], made[Kernel::kOutputs];
#pragma unroll
    for (int i = 0; i < Kernel::kInputs; ++i) of_one[i] = from[i][lane];
    Kernel::Apply(of_one, made);
#pragma unroll
    for (int i = 0; i < Kernel::kOutputs; ++i) to[i][lane] = made[i];
  }
#pragma unroll
  for (int i = 0; i < Kernel::kOutputs; ++i) StorePack(to[i], out + i * elements, pack);
}

// Adam (Kingma and Ba, 2015) with decoupled weight decay, in place.
__global__ void RunAdam(const float* gradient, float* states, Bf16* working, int64_t elements) {
  constexpr float kRate = 1e-4f, kBeta1 = 0.9f, kBeta2 = 0.95f, kEpsilon = 1e-8f, kDecay = 0.1f;
  const int64_t pack = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (pack >= elements / kPack) return;
  float g[kPack], parameter[kPack], first[kPack], second[kPack];
  LoadPack(gradient, pack, g);
  LoadPack(states, pack, parameter);
  LoadPack(states + elements, pack, first);
  LoadPack(states + 2 * elements, pack, second);
#pragma unroll
  for (int i = 0; i < kPack; ++i) {
    first[i] = kBeta1 * first[i] + (1 - kBeta1) * g[i];
    second[i] = kBeta2 * second[i] + (1 - kBeta2) * g[i] * g[i];
    const float step = first[i] / (sqrtf(fabsf(second[i])) + kEpsilon);
    parameter[i] -= kRate * (step + kDecay * parameter[i]);
  }
  StorePack(parameter, states, pack);
  StorePack(first, states + elements, pack);
  StorePack(second, states + 2 * elements, pack);
  StorePack(parameter, working, pack);
}

// Copies all rows of a table in a scattered order, each once if their number is not a multiple of
// kScatter.
constexpr int64_t kEmbeddingWidth = 4096;
constexpr int64_t kScatter = 7919;  // a prime
__global__ void GatherRows(const Bf16* table, Bf16* out, int64_t rows) {
  const int64_t row = blockIdx.x;
  const int64_t from = row * kScatter % rows;
  for (int64_t pack = threadIdx.x; pack < kEmbeddingWidth / kPack; pack += blockDim.x) {
    const auto* source = reinterpret_cast<const uint4*>(table + from * kEmbeddingWidth);
    reinterpret_cast<uint4*>(out + row * kEmbeddingWidth)[pack] = source[pack];
  }
}

using Launcher = void (*)(std::byte* operands, int64_t elements, cudaStream_t stream);

unsigned BlocksFor(int64_t elements) {
  return static_cast<unsigned>((elements / kPack + kThreads - 1) / kThreads);
}

template <typename Kernel>
void LaunchElementwise(std::byte* operands, int64_t elements, cudaStream_t stream) {
  using In = typename Kernel::In;
  const auto* in = reinterpret_cast<const In*>(operands);
  auto* out = reinterpret_cast<typename Kernel::Out*>(
      operands + Kernel::kInputs * elements * static_cast<int64_t>(sizeof(In)));
  RunElementwise<Kernel><<<BlocksFor(elements), kThreads, 0, stream>>>(in, out, elements);
}

void LaunchCopy(std::byte* operands, int64_t elements, cudaStream_t stream) {
  const size_t bytes = static_cast<size_t>(elements) * sizeof(Bf16);
  CHECK_CUDA(cudaMemcpyAsync(operands + bytes, operands, bytes, cudaMemcpyDeviceToDevice, stream));
}

void LaunchAdam(std::byte* operands, int64_t elements, cudaStream_t stream) {
  auto* const numbers = reinterpret_cast<float*>(operands);
  RunAdam<<<BlocksFor(elements), kThreads, 0, stream>>>(
      numbers, numbers + elements, reinterpret_cast<Bf16*>(numbers + 4 * elements), elements);
}

void LaunchGather(std::byte* operands, int64_t elements, cudaStream_t stream) {
  const int64_t rows = elements / kEmbeddingWidth;
  auto* const table = reinterpret_cast<Bf16*>(operands);
  GatherRows<<<static_cast<unsigned>(rows), kThreads, 0, stream>>>(table, table + elements, rows);
}

struct NamedLauncher {
  const char* name;
  Launcher launch;
  DType filled_as;
};
constexpr NamedLauncher kLaunchers[] = {
    {"copy_device", LaunchCopy, DType::kBf16},
    {"add", LaunchElementwise<Add>, DType::kBf16},
    {"gelu", LaunchElementwise<Gelu>, DType::kBf16},
    {"gelu_backward", LaunchElementwise<GeluBackward>, DType::kBf16},
    {"swiglu", LaunchElementwise<Swiglu>, DType::kBf16},
    {"swiglu_backward", LaunchElementwise<SwigluBackward>, DType::kBf16},
    {"cast_from_fp32", LaunchElementwise<CastFromFp32>, DType::kFp32},
    {"scale_fp32", LaunchElementwise<ScaleFp32>, DType::kFp32},
    {"adam", LaunchAdam, DType::kFp32},
    {"embedding", LaunchGather, DType::kBf16},
};

class StreamOp final : public DeviceOp {
 public:
  StreamOp(const NamedLauncher& launcher, int64_t bytes, int bytes_per_element)
      : launcher_(launcher), bytes_(bytes), elements_(bytes / bytes_per_element) {}

  // The operands take what is read plus what is written: a tensor that is updated in place counts
  // twice.
  size_t operand_bytes() const override { return Aligned(static_cast<size_t>(bytes_)); }
  void Fill(std::byte* operands, cudaStream_t stream) override {
    FillRandom(operands, bytes_ * 8 / ElementBits(launcher_.filled_as), launcher_.filled_as, 1, stream);
  }
  void Launch(std::byte* operands, cudaStream_t stream) override {
    launcher_.launch(operands, elements_, stream);
    CHECK_CUDA(cudaGetLastError());
  }

 private:
  const NamedLauncher& launcher_;
  int64_t bytes_, elements_;
};

class HostCopy final : public DeviceOp {
 public:
  explicit HostCopy(const ProfileCase& one)
      : bytes_(static_cast<size_t>(one.op.bytes.count())), to_device_(one.kernel == kHostToDevice) {
    void* memory = nullptr;
    CHECK_CUDA(cudaMallocHost(&memory, bytes_));
    host_.reset(memory);
  }
  size_t operand_bytes() const override { return Aligned(bytes_); }
  void Fill(std::byte* operands, cudaStream_t stream) override {
    FillRandom(operands, static_cast<int64_t>(bytes_ / 4), DType::kFp32, 1, stream);
    CHECK_CUDA(cudaMemcpyAsync(host_.get(), operands, bytes_, cudaMemcpyDeviceToHost, stream));
  }
  void Launch(std::byte* operands, cudaStream_t stream) override {
    void* const to = to_device_ ? static_cast<void*>(operands) : host_.get();
    const void* const from = to_device_ ? host_.get() : static_cast<void*>(operands);
    CHECK_CUDA(cudaMemcpyAsync(
        to, from, bytes_, to_device_ ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost, stream));
  }

 private:
  struct Free {
    void operator()(void* memory) const { cudaFreeHost(memory); }
  };
  size_t bytes_;
  bool to_device_;
  std::unique_ptr<void, Free> host_;
};

}  // namespace

std::unique_ptr<DeviceOp> MakeStreamOp(const ProfileCase& one) {
  const StreamKernel* const kernel = FindStreamKernel(one.kernel);
  for (const NamedLauncher& launcher : kLaunchers) {
    if (kernel == nullptr || one.kernel != launcher.name) continue;
    return std::make_unique<StreamOp>(launcher, one.op.bytes.count(), kernel->bytes_per_element);
  }
  throw Unsupported("no kernel \"" + one.kernel + "\"");
}

std::unique_ptr<DeviceOp> MakeHostCopy(const ProfileCase& one) {
  return std::make_unique<HostCopy>(one);
}

}  // namespace stagecraft
