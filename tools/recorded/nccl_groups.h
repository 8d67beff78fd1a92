// NcclGroups: which ranks exchange data by a communicator of NCCL that traces only number.
#pragma once

#include <vector>

#include "tools/recorded/recording.h"

namespace stagecraft {

// Fills in the ranks and the full bytes of collectives of which only the communicator and the
// message are known (RecordedCollective::message). The ranks of a communicator are those that call
// it, if all were recorded: as many as it was made for, or all devices of the job, `job_size` (0:
// not known). One that was made for the whole job has all ranks. Of others they stay unknown. Where
// ranks recorded unequal numbers of a communicator's calls, nothing tells which belong together:
// these lose their sequence numbers. A process of several devices is left out.
void FindNcclGroups(int job_size, std::vector<Recording>& recordings);

}  // namespace stagecraft
