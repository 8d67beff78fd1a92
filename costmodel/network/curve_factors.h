// CurveFactors: the correlations among curves, factored, so that the weights of Kriging (w = K^-1
// k) take the square of the number of curves and not its cube.
#pragma once

#include <Eigen/Dense>
#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "costmodel/network/curve_features.h"
#include "costmodel/network/time_curve.h"

namespace stagecraft {

// Immutable; copies share the numbers.
class CurveFactors {
 public:
  // Cost: the cube of the number of curves.
  explicit CurveFactors(const std::vector<TimeCurve>& curves);

  // The factors as bytes, and the same factors read where these lie, which must be at a multiple of
  // 16 bytes and outlive all copies. CHECKs the size.
  std::string ToBytes() const;
  static CurveFactors InPlace(std::string_view bytes, size_t curves);

  // Returns K^-1 k by regime. Precondition: there are curves.
  using Vectors = std::array<Eigen::VectorXd, kRegimes.size()>;
  Vectors Solve(const Vectors& correlations) const;

 private:
  CurveFactors() = default;

  // By regime, column by column: L below the diagonal and D on it, of K = L D L^T.
  const double* Matrix(size_t regime) const;

  Eigen::Index size_ = 0;
  const double* values_ = nullptr;  // in owned_, or outside
  std::shared_ptr<const std::vector<double>> owned_;
};

}  // namespace stagecraft
