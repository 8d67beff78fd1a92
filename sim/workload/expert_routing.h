// Says how far the rows of tokens spread over nodes and ranks that share the experts.
#pragma once

#include "sim/workload/workload.h"

namespace stagecraft {

// Returns on how many of `places`, each of which holds the same number of consecutive experts, the
// experts of a token lie on average if routing is even: with E experts in G groups, of which the
// router offers M to a token, which takes K of their experts. A place of s experts lies in c groups
// (or is a part of one), j of which are offered with the hypergeometric probability
//   p(j) = C(c, j) C(G - c, M - j) / C(G, M)
// and is left out with probability C(N - x, K) / C(N, K), where N = M E / G experts are offered and
// x of them lie on the place: s of one group, or j E / G. The result is
//   places x sum of p(j) (1 - C(N - x, K) / C(N, K)).
// If neither places nor groups divide one another, groups are taken to say nothing, as without
// them. If places do not divide the experts, each is taken to hold the whole number below, at least
// one. Preconditions: places >= 1, and the operator has experts.
double ExpectedPlaces(const Operator& op, int places);

}  // namespace stagecraft
