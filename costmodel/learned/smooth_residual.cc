#include "costmodel/learned/smooth_residual.h"

#include <fmt/core.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>

#include "costmodel/check.h"

namespace stagecraft {
namespace {

// The standard deviation of residuals, and the number of doublings over which they are alike.
constexpr double kSigma = 0.06;
constexpr double kDoublings = 2.5;
constexpr double kMostWeight = 1e6;

double Log2(int64_t size) { return std::log2(static_cast<double>(std::max<int64_t>(1, size))); }

}  // namespace

SmoothResidual::Point SmoothResidual::PointOf(const Op& op) {
  const int64_t rows = op.m > 0 ? op.m : op.bytes.count();
  return {Log2(op.batch), Log2(rows), Log2(op.n), Log2(op.k)};
}

double SmoothResidual::Covariance(const Point& a, const Point& b) {
  const double distance = (a.batch - b.batch) * (a.batch - b.batch) + (a.m - b.m) * (a.m - b.m) +
                          (a.n - b.n) * (a.n - b.n) + (a.k - b.k) * (a.k - b.k);
  return kSigma * kSigma * std::exp(-distance / (2 * kDoublings * kDoublings));
}

SmoothResidual SmoothResidual::Fit(std::span<const Op> ops, std::span<const double> residuals,
                                   std::span<const double> sigmas) {
  CHECK(ops.size() == residuals.size() && ops.size() == sigmas.size());
  SmoothResidual smooth;
  const size_t count = std::min(kMostPoints, ops.size());
  if (count == 0) return smooth;
  const auto size = static_cast<Eigen::Index>(count);
  Eigen::VectorXd target(size), noise(size);
  for (size_t i = 0; i < count; ++i) {
    const size_t from = i * ops.size() / count;
    smooth.points_.push_back(PointOf(ops[from]));
    target[static_cast<Eigen::Index>(i)] = residuals[from];
    noise[static_cast<Eigen::Index>(i)] = sigmas[from] * sigmas[from];
  }
  Eigen::MatrixXd covariance(size, size);
  for (Eigen::Index i = 0; i < size; ++i) {
    for (Eigen::Index j = 0; j < size; ++j) {
      covariance(i, j) = Covariance(smooth.points_[static_cast<size_t>(i)],
                                    smooth.points_[static_cast<size_t>(j)]);
    }
  }
  covariance.diagonal() += noise;
  const Eigen::VectorXd weights = covariance.llt().solve(target);
  for (size_t i = 0; i < count; ++i) {
    smooth.points_[i].weight = weights[static_cast<Eigen::Index>(i)];
  }
  return smooth;
}

double SmoothResidual::Of(const Op& op) const {
  if (is_zero()) return 0;
  const Point at = PointOf(op);
  double sum = 0;
  for (const Point& point : points_) sum += point.weight * Covariance(at, point);
  return std::clamp(sum, -kMost, kMost);
}

SmoothResidual SmoothResidual::FromProto(const SmoothResidualProto& proto,
                                         const std::string& place) {
  SmoothResidual smooth;
  if (proto.points_size() > static_cast<int>(kMostPoints)) {
    throw InputError(
        fmt::format("{}.points: got {}, want at most {}", place, proto.points_size(), kMostPoints));
  }
  for (int i = 0; i < proto.points_size(); ++i) {
    const SmoothResidualProto::Point& point = proto.points(i);
    const auto check = [&](const char* field, double value, double low, double high) {
      if (value >= low && value <= high) return;
      throw InputError(fmt::format("{}.points[{}].{}: got {}, want from {} to {}", place, i, field,
                                   value, low, high));
    };
    check("log2_batch", point.log2_batch(), 0, 64);
    check("log2_m", point.log2_m(), 0, 64);
    check("log2_n", point.log2_n(), 0, 64);
    check("log2_k", point.log2_k(), 0, 64);
    check("weight", point.weight(), -kMostWeight, kMostWeight);
    smooth.points_.push_back(
        {point.log2_batch(), point.log2_m(), point.log2_n(), point.log2_k(), point.weight()});
  }
  return smooth;
}

SmoothResidualProto SmoothResidual::ToProto() const {
  SmoothResidualProto proto;
  for (const Point& point : points_) {
    SmoothResidualProto::Point* const to = proto.add_points();
    to->set_log2_batch(point.batch);
    to->set_log2_m(point.m);
    to->set_log2_n(point.n);
    to->set_log2_k(point.k);
    to->set_weight(point.weight);
  }
  return proto;
}

}  // namespace stagecraft
