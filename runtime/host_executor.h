// HostExecutor: runs a schedule on the CPUs of hosts, one process for each rank. The thread that
// computes also drives the exchanges over MPI, between ops and while it has nothing to compute.
#pragma once

#include <vector>

#include "runtime/mpi_world.h"
#include "runtime/rank_program.h"
#include "runtime/rank_work.h"
#include "runtime/step_times.h"
#include "sim/schedule/executor.h"
#include "sim/schedule/schedule.h"
#include "sim/schedule/timeline.h"

namespace stagecraft {

class HostExecutor : public Executor {
 public:
  // All ranks of the world must make one, with works for the same schedule. Both arguments must
  // outlive the object.
  HostExecutor(MpiWorld& world, RankWork& work) : world_(world), work_(work) {}

  // Executes one training step, together with all other ranks; every rank gets the timeline of all,
  // which StepTimes makes. Throws InputError if the world does not have as many ranks as the
  // schedule, or if the schedule is folded.
  Timeline Execute(const Schedule& schedule) override;

  // What this rank did in the last call of Execute(), and when.
  const RankProgram& program() const { return program_; }
  const std::vector<StepRecord>& records() const { return records_; }  // by step

 private:
  MpiWorld& world_;
  RankWork& work_;
  RankProgram program_;
  std::vector<StepRecord> records_;
};

}  // namespace stagecraft
