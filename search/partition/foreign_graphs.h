// Converts the graphs of other planners' problems to TimedGraphs, if they contain what that
// requires.
#pragma once

#include "costmodel/units.h"
#include "search/partition/piper_problem.h"
#include "search/partition/placement_problem.h"
#include "search/partition/timed_graph.h"

namespace stagecraft {

// Nodes of one colour become one operator, which includes the backward nodes of that colour; edges
// of backward nodes are dropped. The price of a transfer becomes the bytes that take that long at
// `bandwidth`, both ways together; memory becomes parameters, which replicas synchronise. Throws
// InputError for nodes that no accelerator can run, a backward node without a forward one of its
// colour, colours that form a cycle, and separate components.
TimedGraph ToTimedGraph(const PlacementProblem& problem, Bandwidth bandwidth);

// Each operator runs on one device in its plain mode; the time of both passes becomes its forward.
// If edges carry different bytes of one output, the most count. Throws InputError for an operator
// that cannot run on one device.
TimedGraph ToTimedGraph(const PiperProblem& problem);

}  // namespace stagecraft
