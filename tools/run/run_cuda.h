// run --executor cuda: ranks on GPUs.
#pragma once

#include <iosfwd>
#include <optional>

#include "sim/cluster.h"
#include "sim/schedule.h"
#include "sim/timeline_record.h"
#include "tools/command.h"
#include "tools/run/run_request.h"

namespace stagecraft {

// Executes the schedule, where its ranks' devices say (cuda_places.h): in this process, or as the
// process that mpirun, srun or torchrun made it, or in processes of this host that run the same
// `args`. Nothing comes back where others have the word: this is no rank 0, or only started
// them, and they have printed all. Throws InputError for what CudaPlaces and RunOnCuda refuse.
std::optional<TimelineRecord> RunOnGpus(const Schedule& schedule, const Cluster& cluster,
                                        const RunRequest& request, const Args& args,
                                        std::ostream& out, std::ostream& err);

}  // namespace stagecraft
