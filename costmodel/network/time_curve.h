// TimeCurve: measured times of one collective over one group, size by size, as logarithms of
// measured / formula.
//
// The formula is NCCL's own model (collective_model.h) plus part of a step for rings inside a node.
// Between curves, sizes are compared by regime: log2 of the formula's time over half of its time
// for no bytes. It is 1 for sizes at which only latency counts, and grows by one with each doubling
// at which only bandwidth counts; so a message that is long for two ranks corresponds to a longer
// one for eight.
#pragma once

#include <span>
#include <vector>

#include "costmodel/network/curve_features.h"
#include "costmodel/network/network_sample.h"

namespace stagecraft {

class Harnesses;

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
  double RatioAtRegime(double regime) const;
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

// Formula: the formula for one collective over one group, as curves use it.
class Formula {
 public:
  Formula(const Op& op, const Device& device, std::optional<Algorithm> forced);

  CollectiveChoice ChoiceAt(Bytes bytes) const;
  // Returns the time of the choice, to which rings inside a node add part of a step: the bytes of
  // the last step have arrived but are yet to be reduced or copied.
  double SecondsOf(const CollectiveChoice& choice) const;
  double RegimeAt(double seconds) const;

 private:
  Op op_;
  Device device_;
  std::optional<Algorithm> forced_;
  double least_seconds_;  // of no bytes
};

// Limits for a model and its file: the correlations of the curves are a matrix, and a time of e^20
// times the formula's is no measurement.
inline constexpr size_t kMostCurves = 3000;
inline constexpr double kMostLogRatio = 20;

// Makes curves of the chosen samples, without their harnesses. Samples with equal features make one
// curve; a knot is the median over a quarter of an octave. Times that are mostly the harness's are
// left out. Curves are in the order of their features. CHECKs that GPU types are in the catalogue.
// Throws InputError if a time is beyond kMostLogRatio.
std::vector<TimeCurve> MakeCurves(std::span<const NetworkSample> samples,
                                  std::span<const int> chosen, const Harnesses& harnesses);

}  // namespace stagecraft
