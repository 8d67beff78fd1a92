// PlacementProblem: operators to be placed on accelerators and CPUs, as Tarnawski et al. pose the
// problem ("Efficient Algorithms for Device Placement of DNN Graph Operators", NeurIPS 2020).
#pragma once

#include <string>
#include <vector>

#include "search/partition/dag.h"

namespace stagecraft {

// The limits of each time and size that are read: sums of a hundred thousand of them fit into 64
// bits in picoseconds and bytes.
inline constexpr double kMostPlacementMs = 9e4;
inline constexpr double kMostPlacementBytes = 9e13;
inline constexpr int kMostPlacementDevices = 1'000'000;  // of a kind

struct PlacementNode {
  std::string name;
  double accelerator_ms = 0;
  double cpu_ms = 0;
  // The time to transfer its output, once for each accelerator that sends or needs it.
  double transfer_ms = 0;
  double bytes = 0;  // of accelerator memory
  bool is_backward = false;
  bool runs_on_accelerator = true;
};

struct PlacementProblem {
  std::string name;  // opens every error
  std::vector<PlacementNode> nodes;
  Dag dag;
  // Nodes that must be on one device: those of one colour. Every node is in one group.
  std::vector<std::vector<int>> groups;
  int accelerators = 0;
  int cpus = 0;
  double memory_bytes = 0;  // of an accelerator; CPUs have enough

  int devices() const { return accelerators + cpus; }
};

// Returns what a node takes on the kind of device on which it is fastest.
double FastestMs(const PlacementProblem& problem, const PlacementNode& node);

// The device of each node: accelerators are 0 .. accelerators - 1, CPUs follow.
using NodePlacement = std::vector<int>;

// Reads dnn-partitioning's JSON and takes milliseconds as they stand there: in the
// throughput/LayerGraphs files transfers are in seconds among milliseconds, a thousand times too
// cheap, and this is not corrected. An output has one price; if edges disagree, the highest counts.
// Throws InputError for values that are missing, negative or of another type, ids that occur twice,
// edges to nodes that do not exist, cycles, and components that neither an edge nor a colour joins.
PlacementProblem ParsePlacementProblem(const std::string& text, const std::string& name);

}  // namespace stagecraft
