// PiperPartition: the answer of Piper's planner (Tarnawski et al., NeurIPS 2021), stages with data
// parallelism, tensor parallelism and a choice of modes (recomputation), so that the slowest stage
// is as fast as possible within the memory.
#pragma once

#include <optional>
#include <vector>

#include "search/partition/dag.h"
#include "search/partition/node_set.h"
#include "search/partition/piper_problem.h"
#include "search/partition/stop_sign.h"

namespace stagecraft {

inline constexpr int kMostPiperDevices = 16383;

struct PiperOptions {
  int devices = 1;  // at most kMostPiperDevices
  double memory_bytes = 0;
  double bandwidth_bytes_per_s = 0;
  int micro_batches = 1;        // N, of a step
  bool data_parallel = true;    // false: one replica of every stage
  bool tensor_parallel = true;  // false: tensor degree 1
  bool recompute = true;        // false: the first mode of every operator
};

struct PiperStage {
  NodeSet nodes;
  int replicas = 1;         // d, a divisor of N
  int tensor = 1;           // t; a stage takes d t devices
  std::vector<int> modes;   // by member of `nodes`, ascending
  double time_s = 0;        // per micro-batch of the step
  double memory_bytes = 0;  // of a device
};

struct PiperPartition {
  double bottleneck_s = 0;         // of the slowest stage
  double bound_s = 0;              // no partition's is less; equal unless it was stopped
  std::vector<PiperStage> stages;  // in order of the pipeline
};

// A stage S, where s is the number of replicas of it and of all stages behind it, takes
//   sum over v in S of time(v) / d
//   + (sum over cut edges of 2 (bytes + sync) / d + sum of 4 (d-1) w(v) / (d N)) / bandwidth,
// and has y = ceil(s / d) micro-batches in flight: it needs the sum of bytes_per_micro_batch y +
// fixed_bytes. The modes of a stage are the fastest ones, from which operators are switched where
// that costs the least time for each byte saved (bytes beyond the need do not count) until it fits;
// this is Piper's heuristic. For this choice of modes the partition is exact. No value if no
// partition fits the memory.
//
// Piper's program keeps the best time by (downset, devices, s). Here the question is reversed: can
// all stages take at most T, and on how few devices? That is one pass of O(pairs of downsets *
// tensor degrees * divisors of N * devices) min-operations on 16-bit counts; T is then narrowed
// down, always to times that a stage can have, until best and bound are equal. If it is stopped, it
// returns both as they are; throws Stopped if there is no best yet.
std::optional<PiperPartition> SolvePiper(const PiperProblem& problem, const PiperOptions& options,
                                         const StopSign& stop = {});

}  // namespace stagecraft
