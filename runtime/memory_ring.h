// MemoryRing: hands out places in a piece of memory in rotation.
#pragma once

#include <cstddef>

#include "costmodel/check.h"

namespace stagecraft {

// Successive ops get places one behind another, so that no op finds its operands in a cache.
class MemoryRing {
 public:
  explicit MemoryRing(size_t bytes) : bytes_(bytes) {}

  // Returns the offset of the next `bytes` bytes, which may be at most the size of the ring.
  size_t Take(size_t bytes) {
    CHECK(bytes <= bytes_);
    if (bytes > bytes_ - next_) next_ = 0;
    const size_t at = next_;
    next_ += bytes;
    return at;
  }
  size_t bytes() const { return bytes_; }

 private:
  size_t bytes_;
  size_t next_ = 0;
};

}  // namespace stagecraft
