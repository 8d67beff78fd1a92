// How long one collective or send/recv takes: latency + bytes / bandwidth for each algorithm and
// protocol that NCCL has. The fastest of them is chosen, as NCCL does.
//
// Formulas and constants are those of NCCL's src/graph/tuning.cc. What NCCL has no formula for
// (all-to-all, send/recv) is modelled as direct exchange at the same rates. Bandwidths come from
// the fabric: a ring runs at the lower of the bandwidth of a rank's link inside the node and the
// group's share of a node's interfaces. Channels are counted as links of the rank. All ranks are
// assumed to be ready at the same time.
//
// NVLSTree, PAT and CollNet are left out.
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

// CHECKs that the op is a collective. The time is zero for one rank, and latency alone for no
// bytes. `only` restricts the choice to the protocols of this algorithm, if the op has it.
CollectiveChoice ChooseCollective(const Op& op, const Device& device, const NcclTuning& tuning,
                                  std::optional<Algorithm> only = std::nullopt);

Estimate PredictCollective(const Op& op, const Device& device, const NcclTuning& tuning);

}  // namespace stagecraft
