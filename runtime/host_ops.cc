#include "runtime/host_ops.h"

#include <Eigen/Core>
#include <Eigen/SparseCore>
#include <algorithm>
#include <chrono>

#include "costmodel/check.h"
#include "costmodel/divide.h"
#include "costmodel/random.h"

namespace stagecraft {
namespace {

using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using View = Eigen::Map<Matrix>;
using ConstView = Eigen::Map<const Matrix>;

constexpr int64_t kElement = sizeof(float);

// The number of elements of one attention problem: operands and their gradients, scores and their
// gradients.
int64_t AttentionElements(const Op& op) { return 4 * (op.m + op.n) * op.k + 2 * op.m * op.n; }

size_t RingElements(Bytes largest) {
  return static_cast<size_t>(DivideUp(std::max(largest, HostOps::kLeastMemory).count(), kElement));
}

}  // namespace

Bytes HostOps::Touched(const Op& op) {
  switch (op.kind) {
    case OpKind::kGemm:
    case OpKind::kConvolution:
      return Bytes(kElement * (op.m * op.k + op.k * op.n + op.m * op.n));
    case OpKind::kSparse: {
      const int64_t dense = op.product == SparseProduct::kExpanded ? op.k * op.n : 0;
      return Bytes(kElement * (op.m * op.k + op.m * op.n + op.nonzeros + dense));
    }
    case OpKind::kAttention:
      return Bytes(kElement * AttentionElements(op));
    case OpKind::kProfiled:
    case OpKind::kNone:
      return Bytes();
    default:
      return op.bytes;
  }
}

HostOps::HostOps(Bytes largest) : read_(RingElements(largest)), written_(RingElements(largest)) {
  Random random(1);
  std::vector<float>& memory = read_.memory();
  constexpr size_t kDrawn = 4096;
  for (size_t i = 0; i < memory.size(); ++i) {
    memory[i] = i < kDrawn ? static_cast<float>(random.Uniform() - 0.5) : memory[i - kDrawn];
  }
}

void HostOps::Ring::Begin(int64_t elements) {
  constexpr auto kRound = static_cast<size_t>(kLeastMemory.count() / kElement);
  if (next_ + static_cast<size_t>(elements) > kRound) next_ = 0;
}

float* HostOps::Ring::Take(int64_t elements) {
  const auto count = static_cast<size_t>(elements);
  CHECK(next_ + count <= memory_.size());
  float* taken = memory_.data() + next_;
  next_ += count;
  return taken;
}

void HostOps::Multiply(int64_t m, int64_t n, int64_t k) {
  read_.Begin(m * k + k * n);
  written_.Begin(m * n);
  const ConstView a(read_.Take(m * k), m, k), b(read_.Take(k * n), k, n);
  View(written_.Take(m * n), m, n).noalias() = a * b;
}

const HostOps::Pattern& HostOps::PatternOf(const Op& op) {
  const auto [entry, is_new] = patterns_.try_emplace({op.n, op.k, op.nonzeros});
  Pattern& pattern = entry->second;
  if (!is_new) return pattern;
  Random random(1);
  for (int64_t row = 0; row < op.n; ++row) {
    const int64_t begin = op.nonzeros * row / op.n;
    const int64_t count = op.nonzeros * (row + 1) / op.n - begin;
    pattern.begins.push_back(static_cast<int>(begin));
    int64_t least = 0;  // that the next column may be
    for (int64_t i = 0; i < count; ++i) {
      const double at = (static_cast<double>(i) + random.Uniform()) / static_cast<double>(count);
      const auto drawn = static_cast<int64_t>(at * static_cast<double>(op.k));
      const int64_t column = std::clamp(drawn, least, op.k - (count - i));
      pattern.columns.push_back(static_cast<int>(column));
      least = column + 1;
    }
  }
  pattern.begins.push_back(static_cast<int>(op.nonzeros));
  return pattern;
}

// Features are rows in memory, so that an entry adds a multiple of one row to another.
void HostOps::MultiplyEntries(const Op& op) {
  const Pattern& pattern = PatternOf(op);
  read_.Begin(op.nonzeros + op.k * op.m);
  written_.Begin(op.n * op.m);
  const Eigen::Map<const Eigen::SparseMatrix<float, Eigen::RowMajor>> matrix(
      op.n, op.k, op.nonzeros, pattern.begins.data(), pattern.columns.data(),
      read_.Take(op.nonzeros));
  const ConstView rows(read_.Take(op.k * op.m), op.k, op.m);
  View(written_.Take(op.n * op.m), op.n, op.m).noalias() = matrix * rows;
}

// An entry of the gradient is the product of two rows: of an output's gradients and of an input.
void HostOps::ComputeEntries(const Op& op) {
  const Pattern& pattern = PatternOf(op);
  read_.Begin((op.k + op.n) * op.m);
  written_.Begin(op.nonzeros);
  const ConstView inputs(read_.Take(op.k * op.m), op.k, op.m);
  const ConstView outputs(read_.Take(op.n * op.m), op.n, op.m);
  float* entry = written_.Take(op.nonzeros);
  for (int64_t row = 0; row < op.n; ++row) {
    for (int i = pattern.begins[row]; i < pattern.begins[row + 1]; ++i) {
      *entry++ = outputs.row(row).dot(inputs.row(pattern.columns[i]));
    }
  }
}

// Writes the entries into a dense matrix before the GEMM, or picks them after it.
void HostOps::MultiplyExpanded(const Op& op) {
  const Pattern& pattern = PatternOf(op);
  const bool is_forward = op.direction == Direction::kForward;
  if (!is_forward) Multiply(op.n, op.k, op.m);
  written_.Begin(op.n * op.k + op.nonzeros);
  float* dense = written_.Take(op.n * op.k);
  float* entries = written_.Take(op.nonzeros);
  if (is_forward) std::fill_n(dense, op.n * op.k, 0.0f);
  for (int64_t row = 0; row < op.n; ++row) {
    for (int i = pattern.begins[row]; i < pattern.begins[row + 1]; ++i) {
      float& place = dense[row * op.k + pattern.columns[i]];
      if (is_forward) {
        place = entries[i];
      } else {
        entries[i] = place;
      }
    }
  }
  if (is_forward) Multiply(op.m, op.n, op.k);
}

// The forward pass computes scores, softmax and context; the backward pass computes the scores
// again, then the gradients of values, scores, queries and keys.
void HostOps::Attend(const Op& op) {
  for (Ring* ring : {&read_, &written_}) ring->Begin(AttentionElements(op));
  const auto read = [&](int64_t rows) { return ConstView(read_.Take(rows * op.k), rows, op.k); };
  const auto written = [&](int64_t rows, int64_t columns) {
    return View(written_.Take(rows * columns), rows, columns);
  };
  const ConstView q = read(op.m), k = read(op.n), v = read(op.n);
  View scores = written(op.m, op.n);
  scores.noalias() = q * k.transpose();
  scores = scores.array().exp().matrix();
  scores.array().colwise() /= scores.rowwise().sum().array().eval();
  if (op.direction == Direction::kForward) {
    written(op.m, op.k).noalias() = scores * v;
    return;
  }
  const ConstView gradient = read(op.m);
  View inner = written(op.m, op.n);
  written(op.n, op.k).noalias() = scores.transpose() * gradient;
  inner.noalias() = gradient * v.transpose();
  inner = inner.cwiseProduct(scores);
  written(op.m, op.k).noalias() = inner * k;
  written(op.n, op.k).noalias() = inner.transpose() * q;
}

void HostOps::Move(Bytes bytes) {
  const int64_t half = bytes.count() / (2 * kElement);
  for (Ring* ring : {&read_, &written_}) ring->Begin(half);
  const float* from = read_.Take(half);
  float* to = written_.Take(half);
  for (int64_t i = 0; i < half; ++i) to[i] = 0.5f * from[i] + 0.25f;
}

void HostOps::Run(const Op& op) {
  switch (op.kind) {
    case OpKind::kNone:
      return;
    case OpKind::kGemm:
    case OpKind::kConvolution:
      for (int64_t i = 0; i < op.batch; ++i) Multiply(op.m, op.n, op.k);
      return;
    case OpKind::kSparse:
      for (int64_t i = 0; i < op.batch; ++i) {
        if (op.product == SparseProduct::kExpanded) {
          MultiplyExpanded(op);
        } else if (op.direction == Direction::kForward) {
          MultiplyEntries(op);
        } else {
          ComputeEntries(op);
        }
      }
      return;
    case OpKind::kAttention:
      for (int64_t i = 0; i < op.batch; ++i) Attend(op);
      return;
    case OpKind::kProfiled: {
      const auto end =
          std::chrono::steady_clock::now() + std::chrono::nanoseconds((op.m * op.profiled).ns());
      while (std::chrono::steady_clock::now() < end) {
      }
      return;
    }
    default:
      CHECK(!IsCollective(op.kind));
      Move(op.bytes);
  }
}

}  // namespace stagecraft
