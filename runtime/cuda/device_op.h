// DeviceOp: launches one op on operands in device memory.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <stdexcept>

namespace stagecraft {

// The error of an op that this device, or its libraries, cannot run. The reason is the same for all
// ops of a kind.
class Unsupported : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The error of fused attention that its library refuses, although it is installed. No other kind of
// op throws it.
class AttentionUnsupported : public Unsupported {
 public:
  using Unsupported::Unsupported;
};

// An op whose operands are one block of memory, so that calls can rotate through several blocks and
// find none in the cache. Launches are only queued, and may be captured in a graph.
class DeviceOp {
 public:
  virtual ~DeviceOp() = default;
  virtual size_t operand_bytes() const = 0;
  // Fills the operands with random data: GEMMs of zeros take less power, and run faster.
  virtual void Fill(std::byte* operands, cudaStream_t stream) = 0;
  virtual void Launch(std::byte* operands, cudaStream_t stream) = 0;
};

// Operands begin at addresses that are multiples of this number of bytes.
constexpr size_t kAlignment = 256;
constexpr size_t Aligned(size_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

}  // namespace stagecraft
