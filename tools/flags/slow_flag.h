// --slow: devices, nodes and links that work at a share of their speed.
#pragma once

#include <string>
#include <vector>

#include "sim/cluster/cluster.h"
#include "tools/flags/planned_job.h"
#include "tools/verb/flags.h"

namespace stagecraft {

class SlowFlag {
 public:
  // Registers the flag; the object must outlive the parse.
  void Register(Flags& flags);

  // Makes the parts of the cluster slow, and returns them. Parallel links have one name and are
  // slow together; a device has the product of its own speed and that of its node. Throws
  // InputError that names the flag for a part that the cluster lacks or that is named twice, and
  // for a speed that is not in (0, 1].
  std::vector<SlowPart> SlowDown(Cluster& cluster) const;
  // The same for the job's cluster.
  void Apply(PlannedJob& job) const { job.slow = SlowDown(job.cluster); }

 private:
  std::vector<std::string> parts_;  // "node3/gpu1=0.8"
};

}  // namespace stagecraft
