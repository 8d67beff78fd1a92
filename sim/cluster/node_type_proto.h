// Converts node types from and to their protos.
#pragma once

#include <string>

#include "proto/cluster.pb.h"
#include "sim/cluster/node_type.h"

namespace stagecraft {

// Checks every field and throws InputError; the result is valid. The device is looked up in the
// embedded catalogue, or given inline. The message begins with `place`: "nodes.textproto:
// nodes[3]".
NodeType NodeTypeFromProto(const NodeTypeProto& proto, const std::string& place);

// The result refers to the device by name if the embedded catalogue has an equal one.
NodeTypeProto ToProto(const NodeType& type);

}  // namespace stagecraft
