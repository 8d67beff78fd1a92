// What the layers of a workload take and hold, one micro-batch at a time.
#pragma once

#include <vector>

#include "costmodel/device.h"
#include "costmodel/units.h"
#include "search/problem.h"
#include "sim/plan.h"
#include "sim/shard.h"

namespace stagecraft {

// Of the device alone: were every kernel launched in time.
struct LayerTimes {
  Duration forward;
  Duration backward;  // with what is computed again; zero where there is none
  Duration launches;  // of the host, for both
  // Of these what computes: without collectives.
  Duration forward_compute;
  Duration backward_compute;
};

// Kind by kind the less of two.
std::vector<LayerTimes> LeastOf(const std::vector<LayerTimes>& a, const std::vector<LayerTimes>& b);

// By kind of layer.
std::vector<LayerTimes> MeasureLayers(const SearchProblem& problem, const ShardSpec& spec,
                                      const Device& device);
// The same as the first replica of a plan's only stage sees it.
std::vector<LayerTimes> MeasureLayers(const SearchProblem& problem, const Plan& probe);

// Of each device that a layer lies on.
struct LayerMemory {
  Bytes states;  // weights, gradients, and the optimizer's that are not with the host
  Bytes saved;   // for the backward of one micro-batch
};

// On the first replica of a plan's only stage, whatever layers that stage has.
Bytes LayerStates(const SearchProblem& problem, const Plan& probe, int layer);
LayerMemory MeasureLayerMemory(const SearchProblem& problem, Plan probe, int layer);

}  // namespace stagecraft
