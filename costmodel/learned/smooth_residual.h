// SmoothResidual: what is left of a site's measurements when the constants of a GPU type have moved
// as far as they may, smoothed over the sizes of ops.
//
// It is the mean of a Gaussian process over the logarithms of an op's sizes. Far from all
// measurements it is zero.
#pragma once

#include <span>
#include <vector>

#include "costmodel/op.h"
#include "proto/cost_model.pb.h"

namespace stagecraft {

class SmoothResidual {
 public:
  SmoothResidual() = default;  // zero everywhere

  // `residuals` are logarithms of measured over predicted time, one for each op, and `sigmas` says
  // how uncertain each is. At most kMostPoints ops, evenly drawn, are used: fitting takes time that
  // grows with the cube of their number, and asking with the number.
  static SmoothResidual Fit(std::span<const Op> ops, std::span<const double> residuals,
                            std::span<const double> sigmas);
  static constexpr size_t kMostPoints = 300;

  // Returns the residual of an op, within [-kMost, kMost].
  double Of(const Op& op) const;
  static constexpr double kMost = 0.25;

  bool is_zero() const { return points_.empty(); }

  // FromProto() throws an InputError that begins with `place`.
  static SmoothResidual FromProto(const SmoothResidualProto& proto, const std::string& place);
  SmoothResidualProto ToProto() const;

 private:
  struct Point {
    double batch, m, n, k;  // logarithms to base 2
    double weight = 0;
  };
  static Point PointOf(const Op& op);
  static double Covariance(const Point& a, const Point& b);

  std::vector<Point> points_;
};

}  // namespace stagecraft
