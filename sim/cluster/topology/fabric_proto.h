// Converts networks between nodes from and to their protos.
#pragma once

#include <span>
#include <string>

#include "costmodel/link.h"
#include "proto/cluster.pb.h"
#include "sim/cluster/topology/interconnect_spec.h"

namespace stagecraft {

// What the nodes of a fabric plug into it; the largest values if nodes differ. The sizes of leaves
// and uplinks are worked out from it.
struct FabricDemand {
  int nodes = 0;
  int rails = 1;   // interfaces of a node
  Bandwidth rail;  // of one interface
};

// Checks everything and throws InputError, whose message begins with `place`: "cluster.yaml:
// fabrics[0]". With a radix of R and an oversubscription of s a leaf has R s / (1 + s) ports for
// nodes, rounded down; the others are uplinks.
FabricSpec FabricFromProto(const SwitchedFabricProto& proto, const FabricDemand& demand,
                           const std::string& place);

// Converts a join, which refers by name to `fabrics`, those of the cluster.
FabricJoin FabricJoinFromProto(const FabricJoinProto& proto, std::span<const FabricSpec> fabrics,
                               const std::string& place);

// Returns the index of the fabric with that name; throws InputError with the nearest names if there
// is none.
int FindFabric(const std::string& name, std::span<const FabricSpec> fabrics,
               const std::string& place);

SwitchedFabricProto ToProto(const FabricSpec& spec);
FabricJoinProto ToProto(const FabricJoin& join, std::span<const FabricSpec> fabrics);

}  // namespace stagecraft
