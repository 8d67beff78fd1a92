#include "search/balance/balance_problem.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "costmodel/check.h"

namespace stagecraft {
namespace {

void CheckSizes(const BalanceProblem& problem) {
  if (problem.stages() == 0) throw InputError("balance: got no stage, want at least one");
  if (problem.layers() < problem.stages()) {
    throw InputError(fmt::format("balance: got {} layers for {} stages, want a layer for each",
                                 problem.layers(), problem.stages()));
  }
  if (problem.layer_memory.empty() != problem.stage_limits.empty()) {
    throw InputError(
        "balance: want the memory of the layers and the limits of the stages, or neither");
  }
  if (problem.layer_memory.empty()) return;
  if (problem.layer_memory.size() != problem.loads.size()) {
    throw InputError(fmt::format("balance: got the memory of {} layers, want it for all {}",
                                 problem.layer_memory.size(), problem.layers()));
  }
  if (problem.stage_limits.size() != problem.speeds.size()) {
    throw InputError(fmt::format("balance: got memory limits of {} stages, want them for all {}",
                                 problem.stage_limits.size(), problem.stages()));
  }
}

void CheckMemory(const BalanceProblem& problem) {
  int64_t total = 0;
  for (size_t layer = 0; layer < problem.layer_memory.size(); ++layer) {
    const int64_t bytes = problem.layer_memory[layer].count();
    if (bytes < 0) {
      throw InputError(
          fmt::format("balance: memory of layer {}: got {} bytes, want >= 0", layer, bytes));
    }
    if (__builtin_add_overflow(total, bytes, &total)) {
      throw InputError("balance: memory of the layers: want less than 2^63 bytes in all");
    }
  }
}

}  // namespace

void CheckBalanceProblem(const BalanceProblem& problem) {
  CheckSizes(problem);
  for (int layer = 0; layer < problem.layers(); ++layer) {
    const double load = problem.loads[layer];
    if (!(load >= 0) || std::isinf(load)) {
      throw InputError(
          fmt::format("balance: load of layer {}: got {}, want a finite number >= 0", layer, load));
    }
  }
  double least = std::numeric_limits<double>::infinity();
  for (int stage = 0; stage < problem.stages(); ++stage) {
    const double speed = problem.speeds[stage];
    if (!(speed > 0) || std::isinf(speed)) {
      throw InputError(fmt::format("balance: speed of stage {}: got {}, want a finite number > 0",
                                   stage, speed));
    }
    least = std::min(least, speed);
  }
  const double total = std::accumulate(problem.loads.begin(), problem.loads.end(), 0.0);
  const double speeds = std::accumulate(problem.speeds.begin(), problem.speeds.end(), 0.0);
  if (std::isinf(total / least) || std::isinf(speeds)) {
    throw InputError("balance: want loads and speeds whose sums and quotients are finite");
  }
  CheckMemory(problem);
}

void CheckDivision(const BalanceProblem& problem, const Division& division) {
  if (division.size() != problem.speeds.size()) {
    throw InputError(fmt::format("balance: got a division over {} stages, want one over {}",
                                 division.size(), problem.stages()));
  }
  int64_t layers = 0;
  for (size_t stage = 0; stage < division.size(); ++stage) {
    if (division[stage] < 1) {
      throw InputError(fmt::format("balance: layers of stage {}: got {}, want at least one", stage,
                                   division[stage]));
    }
    layers += division[stage];
  }
  if (layers != problem.layers()) {
    throw InputError(fmt::format("balance: got a division of {} layers, want one of {}", layers,
                                 problem.layers()));
  }
}

BalanceSums::BalanceSums(const BalanceProblem& problem) : problem_(problem) {
  loads_.reserve(problem.loads.size() + 1);
  loads_.push_back(0);
  for (const double load : problem.loads) loads_.push_back(loads_.back() + load);
  if (problem.layer_memory.empty()) return;
  bytes_.push_back(0);
  for (const Bytes bytes : problem.layer_memory) bytes_.push_back(bytes_.back() + bytes.count());
}

int BalanceSums::NearestEdge(double load) const {
  const auto edge = std::lower_bound(loads_.begin(), loads_.end(), load);
  if (edge == loads_.begin()) return 0;
  const auto at = static_cast<int>(edge - loads_.begin());
  if (edge == loads_.end() || load - loads_[at - 1] < loads_[at] - load) return at - 1;
  return at;
}

std::vector<double> StageLoads(const BalanceProblem& problem, const Division& division) {
  const BalanceSums sums(problem);
  std::vector<double> loads;
  int begin = 0;
  for (int stage = 0; stage < problem.stages(); ++stage) {
    const int end = begin + division[stage];
    loads.push_back(sums.Time(stage, begin, end));
    begin = end;
  }
  return loads;
}

double SlowestLoad(const BalanceProblem& problem, const Division& division) {
  const std::vector<double> loads = StageLoads(problem, division);
  return *std::max_element(loads.begin(), loads.end());
}

double FluidLoad(const BalanceProblem& problem) {
  return std::accumulate(problem.loads.begin(), problem.loads.end(), 0.0) /
         std::accumulate(problem.speeds.begin(), problem.speeds.end(), 0.0);
}

bool FitsMemory(const BalanceProblem& problem, const Division& division) {
  const BalanceSums sums(problem);
  int begin = 0;
  for (int stage = 0; stage < problem.stages(); ++stage) {
    const int end = begin + division[stage];
    if (!sums.Fits(stage, begin, end)) return false;
    begin = end;
  }
  return true;
}

Division UniformDivision(int layers, int stages) {
  Division division(stages, layers / stages);
  for (int stage = 0; stage < layers % stages; ++stage) ++division[stage];
  return division;
}

}  // namespace stagecraft
