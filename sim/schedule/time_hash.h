// TimeHash: the Hash of times, which mostly begin with zero bytes: these are multiplied by all at
// once.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "costmodel/hash.h"
#include "costmodel/units.h"

namespace stagecraft {

class TimeHash {
 public:
  // As Hash::Add() of the nanoseconds.
  void Add(Duration time) {
    auto bits = static_cast<uint64_t>(time.ns());
    const int zeros = std::countl_zero(bits) / 8;
    for (int byte = zeros; byte < 8; ++byte) {
      value_ = (value_ ^ (bits & 0xff)) * kFnvPrime;
      bits >>= 8;
    }
    value_ *= kPowers[zeros];
  }
  uint64_t value() const { return value_; }

 private:
  // The prime to the power of each index.
  static constexpr std::array<uint64_t, 9> kPowers = [] {
    std::array<uint64_t, 9> powers = {1};
    for (size_t i = 1; i < powers.size(); ++i) powers[i] = powers[i - 1] * kFnvPrime;
    return powers;
  }();

  uint64_t value_ = kFnvOfNothing;
};

}  // namespace stagecraft
