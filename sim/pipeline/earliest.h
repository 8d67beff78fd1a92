// Earliest: finds which of a few clocks is the earliest.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "costmodel/units.h"

namespace stagecraft {

// A tournament: of two clocks the earlier one advances; of equal ones, that with the lower index.
class Earliest {
 public:
  // All clocks start at zero; count >= 1.
  explicit Earliest(int count) {
    while (leaves_ < static_cast<size_t>(count)) leaves_ *= 2;
    nodes_.resize(2 * leaves_, {Duration::Max(), 0});
    for (size_t i = 0; i < leaves_; ++i) nodes_[leaves_ + i].index = static_cast<int>(i);
    for (int i = 0; i < count; ++i) Set(i, Duration());
  }

  int Index() const { return nodes_[1].index; }
  Duration Time() const { return nodes_[1].time; }
  Duration Time(int index) const { return nodes_[leaves_ + static_cast<size_t>(index)].time; }

  // Takes time in log(count).
  void Set(int index, Duration time) {
    size_t i = leaves_ + static_cast<size_t>(index);
    nodes_[i].time = time;
    for (Node winner = nodes_[i]; i > 1; nodes_[i] = winner) {
      const Node& other = nodes_[i ^ 1];
      // The sibling of an odd node has the lower index, so it wins a tie.
      const Duration tie = Duration::Nanoseconds(static_cast<int64_t>(i & 1));
      // Two selections in place of a branch, which would often be mispredicted.
      const bool loses = other.time - tie < winner.time;
      winner.time = loses ? other.time : winner.time;
      winner.index = loses ? other.index : winner.index;
      i /= 2;
    }
  }

 private:
  struct Node {
    Duration time;
    int index = 0;
  };

  size_t leaves_ = 1;        // a power of two
  std::vector<Node> nodes_;  // children of i are 2i and 2i + 1, the winner of all is 1
};

}  // namespace stagecraft
