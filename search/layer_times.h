// What the layers of a workload take, one micro-batch at a time.
#pragma once

#include <vector>

#include "costmodel/device.h"
#include "costmodel/units.h"
#include "search/problem.h"
#include "sim/shard.h"

namespace stagecraft {

// Of the device alone: were every kernel launched in time.
struct LayerTimes {
  Duration forward;
  Duration backward;  // with what is computed again; zero where there is none
};

// By kind of layer.
std::vector<LayerTimes> MeasureLayers(const SearchProblem& problem, const ShardSpec& spec,
                                      const Device& device);

}  // namespace stagecraft
