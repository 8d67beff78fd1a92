// The choices that make up a plan, and those in which two plans differ.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "sim/cluster/cluster.h"
#include "sim/plan/plan.h"
#include "sim/workload/workload.h"

namespace stagecraft {

struct PlanChoice {
  const char* name;  // "tp"
  std::string value;
};

// Returns all choices, in the same order for all plans on a cluster. On a cluster of several GPU
// types, the tensor-parallel degree is given stage by stage, with the GPU type.
std::vector<PlanChoice> ChoicesOf(const Plan& plan, const Workload& workload,
                                  const Cluster& cluster);

struct ChoiceDifference {
  const char* name;
  std::string before, after;
};

// Returns the choices in which two plans differ; empty if there are none.
std::vector<ChoiceDifference> DifferencesOf(const Plan& before, const Plan& after,
                                            const Workload& workload, const Cluster& cluster);
// Returns "tp 4 -> 8, zero 0 -> 1"; without the value before if that is long.
std::string Text(const std::vector<ChoiceDifference>& differences);
// Returns [{"choice", "before", "after"}].
nlohmann::ordered_json ToJson(const std::vector<ChoiceDifference>& differences);

// Returns "64 x a100-sxm4-80gb + 32 x h100-sxm5-80gb" for numbers of devices by node group of the
// cluster.
std::string DevicesText(const std::vector<int>& group_devices, const Cluster& cluster);

}  // namespace stagecraft
