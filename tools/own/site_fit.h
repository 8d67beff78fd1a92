// SiteFit: the factors of a site that explain its measured training steps best, and how well steps
// are predicted that were left out.
#pragma once

#include <functional>
#include <iosfwd>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "costmodel/site_factors.h"

namespace stagecraft {

// The three factors, as a set of bits; kNoFactors is the model as it is.
using FactorSet = unsigned;
inline constexpr FactorSet kNoFactors = 0, kComputeFactor = 1, kNetworkFactor = 2, kHostFactor = 4;

// How many measured steps a site needs for each factor that is fitted.
inline constexpr int kRowsPerFactor = 3;

// Returns the time of a step, in seconds, at a site with these factors. `step` counts from 0.
using SecondsAtSite = std::function<double(int step, const SiteFactors& factors)>;

struct SiteFitRow {
  std::string name;
  double measured = 0;            // seconds
  double before = 0, fitted = 0;  // predicted, without and with the factors, in seconds
  double left_out = 0;            // with factors fitted on all other rows
};

struct SiteFit {
  SiteFactors factors;
  FactorSet used = kNoFactors;
  int most_factors = 0;  // that so many rows allow
  std::vector<SiteFitRow> rows;
  // Mean absolute errors, as shares of the measured times.
  double before = 0, fitted = 0, left_out = 0;
};

// Fits every set of at most rows / kRowsPerFactor factors and takes the one with the least error on
// rows that were left out of the fit, one after another; no factor if none does better than the
// model as it is. A fit minimises the sum over rows of log(predicted / measured)^2, plus a ridge
// that draws the logarithms of factors towards zero: steps vary by 5 %, sites by 20 %, so that the
// square of a factor's logarithm counts (5 / 20)^2. Factors are multiples of e^0.005. Calls
// `seconds` once at most for each step and choice of factors. Throws InputError for fewer than
// kRowsPerFactor rows.
SiteFit FitSite(const std::vector<std::string>& names, const std::vector<double>& measured,
                const SecondsAtSite& seconds);

void PrintSiteFit(const SiteFit& fit, std::ostream& out);
nlohmann::ordered_json ToJson(const SiteFit& fit);

}  // namespace stagecraft
