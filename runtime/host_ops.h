// HostOps: runs ops of any shape on a CPU, on data of their own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "costmodel/op.h"
#include "costmodel/units.h"

namespace stagecraft {

// GEMMs are done by Eigen, in 32 bits whatever the format of the op, on one thread. An op that only
// moves bytes reads half of them and writes the other half. A sparse matrix has equally many
// entries in each row, at random columns; its products run from the entries unless the op says that
// it is expanded. Operands and results rotate through one piece of memory each, of 64 MiB or as
// much as the largest op touches if that is more, so that no op finds its operands in a cache. A
// profiled op waits for its time.
class HostOps {
 public:
  static constexpr Bytes kLeastMemory = Bytes(64 << 20);

  // Allocates memory for ops that touch at most `largest`.
  explicit HostOps(Bytes largest);

  // Runs an op, which must not be a collective and must not touch more than `largest`.
  void Run(const Op& op);

  // Returns how many bytes an op touches, in 32 bits.
  static Bytes Touched(const Op& op);

 private:
  // A piece of memory through which operands, or results, rotate.
  class Ring {
   public:
    explicit Ring(size_t elements) : memory_(elements) {}
    // Announces an op that takes at most this many elements, which must be contiguous.
    void Begin(int64_t elements);
    float* Take(int64_t elements);
    std::vector<float>& memory() { return memory_; }

   private:
    std::vector<float> memory_;
    size_t next_ = 0;
  };

  // Where the entries of a sparse matrix are: the first one of each row, and one more at the end;
  // the column of each.
  struct Pattern {
    std::vector<int> begins, columns;
  };

  void Multiply(int64_t m, int64_t n, int64_t k);
  void MultiplyEntries(const Op& op);
  void ComputeEntries(const Op& op);
  void MultiplyExpanded(const Op& op);
  const Pattern& PatternOf(const Op& op);
  void Attend(const Op& op);
  void Move(Bytes bytes);

  Ring read_, written_;
  std::map<std::tuple<int64_t, int64_t, int64_t>, Pattern> patterns_;  // by sizes and entries
};

}  // namespace stagecraft
