// The times of the ops of a schedule, each run by itself, on the GPUs that its ranks run on.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "costmodel/learned/sample.h"
#include "sim/cluster/cluster.h"
#include "sim/schedule/schedule.h"
#include "tools/run/cuda_places.h"

namespace stagecraft {

// Returns a sample of every op that computes, for each type of device, measured while the rest of
// the GPU idles. The time of an op that runs in several layouts, in forward and backward, is their
// mean. Calls `show` with lines of progress. Throws InputError if the ranks need more than one
// process, and as MakeCudaOpTimer() does.
std::vector<Sample> SampleOps(const Schedule& schedule, const Cluster& cluster,
                              const CudaPlaces& places,
                              const std::function<void(const std::string&)>& show);

}  // namespace stagecraft
