// FreeBlocks: the free pieces in a pool of an allocator, by size.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace stagecraft {

// Sizes are positive multiples of 512 below 2^60; no two entries have the same address. There are
// four bins for every power of two. A bin has its best entry at its end: allocations take that one,
// and free blocks that an allocator has in great number have equal sizes and were taken in the same
// order, so that most calls find their place within a few entries from the end, and move no others.
class FreeBlocks {
 public:
  struct Entry {
    int64_t size = 0;
    int64_t address = 0;
    int32_t block = -1;
  };

  void Insert(const Entry& entry);
  // Takes out all entries.
  void Clear();
  // Precondition: there is such an entry.
  void Remove(int64_t size, int64_t address);
  // Takes out the smallest entry of at least `size`, among equals the one of lowest address.
  // Returns its block, or -1 if there is none.
  int32_t TakeBest(int64_t size);
  // Takes out the entries for which `is_gone(block)`.
  template <typename F>
  void RemoveIf(F is_gone) {
    for (size_t bin = 0; bin < kBins; ++bin) {
      std::erase_if(bins_[bin], [&](const Entry& entry) { return is_gone(entry.block); });
      if (bins_[bin].empty()) MarkEmpty(bin);
    }
  }

 private:
  static constexpr size_t kBins = 256;

  static size_t BinOf(int64_t size);
  void MarkEmpty(size_t bin) { filled_[bin / 64] &= ~(uint64_t{1} << bin % 64); }
  // Returns the first bin, from `bin` on, that is not empty; kBins if there is none.
  size_t NextFilled(size_t bin) const;
  int32_t Take(size_t bin, size_t place);

  std::array<std::vector<Entry>, kBins>
      bins_;  // each sorted by size, then address, from the largest down
  std::array<uint64_t, kBins / 64> filled_{};  // one bit for each bin; set if the bin is not empty
};

}  // namespace stagecraft
