// LayerTimes: how long the layers of a workload take and what they hold, for one micro-batch.
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

// The times of one layer on the device alone, as if no kernel had to wait for its launch.
struct LayerTimes {
  Duration forward;
  Duration backward;  // including recomputation; zero if there is no backward
  Duration launches;  // time of the host for the launches of both
  // The computation among these times, without collectives.
  Duration forward_compute;
  Duration backward_compute;
};

// Returns the lesser of two times for each kind of layer.
std::vector<LayerTimes> LeastOf(const std::vector<LayerTimes>& a, const std::vector<LayerTimes>& b);

// Returns what layers take on a device, by kind of layer.
std::vector<LayerTimes> MeasureLayers(const SearchProblem& problem, const ShardSpec& spec,
                                      const Device& device);
// LayerTimesMemo measures what layers take, once for each kind of device and each ShardSpec,
// however many spaces and lists of devices ask for it. Not thread-safe.
class LayerTimesMemo {
 public:
  // The problem must outlive it.
  explicit LayerTimesMemo(const SearchProblem& problem)
      : problem_(problem), kinds_(KindsOf(problem.cluster)) {}

  // Returns MeasureLayers() for the given device of the cluster, by kind of layer. The reference is
  // valid as long as this object.
  const std::vector<LayerTimes>& Of(const ShardSpec& spec, int device);

 private:
  // The key distinguishes most specifications; those that share one are compared one by one.
  using Key = std::array<int64_t, 7>;
  using Known = std::pair<ShardSpec, std::vector<LayerTimes>>;

  const SearchProblem& problem_;
  const DeviceKinds kinds_;
  std::map<Key, std::deque<Known>> known_;
};

// Does the same for the shards and the device of the first replica of a plan's only stage.
std::vector<LayerTimes> MeasureLayers(const SearchProblem& problem, const Plan& probe);

// The memory of one layer on each device that holds it.
struct LayerMemory {
  Bytes states;  // weights, gradients, and optimizer states that are not on the host
  Bytes saved;   // for the backward of one micro-batch
};

// These measure a layer on the first replica of a plan's only stage, whatever layers that stage
// has. LeastLayerStates() leaves out what is tied to the first layer, which the stage may hold
// anyway.
Bytes LayerStates(const SearchProblem& problem, const Plan& probe, int layer);
Bytes LeastLayerStates(const SearchProblem& problem, const Plan& probe, int layer);
LayerMemory MeasureLayerMemory(const SearchProblem& problem, Plan probe, int layer);

}  // namespace stagecraft
