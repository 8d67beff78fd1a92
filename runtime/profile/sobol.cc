#include "runtime/profile/sobol.h"

namespace stagecraft {
namespace {

constexpr int kBits = 32;
constexpr int kMostDegree = 3;

// A primitive polynomial over GF(2) and its first direction numbers.
struct Direction {
  int degree;
  uint32_t coefficients;  // of the polynomial, without the first and the last
  uint32_t first[kMostDegree];
};
// The dimensions from the second on; the first is van der Corput's sequence.
constexpr Direction kDirections[kSobolDimensions - 1] = {
    {1, 0, {1, 0, 0}}, {2, 1, {1, 3, 0}}, {3, 1, {1, 3, 1}}, {3, 2, {1, 1, 1}}};

// Returns the direction number of each bit of the index, as fractions of 2^32.
std::array<uint32_t, kBits> NumbersOf(int dimension) {
  std::array<uint32_t, kBits> numbers{};
  if (dimension == 0) {
    for (int bit = 0; bit < kBits; ++bit) numbers[bit] = 1u << (kBits - 1 - bit);
    return numbers;
  }
  const Direction& direction = kDirections[dimension - 1];
  const int degree = direction.degree;
  for (int bit = 0; bit < kBits; ++bit) {
    if (bit < degree) {
      numbers[bit] = direction.first[bit] << (kBits - 1 - bit);
      continue;
    }
    uint32_t number = numbers[bit - degree] ^ (numbers[bit - degree] >> degree);
    for (int term = 1; term < degree; ++term) {
      if ((direction.coefficients >> (degree - 1 - term)) & 1u) number ^= numbers[bit - term];
    }
    numbers[bit] = number;
  }
  return numbers;
}

}  // namespace

std::array<double, kSobolDimensions> SobolPoint(uint32_t index) {
  std::array<double, kSobolDimensions> point{};
  const uint32_t gray = index ^ (index >> 1);
  for (int dimension = 0; dimension < kSobolDimensions; ++dimension) {
    const std::array<uint32_t, kBits> numbers = NumbersOf(dimension);
    uint32_t fraction = 0;
    for (int bit = 0; bit < kBits; ++bit) {
      if ((gray >> bit) & 1u) fraction ^= numbers[bit];
    }
    point[dimension] = fraction * 0x1.0p-32;
  }
  return point;
}

}  // namespace stagecraft
