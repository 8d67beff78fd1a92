// Heap: the memory of GPUs, which is really allocated, and which of it is alive.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "runtime/cuda/stand_in/virtual_time.h"

namespace stagecraft::stand_in {

// Ends the program with a sentence, in cases in which CUDA's behaviour is undefined.
[[noreturn]] void BreakContract(const std::string& sentence);

// The system allocates pages when they are written, so the memory of a GPU may be larger than the
// host's.
class Heap {
 public:
  enum class Kind { kDevice, kPinned, kPool };

  // Allocates memory that is alive from now on, or from Revive() on if `is_alive` is false.
  std::byte* Allocate(size_t bytes, Kind kind, bool is_alive = true);
  void Revive(const void* memory) { Find(memory).is_alive = true; }
  // Memory of a pool is freed in two steps: it is given back when the host queues the call, and
  // released when the stream reaches that call.
  void GiveBack(const void* memory);
  void Release(const void* memory);

  bool Has(const void* memory) const { return blocks_.contains(Address(memory)); }
  bool IsPinned(const void* memory) const;
  bool IsOfKind(const void* memory, Kind kind) const;
  size_t BytesOf(const void* memory) const { return blocks_.at(Address(memory)).bytes; }
  // Returns the beginning of the block that contains all of the range, alive or not; nullptr if no
  // block does.
  const std::byte* BlockOf(const Range& range) const;
  // Whether all of the range lies in one living block.
  bool IsAlive(const Range& range) const;
  std::vector<std::string> Leaks() const;

 private:
  struct Block {
    size_t bytes = 0;
    Kind kind = Kind::kDevice;
    bool is_alive = true, is_given_back = false;
  };
  static const std::byte* Address(const void* memory) {
    return static_cast<const std::byte*>(memory);
  }
  Block& Find(const void* memory);
  const std::pair<const std::byte* const, Block>* Containing(const void* memory) const;

  std::map<const std::byte*, Block> blocks_;
};

}  // namespace stagecraft::stand_in
