// TimeCurve: measured times of one collective over one group, size by size, as logarithms of
// measured / formula (formula.h).
//
// Between curves, sizes are compared by regime: log2 of the formula's time over half of its time
// for no bytes. It is 1 for sizes at which only latency counts, and grows by one with each doubling
// at which only bandwidth counts; so a message that is long for two ranks corresponds to a longer
// one for eight.
#pragma once

#include <span>
#include <vector>

#include "costmodel/network/curve_features.h"
#include "costmodel/network/harness.h"
#include "costmodel/network/network_sample.h"

namespace stagecraft {

struct TimeCurve {
  struct Knot {
    double size = 0;    // log2 of bytes
    double regime = 0;  // ascending with size
    double ratio = 0;   // log(measured / formula)
  };

  CurveFeatures features;
  std::vector<Knot> knots;  // ascending sizes

  // Returns a ratio that is linear between knots and constant beyond them.
  double RatioAtSize(double size) const;
  // The same, but above the last knot the ratio moves on (TimeCurveEnd).
  double RatioAtRegime(double regime) const;
};

// TimeCurveEnd: the ratios of a curve above its last knot. There a further byte costs the same
// multiple of the formula's as in the last two regimes.
class TimeCurveEnd {
 public:
  // The curve must outlive it.
  explicit TimeCurveEnd(const TimeCurve& curve);

  // `formula` is exp2(regime): the formula's time, over half of its time for no bytes.
  double RatioAt(double regime, double formula) const;

 private:
  const TimeCurve* curve_;
  bool is_flat_ = false;  // too few regimes were measured
  // At the last knot: the formula's time, and the measured one; and what a further byte costs.
  double formula_ = 0, measured_ = 0, slope_ = 0;
};

// ResidualCurve: what a site's curve has beyond the prediction without that site, knot by knot: its
// `ratio` is log(measured / predicted).
struct ResidualCurve {
  TimeCurve curve;
  double trust = 1;  // in the prediction, from 0 (there is only the formula) to 1

  // Like those of TimeCurve, but beyond the knots the residual fades within some doublings: the
  // faster, the more the prediction is trusted.
  double AtSize(double size) const;
  double AtRegime(double regime) const;
};

// Limits for a model and its file: the correlations of the curves are a matrix, and a time of e^20
// times the formula's is no measurement.
inline constexpr size_t kMostCurves = 3000;
inline constexpr double kMostLogRatio = 20;

// Makes curves of the chosen samples, without their harnesses. Samples with equal features make one
// curve; a knot is the median over a quarter of an octave. A time of which the harness leaves less
// than a fifth is left out. Curves are in the order of their features. CHECKs that GPU types are in
// the catalogue. Throws InputError if a time is beyond kMostLogRatio.
std::vector<TimeCurve> MakeCurves(std::span<const NetworkSample> samples,
                                  std::span<const int> chosen, const Harnesses& harnesses);

}  // namespace stagecraft
