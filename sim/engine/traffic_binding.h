// Binds the messages and collectives of a schedule to what they put on the links of a cluster, for
// the `flow` fidelity of the network.
//
// Transfers between stages, reductions of gradients and gathers of parameters are bound: these may
// run beside other traffic. The ops of a task are sent one after another. Collectives inside a
// pass, exchanges between experts, the gradient norm, and what a tensor-parallel group gathers of a
// message once it is there take the time of the cost model.
//
// Each collective runs the algorithm that the cost model chose. A ring has as many channels as the
// group has ranks on each node, and each channel leaves the nodes from another rank; inside a
// channel every message is a flow that waits for the one before. The channels of a tree, and rings
// of very many messages, send what each pair exchanges as one flow. What the cost model's time has
// beyond the bytes at the bandwidth of the links is latency: it is spread over the messages and
// does not shrink or grow with what others send.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "sim/cluster/cluster.h"
#include "sim/engine/bound_costs.h"
#include "sim/engine/replica_symmetry.h"
#include "sim/network/task_traffic.h"
#include "sim/schedule/schedule.h"

namespace stagecraft {

// A ring of more messages than this sends one flow for each pair.
inline constexpr double kMostRingMessages = 200'000;

// If every rank exchanges with every other, flows grow with the square of the ranks: 2,048 ranks
// make 8.4 million, 15 s and 2.4 GB; 4,096 took 100 s and 9 GB. More than this, in all buckets
// together, are refused by an InputError that names --network.
inline constexpr int64_t kMostSyncFlows = 10'000'000;

// The links of the network are those of cluster.link_graph(), by their indices. Tasks of the
// schedule whose time no link decides are not bound: tasks of no bytes, of one rank, inside a
// multicasting switch (NVLS), or only over direct links of one node, because its ranks do not
// determine the routes that a collective uses there (each pair of ranks has such a link, or rings
// of such links pass all ranks). Of groups side by side only those over direct links send nothing.
// Gradients that are synchronised by other methods than NCCL's send the messages of
// network/sync_channels.h. Preconditions: `schedule` was lowered unfolded for `cluster`; `costs`
// are those of the schedule.
std::unique_ptr<TaskTraffic> BindTraffic(const Schedule& schedule, const Cluster& cluster,
                                         const BoundCosts& costs);

// What the representatives of a schedule send (replica_symmetry.h), over links that stand for their
// images. It has only the part of a ring through all replicas that representatives send.
struct RepresentedTraffic {
  std::unique_ptr<TaskTraffic> traffic;
  std::vector<LinkId> links;  // by link of the cluster: its number in the network; -1: unused
};

// Returns no traffic if a collective of all replicas is none of NCCL's rings, so that its messages
// are not images of each other. `costs` are those of the representatives.
RepresentedTraffic BindRepresentatives(const ReplicaSymmetry& symmetry, const Cluster& cluster,
                                       const BoundCosts& costs);

}  // namespace stagecraft
