#include "search/balance/repacking.h"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

#include "costmodel/check.h"
#include "costmodel/units.h"
#include "search/balance/layer_partition.h"

namespace stagecraft {
namespace {

constexpr double kRounding = 1e-9;  // It is above that of sums.

// Returns the stages in the order in which they are kept.
std::vector<int> OrderOfKeeping(const BalanceProblem& problem) {
  std::vector<int> stages(problem.stages());
  std::iota(stages.begin(), stages.end(), 0);
  const auto rank = [&](int stage) {
    const Bytes limit = problem.stage_limits.empty() ? Bytes() : problem.stage_limits[stage];
    return std::tuple(-problem.speeds[stage], Bytes() - limit, stage);
  };
  std::sort(stages.begin(), stages.end(), [&](int a, int b) { return rank(a) < rank(b); });
  return stages;
}

BalanceProblem Restrict(const BalanceProblem& problem, const std::vector<int>& kept) {
  BalanceProblem restricted = problem;
  restricted.speeds.clear();
  restricted.stage_limits.clear();
  for (const int stage : kept) {
    restricted.speeds.push_back(problem.speeds[stage]);
    if (!problem.stage_limits.empty()) {
      restricted.stage_limits.push_back(problem.stage_limits[stage]);
    }
  }
  return restricted;
}

std::vector<int> Others(const std::vector<int>& kept, int stages) {
  std::vector<int> others;
  for (int stage = 0; stage < stages; ++stage) {
    if (!std::binary_search(kept.begin(), kept.end(), stage)) others.push_back(stage);
  }
  return others;
}

}  // namespace

std::optional<Repacking> Repack(const BalanceProblem& problem, const Division& present, double loss,
                                int least) {
  CheckBalanceProblem(problem);
  CheckDivision(problem, present);
  if (!(loss >= 0 && loss < 1)) {
    throw InputError(fmt::format("balance: loss by re-packing: got {}, want 0 <= loss < 1", loss));
  }
  const double most = SlowestLoad(problem, present) / (1 - loss);
  const std::vector<int> order = OrderOfKeeping(problem);
  const double total = std::accumulate(problem.loads.begin(), problem.loads.end(), 0.0);
  double speed = 0;
  for (int count = 1; count <= problem.stages(); ++count) {
    speed += problem.speeds[order[count - 1]];
    if (count < least || total / speed > most * (1 + kRounding)) continue;
    std::vector<int> kept(order.begin(), order.begin() + count);
    std::sort(kept.begin(), kept.end());
    BalanceProblem restricted = Restrict(problem, kept);
    if (!DivideWithin(restricted, most)) continue;
    Division division = *PartitionLayers(restricted);
    const double slowest = SlowestLoad(restricted, division);
    std::vector<int> freed = Others(kept, problem.stages());
    return Repacking{std::move(kept), std::move(freed), std::move(division), slowest};
  }
  return std::nullopt;
}

std::optional<FirstFitPacking> RepackFirstFit(const BalanceProblem& problem,
                                              const Division& present, int target) {
  CheckBalanceProblem(problem);
  CheckDivision(problem, present);
  CHECK(!problem.stage_limits.empty());
  const int stages = problem.stages();
  std::vector<std::vector<int>> layers(stages);
  std::vector<int64_t> bytes(stages, 0);
  int layer = 0;
  for (int stage = 0; stage < stages; ++stage) {
    for (int n = 0; n < present[stage]; ++n, ++layer) {
      layers[stage].push_back(layer);
      bytes[stage] += problem.layer_memory[layer].count();
    }
  }
  FirstFitPacking packing;
  for (int from = 0; from < stages; ++from) {
    for (int to = from + 1; to < stages; ++to) {
      if (stages - static_cast<int>(packing.freed.size()) <= target) break;
      if (bytes[from] + bytes[to] >= problem.stage_limits[to].count()) continue;
      layers[to].insert(layers[to].end(), layers[from].begin(), layers[from].end());
      bytes[to] += bytes[from];
      layers[from].clear();
      packing.freed.push_back(from);
      break;
    }
  }
  if (stages - static_cast<int>(packing.freed.size()) != target) return std::nullopt;
  packing.stage_of_layer.resize(problem.layers());
  for (int stage = 0; stage < stages; ++stage) {
    double load = 0;
    for (const int own : layers[stage]) {
      packing.stage_of_layer[own] = stage;
      load += problem.loads[own];
    }
    packing.slowest = std::max(packing.slowest, load / problem.speeds[stage]);
  }
  packing.keeps_order =
      std::is_sorted(packing.stage_of_layer.begin(), packing.stage_of_layer.end());
  return packing;
}

}  // namespace stagecraft
