// Compares what ops leave in device memory with plain loops. The tests run on a GPU, or on the
// stand-in for one, which does not calculate attention.
#include <cuda_bf16.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "runtime/cuda/attention_op.h"
#include "runtime/cuda/cuda_call.h"
#include "runtime/cuda/cuda_timer.h"
#include "runtime/cuda/device_op.h"
#include "runtime/cuda/gemm_op.h"
#include "runtime/cuda/row_op.h"
#include "runtime/cuda/stream_op.h"

namespace stagecraft {
namespace {

using Bf16 = __nv_bfloat16;

// A range of an op's operands, counted in 16-bit numbers.
struct Block {
  size_t begin, count;
};

// The operands of an op before and after it ran.
struct Ran {
  std::vector<float> before, after;
};

std::vector<float> Read(const DeviceMemory& memory, cudaStream_t stream) {
  std::vector<Bf16> raw(memory.bytes() / sizeof(Bf16));
  CHECK_CUDA(cudaStreamSynchronize(stream));
  CHECK_CUDA(cudaMemcpy(raw.data(), memory.get(), memory.bytes(), cudaMemcpyDeviceToHost));
  std::vector<float> numbers;
  for (const Bf16 number : raw) numbers.push_back(__bfloat162float(number));
  return numbers;
}

// Expects random numbers from -1 to 1, from which a kernel that does nothing cannot make the right
// result.
void ExpectRandom(const std::vector<float>& numbers, Block block) {
  const auto begin = numbers.begin() + static_cast<std::ptrdiff_t>(block.begin);
  const auto end = begin + static_cast<std::ptrdiff_t>(block.count);
  EXPECT_TRUE(std::all_of(begin, end, [](float x) { return std::abs(x) <= 1; }));
  const auto [least, most] = std::minmax_element(begin, end);
  EXPECT_LT(*least, -0.5) << "at " << block.begin;
  EXPECT_GT(*most, 0.5) << "at " << block.begin;
}

// Runs an op once, on random inputs and an output that holds no numbers before.
Ran RunOnce(DeviceOp& op, const std::vector<Block>& inputs, Block output) {
  constexpr int kNotANumber = 0xff;  // every byte of a NaN
  const Stream stream = MakeStream();
  const DeviceMemory operands(op.operand_bytes());
  CHECK_CUDA(cudaMemsetAsync(operands.get(), kNotANumber, operands.bytes(), stream.get()));
  op.Fill(operands.get(), stream.get());
  CHECK_CUDA(cudaMemsetAsync(operands.get() + output.begin * sizeof(Bf16), kNotANumber,
                             output.count * sizeof(Bf16), stream.get()));
  Ran ran;
  ran.before = Read(operands, stream.get());
  for (const Block& input : inputs) ExpectRandom(ran.before, input);
  EXPECT_TRUE(std::isnan(ran.before[output.begin]));
  op.Launch(operands.get(), stream.get());
  ran.after = Read(operands, stream.get());
  return ran;
}

size_t OffsetAfter(size_t numbers) { return Aligned(numbers * sizeof(Bf16)) / sizeof(Bf16); }

// Numbers in bf16 have 8 significant bits.
constexpr double kTolerance = 0.01;

// Expects each number to be off by less than this share of the sum of its own size and the root
// mean square of all numbers, however small they are. A NaN is not near any number.
void ExpectNear(const float* got, const std::vector<double>& want, const std::string& what,
                double tolerance = kTolerance) {
  double squares = 0;
  for (const double number : want) squares += number * number;
  const double size = std::sqrt(squares / static_cast<double>(want.size()));
  ASSERT_GT(size, 0) << what;
  for (size_t i = 0; i < want.size(); ++i) {
    ASSERT_NEAR(got[i], want[i], tolerance * (size + std::abs(want[i]))) << what << " at " << i;
  }
}

TEST(DeviceOpsTest, ProductsOfEveryLayoutAreRight) {
  constexpr int kM = 48, kN = 80, kK = 64;
  for (const std::string_view layout : {kLinear, kLinearInputGradient, kLinearWeightGradient}) {
    const ProfileCase one{Op::Gemm(DType::kBf16, kM, kN, kK), std::string(layout)};
    const auto op = MakeGemmOp(one, LoadCublasLt());
    const Block result = {OffsetAfter(kM * kK) + OffsetAfter(kK * kN), kM * kN};
    const Ran ran = RunOnce(*op, {{0, kM * kK}, {OffsetAfter(kM * kK), kK * kN}}, result);
    const float* const left = ran.before.data();
    const float* const right = left + OffsetAfter(kM * kK);
    std::vector<double> want;
    for (int row = 0; row < kM; ++row) {
      for (int column = 0; column < kN; ++column) {
        double sum = 0;
        for (int k = 0; k < kK; ++k) {
          const float a = layout == kLinearWeightGradient ? left[k * kM + row] : left[row * kK + k];
          const float b = layout == kLinear ? right[column * kK + k] : right[k * kN + column];
          sum += static_cast<double>(a) * b;
        }
        want.push_back(sum);
      }
    }
    ExpectNear(&ran.after[result.begin], want, one.kernel);
  }
}

// Checks a kernel of one output, behind `inputs` inputs of as many elements each.
void ExpectEach(const std::string& kernel, size_t inputs,
                const std::function<double(const std::vector<double>&)>& want) {
  constexpr size_t kElements = 16 * 4096;
  const auto bytes = static_cast<size_t>(FindStreamKernel(kernel)->bytes_per_element);
  const auto op =
      MakeStreamOp({Op::Elementwise(Bytes(static_cast<int64_t>(bytes * kElements))), kernel});
  const Block outputs = {inputs * kElements, bytes * kElements / sizeof(Bf16) - inputs * kElements};
  const Ran ran = RunOnce(*op, {{0, inputs * kElements}}, outputs);
  std::vector<double> wanted;
  for (size_t i = 0; i < kElements; ++i) {
    std::vector<double> in;
    for (size_t input = 0; input < inputs; ++input) in.push_back(ran.before[input * kElements + i]);
    wanted.push_back(want(in));
  }
  ExpectNear(&ran.after[outputs.begin], wanted, kernel);
}

TEST(DeviceOpsTest, ElementwiseKernelsAreRight) {
  using In = std::vector<double>;
  const auto sigmoid = [](double x) { return 1 / (1 + std::exp(-x)); };
  ExpectEach("copy_device", 1, [](const In& in) { return in[0]; });
  ExpectEach("add", 2, [](const In& in) { return in[0] + in[1]; });
  ExpectEach("gelu", 1,
             [](const In& in) { return 0.5 * in[0] * (1 + std::erf(in[0] / std::sqrt(2.0))); });
  ExpectEach("gelu_backward", 2, [](const In& in) {
    const double x = in[0];
    const double slope = 0.5 * (1 + std::erf(x / std::sqrt(2.0))) +
                         x * std::exp(-x * x / 2) / std::sqrt(2 * 3.14159265358979);
    return in[1] * slope;
  });
  ExpectEach("swiglu", 2, [&](const In& in) { return in[0] * sigmoid(in[0]) * in[1]; });
  ExpectEach("swiglu_backward", 3, [&](const In& in) {
    const double share = sigmoid(in[0]);
    return in[2] * in[1] * share * (1 + in[0] * (1 - share));
  });
}

constexpr int kRows = 37, kWidth = 1000;
void ExpectRows(const std::string& kernel, OpKind kind, size_t inputs,
                const std::function<std::vector<double>(const std::vector<const float*>& in,
                                                        const float* weights)>& want) {
  const int bytes = FindStreamKernel(kernel)->bytes_per_element;
  const auto op = MakeRowOp(
      {Op::Rowwise(kind, DType::kBf16, kRows, kWidth, Bytes(bytes * kRows * kWidth)), kernel});
  constexpr size_t kTensor = kRows * kWidth;
  const Block weights = {(inputs + 1) * kTensor, kWidth};
  const Ran ran = RunOnce(*op, {{0, inputs * kTensor}, weights}, {inputs * kTensor, kTensor});
  for (size_t row = 0; row < kRows; ++row) {
    std::vector<const float*> in;
    for (size_t i = 0; i < inputs; ++i) in.push_back(&ran.before[i * kTensor + row * kWidth]);
    ExpectNear(&ran.after[inputs * kTensor + row * kWidth], want(in, &ran.before[weights.begin]),
               kernel);
  }
}

double SumOf(const std::function<double(int)>& term) {
  double sum = 0;
  for (int i = 0; i < kWidth; ++i) sum += term(i);
  return sum;
}
std::vector<double> Each(const std::function<double(int)>& value) {
  std::vector<double> row;
  for (int i = 0; i < kWidth; ++i) row.push_back(value(i));
  return row;
}

TEST(DeviceOpsTest, KernelsOnRowsAreRight) {
  ExpectRows("rms_norm", OpKind::kNorm, 1, [](const auto& in, const float* w) {
    const double squares = SumOf([&](int i) { return in[0][i] * in[0][i]; });
    return Each([&](int i) { return in[0][i] / std::sqrt(squares / kWidth) * w[i]; });
  });
  ExpectRows("rms_norm_backward", OpKind::kNorm, 2, [](const auto& in, const float* w) {
    const double squares = SumOf([&](int i) { return in[0][i] * in[0][i]; });
    const double along = SumOf([&](int i) { return in[0][i] * in[1][i] * w[i]; });
    const double scale = 1 / std::sqrt(squares / kWidth);
    return Each([&](int i) {
      return scale * in[1][i] * w[i] - scale * scale * scale * in[0][i] * along / kWidth;
    });
  });
  ExpectRows("layer_norm", OpKind::kNorm, 1, [](const auto& in, const float* w) {
    const double mean = SumOf([&](int i) { return in[0][i]; }) / kWidth;
    const double squares = SumOf([&](int i) { return std::pow(in[0][i] - mean, 2); });
    return Each([&](int i) { return (in[0][i] - mean) / std::sqrt(squares / kWidth) * w[i]; });
  });
  ExpectRows("softmax", OpKind::kSoftmax, 1, [](const auto& in, const float*) {
    const double sum = SumOf([&](int i) { return std::exp(in[0][i]); });
    return Each([&](int i) { return std::exp(in[0][i]) / sum; });
  });
  ExpectRows("softmax_backward", OpKind::kSoftmax, 2, [](const auto& in, const float*) {
    const double along = SumOf([&](int i) { return in[0][i] * in[1][i]; });
    return Each([&](int i) { return in[0][i] * (in[1][i] - along); });
  });
}

// Two heads of 256 queries share one head of keys.
TEST(DeviceOpsTest, CausalAttentionOfSharedKeysIsRight) {
  constexpr int kTokens = 256, kHeads = 2, kSize = 64;
  Op op = Op::Attention(DType::kBf16, Direction::kForward, kHeads, kTokens, kTokens, kSize, true);
  op.kv_batch = 1;
  const auto device_op = MakeAttentionOp({op, "attention"}, LoadAttentionLibrary());
  // The operands are in the order of BuildAttention(): queries, output, stats (32 bits), keys,
  // values.
  constexpr size_t kRowsOfHeads = kTokens * kHeads * kSize, kShared = kTokens * kSize;
  const size_t output = OffsetAfter(kRowsOfHeads);
  const size_t keys = output + OffsetAfter(kRowsOfHeads) + OffsetAfter(2 * kTokens * kHeads);
  const size_t values = keys + OffsetAfter(kShared);
  const Ran ran = RunOnce(*device_op, {{0, kRowsOfHeads}, {keys, kShared}, {values, kShared}},
                          {output, kRowsOfHeads});
  // The shares of the values are rounded to bf16 before they are multiplied, and the results again.
  constexpr double kAttentionTolerance = 2 * kTolerance;
  for (int head = 0; head < kHeads; ++head) {
    for (int query = 0; query < kTokens; query += 51) {
      const float* const q = &ran.before[(query * kHeads + head) * kSize];
      std::vector<double> want(kSize);
      double sum = 0;
      for (int key = 0; key <= query; ++key) {
        double score = 0;
        for (int i = 0; i < kSize; ++i) score += q[i] * ran.before[keys + key * kSize + i];
        const double share = std::exp(score / std::sqrt(kSize));
        sum += share;
        for (int i = 0; i < kSize; ++i) want[i] += share * ran.before[values + key * kSize + i];
      }
      for (double& number : want) number /= sum;
      ExpectNear(&ran.after[output + (query * kHeads + head) * kSize], want, "attention",
                 kAttentionTolerance);
    }
  }
}

// No GEMM is faster than 1e16 FLOP/s, which no GPU reaches, and one of eight times the arithmetic
// takes longer.
TEST(DeviceOpsTest, TheTimerTellsLargeFromSmall) {
  const auto timer = MakeCudaOpTimer(0, "test");
  const auto seconds = [&](int64_t size) {
    const PreparedOp prepared =
        timer->Prepare({Op::Gemm(DType::kBf16, size, size, size), "linear"});
    EXPECT_NE(prepared.op, nullptr) << prepared.refusal;
    prepared.op->Run(4);
    return prepared.op->Run(4).seconds() / 4;
  };
  const double small = seconds(2048), large = seconds(4096);
  EXPECT_GT(large, 2 * small);
  EXPECT_GT(large, 2 * std::pow(4096.0, 3) / 1e16);
}

}  // namespace
}  // namespace stagecraft
