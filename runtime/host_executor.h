// HostExecutor: runs a schedule on the processors of hosts, a process a rank: work by the
// thread that computes, transfers and collectives by MPI on a thread of their own.
#pragma once

#include <vector>

#include "costmodel/units.h"
#include "runtime/mpi_world.h"
#include "runtime/rank_program.h"
#include "runtime/rank_work.h"
#include "sim/executor.h"
#include "sim/schedule.h"
#include "sim/timeline.h"

namespace stagecraft {

// When a rank's part in a task began and ended, since all ranks began the step.
struct StepRecord {
  Duration start, end;
};

class HostExecutor : public Executor {
 public:
  // Both outlive it. All ranks of the world make one, of works for the same schedule.
  HostExecutor(MpiWorld& world, RankWork& work) : world_(world), work_(work) {}

  // One step, by all ranks together, each of whom gets the timeline of all. A task begins
  // when the last rank that holds a lane for it does, but never before what it waits for has
  // ended. It ends when the last rank has computed its part, a message when it was received,
  // a collective when the first rank knows it over. Throws InputError where the world has
  // not as many ranks as the schedule, or the schedule is folded.
  Timeline Execute(const Schedule& schedule) override;

  // Of the last Execute(): what this rank did, and when.
  const RankProgram& program() const { return program_; }
  const std::vector<StepRecord>& records() const { return records_; }  // by step

 private:
  Timeline Gather(const Schedule& schedule);

  MpiWorld& world_;
  RankWork& work_;
  RankProgram program_;
  std::vector<StepRecord> records_;
};

// A timeline from what ranks saw: starts and ends by task are moved, where they must, to
// when all that a task waits for has ended. Needs a schedule without circles.
Timeline SettleTimes(const Schedule& schedule, std::vector<Duration> start,
                     std::vector<Duration> end);

}  // namespace stagecraft
