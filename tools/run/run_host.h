// run --executor host: ranks as processes of this host, under mpirun.
#pragma once

#include <iosfwd>

#include "sim/cluster/cluster.h"
#include "sim/schedule/schedule.h"
#include "sim/schedule/timeline_record.h"
#include "tools/run/run_request.h"

namespace stagecraft {

// The CPU cores of this host, two at least, as a cluster: rates as any has them, for what
// asks for no time. `import local-host` measures.
Cluster ThisHost();

// Executes the schedule; steps that are done are lines on `err`. Throws InputError where
// mpirun or the program of the processes is missing, and std::runtime_error that names the
// process that failed.
TimelineRecord RunOnHost(const Schedule& schedule, const RunRequest& request, std::ostream& err);

}  // namespace stagecraft
