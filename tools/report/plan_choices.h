// What was chosen in a plan, and how two plans differ in it.
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

// Every one of them, in the same order for all plans on a cluster. Where nodes are of
// several kinds, tensor degrees are said stage by stage, with the device.
std::vector<PlanChoice> ChoicesOf(const Plan& plan, const Workload& workload,
                                  const Cluster& cluster);

struct ChoiceDifference {
  const char* name;
  std::string before, after;
};

// Empty where two plans differ in nothing that is chosen.
std::vector<ChoiceDifference> DifferencesOf(const Plan& before, const Plan& after,
                                            const Workload& workload, const Cluster& cluster);
// "tp 8 (4), vpp 5 (4)": what comes after and, where that is short, what was before.
std::string Text(const std::vector<ChoiceDifference>& differences);
// [{"choice", "before", "after"}]
nlohmann::ordered_json ToJson(const std::vector<ChoiceDifference>& differences);

// "64 x a100-sxm4-80gb + 32 x h100-sxm5-80gb" of devices by group of the cluster.
std::string DevicesText(const std::vector<int>& group_devices, const Cluster& cluster);

}  // namespace stagecraft
