// Executes a schedule on GPUs, step after step.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "costmodel/units.h"
#include "runtime/measured_steps.h"
#include "runtime/planned_memory.h"
#include "runtime/process_rank.h"
#include "sim/schedule/schedule.h"
#include "sim/schedule/timeline_record.h"

namespace stagecraft {

// Where a rank runs: a board of its host, in CUDA's order, or a part of one.
struct CudaPlace {
  int board = 0;
  int multiprocessors = 0;  // 0: the whole board
};

struct CudaRunRequest {
  const Schedule* schedule = nullptr;  // outlives the run
  std::vector<CudaPlace> places;       // by rank
  // Of size 1: this process runs all ranks, which share a board. Else it runs the rank of its
  // number, and the others run theirs.
  ProcessRank process;
  StepCounts steps = {};
  // Hears how many steps have ended, of both kinds.
  std::function<void(int done)> progress = {};
  // By rank, what the plan has it hold, which is allocated so; empty: what its ops and exchanges
  // touch alone.
  std::vector<PlannedMemory> memory = {};
};

struct CudaRunResult {
  MeasuredSteps measured;          // queued_late is the most of all processes
  std::vector<Bytes> peak_memory;  // by rank; its share of what libraries take is part of it
  // By rank: "NVIDIA H200", "NVIDIA H200, 64 multiprocessors"; ", ops launched one by one" where
  // graphs do not keep to these.
  std::vector<std::string> devices;
  std::vector<BoardReadings> boards;  // by rank: its board's sensors while steps ran
  std::string software;               // "cuda 13.0, driver for 13.0, cublasLt 13.1, nccl 2.28.9"
};

// All processes together; each gets the result of all ranks. Times are those of CUDA events
// since all ranks began the step; setting up is no part of them. Throws InputError where this
// build has no CUDA, the machine no such board or no library that an op needs, the schedule is
// folded, the processes are not as many as its ranks, or multiprocessors do not fit;
// AttentionRefused where the first op that was refused is fused attention, by a library that is
// there.
CudaRunResult RunOnCuda(const CudaRunRequest& request);

}  // namespace stagecraft
