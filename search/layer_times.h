// How long the layers of a workload take and what they hold, one micro-batch at a time.
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

// Times of the device alone, as if every kernel were launched in time.
struct LayerTimes {
  Duration forward;
  Duration backward;  // including what is computed again; zero if there is none
  Duration launches;  // by the host, for both
  // The parts of these that compute, without collectives.
  Duration forward_compute;
  Duration backward_compute;
};

// The lesser of two times for each kind of layer.
std::vector<LayerTimes> LeastOf(const std::vector<LayerTimes>& a, const std::vector<LayerTimes>& b);

// Indexed by kind of layer.
std::vector<LayerTimes> MeasureLayers(const SearchProblem& problem, const ShardSpec& spec,
                                      const Device& device);
// LayerTimesMemo: measures what layers take once for each kind of device and each ShardSpec,
// however many spaces and lists of devices ask. Not thread-safe.
class LayerTimesMemo {
 public:
  // The problem must outlive it.
  explicit LayerTimesMemo(const SearchProblem& problem)
      : problem_(problem), kinds_(KindsOf(problem.cluster)) {}

  // By kind of layer, what MeasureLayers() says for a device of the cluster. Valid as long as this
  // object.
  const std::vector<LayerTimes>& Of(const ShardSpec& spec, int device);

 private:
  // Distinguishes most specifications; those that share a key are compared one by one.
  using Key = std::array<int64_t, 7>;
  using Known = std::pair<ShardSpec, std::vector<LayerTimes>>;

  const SearchProblem& problem_;
  const DeviceKinds kinds_;
  std::map<Key, std::deque<Known>> known_;
};

// The same, as the first replica of a plan's only stage sees it.
std::vector<LayerTimes> MeasureLayers(const SearchProblem& problem, const Plan& probe);

// Memory on each device that holds the layer.
struct LayerMemory {
  Bytes states;  // weights, gradients, and optimizer states that are not on the host
  Bytes saved;   // for the backward of one micro-batch
};

// On the first replica of a plan's only stage, whatever layers that stage has.
Bytes LayerStates(const SearchProblem& problem, const Plan& probe, int layer);
LayerMemory MeasureLayerMemory(const SearchProblem& problem, Plan probe, int layer);

}  // namespace stagecraft
