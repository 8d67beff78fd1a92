// GEMMs: sizes that fill the space, and those of networks.
#include <algorithm>
#include <array>
#include <cmath>

#include "runtime/profile/sobol.h"
#include "runtime/profile/suite_parts.h"

namespace stagecraft {
namespace {

// The ranges of sizes, which are spread evenly in their logarithms. Rows are tokens, down to one as
// in serving.
struct Range {
  double least_log2, most_log2;
};
constexpr Range kRows = {0, 16};
constexpr Range kColumns = {5, 16};
constexpr Range kDepth = {5, 16};

// Sizes are multiples of one of these, since kernels for aligned sizes are faster, and nearly all
// sizes of networks are aligned.
constexpr int64_t kSteps[] = {8, 64, 128, 256};
constexpr int64_t kRowSteps[] = {1, 8, 64, 128};
// Sizes of 8-bit operands are multiples of 16 bytes.
constexpr int64_t kLeastStepOf8Bits = 16;

struct Points {
  DType dtype;
  int quick, full;
};
constexpr Points kPoints[] = {{DType::kBf16, 300, 2000},
                              {DType::kFp16, 60, 300},
                              {DType::kFp8, 120, 700},
                              {DType::kTf32, 60, 300},
                              {DType::kFp32, 60, 300}};
// How many points are tried for each one that is taken; many are too large, above all in 32 bits.
constexpr int kTries = 4;

int64_t Rounded(const Range& range, double coordinate, int64_t step) {
  const double log2 = range.least_log2 + coordinate * (range.most_log2 - range.least_log2);
  const double steps = std::round(std::exp2(log2) / static_cast<double>(step));
  return std::max<int64_t>(1, static_cast<int64_t>(steps)) * step;
}

Op ProductAt(uint32_t index, DType dtype) {
  const std::array<double, kSobolDimensions> at = SobolPoint(index);
  const auto choice = static_cast<size_t>(at[3] * 4);
  const auto row_choice = static_cast<size_t>(at[4] * 4);
  const bool is_8_bits = dtype == DType::kFp8;
  const int64_t step = std::max(kSteps[choice], is_8_bits ? kLeastStepOf8Bits : 1);
  const int64_t row_step = std::max(kRowSteps[row_choice], is_8_bits ? kLeastStepOf8Bits : 1);
  return Op::Gemm(dtype, Rounded(kRows, at[0], row_step), Rounded(kColumns, at[1], step),
                  Rounded(kDepth, at[2], step));
}

// Adds the GEMMs of the forward pass and of both gradients. 8-bit operands always have the layout
// of the forward pass.
void AddLinear(SuiteBuilder& suite, DType dtype, int64_t tokens, int64_t outputs, int64_t inputs) {
  const bool is_8_bits = dtype == DType::kFp8;
  suite.Add(Op::Gemm(dtype, tokens, outputs, inputs), kLinear);
  suite.Add(Op::Gemm(dtype, tokens, inputs, outputs), is_8_bits ? kLinear : kLinearInputGradient);
  suite.Add(Op::Gemm(dtype, outputs, inputs, tokens), is_8_bits ? kLinear : kLinearWeightGradient);
}

constexpr int64_t kQuickTokens[] = {2048, 8192};
constexpr int64_t kFullTokens[] = {1024, 2048, 4096, 8192, 16384};
constexpr int kQuickDegrees[] = {1, 8};
constexpr int kFullDegrees[] = {1, 2, 4, 8};

void AddNetwork(SuiteBuilder& suite, const NetworkShape& network, DType dtype,
                std::span<const int64_t> tokens, std::span<const int> degrees) {
  for (const LinearShape& linear : network.linears) {
    for (const int degree : degrees) {
      const bool divides_outputs = linear.divided == Divided::kOutputs;
      const bool divides_inputs = linear.divided == Divided::kInputs;
      if (degree > 1 && !divides_outputs && !divides_inputs) continue;
      const int64_t outputs = linear.outputs / (divides_outputs ? degree : 1);
      const int64_t inputs = linear.inputs / (divides_inputs ? degree : 1);
      // Odd sizes are left out: a vocabulary without padding, or heads that the degree does not
      // divide.
      if (outputs % kLeastStepOf8Bits != 0 || inputs % kLeastStepOf8Bits != 0) continue;
      for (const int64_t count : tokens) AddLinear(suite, dtype, count, outputs, inputs);
    }
  }
}

}  // namespace

void AddProducts(SuiteBuilder& suite) {
  for (const Points& points : kPoints) {
    int left = suite.is_full() ? points.full : points.quick;
    const uint32_t most = static_cast<uint32_t>(kTries * left);
    for (uint32_t index = 1; left > 0 && index <= most; ++index) {
      if (suite.Add(ProductAt(index, points.dtype), kLinear)) --left;
    }
  }
}

void AddLayers(SuiteBuilder& suite) {
  for (const NetworkShape& network : suite.options().networks) {
    if (suite.is_full()) {
      AddNetwork(suite, network, DType::kBf16, kFullTokens, kFullDegrees);
      AddNetwork(suite, network, DType::kFp8, kQuickTokens, kQuickDegrees);
    } else {
      AddNetwork(suite, network, DType::kBf16, kQuickTokens, kQuickDegrees);
    }
  }
}

}  // namespace stagecraft
