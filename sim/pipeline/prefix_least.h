// PrefixLeast: numbers of which whole beginnings rise and fall, and the least of any
// beginning.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace stagecraft {

class PrefixLeast {
 public:
  // Sums of values and amounts stay below this.
  static constexpr int64_t kNone = std::numeric_limits<int64_t>::max() / 4;

  explicit PrefixLeast(std::span<const int64_t> values);

  // To all values before `end`; logarithmic.
  void Add(size_t end, int64_t amount);
  // Of all values before `end`, kNone where there are none; logarithmic.
  int64_t Least(size_t end) const;

 private:
  // Value k is the sum of the leaves from k on; so a beginning changes with one leaf.
  struct Node {
    int64_t sum = 0;
    int64_t least = kNone;  // sum from any leaf of the node to the node's last
  };
  static Node Join(const Node& left, const Node& right);

  size_t leaves_ = 1;        // a power of two
  std::vector<Node> nodes_;  // children of i are 2i and 2i + 1, the root is 1
};

}  // namespace stagecraft
