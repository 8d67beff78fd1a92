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

// Where a rank runs: a GPU of its host, in CUDA's order, or a part of one.
struct CudaPlace {
  int gpu = 0;
  int multiprocessors = 0;  // 0: the whole GPU
};

struct CudaRunRequest {
  const Schedule* schedule = nullptr;  // must outlive the run
  std::vector<CudaPlace> places;       // by rank
  // If its size is 1, this process runs all ranks, which share a GPU. Otherwise it runs the rank of
  // its number, and the other processes run theirs.
  ProcessRank process;
  StepCounts steps = {};
  // Is told how many steps have ended, of both kinds.
  std::function<void(int done)> progress = {};
  // By rank, what the plan has it hold, which is allocated accordingly; empty: only what its ops
  // and exchanges touch.
  std::vector<PlannedMemory> memory = {};
};

struct CudaRunResult {
  MeasuredSteps measured;          // queued_late is the most of all processes
  std::vector<Bytes> peak_memory;  // by rank; includes its share of what libraries take
  // By rank: "NVIDIA H200", "NVIDIA H200, 64 multiprocessors"; followed by ", ops launched one by
  // one" if graphs do not keep to these.
  std::vector<std::string> devices;
  std::vector<GpuReadings> gpus;  // by rank: the sensors of its GPU while steps ran
  std::string software;           // "cuda 13.0, driver for 13.0, cublasLt 13.1, nccl 2.28.9"
};

// Called by all processes together; each gets the result of all ranks. Times are those of CUDA
// events since all ranks began the step; setting up is not part of them. Throws InputError if this
// build has no CUDA, the machine has no such GPU or no library that an op needs, the schedule is
// folded, the processes are not as many as its ranks, or multiprocessors do not fit;
// AttentionRefused if the first op that was refused is fused attention, by a library that is there.
CudaRunResult RunOnCuda(const CudaRunRequest& request);

}  // namespace stagecraft
