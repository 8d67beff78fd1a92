// The suite for the CPU of a host, with smaller GEMMs and one kernel for everything that only moves
// bytes.
#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

#include "runtime/profile/sobol.h"
#include "runtime/profile/suite_parts.h"

namespace stagecraft {
namespace {

// A CPU computes in 32 bits, whatever the format of the plan.
constexpr DType kFormat = DType::kFp32;

// Base-2 logarithms of sizes, which are multiples of 8 from 16 on. One side of a wide GEMM is as
// long as a vocabulary, and its other sides are shorter than those of other GEMMs.
constexpr double kMostRows = 12, kLeastSide = 4, kMostSide = 12;
constexpr double kMostWide = 16, kMostBesideWide = 10;
constexpr int kQuickProducts = 300, kFullProducts = 1000;
constexpr int kQuickSparse = 200, kFullSparse = 500;
constexpr int kTries = 4;
constexpr uint32_t kShareOfWide = 3;  // one GEMM in this many is wide

int64_t SizeAt(double log2) {
  const int64_t size = std::llround(std::exp2(log2));
  return size < 16 ? size : size / 8 * 8;
}

Op Product(const std::array<double, kSobolDimensions>& at) {
  const auto side = [&](double place) {
    return SizeAt(kLeastSide + place * (kMostSide - kLeastSide));
  };
  return Op::Gemm(kFormat, SizeAt(at[0] * kMostRows), side(at[1]), side(at[2]));
}

// Returns a wide GEMM, whose wide side is the rows (0), the columns (1) or the inner size (2).
Op WideProduct(const std::array<double, kSobolDimensions>& at, uint32_t wide) {
  std::array<int64_t, 3> sizes{};
  for (uint32_t i = 0; i < sizes.size(); ++i) {
    sizes[i] = SizeAt(i == wide ? kMostSide + at[i] * (kMostWide - kMostSide)
                                : kLeastSide + at[i] * (kMostBesideWide - kLeastSide));
  }
  return Op::Gemm(kFormat, sizes[0], sizes[1], sizes[2]);
}

void AddSizes(SuiteBuilder& suite) {
  int left = suite.is_full() ? kFullProducts : kQuickProducts;
  const auto most = static_cast<uint32_t>(kTries * left);
  for (uint32_t index = 1; left > 0 && index <= most; ++index) {
    const std::array<double, kSobolDimensions> at = SobolPoint(index);
    const bool is_wide = index % kShareOfWide == 0;
    if (suite.Add(is_wide ? WideProduct(at, index / kShareOfWide % 3) : Product(at), kLinear)) {
      --left;
    }
  }
}

void AddLinears(SuiteBuilder& suite, const NetworkShape& network) {
  for (const LinearShape& linear : network.linears) {
    for (int64_t tokens = 64; tokens <= 2048; tokens *= suite.is_full() ? 2 : 4) {
      suite.Add(Op::Gemm(kFormat, tokens, linear.outputs, linear.inputs), kLinear);
      suite.Add(Op::Gemm(kFormat, tokens, linear.inputs, linear.outputs), kLinear);
      suite.Add(Op::Gemm(kFormat, linear.outputs, linear.inputs, tokens), kLinear);
    }
  }
}

void AddHeads(SuiteBuilder& suite) {
  for (const int64_t size : {16, 32, 64, 128}) {
    for (int64_t heads = 1; heads <= 64; heads *= 2) {
      for (int64_t tokens = 32; tokens <= 2048; tokens *= 2) {
        for (const Direction direction : {Direction::kForward, Direction::kBackward}) {
          suite.Add(Op::Attention(kFormat, direction, heads, tokens, tokens, size, true),
                    kAttention);
        }
      }
    }
  }
}

// Adds sparse products of sizes that fill the space, at a few densities.
void AddSparse(SuiteBuilder& suite) {
  constexpr double kLeastSparseSide = 6;
  constexpr double kMostSparseFlops = 1e9;  // about 0.1 s on one CPU core
  int left = suite.is_full() ? kFullSparse : kQuickSparse;
  const auto most = static_cast<uint32_t>(kTries * left);
  for (uint32_t index = 1; left > 0 && index <= most; ++index) {
    const std::array<double, kSobolDimensions> at = SobolPoint(index);
    const auto side = [&](double place) {
      return SizeAt(kLeastSparseSide + place * (kMostSide - kLeastSparseSide));
    };
    constexpr double kDensities[] = {0.02, 0.05, 0.1, 0.2, 0.4};
    const double density = kDensities[index / 2 % std::size(kDensities)];
    const int64_t outputs = side(at[1]), inputs = side(at[2]);
    const auto entries =
        std::llround(density * static_cast<double>(outputs) * static_cast<double>(inputs));
    const Direction direction = index % 2 == 0 ? Direction::kForward : Direction::kBackward;
    Op op = Op::Sparse(kFormat, direction, SizeAt(at[0] * kMostRows), outputs, inputs, entries);
    op.product = SparseProduct::kFromEntries;
    if (op.Flops().count() <= kMostSparseFlops && suite.Add(op, kSparse)) --left;
  }
}

// Adds moves of 1 KiB to 64 MiB.
void AddMoves(SuiteBuilder& suite) {
  const int per_octave = suite.is_full() ? 4 : 2;
  for (int i = 0; i <= 16 * per_octave; ++i) {
    const int64_t bytes = std::llround(std::exp2(10 + static_cast<double>(i) / per_octave)) / 8 * 8;
    suite.Add(Op::Elementwise(Bytes(bytes)), kMove);
    suite.Add(Op::Optimizer(Bytes(bytes), 1), kMove);
    for (const int64_t width : {256, 1024, 4096}) {
      for (const OpKind kind : {OpKind::kNorm, OpKind::kSoftmax}) {
        const int64_t rows = bytes / (2 * ElementBits(kFormat) / 8 * width);
        if (rows > 0) suite.Add(Op::Rowwise(kind, kFormat, rows, width, Bytes(bytes)), kMove);
      }
    }
  }
}

}  // namespace

void AddHostOps(SuiteBuilder& suite) {
  AddSizes(suite);
  for (const NetworkShape& network : suite.options().networks) AddLinears(suite, network);
  AddHeads(suite);
  AddMoves(suite);
  AddSparse(suite);
}

}  // namespace stagecraft
