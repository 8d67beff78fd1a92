// run --executor host: ranks as processes of this host, under mpirun.
#pragma once

#include <iosfwd>
#include <optional>

#include "sim/cluster/cluster.h"
#include "sim/schedule/schedule.h"
#include "sim/schedule/timeline_record.h"
#include "tools/run/run_request.h"

namespace stagecraft {

// Returns the CPU cores of this host, at least two, as a cluster. Its rates are nominal, because
// its users need no times; `import local-host` measures them.
Cluster ThisHost();

// Executes request.steps of the schedule; prints a line of progress to `err` for steps that are
// done. Returns no value if the run was stopped. Throws InputError if mpirun or the program of the
// processes is missing, and std::runtime_error that names the process if one fails.
std::optional<TimelineRecord> RunOnHost(const Schedule& schedule, const RunRequest& request,
                                        std::ostream& err);

}  // namespace stagecraft
