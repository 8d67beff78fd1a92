// Anneal(): simulated annealing, which cools down several times over.
#pragma once

#include <cmath>
#include <cstdint>

#include "search/partition/stop_sign.h"

namespace stagecraft {

struct Cooling {
  int rounds = 1;
  double hot = 0, cold = 0;  // temperatures at which the first round begins and every round ends
  double reheating = 1;      // where the next round begins, as a share of where this one began
};

// Begins each round with `begin()`, which goes back to the best so far. Tries `steps` changes in
// all with `change(temperature)`, equally many in every round. The temperatures of a round fall by
// equal ratios. Tries nothing more once `stop` is up.
template <typename Begin, typename Change>
void Anneal(const Cooling& cooling, int64_t steps, const StopSign& stop, const Begin& begin,
            const Change& change) {
  const int64_t count = steps / cooling.rounds;
  for (int round = 0; round < cooling.rounds; ++round) {
    begin();
    const double hot = cooling.hot * std::pow(cooling.reheating, round);
    for (int64_t step = 0; step < count && !stop.IsUp(); ++step) {
      const double progress = static_cast<double>(step) / static_cast<double>(count);
      change(hot * std::pow(cooling.cold / hot, progress));
    }
  }
}

// Returns whether to keep a change that makes things worse by `rise` (Metropolis et al., 1953);
// `draw` is uniform in [0, 1). A change that makes nothing worse is always kept.
inline bool KeepsChange(double rise, double temperature, double draw) {
  return rise <= 0 || draw < std::exp(-rise / temperature);
}

}  // namespace stagecraft
