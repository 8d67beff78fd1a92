// Closed forms of the time that gradient synchronisation of S bytes takes on the links of n ranks.
//
//   parameter server, k servers  2 max(n / k / B_server, 1 / B_worker) S
//   sharded parameter server     2 (n - 1) / n S / B, as the ring
//   rolling server               2 (n - 1) S / B, in and out of one rank
//   gossip, k peers              k S / B
//   hierarchical                 2 (g - 1) / g S / B_intra + 2 (N - 1) / N (S / g) / B
//   reduction servers, k         max(1 / B_worker, n / k / B_server) S
//   BytePS, k servers            a server sums up 2 (n - 1) / D of S, a rank
//                                (n - k) / D, D = n^2 + k n - 2 k; every link then
//                                carries n 2 (n - 1) / D S each way
//
// g: ranks of a node, N: nodes, B: bandwidth of a rank's link. Parameter servers, the sharded and
// the rolling one included, answer when they have everything, so what comes in and what goes out
// are two phases. Reduction servers and BytePS pass sums on as they form, so both directions are
// busy at once. Where ranks share nodes, traffic among them takes the links inside the node and the
// rest takes each rank's part of the interfaces, at the same time.
//
// Sources: Li et al., "Scaling distributed machine learning with the parameter server", OSDI 2014;
// Lian et al., "Can decentralized algorithms outperform centralized algorithms?" (D-PSGD), NeurIPS
// 2017; Jiang et al., "A unified architecture for accelerating distributed DNN training in
// heterogeneous GPU/CPU clusters" (BytePS), OSDI 2020, section 4; Google Cloud's description of
// Vertex AI's Reduction Server. The machines of BytePS are ranks here: none sums up inside a node
// first.
#pragma once

#include "costmodel/op.h"
#include "costmodel/units.h"

namespace stagecraft {

// Rates in bytes/s, one way.
struct SyncRates {
  double intra = 0;    // of a rank to the other ranks of its node
  double network = 0;  // a rank's part of the interfaces of its node
  double server = 0;
  double worker = 0;  // of a rank to servers
};
// Returns the rates of the links of the op, each multiplied by `efficiency(link)`.
template <typename Efficiency>
SyncRates RatesOf(const Op& op, Efficiency efficiency) {
  const auto rate = [&](const Link& link) {
    return link.bandwidth.bytes_per_s() * efficiency(link);
  };
  const double per_node = static_cast<double>(op.fabric.ranks) / op.fabric.nodes;
  return {rate(op.fabric.intra), rate(op.fabric.inter) / per_node, rate(op.sync.server),
          rate(op.sync.worker)};
}

// The parts of the vector that one server and one rank sum up.
struct SummedParts {
  double server = 0, rank = 0;
};
// Precondition: servers <= ranks, ranks >= 2.
SummedParts BytePsParts(int ranks, int servers);

// Returns the share of the variance among replicas that is left after one gossip with `peers`
// peers. Their distances are the same for every rank and drawn anew at each training step. The
// share is the expected square of the second largest eigenvalue of the mixing matrix, which takes
// the mean of a rank and its k peers:
//
//   (n - 1 - k) / ((n - 1) (k + 1))
//
// It is zero if everyone meets everyone. Precondition: 1 <= peers < ranks.
double GossipContraction(int ranks, int peers);

// Returns the time of the bytes, without latency. Preconditions: at least two ranks, and the method
// of the op is not NCCL's.
double SyncSeconds(const Op& op, const SyncRates& rates);

}  // namespace stagecraft
