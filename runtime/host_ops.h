// HostOps: runs ops of any shape on a processor, on data of their own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "costmodel/op.h"
#include "costmodel/units.h"

namespace stagecraft {

// Products are Eigen's, in 32 bits whatever the op's format, on one thread. What moves bytes
// reads half of them and writes the other half. What is read, and where is written, goes
// round in two pieces of memory of 64 MiB, or of what one op touches where that is more: no
// op finds its own operands in a cache that others would not. Profiled ops take their time.
class HostOps {
 public:
  static constexpr Bytes kLeastMemory = Bytes(64 << 20);

  // For ops that touch at most so much.
  explicit HostOps(Bytes largest);

  // Not a collective, and no larger than was said.
  void Run(const Op& op);

  // Bytes that an op touches, in 32 bits.
  static Bytes Touched(const Op& op);

 private:
  // Memory that goes round.
  class Ring {
   public:
    explicit Ring(size_t elements) : memory_(elements) {}
    // An op follows that takes no more than so many, in a row.
    void Begin(int64_t elements);
    float* Take(int64_t elements);
    std::vector<float>& memory() { return memory_; }

   private:
    std::vector<float> memory_;
    size_t next_ = 0;
  };

  void Multiply(int64_t m, int64_t n, int64_t k);
  void Attend(const Op& op);
  void Move(Bytes bytes);

  Ring read_, written_;
};

}  // namespace stagecraft
