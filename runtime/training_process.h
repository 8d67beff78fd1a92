// TrainOnHost: the part of one process in a training run on a host, with checkpoints and deaths.
#pragma once

#include <cstdint>
#include <functional>

#include "runtime/host_training.h"
#include "runtime/measured_steps.h"
#include "runtime/mpi_world.h"
#include "runtime/training_state.h"
#include "sim/schedule/executor.h"
#include "sim/schedule/schedule.h"

namespace stagecraft {

// The steps that were executed since the processes started, or the last hundred of them.
struct TrainedSteps {
  MeasuredSteps measured;
  uint64_t fingerprint = 0;  // of the states of all ranks in the end
};

// All processes of the world must call it. The work of `executor` must update `state`, which must
// be an initial one. `progress` is called with the number of complete steps. After a rehearsal
// nothing was measured. Throws InputError, in all processes, for a damaged checkpoint, and
// std::runtime_error if one cannot be written.
TrainedSteps TrainOnHost(const HostTraining& training, const Schedule& schedule, MpiWorld& world,
                         Executor& executor, TrainingState& state,
                         const std::function<void(int64_t done)>& progress);

}  // namespace stagecraft
