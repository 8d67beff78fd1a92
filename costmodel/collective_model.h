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

#include "costmodel/collective_method.h"
#include "costmodel/cost_model.h"
#include "costmodel/device.h"
#include "costmodel/nccl_tuning.h"
#include "costmodel/op.h"

namespace stagecraft {

struct CollectiveChoice {
  CollectiveMethod method;
  Duration time;
};

// CHECKs that the op is a collective. One rank: zero. No bytes: latency alone.
// `only`: among this algorithm's protocols, where the op has it.
CollectiveChoice ChooseCollective(const Op& op, const Device& device, const NcclTuning& tuning,
                                  std::optional<Algorithm> only = std::nullopt);

Estimate PredictCollective(const Op& op, const Device& device, const NcclTuning& tuning);

}  // namespace stagecraft
