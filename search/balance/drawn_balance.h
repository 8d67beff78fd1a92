// DrawLoads() and its like: balance problems drawn for tests and benchmarks, and their best
// divisions found in another way.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "costmodel/random.h"
#include "search/balance/balance_problem.h"

namespace stagecraft {

enum class LoadKind { kFrozen, kPruned, kEarlyExit, kRandom };
inline constexpr int kLoadKinds = 4;

// Layers are equal at first. kFrozen: a prefix takes its forward pass only, a third of a trained
// layer. kPruned: a global magnitude threshold over weights of unlike deviations. kEarlyExit: the
// tokens that survive grow fewer from layer to layer. kRandom: uniform in [0, 1).
inline std::vector<double> DrawLoads(LoadKind kind, int layers, Random& random) {
  std::vector<double> loads(layers, 1.0);
  const double share = random.Uniform();
  double survivors = 1;
  for (int layer = 0; layer < layers; ++layer) {
    const double draw = random.Uniform();
    switch (kind) {
      case LoadKind::kFrozen:
        loads[layer] = layer < share * layers ? 1 : 3;
        break;
      case LoadKind::kPruned:
        loads[layer] = std::erfc((0.5 + 2 * share) / (0.5 + draw) / std::sqrt(2.0)) + 0.02;
        break;
      case LoadKind::kEarlyExit:
        loads[layer] = survivors;
        survivors *= 1 - 0.2 * share * draw;
        break;
      case LoadKind::kRandom:
        loads[layer] = draw;
        break;
    }
  }
  return loads;
}

// Draws 4 to 24 stages of speed 1 and 24 to 56 layers, at least as many as stages.
inline BalanceProblem DrawBalanceProblem(uint64_t seed) {
  Random random = Random(seed).Child("balance problem", 0);
  const auto stages = static_cast<int>(random.Integer(4, 24));
  const auto layers = static_cast<int>(random.Integer(24, 56));
  const auto kind = static_cast<LoadKind>(random.Integer(0, kLoadKinds - 1));
  BalanceProblem problem;
  problem.loads = DrawLoads(kind, layers, random);
  problem.speeds.assign(stages, 1.0);
  return problem;
}

// Lets some stages run at a half or a third of the speed.
inline void SlowSome(BalanceProblem& problem, Random& random) {
  for (double& speed : problem.speeds) {
    const int64_t draw = random.Integer(0, 5);
    if (draw < 2) speed = draw == 0 ? 0.5 : 1.0 / 3;
  }
}

// Returns the least load of the slowest stage over all divisions that fit memory, by dynamic
// programming over all of them; infinite if none fits. Shares nothing with the solvers.
inline double LeastSlowest(const BalanceProblem& problem) {
  const double never = std::numeric_limits<double>::infinity();
  std::vector<double> least(problem.layers() + 1,
                            never);  // It is indexed by the end of the stages so far.
  least[0] = 0;
  for (int stage = 0; stage < problem.stages(); ++stage) {
    std::vector<double> next(problem.layers() + 1, never);
    for (int begin = 0; begin < problem.layers(); ++begin) {
      if (least[begin] == never) continue;
      double load = 0;
      int64_t bytes = 0;
      for (int end = begin + 1; end <= problem.layers(); ++end) {
        load += problem.loads[end - 1];
        if (!problem.layer_memory.empty()) {
          bytes += problem.layer_memory[end - 1].count();
          if (bytes > problem.stage_limits[stage].count()) break;
        }
        next[end] = std::min(next[end], std::max(least[begin], load / problem.speeds[stage]));
      }
    }
    least = next;
  }
  return least.back();
}

}  // namespace stagecraft
