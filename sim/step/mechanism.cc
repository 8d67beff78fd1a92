#include "sim/step/mechanism.h"

#include <algorithm>

#include "sim/pipeline/pipeline_schedule.h"

namespace stagecraft {
namespace {

struct Row {
  Mechanism mechanism;
  const char* name;
  const char* meaning;
  void (*of_device)(Device&);
  void (*of_plan)(Plan&);
};

constexpr Row kRows[] = {
    {Mechanism::kBoardPower, "board-power", "board power and heat limit the clock",
     [](Device& device) {
       device.is_busy = false;
       device.clock_share = 1;
     },
     nullptr},
    {Mechanism::kHostLaunches, "host-launches", "the host launches every kernel",
     [](Device& device) { device.host_dispatch = Duration(); }, nullptr},
    {Mechanism::kComputeSlowdown, "compute-slowdown", "collectives take multiprocessors",
     [](Device& device) { device.collective_blocks = 0; }, nullptr},
    {Mechanism::kAlignment, "alignment", "GEMMs of rows that are not aligned are slower",
     [](Device& device) { device.unaligned_flop_per_clock = 0; }, nullptr},
    {Mechanism::kAttentionVersion, "attention-version", "the version of the attention kernel",
     nullptr, [](Plan& plan) { plan.attention_kernel = AttentionKernel::kUsual; }},
    {Mechanism::kEagerTraffic, "eager-traffic", "eager kernels between GEMMs move more bytes",
     nullptr, [](Plan& plan) { plan.framework.elementwise_traffic = 1; }},
    {Mechanism::kComposedOperators, "composed-operators",
     "norms, rotations and activations are many kernels", nullptr,
     [](Plan& plan) { plan.framework.composes_operators = false; }},
    {Mechanism::kGradientSums, "gradient-sums", "gradients of micro-batches are added up", nullptr,
     [](Plan& plan) { plan.framework.sums_gradients = false; }},
    {Mechanism::kLatePrefetch, "late-prefetch", "the backward gathers parameters late", nullptr,
     [](Plan& plan) { plan.framework.backward_prefetch = BackwardPrefetch::kBefore; }},
    {Mechanism::kTensorGathers, "tensor-gathers", "parameters are gathered tensor by tensor",
     nullptr, [](Plan& plan) { plan.framework.parameter_gather = ParameterGather::kLayers; }},
    {Mechanism::kBroadcasts, "broadcasts", "ranks hand on parameters by broadcasts", nullptr,
     [](Plan& plan) { plan.framework.parameter_exchange = ParameterExchange::kGather; }},
    {Mechanism::kShardCopies, "shard-copies", "sharded parameters or gradients are copied", nullptr,
     [](Plan& plan) {
       if (plan.zero >= 3) plan.framework.shard_copies = ShardCopies::kNone;
     }},
    {Mechanism::kUpdateOperations, "update-operations", "an update is many kernels", nullptr,
     [](Plan& plan) { plan.framework.updates_by_operations = false; }},
    {Mechanism::kAutocast, "autocast", "weights, norms and residuals have 32 bits", nullptr,
     [](Plan& plan) { plan.framework.autocasts = false; }},
    {Mechanism::kTensorGradients, "tensor-gradients",
     "the backward waits for reductions among tensor-parallel ranks", nullptr,
     [](Plan& plan) { plan.framework.exposes_tensor_gradients = false; }},
    {Mechanism::kExchangeOverlap, "exchange-overlap",
     "paired passes hide each other's exchanges between experts", nullptr,
     [](Plan& plan) {
       const bool pairs = TraitsOf(plan.schedule).pairs_passes ||
                          plan.schedule_options.pairs_passes || IsCustom(plan.schedule);
       const bool has_groups = std::any_of(plan.stages.begin(), plan.stages.end(),
                                           [](const Stage& s) { return s.expert_parallel > 1; });
       if (pairs && has_groups) plan.framework.hides_exchanges = false;
     }},
};

const Row& RowOf(Mechanism mechanism) { return kRows[static_cast<int>(mechanism)]; }

}  // namespace

std::span<const Mechanism> AllMechanisms() {
  static const std::vector<Mechanism> all = [] {
    std::vector<Mechanism> mechanisms;
    for (const Row& row : kRows) mechanisms.push_back(row.mechanism);
    return mechanisms;
  }();
  return all;
}

const char* Name(Mechanism mechanism) { return RowOf(mechanism).name; }

const char* Meaning(Mechanism mechanism) { return RowOf(mechanism).meaning; }

Cluster Without(Mechanism mechanism, const Cluster& cluster) {
  const auto change = RowOf(mechanism).of_device;
  if (change == nullptr) return cluster;
  return cluster.WithDevices([change](Device& device) {
    if (device.generation != Generation::kHost) change(device);
  });
}

Plan Without(Mechanism mechanism, Plan plan) {
  if (const auto change = RowOf(mechanism).of_plan) change(plan);
  return plan;
}

std::vector<MechanismTime> MeasureMechanisms(const Plan& plan, const Workload& workload,
                                             const Cluster& cluster, const CostModel& model,
                                             Duration step_time, const SimulationOptions& options) {
  std::vector<MechanismTime> times;
  for (const Row& row : kRows) {
    const Plan other = Without(row.mechanism, plan);
    const bool is_active = row.of_plan == nullptr || other.framework != plan.framework ||
                           other.attention_kernel != plan.attention_kernel;
    if (!is_active) continue;
    const Cluster there = Without(row.mechanism, cluster);
    const SimulatedStep step = SimulateStep(other, workload, there, model, options);
    const Duration saved = step_time - step.evaluation.step_time;
    if (saved != Duration()) times.push_back({row.mechanism, saved});
  }
  std::stable_sort(times.begin(), times.end(), [](const MechanismTime& a, const MechanismTime& b) {
    return a.saved > b.saved;
  });
  return times;
}

}  // namespace stagecraft
