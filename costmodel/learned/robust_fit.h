// RobustFit: nonlinear least squares that a few outliers do not dominate.
#pragma once

#include <functional>
#include <limits>
#include <span>
#include <vector>

namespace stagecraft {

// Options of the search for numbers x; all are in the units of x or of residuals.
struct RobustFitOptions {
  std::vector<double> sigmas = {};  // how far each may be from its start, as a guess; one for each
  double scale = 1;                 // residuals well above it count by their size, not their square
  double pull = 1;                  // weight of ((x - start) / sigma)^2 against residuals
  double most_sigmas = std::numeric_limits<double>::infinity();  // no x goes further
  double step = 1e-2;                                            // for derivatives
  double damping = 1e-2;                                         // Levenberg's damping at the start
  double least_damping = 1e-6;
  double most_damping = 1e6;  // gives up when it exceeds this
  double tolerance = 1e-7;    // share of the loss below which a gain ends the search
  int most_iterations = 30;
};

// Minimises, over x,
//
//   sum of 2 scale^2 (sqrt(1 + (r / scale)^2) - 1)  +  pull x sum of ((x - start) / sigma)^2
//
// with r = residuals(x), whose number must not change. Gauss-Newton with Levenberg's damping and
// finite differences as derivatives: deterministic.
std::vector<double> FitRobustly(
    const std::function<std::vector<double>(std::span<const double>)>& residuals,
    std::span<const double> start, const RobustFitOptions& options);

}  // namespace stagecraft
