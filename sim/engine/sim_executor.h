// SimExecutor: replays a Schedule in virtual time, with durations from a cost model.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "costmodel/cost_model.h"
#include "costmodel/units.h"
#include "sim/cluster/cluster.h"
#include "sim/engine/bound_costs.h"
#include "sim/engine/engine.h"
#include "sim/engine/repetition.h"
#include "sim/network/task_traffic.h"
#include "sim/schedule/executor.h"
#include "sim/schedule/schedule.h"
#include "sim/schedule/timeline.h"

namespace stagecraft {

// Launches by task; empty if no op needs the host. The host waits for what comes from another
// stage, for what its own rank sends if that holds its computation up, and for the gradient norm,
// as Megatron-LM's does (batched messages synchronise, an assumption where they do not; clipping
// reads the norm), and runs ahead of everything else.
std::vector<Launch> BindLaunches(const Schedule& schedule, const BoundCosts& costs);

// How messages share links. kModel: each takes the time of the cost model, stretched while its rank
// sends something else (interface_sharing.h). kFlow: each is flows over the links of the
// cluster (traffic_binding.h), for schedules that were lowered unfolded.
enum class NetworkFidelity { kModel, kFlow };
const char* Name(NetworkFidelity fidelity);

// From `time` on the link has `rate` times its bandwidth; 0: nothing passes.
struct LinkChange {
  Duration time;    // >= 0
  int link = 0;     // of the cluster
  double rate = 1;  // >= 0, finite
};

struct NetworkOptions {
  NetworkFidelity fidelity = NetworkFidelity::kModel;
  std::vector<LinkChange> changes = {};  // kFlow only
};

class SimExecutor : public Executor {
 public:
  // All arguments must outlive the executor.
  SimExecutor(const Cluster& cluster, const CostModel& model, NetworkOptions network = {})
      : cluster_(cluster), model_(model), network_(std::move(network)) {}

  Timeline Execute(const Schedule& schedule) override;

  // Executes a schedule that stands for one of more micro-batches, and says how these repeat it
  // (FindRepetition()). No value if that is not proven, with kFlow, or if devices share a memory.
  struct Repeated {
    Timeline timeline;
    Repetition repetition;
  };
  std::optional<Repeated> ExecuteRepeated(const Schedule& schedule, int64_t more, int64_t group);

  // The costs with which the last Execute() ran.
  const BoundCosts& costs() const { return costs_; }
  // How long the last schedule, repeated as often as it is, would have taken if no interface were
  // shared: the longest chain of its tasks. Zero with kFlow, where it is not known.
  Duration unshared_makespan() const { return unshared_makespan_; }
  // By link of the cluster, over the last Execute(); empty with kModel.
  std::vector<LinkUse> link_use();

 private:
  // Replays once more if messages share interfaces, and if devices share a memory. With kLast all
  // but the durations of the replays before the last are forgotten, and all launches.
  enum class Keep { kAll, kLast };
  std::vector<Replay> ReplayModel(const Schedule& schedule, std::span<const Launch> launches,
                                  Keep keep);
  // Says in costs_ how much longer tasks took than they would alone.
  void SetStretched(std::span<const Duration> alone, std::span<const Duration> taken);
  // Throws a DeadlockError that names the link whose rate stays 0, if there is one.
  Timeline RunFlows(const Schedule& schedule, std::span<const Launch> launches);
  // Does so by simulating representatives of like replicas (replica_symmetry.h); no value if there
  // are none.
  std::optional<Timeline> RunRepresentatives(const Schedule& schedule,
                                             std::span<const Launch> launches);

  const Cluster& cluster_;
  const CostModel& model_;
  const NetworkOptions network_;
  Engine engine_;
  std::unique_ptr<TaskTraffic> traffic_;
  // By link of the cluster, its number in the network, -1 if nothing uses it; empty: the same.
  std::vector<LinkId> flow_links_;
  BoundCosts costs_;
  Duration unshared_makespan_;
};

}  // namespace stagecraft
