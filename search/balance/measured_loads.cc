#include "search/balance/measured_loads.h"

#include <cmath>
#include <numbers>

#include "costmodel/check.h"
#include "costmodel/random.h"

namespace stagecraft {
namespace {

// Box and Muller (1958).
double DrawNormal(Random& random) {
  const double radius = std::sqrt(-2 * std::log(1 - random.Uniform()));
  const double angle = 2 * std::numbers::pi * random.Uniform();
  return radius * std::cos(angle);
}

}  // namespace

std::vector<double> MeasuredLoads(const std::vector<double>& loads, double sigma, uint64_t seed) {
  CHECK(sigma >= 0);
  std::vector<double> measured;
  for (size_t layer = 0; layer < loads.size(); ++layer) {
    Random random = Random(seed).Child("measured load", layer);
    measured.push_back(loads[layer] * std::exp(sigma * DrawNormal(random)));
  }
  return measured;
}

}  // namespace stagecraft
