// The loads of layers and the speeds of stages, as balancers see them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "costmodel/cost_model.h"
#include "search/balance/balance_problem.h"
#include "sim/cluster/cluster.h"
#include "sim/plan/plan.h"
#include "sim/workload/workload.h"

namespace stagecraft {

// What a load is: the trained and frozen parameters that a layer holds, the time that a profiling
// step measured, with its noise, or the time that it takes.
enum class LoadBasis { kParameters, kMeasuredTime, kTrueTime };
std::string_view NameOf(LoadBasis basis);  // "param", "time", "truth"
std::optional<LoadBasis> LoadBasisNamed(std::string_view name);

// Returns what each layer takes for one micro-batch on the first stage's devices, in seconds:
// forward and backward on the device, or the launches of the host if these take longer. By layer of
// the workload.
std::vector<double> LayerSeconds(const Plan& plan, const Workload& workload, const Cluster& cluster,
                                 const CostModel& model);
// Returns how many parameters of each layer have not been pruned away, frozen ones included. By
// layer of the workload.
std::vector<double> LayerParameters(const Workload& workload);

// Returns the speed of each stage over that of the first, > 0: what all layers take there, and here
// on the slowest device of any replica. By stage, in pipeline order.
std::vector<double> StageSpeeds(const Plan& plan, const Workload& workload, const Cluster& cluster,
                                const CostModel& model);

}  // namespace stagecraft
