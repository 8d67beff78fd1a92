// run --executor cuda: ranks on GPUs.
#pragma once

#include <iosfwd>
#include <optional>

#include "sim/schedule/schedule.h"
#include "sim/schedule/timeline_record.h"
#include "tools/flags/planned_job.h"
#include "tools/run/run_request.h"
#include "tools/verb/command.h"

namespace stagecraft {

// Executes the schedule of the job's plan, and allocates the memory that the plan has each rank
// hold. The devices of the ranks decide who runs them (cuda_places.h): this process runs all of
// them; or it runs the rank that mpirun, srun or torchrun gave it; or it starts processes on this
// host with the same `args`. Returns no value if another process prints the result: if this one is
// not rank 0, or only started the others. Throws InputError for what PlaceRanks(), CheckProcess()
// and RequireGpu() refuse, for several hosts without a launcher and for more GPUs than there are;
// also what RunOnCuda() throws, including AttentionRefused.
std::optional<TimelineRecord> RunOnGpus(const PlannedJob& job, const Schedule& schedule,
                                        const RunRequest& request, const Args& args,
                                        std::ostream& out, std::ostream& err);

}  // namespace stagecraft
