// Graphs of other planners' problems as TimedGraphs, where what they say is
// enough for that.
#pragma once

#include "costmodel/units.h"
#include "search/partition/piper_problem.h"
#include "search/partition/placement_problem.h"
#include "search/partition/timed_graph.h"

namespace stagecraft {

// Nodes of one colour become one operator, backward nodes with the forward ones
// of their colour (of several, all); edges of backward nodes go. A price of
// transfer becomes the bytes that cost as much at `bandwidth`, both ways
// together; memory becomes parameters, which replicas synchronize.
// Throws InputError for what no accelerator computes, a backward node without a
// forward one of its colour, colours that form a cycle and components.
TimedGraph ToTimedGraph(const PlacementProblem& problem, Bandwidth bandwidth);

// Each operator on one device in its plain mode; both passes together are its
// forward. Of edges that carry unlike bytes of one output, the most. Throws
// InputError for an operator that cannot be on one device.
TimedGraph ToTimedGraph(const PiperProblem& problem);

}  // namespace stagecraft
