// What collectives between the parts of one GPU take by themselves.
#pragma once

#include <vector>

#include "costmodel/learned/sample.h"
#include "sim/cluster/cluster.h"
#include "sim/schedule/schedule.h"
#include "tools/run/cuda_places.h"

namespace stagecraft {

// Each collective of the schedule alone, one after another, between the ranks that take part in it:
// a sample for each kind of device among these. Messages are left out: links price them. Runs seven
// steps, two of which do not count; `time` is the median step's. Nothing comes back where the ranks
// are one, or exchange nothing. `places` are of one process. Throws InputError as RunOnCuda does.
std::vector<Sample> SampleCollectives(const Schedule& schedule, const Cluster& cluster,
                                      const CudaPlaces& places);

}  // namespace stagecraft
