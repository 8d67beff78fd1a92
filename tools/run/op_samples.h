// What the ops of a schedule take by themselves, on the GPUs that its ranks run on.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "costmodel/learned/sample.h"
#include "sim/cluster/cluster.h"
#include "sim/schedule/schedule.h"
#include "tools/run/cuda_places.h"

namespace stagecraft {

// A sample for every op that computes, of each kind of device, while the rest of the GPU idles.
// An op that runs in several layouts, forward and backward, takes their mean. `show` hears what is
// measured next. Throws InputError where the ranks are more than one process, and as
// MakeCudaOpTimer does.
std::vector<Sample> SampleOps(const Schedule& schedule, const Cluster& cluster,
                              const CudaPlaces& places,
                              const std::function<void(const std::string&)>& show);

}  // namespace stagecraft
