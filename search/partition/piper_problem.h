// PiperProblem: a network whose operators can each be split over several devices (tensor
// parallelism) and computed in several ways (modes).
#pragma once

#include <map>
#include <string>
#include <vector>

#include "search/partition/dag.h"

namespace stagecraft {

// PiperMode is one way of computing an operator at one tensor degree, per device.
struct PiperMode {
  std::string name;                  // "vanilla", "activation recomp"
  double time_s = 0;                 // forward and backward of one micro-batch
  double parameters_bytes = 0;       // bytes that data parallelism synchronises
  double bytes_per_micro_batch = 0;  // memory for each micro-batch in flight
  double fixed_bytes = 0;            // memory in addition
  // The bytes that the tensor group exchanges in addition if the edge is cut, by the node at its
  // other end.
  std::map<int, double> input_sync_bytes;
  std::map<int, double> output_sync_bytes;
};

struct PiperNode {
  std::string name;
  std::map<int, std::vector<PiperMode>> modes;  // by tensor degree; the first mode is the plain one
};

struct PiperProblem {
  std::string name;  // opens every error
  std::vector<PiperNode> nodes;
  Dag dag;
  std::map<DagEdge, double> edge_bytes;  // of one micro-batch, one way
  // The values that the file proposes.
  int devices = 0;
  double memory_bytes = 0;
  double bandwidth_bytes_per_s = 0;
  int micro_batches = 0;  // of a step
};

// Reads Piper's JSON (msr-fiddle/piper). Throws InputError for values that are missing, negative or
// of another type, ids that occur twice, edges to nodes that do not exist, cycles and separate
// components.
PiperProblem ParsePiperProblem(const std::string& text, const std::string& name);

}  // namespace stagecraft
