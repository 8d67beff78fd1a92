// What the layers of a workload take and hold, one micro-batch at a time.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <utility>
#include <vector>

#include "costmodel/device.h"
#include "costmodel/units.h"
#include "search/device_kinds.h"
#include "search/problem.h"
#include "sim/plan/plan.h"
#include "sim/shard/shard.h"

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
// LayerTimesMemo: measures what layers take once for each kind of device and each ShardSpec,
// however many spaces and lists of devices ask. For one thread.
class LayerTimesMemo {
 public:
  // The problem outlives it.
  explicit LayerTimesMemo(const SearchProblem& problem)
      : problem_(problem), kinds_(KindsOf(problem.cluster)) {}

  // By kind of layer, what MeasureLayers() says for a device of the cluster. Lives as long as this
  // object.
  const std::vector<LayerTimes>& Of(const ShardSpec& spec, int device);

 private:
  // What tells most specifications apart; those that share a key are compared one by one.
  using Key = std::array<int64_t, 7>;
  using Known = std::pair<ShardSpec, std::vector<LayerTimes>>;

  const SearchProblem& problem_;
  const DeviceKinds kinds_;
  std::map<Key, std::deque<Known>> known_;
};

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
