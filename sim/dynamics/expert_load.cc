#include "sim/dynamics/expert_load.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "costmodel/check.h"

namespace stagecraft {
namespace {

// Uniform in (0, 1].
double AboveZero(Random& random) { return 1 - random.Uniform(); }

// Returns the logarithm of a draw from the gamma distribution of this shape and scale 1 (Marsaglia
// and Tsang, "A simple method for generating gamma variables", TOMS 2000). A shape below 1 draws
// from shape + 1 and multiplies by a uniform number to the power 1 / shape, which would underflow
// for small shapes, but its logarithm does not.
double LogGamma(double shape, Random& random) {
  if (shape < 1) {
    const double boost = std::log(AboveZero(random)) / shape;
    return LogGamma(shape + 1, random) + boost;
  }
  const double d = shape - 1.0 / 3;
  const double c = 1 / std::sqrt(9 * d);
  while (true) {
    const double x = random.Normal();
    const double root = 1 + c * x;
    if (root <= 0) continue;
    const double v = root * root * root;
    if (std::log(AboveZero(random)) < x * x / 2 + d * (1 - v + std::log(v))) return std::log(d * v);
  }
}

}  // namespace

std::vector<double> DrawExpertShares(int experts, double alpha, Random random) {
  CHECK(experts > 0 && alpha > 0);
  std::vector<double> shares;
  for (int expert = 0; expert < experts; ++expert) shares.push_back(LogGamma(alpha, random));
  const double most = *std::max_element(shares.begin(), shares.end());
  for (double& share : shares) share = std::exp(share - most);
  const double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
  for (double& share : shares) share /= sum;
  return shares;
}

std::vector<double> WithinCapacity(std::vector<double> shares, double capacity) {
  const double most = capacity / static_cast<double>(shares.size());
  for (double& share : shares) share = std::min(share, most);
  return shares;
}

}  // namespace stagecraft
