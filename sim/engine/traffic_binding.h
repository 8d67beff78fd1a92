// What a schedule's messages and collectives put on the links of a cluster, for the
// `flow` fidelity of the network.
//
// Bound are transfers between stages, reductions of gradients and gathers of
// parameters: what may run beside other traffic. Collectives inside a pass, and
// the gradient norm, take the cost model's time.
//
// Each collective runs the algorithm the cost model chose. A ring has as many
// channels as the group has ranks on each node, each leaving the nodes from
// another rank; inside a channel every message is a flow that waits for the one
// before. A tree's channels, and rings of very many messages, send what each pair
// exchanges as one flow. What the cost model's time has beyond the bytes at the
// links' nominal bandwidth is latency: it is spread over the steps and does not
// shrink or grow with what others send.
#pragma once

#include <cstdint>
#include <memory>

#include "sim/cluster/cluster.h"
#include "sim/engine/bound_costs.h"
#include "sim/network/task_traffic.h"
#include "sim/schedule/schedule.h"

namespace stagecraft {

// Rings of more messages than this send one flow a pair.
inline constexpr double kMostRingMessages = 200'000;

// Where every rank exchanges with every other, flows grow as ranks squared: 2,048
// ranks make 8.4 million, 15 s and 2.4 GB; 4,096 took 100 s and 9 GB. More than this,
// in all buckets together, are refused by an InputError that names --network.
inline constexpr int64_t kMostSyncFlows = 10'000'000;

// The links of the network are those of cluster.link_graph(), by their indices.
// Tasks of the schedule whose time no link decides are not bound: of no bytes, of
// one rank, inside a multicasting switch (NVLS) or over direct links of one node alone,
// where a collective uses ways that its ranks do not know: each pair of its ranks has such a
// link, or rings of them pass all ranks. Of groups side by side only those over direct
// links send nothing. Gradients synchronised in
// other ways than NCCL's send the messages of network/sync_channels.h. Preconditions: `schedule`
// was lowered unfolded for `cluster`; `costs` are its.
std::unique_ptr<TaskTraffic> BindTraffic(const Schedule& schedule, const Cluster& cluster,
                                         const BoundCosts& costs);

}  // namespace stagecraft
