#include "sim/pipeline/prefix_least.h"

#include <algorithm>

namespace stagecraft {

PrefixLeast::PrefixLeast(std::span<const int64_t> values) {
  while (leaves_ < values.size()) leaves_ *= 2;
  nodes_.resize(2 * leaves_);
  for (size_t k = 0; k < values.size(); ++k) {
    const int64_t next = k + 1 < values.size() ? values[k + 1] : 0;
    nodes_[leaves_ + k] = {values[k] - next, values[k] - next};
  }
  for (size_t i = leaves_; i-- > 1;) nodes_[i] = Join(nodes_[2 * i], nodes_[2 * i + 1]);
}

void PrefixLeast::Add(size_t end, int64_t amount) {
  if (end == 0 || amount == 0) return;
  size_t i = leaves_ + end - 1;
  nodes_[i].sum += amount;
  nodes_[i].least += amount;
  while ((i /= 2) > 0) nodes_[i] = Join(nodes_[2 * i], nodes_[2 * i + 1]);
}

int64_t PrefixLeast::Least(size_t end) const {
  if (end == 0) return kNone;
  if (end >= leaves_) return nodes_[1].least;
  int64_t least = kNone;  // to the last leaf of i
  for (size_t i = leaves_ + end; i > 1; i /= 2) {
    if (i % 2 == 0) {
      least += nodes_[i + 1].sum;
    } else {
      least = std::min(least, nodes_[i - 1].least + nodes_[i].sum);
    }
  }
  return least;
}

PrefixLeast::Node PrefixLeast::Join(const Node& left, const Node& right) {
  return {left.sum + right.sum, std::min(right.least, left.least + right.sum)};
}

}  // namespace stagecraft
