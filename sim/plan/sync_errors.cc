#include "sim/plan/sync_errors.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "sim/workload/limits.h"

namespace stagecraft {
namespace {

using Errors = std::vector<std::string>;

// A field of one method must not be given for any other.
void CheckUses(const SyncOptions& sync, Errors& errors) {
  const char* name = Name(sync.method);
  const bool is_rolling = sync.method == SyncMethod::kRollingServer;
  const bool wants_server = TakesServers(sync.method) && sync.method != SyncMethod::kBytePs;
  const auto refuse = [&](const char* key, int64_t got, const char* want) {
    errors.push_back(fmt::format("{}: got {}, want {} with {}", key, got, want, name));
  };
  if (sync.servers < 0 || (wants_server && sync.servers == 0)) {
    refuse("sync_servers", sync.servers, wants_server ? "at least 1" : "at least 0");
  } else if (!TakesServers(sync.method) && sync.servers > 0) {
    refuse("sync_servers", sync.servers, "none");
  }
  if (sync.method == SyncMethod::kGossip ? sync.peers < 1 : sync.peers != 0) {
    refuse("sync_peers", sync.peers, sync.method == SyncMethod::kGossip ? "at least 1" : "none");
  }
  if (sync.step < 0 || (!is_rolling && sync.step > 0)) {
    refuse("sync_step", sync.step, is_rolling ? "at least 0" : "0");
  }
  if (sync.dead_server < -1 || (!is_rolling && sync.dead_server >= 0)) {
    refuse("dead_server", sync.dead_server, is_rolling ? "a rank" : "none");
  }
  const bool may_wait = is_rolling && sync.dead_server >= 0;
  if (sync.timeout < Duration() || sync.timeout > (may_wait ? kMostTimeout : Duration())) {
    refuse("sync_timeout_ns", sync.timeout.ns(), may_wait ? "0 to a day" : "0 (no dead server)");
  }
}

int64_t DataRanks(const Stage& stage) {
  return static_cast<int64_t>(stage.replicas.size()) * stage.context_parallel;
}

// nullptr if some ranks do synchronise.
const char* WhyNothingIsSummed(const Plan& plan) {
  if (plan.forward_only) return "with forward_only";
  const bool has_copies = std::any_of(plan.stages.begin(), plan.stages.end(),
                                      [](const Stage& stage) { return DataRanks(stage) > 1; });
  return has_copies ? nullptr : "with one data-parallel rank in every stage";
}

// Checks the ranks of one group of a stage that reduces together.
void CheckRanks(const SyncOptions& sync, size_t stage, int64_t ranks, Errors& errors) {
  const auto refuse = [&](const char* key, int64_t got, int64_t most) {
    errors.push_back(
        fmt::format("{}: got {}, want at most {} for the {} ranks of stages[{}] that "
                    "reduce together",
                    key, got, most, ranks, stage));
  };
  if (sync.peers >= ranks) refuse("sync_peers", sync.peers, ranks - 1);
  if (sync.method == SyncMethod::kBytePs && sync.servers > ranks) {
    refuse("sync_servers", sync.servers, ranks);
  }
}

// The least and the most ranks that a group has on any of its nodes, if these numbers differ.
using Uneven = std::optional<std::pair<int, int>>;

// Looks at every group of a stage that reduces gradients together: all data-parallel ranks of each
// tensor index and, for the gradients of experts, the ranks that hold the same experts.
Uneven FindUnevenGroup(const Stage& stage, const Cluster& cluster) {
  for (const int stride : {1, stage.expert_parallel}) {
    for (int tensor = 0; tensor < stage.tensor_parallel; ++tensor) {
      std::vector<std::map<int, int>> ranks(stride);  // by group, then scale-up domain
      size_t rank = 0;
      for (const std::vector<int>& replica : stage.replicas) {
        for (size_t i = tensor; i < replica.size(); i += static_cast<size_t>(stage.tensor_parallel))
          ++ranks[rank++ % stride][cluster.domain(cluster.place(replica[i]).node)];
      }
      for (const std::map<int, int>& group : ranks) {
        const auto [least, most] =
            std::minmax_element(group.begin(), group.end(),
                                [](const auto& a, const auto& b) { return a.second < b.second; });
        if (least->second != most->second) return std::pair(least->second, most->second);
      }
    }
  }
  return std::nullopt;
}

// For the hierarchical method every node that has any ranks must have equally many.
void CheckEven(const Stage& stage, size_t index, const Cluster& cluster, Errors& errors) {
  const Uneven uneven = FindUnevenGroup(stage, cluster);
  if (!uneven) return;
  errors.push_back(
      fmt::format("gradient_sync: hierarchical wants the same number of ranks of a group on "
                  "every node, but stages[{}] has {} on one and {} on another",
                  index, uneven->first, uneven->second));
}

void CheckServers(const Plan& plan, const Cluster& cluster, Errors& errors) {
  const int64_t servers = plan.gradient_sync.servers;
  int64_t groups = 0;
  for (const Stage& stage : plan.stages) {
    groups += static_cast<int64_t>(stage.tensor_parallel) * stage.expert_parallel;
  }
  const int64_t spare = cluster.device_count() - plan.device_count();
  if (servers * groups <= spare) return;
  errors.push_back(
      fmt::format("sync_servers: {} for each of {} groups of ranks that reduce side by side make "
                  "{}, but {} has {} devices beyond the plan's {}",
                  servers, groups, servers * groups, cluster.name(), spare, plan.device_count()));
}

}  // namespace

void FindSyncErrors(const Plan& plan, const Cluster& cluster, std::vector<std::string>& errors) {
  const SyncOptions& sync = plan.gradient_sync;
  CheckUses(sync, errors);
  if (sync.method == SyncMethod::kAllReduce || !errors.empty()) return;
  if (plan.zero > 0) {
    errors.push_back(
        fmt::format("gradient_sync: {} wants zero 0, where ranks hold whole "
                    "gradients, got zero {}",
                    Name(sync.method), plan.zero));
    return;
  }
  if (const char* why = WhyNothingIsSummed(plan)) {
    errors.push_back(
        fmt::format("gradient_sync: got {} {}, where no gradients are reduced, want {}",
                    Name(sync.method), why, Name(SyncMethod::kAllReduce)));
    return;
  }
  for (size_t s = 0; s < plan.stages.size() && errors.empty(); ++s) {
    const Stage& stage = plan.stages[s];
    const int64_t ranks = DataRanks(stage);
    if (ranks == 1) continue;
    const int64_t holders = ranks / stage.expert_parallel;
    CheckRanks(sync, s, holders > 1 ? holders : ranks, errors);
    if (sync.dead_server >= ranks) {
      errors.push_back(fmt::format("dead_server: got {}, want a rank below the {} of stages[{}]",
                                   sync.dead_server, ranks, s));
    }
    if (sync.method == SyncMethod::kHierarchical) CheckEven(stage, s, cluster, errors);
  }
  CheckServers(plan, cluster, errors);
}

}  // namespace stagecraft
