// Pruning by magnitude: when weights are removed, and how many of each layer are left.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace stagecraft {

// Sparsity that grows with the cube of what is left to prune (Zhu and Gupta, "To prune, or not to
// prune: exploring the efficacy of pruning for model compression", 2017): S = final + (initial -
// final) (1 - (step - first) / (end - first))^3 at steps first, first + interval, ... < end.
struct SparsitySchedule {
  double initial = 0;      // in [0, final]
  double final = 0.9;      // in [initial, 1)
  int64_t first_step = 0;  // >= 0
  int64_t end_step = 0;    // > first_step
  int64_t interval = 1;    // > 0
};

// Returns the last step up to this one at which weights are removed; -1 if there is none.
int64_t LastPruning(const SparsitySchedule& schedule, int64_t step);
// Returns the share of weights that are zero from a step on at which weights are removed.
double SparsityAt(const SparsitySchedule& schedule, int64_t step);

// The weights of one layer: as many as `count`, normally distributed around zero.
struct LayerWeights {
  double count = 0;  // > 0
  double sigma = 1;  // > 0
};

// Returns the share of each layer's weights that stay if those of least magnitude are removed from
// all layers together: with the threshold t at which sum of count x erfc(t / (sigma sqrt(2))) is
// (1 - sparsity) of all weights, a layer keeps erfc(t / (sigma sqrt(2))). `sparsity` is in [0, 1).
std::vector<double> KeptByMagnitude(std::span<const LayerWeights> layers, double sparsity);

}  // namespace stagecraft
