// How long messages and collectives between processes on the CPUs of hosts take: from the latency
// and bandwidth of a message, and the messages of which MPI's algorithms make a collective.
//
// The algorithms are those of Open MPI 4.1 for non-blocking, in-place collectives, which the
// executor uses (coll/libnbc); the formulas follow Thakur, Rabenseifner and Gropp, "Optimization of
// Collective Communication Operations in MPICH", 2005, sections 3 and 4. With p ranks, r =
// ceil(log2 p), n bytes, a the latency, b the time of a byte and c that of reducing one:
//   message          a + n b
//   all-gather       (p - 1) (a + n b / p), each part straight to everyone
//   all-to-all       the same
//   reduce           r (a + n (b + c)), a binomial tree
//   broadcast        r (a + n b), a binomial tree
//   reduce-scatter   a reduce, and each part from the root, (p - 1) (a + n b / p)
//   all-reduce       a reduce, and a binomial tree back
// Reducing reads two operands and writes one at the device's memory bandwidth. All ranks are
// assumed to be ready at the same time.
#pragma once

#include "costmodel/cost_model.h"
#include "costmodel/device.h"
#include "costmodel/op.h"

namespace stagecraft {

// CHECKs that the op is a collective. The time is zero for one rank. If the ranks are on several
// nodes, every message is as slow as one between nodes. The basis is kAnalytical, and there is no
// host time, since the host is the device.
Estimate PredictHostCollective(const Op& op, const Device& device);

}  // namespace stagecraft
