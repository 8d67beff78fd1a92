// JobFile: a training run as a file describes it (proto/job.proto).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "proto/dynamics.pb.h"
#include "proto/job.pb.h"
#include "proto/job_events.pb.h"
#include "proto/plan.pb.h"
#include "sim/cluster/cluster.h"
#include "sim/dynamics/dynamics.h"
#include "sim/workload/workload.h"
#include "tools/flags/file_part.h"

namespace stagecraft {

struct JobFile {
  std::string path;
  // As --model and --cluster take them; empty if the file names none.
  std::string model, cluster;
  std::optional<FilePart<PlanProto>> plan;
  std::optional<FilePart<DynamicsProto>> dynamics;
  std::optional<FilePart<JobEventsProto>> events;
  JobProto proto;                  // for all else
  std::vector<std::string> files;  // that were read, this one first
};

// Reads the files that the job names, and checks what holds for any network and cluster. Throws
// InputError that names the file, the key, the value and what is wanted.
JobFile JobFileFrom(const JobProto& proto, const std::string& path);
// The same for a file.
JobFile ReadJobFile(const std::string& path);

// Checks plan, dynamics and events against the network and the cluster of the job. Throws
// InputError as their readers do.
void CheckJobFile(const JobFile& job, const Workload& workload, const Cluster& cluster);

// Returns the dynamics with the measured states that they name, and adds the file of these to
// `files`. Throws InputError as DynamicsFromProto() and MeasuredChanges() do.
Dynamics ReadDynamics(const FilePart<DynamicsProto>& part, const Workload& workload,
                      std::vector<std::string>& files);

}  // namespace stagecraft
