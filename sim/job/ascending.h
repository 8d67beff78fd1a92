// Includes() and Union() of devices in ascending order.
#pragma once

#include <algorithm>
#include <iterator>
#include <vector>

namespace stagecraft {

// Returns whether `all` contains each of `some`.
inline bool Includes(const std::vector<int>& all, const std::vector<int>& some) {
  return std::includes(all.begin(), all.end(), some.begin(), some.end());
}

inline std::vector<int> Union(const std::vector<int>& a, const std::vector<int>& b) {
  std::vector<int> both;
  std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(both));
  return both;
}

}  // namespace stagecraft
