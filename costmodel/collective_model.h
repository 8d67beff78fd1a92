// How long one collective or send/recv takes: latency + bytes / bandwidth for
// each algorithm and protocol NCCL has, the fastest of which it takes.
//
// Formulas and constants are those of NCCL's src/graph/tuning.cc; what it has
// no formula for (all-to-all, send/recv) is direct exchange at the same rates.
// Bandwidths come from the fabric: a ring runs at the narrower of a rank's link
// inside the node and the group's share of a node's interfaces. Channels are
// counted as links of the rank. All ranks are ready at the same time.
//
// Left out: NVLSTree, PAT and CollNet.
#pragma once

#include <optional>

#include "costmodel/cost_model.h"
#include "costmodel/device.h"
#include "costmodel/nccl_tuning.h"
#include "costmodel/op.h"

namespace stagecraft {

// kDirect: every rank exchanges with every other, as all-to-all and send/recv do.
enum class Algorithm { kRing, kTree, kNvls, kDirect };
const char* Name(Algorithm algorithm);

struct CollectiveChoice {
  Algorithm algorithm = Algorithm::kRing;
  Protocol protocol = Protocol::kSimple;
  Duration time;
  int channels = 1;  // copies of the ring or tree that share the links
};

// CHECKs that the op is a collective. One rank: zero. No bytes: latency alone.
// `only`: among this algorithm's protocols, where the op has it.
CollectiveChoice ChooseCollective(const Op& op, const Device& device, const NcclTuning& tuning,
                                  std::optional<Algorithm> only = std::nullopt);

// What the algorithm's bytes take on the busiest link at its nominal bandwidth,
// without latency: no estimate is shorter.
Duration BusiestLinkTime(const Op& op, Algorithm algorithm);

Estimate PredictCollective(const Op& op, const Device& device, const NcclTuning& tuning);

}  // namespace stagecraft
