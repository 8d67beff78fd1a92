// The graph of a PartitionRequest as operators with times.
#pragma once

#include <string>
#include <vector>

#include "costmodel/units.h"
#include "search/partition/timed_graph.h"
#include "tools/partition/partition_request.h"

namespace stagecraft {

// Of format pipedream or workload. Throws InputError.
TimedGraph ReadTimedGraph(const PartitionGraph& graph);

// Of any format; for dnn, transfers cost what they do at `bandwidth`. What a
// format leaves open is noted in `notes`. Throws InputError where a graph of
// dnn or piper says too little or too much.
TimedGraph ReadTimedGraph(const PartitionGraph& graph, Bandwidth bandwidth,
                          std::vector<std::string>& notes);

}  // namespace stagecraft
