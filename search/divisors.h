// Makes the lists of values that a search tries.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

namespace stagecraft {

// Returns the divisors of a positive number that are at most `most`, ascending.
template <typename T>
std::vector<T> Divisors(T number, T most) {
  std::vector<T> divisors;
  for (T d = 1; d <= std::min(number, most); ++d) {
    if (number % d == 0) divisors.push_back(d);
  }
  return divisors;
}

// Returns the values that were asked for, or the usual ones if none were.
template <typename T>
std::vector<T> Or(const std::vector<T>& given, std::vector<T> usual) {
  return given.empty() ? std::move(usual) : given;
}

}  // namespace stagecraft
