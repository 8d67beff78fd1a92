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

// Executes the schedule of the job's plan, and allocates what the plan has each rank hold. It runs
// where the ranks' devices say (cuda_places.h): in this process, or as the process that mpirun,
// srun or torchrun made it, or in processes of this host that run the same `args`. Nothing comes
// back where others have the word: this is no rank 0, or only started them, and they have printed
// all. Throws InputError for what PlaceRanks, CheckProcess and RequireGpu refuse, for several
// hosts without a launcher and for more GPUs than there are; and what RunOnCuda throws,
// AttentionRefused too.
std::optional<TimelineRecord> RunOnGpus(const PlannedJob& job, const Schedule& schedule,
                                        const RunRequest& request, const Args& args,
                                        std::ostream& out, std::ostream& err);

}  // namespace stagecraft
