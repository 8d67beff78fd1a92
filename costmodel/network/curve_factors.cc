#include "costmodel/network/curve_factors.h"

#include <cmath>
#include <limits>
#include <utility>

#include "costmodel/check.h"

namespace stagecraft {
namespace {

// The noise of a curve's ratios around values that are smooth over groups, in units of their
// variance.
constexpr double kNoise = 0.04;

using Matrices = std::array<Eigen::MatrixXd, kRegimes.size()>;

Matrices CorrelationsAmong(const std::vector<TimeCurve>& curves) {
  const auto n = static_cast<Eigen::Index>(curves.size());
  Matrices matrices;
  for (Eigen::MatrixXd& matrix : matrices) matrix.resize(n, n);
  for (Eigen::Index i = 0; i < n; ++i) {
    for (Eigen::Index j = 0; j <= i; ++j) {
      const auto correlations = Correlations(curves[i].features, curves[j].features);
      for (size_t r = 0; r < kRegimes.size(); ++r) {
        matrices[r](i, j) = correlations[r];
        matrices[r](j, i) = correlations[r];
      }
    }
    for (Eigen::MatrixXd& matrix : matrices) matrix(i, i) += kNoise;
  }
  return matrices;
}

}  // namespace

CurveFactors::CurveFactors(const std::vector<TimeCurve>& curves)
    : size_(static_cast<Eigen::Index>(curves.size())) {
  std::vector<double> values;
  if (size_ > 0) {
    for (const Eigen::MatrixXd& matrix : CorrelationsAmong(curves)) {
      const Eigen::LDLT<Eigen::MatrixXd> factored(matrix);
      // All variances are the same, so Eigen takes the curves in their own order.
      for (Eigen::Index i = 0; i < size_; ++i) CHECK(factored.transpositionsP().coeff(i) == i);
      const Eigen::MatrixXd& factor = factored.matrixLDLT();
      values.insert(values.end(), factor.data(), factor.data() + factor.size());
    }
  }
  owned_ = std::make_shared<const std::vector<double>>(std::move(values));
  values_ = owned_->data();
}

std::string CurveFactors::ToBytes() const {
  const auto count = kRegimes.size() * static_cast<size_t>(size_ * size_);
  return {reinterpret_cast<const char*>(values_), count * sizeof(double)};
}

CurveFactors CurveFactors::InPlace(std::string_view bytes, size_t curves) {
  CHECK(bytes.size() == kRegimes.size() * curves * curves * sizeof(double));
  CurveFactors factors;
  factors.size_ = static_cast<Eigen::Index>(curves);
  factors.values_ = reinterpret_cast<const double*>(bytes.data());
  return factors;
}

const double* CurveFactors::Matrix(size_t regime) const {
  return values_ + static_cast<Eigen::Index>(regime) * size_ * size_;
}

// The steps of Eigen's LDLT::solve().
CurveFactors::Vectors CurveFactors::Solve(const Vectors& correlations) const {
  constexpr double kNothing = std::numeric_limits<double>::min();
  Vectors solved = correlations;
  for (size_t r = 0; r < kRegimes.size(); ++r) {
    const Eigen::Map<const Eigen::MatrixXd> factor(Matrix(r), size_, size_);
    Eigen::VectorXd& x = solved[r];
    factor.triangularView<Eigen::UnitLower>().solveInPlace(x);
    for (Eigen::Index i = 0; i < size_; ++i) {
      x(i) = std::abs(factor(i, i)) > kNothing ? x(i) / factor(i, i) : 0;
    }
    factor.transpose().triangularView<Eigen::UnitUpper>().solveInPlace(x);
  }
  return solved;
}

}  // namespace stagecraft
