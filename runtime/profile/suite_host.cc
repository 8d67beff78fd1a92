// What a processor of a host is measured with: smaller products, and one kernel for all that
// only moves bytes.
#include <algorithm>
#include <array>
#include <cmath>

#include "runtime/profile/sobol.h"
#include "runtime/profile/suite_parts.h"

namespace stagecraft {
namespace {

// Plans compute in one of these; a processor in 32 bits whatever they say.
constexpr DType kFormats[] = {DType::kBf16, DType::kFp32};

// Logarithms of sizes, multiples of 8 beyond the first few.
constexpr double kMostRows = 12, kLeastSide = 4, kMostSide = 12;
constexpr int kQuickProducts = 180, kFullProducts = 600;
constexpr int kTries = 4;

int64_t SizeAt(double log2) {
  const int64_t size = std::llround(std::exp2(log2));
  return size < 16 ? size : size / 8 * 8;
}

void AddSizes(SuiteBuilder& suite, DType format) {
  int left = suite.is_full() ? kFullProducts : kQuickProducts;
  const auto most = static_cast<uint32_t>(kTries * left);
  for (uint32_t index = 1; left > 0 && index <= most; ++index) {
    const std::array<double, kSobolDimensions> at = SobolPoint(index);
    const auto side = [&](double place) {
      return SizeAt(kLeastSide + place * (kMostSide - kLeastSide));
    };
    const Op op = Op::Gemm(format, SizeAt(at[0] * kMostRows), side(at[1]), side(at[2]));
    if (suite.Add(op, kLinear)) --left;
  }
}

void AddLinears(SuiteBuilder& suite, DType format, const NetworkShape& network) {
  for (const LinearShape& linear : network.linears) {
    for (int64_t tokens = 64; tokens <= 2048; tokens *= suite.is_full() ? 2 : 4) {
      suite.Add(Op::Gemm(format, tokens, linear.outputs, linear.inputs), kLinear);
      suite.Add(Op::Gemm(format, tokens, linear.inputs, linear.outputs), kLinear);
      suite.Add(Op::Gemm(format, linear.outputs, linear.inputs, tokens), kLinear);
    }
  }
}

void AddHeads(SuiteBuilder& suite, DType format) {
  const int64_t step = suite.is_full() ? 2 : 4;
  for (const int64_t size : {16, 32, 64, 128}) {
    for (int64_t heads = 1; heads <= 64; heads *= step) {
      for (int64_t tokens = 32; tokens <= 2048; tokens *= 2) {
        for (const Direction direction : {Direction::kForward, Direction::kBackward}) {
          suite.Add(Op::Attention(format, direction, heads, tokens, tokens, size, true),
                    kAttention);
        }
      }
    }
  }
}

// From 1 KiB to 64 MiB.
void AddMoves(SuiteBuilder& suite) {
  const int per_octave = suite.is_full() ? 4 : 2;
  for (int i = 0; i <= 16 * per_octave; ++i) {
    const int64_t bytes = std::llround(std::exp2(10 + static_cast<double>(i) / per_octave)) / 8 * 8;
    suite.Add(Op::Elementwise(Bytes(bytes)), kMove);
    suite.Add(Op::Optimizer(Bytes(bytes), 1), kMove);
    for (const int64_t width : {256, 1024, 4096}) {
      for (const OpKind kind : {OpKind::kNorm, OpKind::kSoftmax}) {
        for (const DType format : kFormats) {
          const int64_t rows = bytes / (2 * ElementSize(format) * width);
          if (rows > 0) suite.Add(Op::Rowwise(kind, format, rows, width, Bytes(bytes)), kMove);
        }
      }
    }
  }
}

}  // namespace

void AddHostOps(SuiteBuilder& suite) {
  for (const DType format : kFormats) {
    AddSizes(suite, format);
    for (const NetworkShape& network : suite.options().networks) {
      AddLinears(suite, format, network);
    }
    AddHeads(suite, format);
  }
  AddMoves(suite);
}

}  // namespace stagecraft
