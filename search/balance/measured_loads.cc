#include "search/balance/measured_loads.h"

#include <cmath>

#include "costmodel/check.h"
#include "costmodel/random.h"

namespace stagecraft {
std::vector<double> MeasuredLoads(const std::vector<double>& loads, double sigma, uint64_t seed) {
  CHECK(sigma >= 0);
  std::vector<double> measured;
  for (size_t layer = 0; layer < loads.size(); ++layer) {
    Random random = Random(seed).Child("measured load", layer);
    measured.push_back(loads[layer] * std::exp(sigma * random.Normal()));
  }
  return measured;
}

}  // namespace stagecraft
