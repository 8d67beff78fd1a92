// Executes training steps of a schedule on GPUs, one after another.
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

// Where a rank runs: on a GPU of its host, numbered as CUDA does, or on a part of one.
struct CudaPlace {
  int gpu = 0;
  int multiprocessors = 0;  // 0: the whole GPU
};

struct CudaRunRequest {
  const Schedule* schedule = nullptr;  // must outlive the run
  std::vector<CudaPlace> places;       // by rank
  // If its size is 1, this process runs all ranks, which share a GPU. Otherwise it runs the rank of
  // its own number, and other processes run the others.
  ProcessRank process;
  StepCounts steps = {};
  // Called with the number of steps that have ended, warm-up steps included.
  std::function<void(int done)> progress = {};
  // By rank, the memory that the plan says it holds, which is allocated accordingly; empty: only
  // what its ops and exchanges need.
  std::vector<PlannedMemory> memory = {};
};

struct CudaRunResult {
  MeasuredSteps measured;          // queued_late is the maximum over all processes
  std::vector<Bytes> peak_memory;  // by rank; includes its share of what libraries take
  // By rank: "NVIDIA H200", or "NVIDIA H200, 64 multiprocessors"; followed by ", ops launched one
  // by one" if graphs do not keep to these multiprocessors.
  std::vector<std::string> devices;
  std::vector<GpuReadings> gpus;  // by rank: the sensors of its GPU while steps ran
  std::string software;           // "cuda 13.0, driver for 13.0, cublasLt 13.1, nccl 2.28.9"
};

// Runs the steps. All processes must call it together; each gets the result of all ranks. Times are
// those of CUDA events since all ranks began the step; the set-up is not part of them. Throws
// InputError if this build has no CUDA, the machine does not have the GPU or a library that an op
// needs, the schedule is folded, the number of processes is not that of its ranks, or
// multiprocessors cannot be divided as asked. Throws AttentionRefused if the first op that was
// refused is fused attention, and its library is installed.
CudaRunResult RunOnCuda(const CudaRunRequest& request);

}  // namespace stagecraft
