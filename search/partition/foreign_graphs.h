// Converts graphs of other planners' problems to TimedGraphs, if they contain enough for that.
#pragma once

#include "costmodel/units.h"
#include "search/partition/piper_problem.h"
#include "search/partition/placement_problem.h"
#include "search/partition/timed_graph.h"

namespace stagecraft {

// Nodes of one colour become one operator, backward nodes with the forward ones of their colour (of
// several, all); edges of backward nodes are dropped. A price of transfer becomes the bytes that
// cost as much at `bandwidth`, both ways together; memory becomes parameters, which replicas
// synchronise. Throws InputError for what no accelerator computes, a backward node without a
// forward one of its colour, colours that form a cycle, and separate components.
TimedGraph ToTimedGraph(const PlacementProblem& problem, Bandwidth bandwidth);

// Each operator runs on one device in its plain mode; both passes together are its forward. Of
// edges that carry different bytes of one output, the most count. Throws InputError for an operator
// that cannot be on one device.
TimedGraph ToTimedGraph(const PiperProblem& problem);

}  // namespace stagecraft
