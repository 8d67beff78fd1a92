// Lists from which searches choose.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

namespace stagecraft {

// The divisors of a positive number, ascending.
template <typename T>
std::vector<T> Divisors(T number, T most) {
  std::vector<T> divisors;
  for (T d = 1; d <= std::min(number, most); ++d) {
    if (number % d == 0) divisors.push_back(d);
  }
  return divisors;
}

// What was asked for, or the usual choice if nothing was.
template <typename T>
std::vector<T> Or(const std::vector<T>& given, std::vector<T> usual) {
  return given.empty() ? std::move(usual) : given;
}

}  // namespace stagecraft
