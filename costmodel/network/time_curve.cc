#include "costmodel/network/time_curve.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "costmodel/check.h"
#include "costmodel/device_catalogue.h"
#include "costmodel/network/formula.h"
#include "costmodel/statistics.h"

namespace stagecraft {
namespace {

constexpr double kKnotsPerOctave = 4;
constexpr double kLeastGap = 1e-3;  // octaves between knots; files keep 24 bits of sizes up to 45
// A time of which the harness leaves less than this share says nothing about NCCL.
constexpr double kLeastShare = 0.2;

using Knot = TimeCurve::Knot;

double Interpolate(const std::vector<Knot>& knots, double Knot::*axis, double at) {
  if (at <= knots.front().*axis) return knots.front().ratio;
  if (at >= knots.back().*axis) return knots.back().ratio;
  const auto next = std::upper_bound(knots.begin(), knots.end(), at,
                                     [&](double value, const Knot& k) { return value < k.*axis; });
  const Knot& above = *next;
  const Knot& below = *(next - 1);
  const double width = above.*axis - below.*axis;
  return below.ratio + (at - below.*axis) / width * (above.ratio - below.ratio);
}

// The share of the outermost residual that is left beyond the knots.
double Faded(const std::vector<Knot>& knots, double Knot::*axis, double at, double trust) {
  constexpr double kDoublings = 4;
  const double beyond = std::max({0.0, knots.front().*axis - at, at - knots.back().*axis});
  return std::exp(-trust * beyond / kDoublings);
}

// The samples of one quarter of an octave.
struct Bin {
  double sizes = 0;
  std::vector<double> ratios;

  double MeanSize() const { return sizes / static_cast<double>(ratios.size()); }
};

Generation GenerationOf(const std::string& gpu) {
  return DeviceCatalogue::Embedded().Get(gpu, "gpu").device.generation;
}

// Joins bins of neighbouring quarters if their sizes may differ by rounding alone.
std::vector<Bin> FarApart(std::map<int64_t, Bin>& bins) {
  std::vector<Bin> apart;
  for (auto& [index, bin] : bins) {
    if (apart.empty() || bin.MeanSize() - apart.back().MeanSize() >= kLeastGap) {
      apart.push_back(std::move(bin));
      continue;
    }
    Bin& last = apart.back();
    last.sizes += bin.sizes;
    last.ratios.insert(last.ratios.end(), bin.ratios.begin(), bin.ratios.end());
  }
  return apart;
}

// Rounds a knot as files do, so that a fitted model prices the same before and after it is written
// and read.
Knot AsInFiles(const Knot& knot) {
  const auto kept = [](double value) { return static_cast<double>(static_cast<float>(value)); };
  return {kept(knot.size), kept(knot.regime), kept(knot.ratio)};
}

std::vector<Knot> MakeKnots(std::map<int64_t, Bin>& bins, const Formula& formula) {
  std::vector<Knot> knots;
  for (Bin& bin : FarApart(bins)) {
    Knot knot;
    knot.size = bin.MeanSize();
    const Bytes bytes(std::llround(std::exp2(knot.size)));
    knot.regime = formula.RegimeAt(formula.SecondsOf(formula.ChoiceAt(bytes)));
    // Corrections of trees by size may let the formula's time fall.
    if (!knots.empty()) knot.regime = std::max(knot.regime, knots.back().regime);
    knot.ratio = Median(bin.ratios);
    knots.push_back(AsInFiles(knot));
  }
  return knots;
}

double LogRatio(const NetworkSample& sample, double seconds, double expected) {
  const double ratio = std::log(seconds / expected);
  if (std::abs(ratio) <= kMostLogRatio) return ratio;
  throw InputError(fmt::format(
      "{}: {} of {} bytes among {} ranks: got {:g} s, where NCCL's formula has {:g} s, want a time "
      "within e^{} of that",
      sample.system, Name(sample.op.kind), sample.op.bytes.count(), sample.op.fabric.ranks,
      sample.time.seconds(), expected, kMostLogRatio));
}

}  // namespace

double ResidualCurve::AtSize(double size) const {
  return curve.RatioAtSize(size) * Faded(curve.knots, &Knot::size, size, trust);
}

double ResidualCurve::AtRegime(double regime) const {
  return curve.RatioAtRegime(regime) * Faded(curve.knots, &Knot::regime, regime, trust);
}

double TimeCurve::RatioAtSize(double size) const { return Interpolate(knots, &Knot::size, size); }

double TimeCurve::RatioAtRegime(double regime) const {
  if (regime <= knots.back().regime) return Interpolate(knots, &Knot::regime, regime);
  return TimeCurveEnd(*this).RatioAt(regime, std::exp2(regime));
}

TimeCurveEnd::TimeCurveEnd(const TimeCurve& curve) : curve_(&curve) {
  constexpr double kSlopeDoublings = 2;
  constexpr double kMostChange = 0.5;  // of the logarithm of the ratio
  const std::vector<Knot>& knots = curve.knots;
  const Knot& last = knots.back();
  size_t from = knots.size() - 1;
  while (from > 0 && last.regime - knots[from].regime < kSlopeDoublings) --from;
  const Knot& first = knots[from];
  is_flat_ = last.regime - first.regime < kSlopeDoublings;
  if (is_flat_) return;
  formula_ = std::exp2(last.regime);
  measured_ = formula_ * std::exp(last.ratio);
  const double first_formula = std::exp2(first.regime);
  const double first_measured = first_formula * std::exp(first.ratio);
  slope_ = std::clamp((measured_ - first_measured) / (formula_ - first_formula),
                      std::exp(last.ratio - kMostChange), std::exp(last.ratio + kMostChange));
}

double TimeCurveEnd::RatioAt(double regime, double formula) const {
  if (regime <= curve_->knots.back().regime) return curve_->RatioAtRegime(regime);
  if (is_flat_) return curve_->knots.back().ratio;
  return std::log((measured_ + slope_ * (formula - formula_)) / formula);
}

std::vector<TimeCurve> MakeCurves(std::span<const NetworkSample> samples,
                                  std::span<const int> chosen, const Harnesses& harnesses) {
  std::map<std::string, Generation> generations;
  std::map<CurveFeatures, std::vector<int>> groups;
  for (const int index : chosen) {
    const std::string& gpu = samples[index].gpu;
    const auto known = generations.find(gpu);
    const Generation generation = known != generations.end()
                                      ? known->second
                                      : generations.emplace(gpu, GenerationOf(gpu)).first->second;
    groups[FeaturesOf(samples[index], generation)].push_back(index);
  }
  std::vector<TimeCurve> curves;
  for (const auto& [features, members] : groups) {
    Device device;
    device.generation = features.generation;
    const Formula formula(samples[members[0]].op, device, features.forced);
    std::map<int64_t, Bin> bins;
    for (const int index : members) {
      const NetworkSample& sample = samples[index];
      const Duration time = sample.time - harnesses.Of(sample);
      if (time.seconds() < kLeastShare * sample.time.seconds()) continue;
      const double size = std::log2(static_cast<double>(sample.op.bytes.count()));
      const double expected = formula.SecondsOf(formula.ChoiceAt(sample.op.bytes));
      Bin& bin = bins[std::llround(size * kKnotsPerOctave)];
      bin.sizes += size;
      bin.ratios.push_back(LogRatio(sample, time.seconds(), expected));
    }
    if (!bins.empty()) curves.push_back({features, MakeKnots(bins, formula)});
  }
  return curves;
}

}  // namespace stagecraft
