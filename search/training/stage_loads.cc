#include "search/training/stage_loads.h"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <utility>

#include "search/layer_times.h"
#include "search/problem.h"
#include "sim/shard/shard.h"
#include "sim/shard/stage_order.h"

namespace stagecraft {
namespace {

constexpr std::array<std::pair<LoadBasis, std::string_view>, 3> kBases = {{
    {LoadBasis::kParameters, "param"},
    {LoadBasis::kMeasuredTime, "time"},
    {LoadBasis::kTrueTime, "truth"},
}};

std::vector<double> SecondsOn(const SearchProblem& problem, const ShardSpec& spec,
                              const Device& device) {
  const std::vector<LayerTimes> times = MeasureLayers(problem, spec, device);
  std::vector<double> seconds;
  for (const int kind : problem.workload.layers) {
    const LayerTimes& own = times[static_cast<size_t>(kind)];
    seconds.push_back(std::max(own.forward + own.backward, own.launches).seconds());
  }
  return seconds;
}

}  // namespace

std::string_view NameOf(LoadBasis basis) {
  for (const auto& [own, name] : kBases) {
    if (own == basis) return name;
  }
  return "";
}

std::optional<LoadBasis> LoadBasisNamed(std::string_view name) {
  for (const auto& [basis, own] : kBases) {
    if (own == name) return basis;
  }
  return std::nullopt;
}

std::vector<double> LayerSeconds(const Plan& plan, const Workload& workload, const Cluster& cluster,
                                 const CostModel& model) {
  const SearchProblem problem = {workload, cluster, model, {}};
  return SecondsOn(problem, StageShard(plan, workload, cluster, 0, 0),
                   cluster.device(plan.stages[0].replicas[0][0]));
}

std::vector<double> LayerParameters(const Workload& workload) {
  std::vector<double> parameters;
  for (int layer = 0; layer < workload.layer_count(); ++layer) {
    const LayerKind& kind = workload.layer(layer);
    parameters.push_back(static_cast<double>(ShardParameters(kind, 1, 1).Total()));
  }
  return parameters;
}

std::vector<double> StageSpeeds(const Plan& plan, const Workload& workload, const Cluster& cluster,
                                const CostModel& model) {
  const SearchProblem problem = {workload, cluster, model, {}};
  std::map<int, double> known;  // what all layers take, by node group of the cluster
  const ShardSpec spec = StageShard(plan, workload, cluster, 0, 0);
  const auto seconds_on = [&](int device) {
    const auto [found, is_new] = known.try_emplace(cluster.device_group(device), 0);
    if (is_new) {
      const std::vector<double> layers = SecondsOn(problem, spec, cluster.device(device));
      found->second = std::accumulate(layers.begin(), layers.end(), 0.0);
    }
    return found->second;
  };
  const double first = seconds_on(plan.stages[0].replicas[0][0]);
  std::vector<double> speeds;
  for (const Stage& stage : plan.stages) {
    double slowest = 0;
    for (const std::vector<int>& replica : stage.replicas) {
      for (const int device : replica) {
        slowest = std::max(slowest, seconds_on(device));
      }
    }
    speeds.push_back(first / slowest);
  }
  return speeds;
}

}  // namespace stagecraft
