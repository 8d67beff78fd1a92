#include "sim/plan/plan_device_errors.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

namespace stagecraft {
namespace {

// Whether all replicas have as many devices as they need, and all of these are devices of the
// cluster that work in one replica only.
bool AreSound(const Plan& plan, const Cluster& cluster) {
  std::vector<bool> used(cluster.device_count(), false);
  for (const Stage& stage : plan.stages) {
    const size_t want = static_cast<size_t>(stage.tensor_parallel) * stage.context_parallel;
    if (stage.replicas.empty()) return false;
    for (const std::vector<int>& replica : stage.replicas) {
      if (replica.size() != want) return false;
      for (const int device : replica) {
        if (device < 0 || device >= cluster.device_count() || used[device]) return false;
        used[device] = true;
      }
    }
  }
  return true;
}

}  // namespace

void FindDeviceErrors(const Plan& plan, const Cluster& cluster, std::vector<std::string>& errors) {
  constexpr size_t kMostErrors = 20;  // one broken plan need not fill a screen
  using Place = std::pair<int, int>;  // stage and replica
  const auto name = [](const Place& place) {
    return fmt::format("stages[{}].replicas[{}]", place.first, place.second);
  };
  std::vector<std::string> gpu_errors;  // by node group
  for (const Cluster::NodeGroup& group : cluster.groups()) {
    gpu_errors.push_back(FindGpuError(plan, group.type.device));
  }
  const bool all_run = std::all_of(gpu_errors.begin(), gpu_errors.end(),
                                   [](const std::string& error) { return error.empty(); });
  if (all_run && AreSound(plan, cluster)) return;
  std::vector<Place> used(cluster.device_count(), Place(-1, -1));
  for (size_t s = 0; s < plan.stages.size(); ++s) {
    const Stage& stage = plan.stages[s];
    const size_t want = static_cast<size_t>(stage.tensor_parallel) * stage.context_parallel;
    if (stage.replicas.empty()) {
      errors.push_back(fmt::format("stages[{}].replicas: got none, want at least one", s));
    }
    for (size_t r = 0; r < stage.replicas.size(); ++r) {
      const Place place(static_cast<int>(s), static_cast<int>(r));
      if (stage.replicas[r].size() != want) {
        errors.push_back(
            fmt::format("{}: got {} devices, want tensor_parallel {} x "
                        "context_parallel {} = {}",
                        name(place), stage.replicas[r].size(), stage.tensor_parallel,
                        stage.context_parallel, want));
      }
      for (const int device : stage.replicas[r]) {
        if (device < 0 || device >= cluster.device_count()) {
          errors.push_back(fmt::format("{}: device {} is not one of the {} devices of {}",
                                       name(place), device, cluster.device_count(),
                                       cluster.name()));
        } else if (used[device].first >= 0) {
          errors.push_back(fmt::format("{}: device {} already works in {}", name(place), device,
                                       name(used[device])));
        } else if (const std::string& error = gpu_errors[cluster.device_group(device)];
                   used[device] = place, !error.empty()) {
          errors.push_back(error);
        }
        if (errors.size() >= kMostErrors) return;
      }
    }
  }
}

void FindProfileErrors(const Plan& plan, const Workload& workload, const Cluster& cluster,
                       std::vector<std::string>& errors) {
  if (!workload.is_profile()) return;
  if (plan.precision != DType::kFp32) {
    errors.push_back(fmt::format("precision: got {}, but {} was profiled in fp32",
                                 Name(plan.precision), workload.name));
  }
  const Device& gpu = cluster.device(plan.stages[0].replicas[0][0]);
  for (size_t s = 0; s < plan.stages.size(); ++s) {
    const Stage& stage = plan.stages[s];
    if (stage.tensor_parallel * stage.context_parallel > 1) {
      errors.push_back(
          fmt::format("stages[{}]: tensor_parallel {} and context_parallel {}, but the "
                      "operators of {} are profiled whole and cannot be divided",
                      s, stage.tensor_parallel, stage.context_parallel, workload.name));
      return;
    }
    for (const std::vector<int>& replica : stage.replicas) {
      if (cluster.device(replica[0]) == gpu) continue;
      errors.push_back(
          fmt::format("stages[{}]: {} was profiled on one GPU type, but the plan uses {} "
                      "and {}",
                      s, workload.name, gpu.name, cluster.device(replica[0]).name));
      return;
    }
  }
}

}  // namespace stagecraft
