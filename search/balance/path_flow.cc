#include "search/balance/path_flow.h"

#include <cmath>
#include <numbers>
#include <numeric>
#include <utility>

#include "search/balance/diffusion_actor.h"

namespace stagecraft {
namespace {

// Terms that are smaller than this share of the limit of flows are left out of sums.
constexpr double kNegligible = 1e-9;

class CosineSeries {
 public:
  explicit CosineSeries(const std::vector<double>& loads)
      : count_(static_cast<int64_t>(loads.size())), sines_(4 * count_) {
    for (int64_t i = 0; i < 4 * count_; ++i) {
      sines_[i] = std::sin(std::numbers::pi * static_cast<double>(i) / (2.0 * count_));
    }
    for (int64_t k = 1; k < count_; ++k) {
      double sum = 0;  // The sum of loads[j] cos(pi k (j + 1/2) / N).
      for (int64_t j = 0; j < count_; ++j) sum += loads[j] * Sine(k * (2 * j + 1) + count_);
      const double half = Sine(k);  // It is sin(pi k / 2N).
      terms_.push_back({2.0 / count_ * sum, 1 - 4.0 / 3 * half * half, half});
    }
  }

  // Returns whether nothing above the limit flows after so many rounds.
  bool IsCalm(int64_t rounds, double limit) const {
    std::vector<std::pair<int64_t, double>> kept;  // Each k, with its amplitude.
    for (int64_t k = 1; k < count_; ++k) {
      const Term& term = terms_[k - 1];
      const double amplitude = term.load * Power(term, rounds) * 2 * term.half / 3;
      if (std::abs(amplitude) > limit * kNegligible / count_) kept.emplace_back(k, amplitude);
    }
    for (int64_t end = 1; end < count_; ++end) {
      double flow = 0;
      for (const auto& [k, amplitude] : kept) flow += amplitude * Sine(2 * k * end);
      if (std::abs(flow) > limit) return false;
    }
    return true;
  }

  // Returns what has flowed over each boundary after so many rounds.
  std::vector<double> Flows(int64_t rounds) const {
    std::vector<double> flows(count_ - 1);
    for (int64_t k = 1; k < count_; ++k) {
      const Term& term = terms_[k - 1];
      const double amplitude = term.load * (1 - Power(term, rounds)) / (2 * term.half);
      for (int64_t end = 1; end < count_; ++end) flows[end - 1] += amplitude * Sine(2 * k * end);
    }
    return flows;
  }

 private:
  struct Term {
    double load;        // The amplitude of the cosine at first.
    double eigenvalue;  // The factor by which it falls each round.
    double half;        // It is sin(pi k / 2N).
  };

  static double Power(const Term& term, int64_t rounds) {
    return std::pow(term.eigenvalue, static_cast<double>(rounds));
  }
  // sin(pi i / 2N), for i >= 0.
  double Sine(int64_t i) const { return sines_[i % (4 * count_)]; }

  const int64_t count_;
  std::vector<double> sines_;
  std::vector<Term> terms_;  // The terms of k = 1, 2, …
};

}  // namespace

PathFlow FlowOnPath(const std::vector<double>& loads) {
  const auto stages = static_cast<int>(loads.size());
  const PathSums sums{std::accumulate(loads.begin(), loads.end(), 0.0), 1.0 * stages, 1, stages};
  const double limit = DiffusionActor::MostCalmFlow(sums) * (1 - DiffusionActor::kMargin);
  const CosineSeries series(loads);
  // The largest flow never grows: the first calm round is found by bisection.
  int64_t calm = 0;
  int64_t busy = -1;
  while (calm <= DiffusionActor::kMostFlowRounds && !series.IsCalm(calm, limit)) {
    busy = calm;
    calm = 2 * calm + 1;
  }
  while (calm - busy > 1) {
    const int64_t middle = busy + (calm - busy) / 2;
    (series.IsCalm(middle, limit) ? calm : busy) = middle;
  }
  return {calm, series.Flows(calm + stages)};
}

}  // namespace stagecraft
