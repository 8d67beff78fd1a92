// Attention, ops that only move bytes, and copies.
#include <algorithm>

#include "runtime/profile/suite_parts.h"

namespace stagecraft {
namespace {

constexpr int64_t kKibi = 1024;
constexpr int kDegrees[] = {1, 8};

// Adds both directions of attention over `sequences` sequences of this many tokens.
void AddBoth(SuiteBuilder& suite, const AttentionShape& shape, int64_t sequences, int64_t tokens) {
  for (const Direction direction : {Direction::kForward, Direction::kBackward}) {
    Op op = Op::Attention(DType::kBf16, direction, sequences * shape.heads, tokens, tokens,
                          shape.head_size, shape.causal);
    op.sequences = sequences;
    op.kv_batch = sequences * shape.kv_heads;
    suite.Add(op, kAttention);
  }
}

// Shapes that networks may have, with as many heads of keys as of queries, or a fourth or an eighth
// of them.
constexpr AttentionShape kShapes[] = {{32, 32, 128, true}, {32, 32, 64, true},
                                      {32, 8, 128, true},  {32, 32, 128, false},
                                      {16, 16, 64, false}, {64, 8, 128, true}};

constexpr int64_t kQuickSequences[] = {1, 4};
constexpr int64_t kFullSequences[] = {1, 2, 4, 8};
constexpr int64_t kQuickTokens[] = {1024, 4096};
constexpr int64_t kFullTokens[] = {512, 1024, 2048, 4096, 8192, 16384};

// Calls `call` with sizes from `least` to `most`, `per_octave` of them in each doubling.
template <typename Function>
void ForSizes(int64_t least, int64_t most, int per_octave, const Function& call) {
  for (int64_t octave = least; octave <= most; octave *= 2) {
    for (int part = 0; part < per_octave; ++part) {
      const int64_t size = octave + octave * part / per_octave;
      if (size <= most) call(size);
    }
  }
}

// The number of elements is a multiple of this, since each thread moves whole vectors of 16 bytes,
// whatever the format.
constexpr int64_t kElementStep = 128;

void AddElementwise(SuiteBuilder& suite, const StreamKernel& kernel) {
  // At 32 Ki elements launch and latency decide; 512 Mi are far more than any cache holds.
  const int per_octave = suite.is_full() ? 2 : 1;
  ForSizes(32 * kKibi, 512 * kKibi * kKibi, per_octave, [&](int64_t elements) {
    const Bytes bytes(elements / kElementStep * kElementStep * kernel.bytes_per_element);
    suite.Add(kernel.kind == OpKind::kOptimizer ? Op::Optimizer(bytes, 1) : Op::Elementwise(bytes),
              kernel.name);
  });
}

constexpr int64_t kNormWidths[] = {768, 1024, 2048, 4096, 5120, 8192, 12288, 16384};
constexpr int64_t kSoftmaxWidths[] = {512, 1024, 2048, 4096, 8192, 32000, 128256};

void AddRows(SuiteBuilder& suite, const StreamKernel& kernel) {
  const bool is_norm = kernel.kind == OpKind::kNorm;
  const std::span<const int64_t> widths =
      is_norm ? std::span<const int64_t>(kNormWidths) : std::span<const int64_t>(kSoftmaxWidths);
  for (const int64_t width : widths) {
    const int64_t step = suite.is_full() ? 2 : 8;
    for (int64_t rows = is_norm ? 128 : 1024; rows <= 65536; rows *= step) {
      suite.Add(Op::Rowwise(kernel.kind, DType::kBf16, rows, width,
                            Bytes(rows * width * kernel.bytes_per_element)),
                kernel.name);
    }
  }
}

}  // namespace

void AddAttention(SuiteBuilder& suite) {
  const std::span<const int64_t> sequences = suite.is_full()
                                                 ? std::span<const int64_t>(kFullSequences)
                                                 : std::span<const int64_t>(kQuickSequences);
  const std::span<const int64_t> tokens = suite.is_full() ? std::span<const int64_t>(kFullTokens)
                                                          : std::span<const int64_t>(kQuickTokens);
  for (const int64_t count : sequences) {
    for (const int64_t length : tokens) {
      for (const AttentionShape& shape : kShapes) AddBoth(suite, shape, count, length);
    }
  }
  for (const NetworkShape& network : suite.options().networks) {
    for (const AttentionShape& shape : network.attentions) {
      for (const int degree : kDegrees) {
        AttentionShape part = shape;
        part.heads = std::max(1, shape.heads / degree);
        part.kv_heads = std::max(1, shape.kv_heads / degree);
        if (part.heads % part.kv_heads != 0) continue;
        for (const int64_t length : kQuickTokens) AddBoth(suite, part, 1, length);
      }
    }
  }
}

void AddStreams(SuiteBuilder& suite) {
  for (const StreamKernel& kernel : StreamKernels()) {
    if (HasRows(kernel.kind)) {
      AddRows(suite, kernel);
    } else {
      AddElementwise(suite, kernel);
    }
  }
}

// Adds copies from and to host memory that the driver has pinned.
void AddHostCopies(SuiteBuilder& suite) {
  const Link& link = suite.options().host_link;
  if (link.bandwidth.bytes_per_s() <= 0) return;
  const Fabric fabric{.ranks = 2, .nodes = 1, .ranks_per_node = 2, .intra = link, .inter = {}};
  ForSizes(4 * kKibi, 64 * kKibi * kKibi, suite.is_full() ? 2 : 1, [&](int64_t bytes) {
    for (const std::string_view kernel : {kHostToDevice, kDeviceToHost}) {
      suite.Add(Op::Collective(OpKind::kSendRecv, Bytes(bytes), fabric), kernel);
    }
  });
}

}  // namespace stagecraft
