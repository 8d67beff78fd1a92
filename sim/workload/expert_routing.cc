#include "sim/workload/expert_routing.h"

#include <algorithm>

#include "costmodel/check.h"

namespace stagecraft {
namespace {

// Returns C(all - left_out, taken) / C(all, taken), the probability that none of `left_out` of
// `all` is among `taken` of them.
double MissesAll(int64_t all, int64_t left_out, int64_t taken) {
  double probability = 1;
  for (int64_t i = 0; i < taken; ++i) {
    const int64_t other = all - left_out - i;
    if (other <= 0) return 0;
    probability *= static_cast<double>(other) / static_cast<double>(all - i);
  }
  return probability;
}

// Returns C(n, k).
double Binomial(int64_t n, int64_t k) {
  if (k < 0 || k > n) return 0;
  double ways = 1;
  for (int64_t i = 1; i <= std::min(k, n - k); ++i) {
    ways *= static_cast<double>(n - std::min(k, n - k) + i) / static_cast<double>(i);
  }
  return ways;
}

}  // namespace

double ExpectedPlaces(const Operator& op, int places) {
  CHECK(places >= 1 && op.experts > 0);
  int64_t groups = op.expert_groups;
  int64_t offered_groups = op.groups_per_token;
  if (groups % places != 0 && places % groups != 0) groups = offered_groups = 1;
  const int64_t of_group = op.experts / groups;
  const int64_t of_place = std::max(1, op.experts / places);
  const int64_t offered = of_group * offered_groups;
  // This many groups have experts on a place.
  const int64_t of_its_own = std::max<int64_t>(1, groups / places);
  double hit = 0;
  for (int64_t j = 1; j <= std::min(of_its_own, offered_groups); ++j) {
    const double probability = Binomial(of_its_own, j) *
                               Binomial(groups - of_its_own, offered_groups - j) /
                               Binomial(groups, offered_groups);
    const int64_t there = std::min(of_place, j * of_group);
    hit += probability * (1 - MissesAll(offered, there, op.experts_per_token));
  }
  return std::min<double>(op.experts_per_token, places * hit);
}

}  // namespace stagecraft
