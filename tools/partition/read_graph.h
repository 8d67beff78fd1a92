// Reads the graph of a PartitionRequest as operators with times.
#pragma once

#include <string>
#include <vector>

#include "costmodel/units.h"
#include "search/partition/timed_graph.h"
#include "tools/partition/partition_request.h"

namespace stagecraft {

// Precondition: the format is pipedream or workload. Throws InputError.
TimedGraph ReadTimedGraph(const PartitionGraph& graph);

// Reads a graph of any format. The file of a dnn graph has times of transfers; they become the
// bytes that take this time at `bandwidth`. Assumptions about what a format leaves open are added
// to `notes`. Throws InputError, also if a graph of dnn or piper does not fit this form.
TimedGraph ReadTimedGraph(const PartitionGraph& graph, Bandwidth bandwidth,
                          std::vector<std::string>& notes);

}  // namespace stagecraft
