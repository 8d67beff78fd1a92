// PlacementProblem: operators to be placed on accelerators and CPUs, as Tarnawski et al. pose the
// problem ("Efficient Algorithms for Device Placement of DNN Graph Operators", NeurIPS 2020).
#pragma once

#include <string>
#include <vector>

#include "search/partition/dag.h"

namespace stagecraft {

// Limits for a time and a size that are read; a hundred thousand of them add up within 64 bits in
// picoseconds and bytes.
inline constexpr double kMostPlacementMs = 9e4;
inline constexpr double kMostPlacementBytes = 9e13;
inline constexpr int kMostPlacementDevices = 1'000'000;  // of a kind

struct PlacementNode {
  std::string name;
  double accelerator_ms = 0;
  double cpu_ms = 0;
  // The cost of transferring its output, once for each accelerator that sends or needs it.
  double transfer_ms = 0;
  double bytes = 0;  // of accelerator memory
  bool is_backward = false;
  bool runs_on_accelerator = true;
};

struct PlacementProblem {
  std::string name;  // opens every error
  std::vector<PlacementNode> nodes;
  Dag dag;
  // Nodes that must share a device: those of one colour. Every node is in one group.
  std::vector<std::vector<int>> groups;
  int accelerators = 0;
  int cpus = 0;
  double memory_bytes = 0;  // of an accelerator; CPUs have enough

  int devices() const { return accelerators + cpus; }
};

// What a node takes on the kind of device where it runs fastest.
double FastestMs(const PlacementProblem& problem, const PlacementNode& node);

// By node: accelerators are 0 .. accelerators - 1, CPUs come behind.
using NodePlacement = std::vector<int>;

// Reads dnn-partitioning's JSON, with milliseconds as they stand there: in the
// throughput/LayerGraphs files transfers are in seconds among milliseconds, a thousand times too
// cheap, and stay so. An output has one price; of edges that disagree the highest counts. Throws
// InputError for what is missing, negative or of another type, ids that occur twice, edges to nodes
// that do not occur, cycles, and components that neither an edge nor a colour joins.
PlacementProblem ParsePlacementProblem(const std::string& text, const std::string& name);

}  // namespace stagecraft
