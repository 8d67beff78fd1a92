// How boosted trees are trained.
#pragma once

namespace stagecraft {

struct BoostingOptions {
  int rounds = 300;
  int max_depth = 6;
  double learning_rate = 0.08;
  double min_child_weight = 5;
  double row_fraction = 0.8;     // drawn anew for each tree
  double column_fraction = 0.7;  // likewise
  double l2 = 1;
  // With 0 the loss is squared error. Otherwise errors well above this value count by their size,
  // not by their square: gradients are e / sqrt(1 + (e / scale)^2), so that no trees are spent on
  // outliers.
  double absolute_scale = 0;
  int seed = 1;
};

}  // namespace stagecraft
