// HostOps: runs ops of any shape on a CPU, on data of their own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "costmodel/op.h"
#include "costmodel/units.h"

namespace stagecraft {

// GEMMs are Eigen's, in 32 bits whatever the format of the op, on one thread. What moves bytes
// reads half of them and writes the other half. What is read, and where is written, rotates through
// two pieces of memory of 64 MiB, or as much as one op touches if that is more: no op finds its own
// operands in a cache. Profiled ops take their time.
class HostOps {
 public:
  static constexpr Bytes kLeastMemory = Bytes(64 << 20);

  // For ops that touch at most `largest`.
  explicit HostOps(Bytes largest);

  // The op must not be a collective, and no larger than `largest`.
  void Run(const Op& op);

  // The bytes that an op touches, in 32 bits.
  static Bytes Touched(const Op& op);

 private:
  // Memory through which operands rotate.
  class Ring {
   public:
    explicit Ring(size_t elements) : memory_(elements) {}
    // Announces an op that takes at most this many elements in a row.
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
