#include "search/training/balancer_comparison.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <exception>
#include <optional>
#include <utility>

#include "costmodel/check.h"
#include "search/balance/balance.h"
#include "search/balance/balance_problem.h"
#include "search/balance/layer_partition.h"
#include "search/training/plan_division.h"
#include "search/training/stage_loads.h"

namespace stagecraft {
namespace {

constexpr double kSecondsPerHour = 3600;

// Returns the time of all steps in a state.
Duration StepsTime(const Job& job, const std::vector<TrainedState>& states, size_t state) {
  CHECK(std::ssize(states) == job.states());
  const int64_t end = job.FirstStep(static_cast<int>(state) + 1);
  return (end - states[state].step) * states[state].evaluation.step_time;
}

std::vector<TrainedState> AllStates(const Job& job) {
  TrainedStates trained = TrainStates(job);
  if (trained.failure != nullptr) std::rethrow_exception(trained.failure);
  return std::move(trained.states);
}

}  // namespace

BalancerRow SumUp(std::string name, const Job& job, const std::vector<TrainedState>& states) {
  BalancerRow row;
  row.name = std::move(name);
  row.fewest_devices = states.front().devices();
  for (size_t i = 0; i < states.size(); ++i) {
    const TrainedState& state = states[i];
    const Duration time = StepsTime(job, states, i) + state.cost.Total();
    row.time += time;
    row.overhead += state.cost.Total();
    row.moves += state.moves ? 1 : 0;
    row.fewest_devices = std::min(row.fewest_devices, state.devices());
    row.gpu_hours += time.seconds() / kSecondsPerHour * state.devices();
  }
  return row;
}

double MostGain(const Job& job, const std::vector<TrainedState>& states) {
  double present = 0, least = 0;
  for (size_t i = 0; i < states.size(); ++i) {
    const double seconds = StepsTime(job, states, i).seconds();
    present += seconds;
    least += seconds / states[i].Imbalance();
  }
  return present / least;
}

BalancerComparison CompareBalancers(const Job& job) {
  BalancerComparison comparison;
  const auto add = [&](std::string name, const Job& row) {
    const std::vector<TrainedState> states = AllStates(row);
    if (comparison.rows.empty()) comparison.bound = MostGain(row, states);
    comparison.rows.push_back(SumUp(std::move(name), row, states));
  };
  Job still = job;
  still.balance.balancer = Balancer::kNone;
  add("nobody, as given", still);
  const BalanceProblem parameters = {LayerParameters(job.workload),
                                     std::vector<double>(job.plan.stages.size(), 1.0)};
  if (const std::optional<Division> division = PartitionLayers(parameters)) {
    still.plan = WithDivision(job.plan, *division);
    add("nobody, by parameters", still);
  }
  Job balanced = job;
  for (const Balancer balancer : {Balancer::kPartition, Balancer::kDiffusion}) {
    for (const LoadBasis by :
         {LoadBasis::kParameters, LoadBasis::kMeasuredTime, LoadBasis::kTrueTime}) {
      balanced.balance.balancer = balancer;
      balanced.balance.by = by;
      add(fmt::format("{} by {}", NameOf(balancer), NameOf(by)), balanced);
    }
  }
  return comparison;
}

}  // namespace stagecraft
