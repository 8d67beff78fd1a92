// IndexRuns: runs of neighbouring places in an array that are taken and given back.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <vector>

namespace stagecraft {

// The length of a run is rounded up to a power of two, so a run that was given back fits the next
// request of its kind: an array whose users come and go stops growing. O(1) for each call.
class IndexRuns {
 public:
  // Returns the first of `count` consecutive indices; count >= 0.
  int32_t Take(int count) {
    std::vector<int32_t>& free = free_[KindOf(count)];
    if (free.empty()) {
      const int32_t first = size_;
      size_ += 1 << KindOf(count);
      return first;
    }
    const int32_t first = free.back();
    free.pop_back();
    return first;
  }

  // `count` must be the one with which the run was taken.
  void Give(int32_t first, int count) { free_[KindOf(count)].push_back(first); }

  // All indices that were handed out so far are below this.
  int32_t size() const { return size_; }

 private:
  static int KindOf(int count) {
    return count <= 1 ? 0 : std::bit_width(static_cast<uint32_t>(count - 1));
  }

  std::array<std::vector<int32_t>, 32> free_;
  int32_t size_ = 0;
};

}  // namespace stagecraft
