#include "tools/own/site_fit.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <ostream>
#include <tuple>
#include <utility>

#include "costmodel/check.h"

namespace stagecraft {
namespace {

constexpr double kPercent = 100;
constexpr double kGrain = 0.005;  // of the logarithm of a factor
// Steps of the search, in grains, from wide to narrow.
constexpr int kStrides[] = {32, 16, 8, 4, 2, 1};
constexpr int kMostGrains = 321;  // e^1.605 = 4.98, below kMostSiteFactor
constexpr double kStepSigma = 0.05, kSiteSigma = 0.2;
constexpr double kRidge = kStepSigma * kStepSigma / (kSiteSigma * kSiteSigma);
constexpr int kFactors = 3;
constexpr std::array<const char*, kFactors> kNames = {"compute speed", "network speed",
                                                      "host time"};

using Grains = std::array<int, kFactors>;

double FactorOf(int grains) { return std::exp(kGrain * grains); }
SiteFactors FactorsOf(const Grains& grains) {
  return {FactorOf(grains[0]), FactorOf(grains[1]), FactorOf(grains[2])};
}

class Fitter {
 public:
  Fitter(const std::vector<double>& measured, const SecondsAtSite& seconds)
      : measured_(measured), seconds_(seconds) {}

  double Seconds(int row, const Grains& grains) {
    const auto [found, is_new] = known_.try_emplace({row, grains});
    if (is_new) found->second = seconds_(row, FactorsOf(grains));
    return found->second;
  }

  // Returns the best factors of a set without the row `left_out`; -1: with all rows.
  Grains Fit(FactorSet set, int left_out) {
    Grains best{};
    double least = Loss(best, left_out);
    for (const int stride : kStrides) {
      for (bool improves = true; improves;) {
        improves = false;
        for (int factor = 0; factor < kFactors; ++factor) {
          if ((set >> factor & 1U) == 0) continue;
          for (const int step : {stride, -stride}) {
            Grains other = best;
            other[factor] += step;
            if (std::abs(other[factor]) > kMostGrains) continue;
            const double loss = Loss(other, left_out);
            if (loss >= least) continue;
            least = loss;
            best = other;
            improves = true;
          }
        }
      }
    }
    return best;
  }

  double Error(int row, const Grains& grains) {
    return std::abs(Seconds(row, grains) / measured_[row] - 1);
  }

 private:
  double Loss(const Grains& grains, int left_out) {
    double loss = 0;
    for (int row = 0; row < std::ssize(measured_); ++row) {
      if (row == left_out) continue;
      const double log_ratio = std::log(Seconds(row, grains) / measured_[row]);
      loss += log_ratio * log_ratio;
    }
    for (const int each : grains) loss += kRidge * (kGrain * each) * (kGrain * each);
    return loss;
  }

  const std::vector<double>& measured_;
  const SecondsAtSite& seconds_;
  std::map<std::pair<int, Grains>, double> known_;
};

}  // namespace

SiteFit FitSite(const std::vector<std::string>& names, const std::vector<double>& measured,
                const SecondsAtSite& seconds) {
  const int rows = static_cast<int>(measured.size());
  SiteFit fit;
  fit.most_factors = rows / kRowsPerFactor;
  if (fit.most_factors == 0) {
    throw InputError(
        fmt::format("--steps: got {} measured steps, want at least {}: one factor for "
                    "every {}",
                    rows, kRowsPerFactor, kRowsPerFactor));
  }
  Fitter fitter(measured, seconds);
  double least = std::numeric_limits<double>::infinity();
  std::vector<Grains> left_out(rows);
  // Sets in order of their size, so that among equals the smallest is taken.
  for (int size = 0; size <= std::min(fit.most_factors, kFactors); ++size) {
    for (FactorSet set = 0; set < 1U << kFactors; ++set) {
      if (std::popcount(set) != size) continue;
      std::vector<Grains> grains(rows);
      double error = 0;
      for (int row = 0; row < rows; ++row) {
        grains[row] = fitter.Fit(set, row);
        error += fitter.Error(row, grains[row]) / rows;
      }
      if (error >= least) continue;
      least = error;
      fit.used = set;
      left_out = std::move(grains);
    }
  }
  const Grains best = fitter.Fit(fit.used, -1);
  fit.factors = FactorsOf(best);
  for (int row = 0; row < rows; ++row) {
    fit.rows.push_back({names[row], measured[row], fitter.Seconds(row, {}),
                        fitter.Seconds(row, best), fitter.Seconds(row, left_out[row])});
    fit.before += fitter.Error(row, {}) / rows;
    fit.fitted += fitter.Error(row, best) / rows;
    fit.left_out += fitter.Error(row, left_out[row]) / rows;
  }
  return fit;
}

void PrintSiteFit(const SiteFit& fit, std::ostream& out) {
  out << fmt::format("{} measured steps allow {} of the 3 factors\n", fit.rows.size(),
                     std::min(fit.most_factors, kFactors));
  const double factors[] = {fit.factors.compute, fit.factors.network, fit.factors.host};
  for (int factor = 0; factor < kFactors; ++factor) {
    const bool is_used = (fit.used >> factor & 1U) != 0;
    out << fmt::format("  {:<14} x {:.3f}{}\n", kNames[factor], factors[factor],
                       is_used ? "" : "  (stays)");
  }
  out << fmt::format("\n{:<28}{:>12}{:>10}{:>10}{:>10}\n", "step", "measured s", "before", "fitted",
                     "left out");
  const auto error = [](double predicted, double measured) {
    return fmt::format("{:+.1f} %", kPercent * (predicted / measured - 1));
  };
  for (const SiteFitRow& row : fit.rows) {
    out << fmt::format("{:<28}{:>12.4g}{:>10}{:>10}{:>10}\n", row.name, row.measured,
                       error(row.before, row.measured), error(row.fitted, row.measured),
                       error(row.left_out, row.measured));
  }
  out << fmt::format("{:<28}{:>12}{:>8.1f} %{:>8.1f} %{:>8.1f} %\n", "mean error", "",
                     kPercent * fit.before, kPercent * fit.fitted, kPercent * fit.left_out);
  if (fit.used == kNoFactors) {
    out << "no factor predicts steps better that were left out of its fit: all stay as they were\n";
  }
}

nlohmann::ordered_json ToJson(const SiteFit& fit) {
  nlohmann::ordered_json used = nlohmann::ordered_json::array();
  for (int factor = 0; factor < kFactors; ++factor) {
    if ((fit.used >> factor & 1U) != 0) used.push_back(kNames[factor]);
  }
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const SiteFitRow& row : fit.rows) {
    rows.push_back({{"name", row.name},
                    {"measured_s", row.measured},
                    {"before_s", row.before},
                    {"fitted_s", row.fitted},
                    {"left_out_s", row.left_out}});
  }
  return {{"compute_speed", fit.factors.compute},
          {"network_speed", fit.factors.network},
          {"host_time", fit.factors.host},
          {"fitted_factors", std::move(used)},
          {"most_factors", std::min(fit.most_factors, kFactors)},
          {"error_percent",
           {{"before", kPercent * fit.before},
            {"fitted", kPercent * fit.fitted},
            {"left_out", kPercent * fit.left_out}}},
          {"rows", std::move(rows)}};
}

}  // namespace stagecraft
