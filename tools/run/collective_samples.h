// The times of collectives between the parts of one GPU, each run by itself.
#pragma once

#include <vector>

#include "costmodel/learned/sample.h"
#include "sim/cluster/cluster.h"
#include "sim/schedule/schedule.h"
#include "tools/run/cuda_places.h"

namespace stagecraft {

// Runs each collective of the schedule by itself, one after another, between the ranks that take
// part in it, and returns a sample of it for each type of device among them. Sends are left out,
// because links price them. Runs seven steps, of which the first two are warm-up; `time` is that of
// the median step. Returns nothing if there is only one rank, or no collective. Precondition: all
// `places` are of one process. Throws InputError as RunOnCuda() does.
std::vector<Sample> SampleCollectives(const Schedule& schedule, const Cluster& cluster,
                                      const CudaPlaces& places);

}  // namespace stagecraft
