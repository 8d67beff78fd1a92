// The memory of the host for optimizer states and activations: what it costs, and what it needs.
//
// ZeRO-Offload (Ren et al., USENIX ATC 2021): master copies and moments stay on the host, which
// does the update; gradients go to it over the device's own PCIe port, and parameters come back.
// Nothing overlaps: copies begin when all gradients are there, and the device waits. Activations go
// over the same port, out and in at once, beside the passes.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "costmodel/op.h"
#include "costmodel/units.h"
#include "sim/cluster/cluster.h"
#include "sim/plan/plan.h"

namespace stagecraft {

// How fast the CPUs of a node move data through their memory while they update. An assumption about
// every host: about a third of the 282 GB/s that two sockets with six channels of DDR4-2933 each
// have.
inline constexpr Bandwidth kHostUpdateRate{100e9};

// Gradients out, the update, parameters in: one after another, on one device, for the parameters
// that it updates.
std::array<Op, 3> HostUpdate(const Plan& plan, const Cluster& cluster, int device,
                             int64_t parameters);

// A copy between a device and its host's memory, either way, over the full bandwidth of the
// device's port.
Op HostCopy(const Cluster& cluster, int device, Bytes bytes);

// What a rank keeps on its host: states, gradients, and parameters on their way back.
Bytes HostBytes(const Plan& plan, int64_t parameters);

// The share of one device of the host memory of its node.
Bytes HostShare(const Plan& plan, const Cluster& cluster, int device);

// Appends a sentence for the first problem. Whether the states fit is checked where parameters are
// counted.
void FindOffloadErrors(const Plan& plan, const Cluster& cluster, std::vector<std::string>& errors);

// What rests on an assumption, one sentence each; nothing without offload.
std::vector<std::string> OffloadNotes(const Plan& plan);

}  // namespace stagecraft
