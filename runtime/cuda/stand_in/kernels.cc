#include "runtime/cuda/stand_in/kernels.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <tuple>
#include <utility>

#include "runtime/cuda/share_kernels.h"
#include "runtime/cuda/stand_in/row_kernels.h"

namespace stagecraft::stand_in {
namespace {

using Bf16 = __nv_bfloat16;

template <typename... Arguments>
std::tuple<Arguments...> Take(void** arguments) {
  return [&]<size_t... i>(std::index_sequence<i...>) {
    return std::tuple<Arguments...>(*static_cast<Arguments*>(arguments[i])...);
  }
  (std::index_sequence_for<Arguments...>());
}

template <typename Number>
Range RangeOf(const Number* numbers, int64_t count) {
  return {reinterpret_cast<const std::byte*>(numbers),
          static_cast<size_t>(std::max<int64_t>(0, count)) * sizeof(Number)};
}

// Returns a kernel whose time follows from the bytes that it touches.
Work Moving(const Launch& launch, std::string name, std::vector<Range> touched,
            std::function<void()> effect) {
  double bytes = 0;
  for (const Range& range : touched) bytes += static_cast<double>(range.bytes);
  return {
      .name = std::move(name),
      .duration = TimeToMove(bytes, static_cast<int>(launch.multiprocessors.size()), launch.of_gpu),
      .touched = std::move(touched),
      .effect = std::move(effect)};
}

// The same function as in random_fill.cu.
float RandomAt(uint64_t seed, int64_t index) {
  uint64_t z = seed + (static_cast<uint64_t>(index) + 1) * 0x9e3779b97f4a7c15ull;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  z ^= z >> 31;
  return static_cast<float>(z >> 40) * 0x1.0p-23f - 1.0f;
}

template <typename Number>
Work Fill(const Launch& launch, void** arguments) {
  const auto [numbers, count, seed] = Take<Number*, int64_t, uint64_t>(arguments);
  return Moving(launch, "Fill", {RangeOf(numbers, count)},
                [numbers = numbers, count = count, seed = seed] {
                  for (int64_t i = 0; i < count; ++i) numbers[i] = Number(RandomAt(seed, i));
                });
}

Work Sum(const Launch& launch, void** arguments) {
  const auto [members, own, begin, end] = Take<MemberBuffers, int, int64_t, int64_t>(arguments);
  std::vector<Range> touched;
  for (int m = 0; m < members.count; ++m) {
    touched.push_back(RangeOf(members.of[m] + begin, end - begin));
  }
  return Moving(launch, "Sum", std::move(touched),
                [members = members, own = own, begin = begin, end = end] {
                  for (int64_t i = begin; i < end; ++i) {
                    float sum = 0;
                    for (int m = 0; m < members.count; ++m) sum += members.of[m][i];
                    members.of[own][i] = sum;
                  }
                });
}

Work CopyNumbers(const Launch& launch, void** arguments) {
  const auto [to, from, count] = Take<float*, const float*, int64_t>(arguments);
  return Moving(launch, "CopyNumbers", {RangeOf(to, count), RangeOf(from, count)},
                [to = to, from = from, count = count] { std::copy_n(from, count, to); });
}

Work CopyAll(const Launch& launch, void** arguments) {
  const auto [from, to, count] = Take<const uint4*, uint4*, size_t>(arguments);
  return Moving(launch, "CopyAll", {RangeOf(to, count), RangeOf(from, count)},
                [to = to, from = from, count = count] { std::copy_n(from, count, to); });
}

Work ReadAll(const Launch& launch, void** arguments) {
  const auto [lines, count, sink] = Take<const uint4*, size_t, unsigned*>(arguments);
  return Moving(launch, "ReadAll", {RangeOf(lines, count), RangeOf(sink, 1)}, {});
}

Work Spin(const Launch&, void** arguments) {
  const auto [nanoseconds] = Take<int64_t>(arguments);
  return {.name = "Spin", .duration = std::max(kKernelStart, nanoseconds)};
}

Work WaitForGate(const Launch&, void** arguments) {
  const auto [gate, longest] = Take<const volatile int*, int64_t>(arguments);
  return {.name = "WaitForGate", .duration = longest, .gate = gate};
}

Work Look(const Launch& launch, void** arguments) {
  const auto [seen, nanoseconds] = Take<int*, int64_t>(arguments);
  return {.name = "Look",
          .duration = nanoseconds,
          .touched = {RangeOf(seen, kMostMultiprocessors)},
          .effect =
              [seen = seen, used = launch.multiprocessors] {
                for (const int one : used) seen[one] = 1;
              },
          .is_answer = true};
}

Work RunAdam(const Launch& launch, void** arguments) {
  const auto [gradient, states, working, elements] =
      Take<const float*, float*, Bf16*, int64_t>(arguments);
  return Moving(launch, "RunAdam",
                {RangeOf(gradient, elements), RangeOf(states, 3 * elements),
                 RangeOf(states, 3 * elements), RangeOf(working, elements)},
                [gradient = gradient, states = states, working = working, elements = elements] {
                  Adam(gradient, states, working, elements);
                });
}

Work GatherRows(const Launch& launch, void** arguments) {
  constexpr int64_t kWidth = 4096, kScatter = 7919;
  const auto [table, out, rows] = Take<const Bf16*, Bf16*, int64_t>(arguments);
  return Moving(launch, "GatherRows", {RangeOf(table, rows * kWidth), RangeOf(out, rows * kWidth)},
                [table = table, out = out, rows = rows] {
                  for (int64_t row = 0; row < rows; ++row) {
                    std::copy_n(table + row * kScatter % rows * kWidth, kWidth, out + row * kWidth);
                  }
                });
}

template <const ElementKernel& kernel, typename In, typename Out>
Work RunElementwise(const Launch& launch, void** arguments) {
  const auto [in, out, elements] = Take<const In*, Out*, int64_t>(arguments);
  return Moving(launch, "RunElementwise",
                {RangeOf(in, kernel.inputs * elements), RangeOf(out, kernel.outputs * elements)},
                [in = in, out = out, elements = elements] {
                  for (int64_t i = 0; i < elements; ++i) {
                    float from[3] = {}, to[2] = {};
                    for (int input = 0; input < kernel.inputs; ++input)
                      from[input] = in[input * elements + i];
                    kernel.apply(from, to);
                    for (int made = 0; made < kernel.outputs; ++made)
                      out[made * elements + i] = Out(to[made]);
                  }
                });
}

template <const RowKernel& kernel>
Work RunRows(const Launch& launch, void** arguments) {
  const auto [operands, rows, width, is_cached] = Take<Bf16*, int64_t, int, bool>(arguments);
  const int64_t tensor = rows * width;
  const auto effect = [operands = operands, rows = rows, width = width, tensor] {
    const Bf16* const weights = operands + (kernel.inputs + 1) * tensor;
    std::vector<float> in(static_cast<size_t>(kernel.inputs * width)), w(weights, weights + width);
    std::vector<float> out(static_cast<size_t>(width));
    for (int64_t row = 0; row < rows; ++row) {
      for (int input = 0; input < kernel.inputs; ++input) {
        std::copy_n(operands + input * tensor + row * width, width, in.begin() + input * width);
      }
      kernel.apply(in, w, out);
      std::transform(out.begin(), out.end(), operands + kernel.inputs * tensor + row * width,
                     [](float x) { return Bf16(x); });
    }
  };
  return Moving(launch, "RunRows", {RangeOf(operands, (kernel.inputs + 1) * tensor + width)},
                effect);
}

constexpr KernelModel kKernels[] = {
    {"Fill<float>", Fill<float>},
    {"Fill<__half>", Fill<__half>},
    {"Fill<__nv_bfloat16>", Fill<Bf16>},
    {"Fill<__nv_fp8_e4m3>", Fill<__nv_fp8_e4m3>},
    {"Sum", Sum},
    {"CopyNumbers", CopyNumbers},
    {"CopyAll", CopyAll},
    {"ReadAll", ReadAll},
    {"Spin", Spin},
    {"WaitForGate", WaitForGate},
    {"Look", Look},
    {"RunAdam", RunAdam},
    {"GatherRows", GatherRows},
    {"RunElementwise<Add>", RunElementwise<kAdd, Bf16, Bf16>},
    {"RunElementwise<Gelu>", RunElementwise<kGelu, Bf16, Bf16>},
    {"RunElementwise<GeluBackward>", RunElementwise<kGeluBackward, Bf16, Bf16>},
    {"RunElementwise<Swiglu>", RunElementwise<kSwiglu, Bf16, Bf16>},
    {"RunElementwise<SwigluBackward>", RunElementwise<kSwigluBackward, Bf16, Bf16>},
    {"RunElementwise<CastFromFp32>", RunElementwise<kCast, float, Bf16>},
    {"RunElementwise<ScaleFp32>", RunElementwise<kHalve, float, float>},
    {"RunRows<RmsNorm>", RunRows<kRmsNorm>},
    {"RunRows<RmsNormBackward>", RunRows<kRmsNormBackward>},
    {"RunRows<LayerNorm>", RunRows<kLayerNorm>},
    {"RunRows<Softmax>", RunRows<kSoftmax>},
    {"RunRows<SoftmaxBackward>", RunRows<kSoftmaxBackward>},
};

}  // namespace

Nanoseconds TimeToMove(double bytes, int multiprocessors, int of_gpu) {
  return kKernelStart +
         static_cast<Nanoseconds>(bytes / kBytesPerNanosecond * of_gpu / multiprocessors);
}

Nanoseconds TimeToCalculate(double flops, int multiprocessors, int of_gpu, int chosen_for) {
  const int turns = (chosen_for + multiprocessors - 1) / multiprocessors;
  return kKernelStart +
         static_cast<Nanoseconds>(flops / kFlopsPerNanosecond * of_gpu / chosen_for * turns);
}

const KernelModel* FindKernel(std::string_view name) {
  const auto* const found =
      std::find_if(std::begin(kKernels), std::end(kKernels),
                   [&](const KernelModel& kernel) { return kernel.name == name; });
  return found == std::end(kKernels) ? nullptr : found;
}

}  // namespace stagecraft::stand_in
