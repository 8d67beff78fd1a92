// How long messages and collectives take between processors of hosts: latency and
// bandwidth of a message, and the steps that MPI's algorithms make of a collective.
//
// Formulas: Thakur, Rabenseifner and Gropp, "Optimization of Collective Communication
// Operations in MPICH", 2005, sections 3 and 4. With p ranks, n bytes, a the latency, b the
// time of a byte and c that of reducing one:
//   message          a + n b
//   all-gather       (p - 1) (a + n b / p), a ring
//   reduce-scatter   (p - 1) (a + n (b + c) / p)
//   all-to-all       (p - 1) (a + n b / p), pairs
//   broadcast        the least of a binomial tree, ceil(log2 p) (a + n b), and a scatter with
//                    an all-gather, (ceil(log2 p) + p - 1) a + 2 (p - 1) n b / p
//   all-reduce       the least of recursive doubling, ceil(log2 p) (a + n (b + c)), and a
//                    reduce-scatter with an all-gather
// Reducing reads two operands and writes one at the device's memory bandwidth. All ranks
// are ready at the same time.
#pragma once

#include "costmodel/cost_model.h"
#include "costmodel/device.h"
#include "costmodel/op.h"

namespace stagecraft {

// CHECKs that the op is a collective. One rank: zero. Across nodes every step is as
// slow as one between them. Basis::kAnalytical, no host time: the host is the device.
Estimate PredictHostCollective(const Op& op, const Device& device);

}  // namespace stagecraft
