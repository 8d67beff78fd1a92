// Seeded random numbers that are the same on every compiler and platform.
#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>
#include <string_view>

#include "costmodel/hash.h"

namespace stagecraft {

// SplitMix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014). A
// value type. Draw only once per statement.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}

  // Returns an independent generator for one purpose and index, so that adding draws in one place
  // changes nothing elsewhere.
  Random Child(std::string_view purpose, uint64_t index) const {
    Random child(state_ ^ Fnv(purpose) ^ (index * 0x9e3779b97f4a7c15ull));
    child.Bits();
    return child;
  }

  uint64_t Bits() {
    state_ += 0x9e3779b97f4a7c15ull;
    uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
  }
  // Uniform in [0, 1).
  double Uniform() { return static_cast<double>(Bits() >> 11) * 0x1.0p-53; }
  // Exponential of mean 1.
  double Exponential() { return -std::log1p(-Uniform()); }
  // Normal of mean 0 and variance 1 (Box and Muller, 1958).
  double Normal() {
    const double radius = std::sqrt(2 * Exponential());
    const double angle = 2 * std::numbers::pi * Uniform();
    return radius * std::cos(angle);
  }
  // Uniform in [low, high], both included. The bias is below 2^-32 for spans below 2^32.
  int64_t Integer(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(Bits() % static_cast<uint64_t>(high - low + 1));
  }

 private:
  uint64_t state_;
};

}  // namespace stagecraft
