// In a round, min(v, v') / 3 (w / v - w' / v') flows between neighbours with loads w and speeds v.
// With y = w / sqrt(v) the round is y - S y for a symmetric tridiagonal S, whose eigenvalues lie
// between 0, that of the balanced loads, and 4/3. A mode with eigenvalue e falls by 1 - e a round.
#include "search/balance/path_flow.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

#include "search/balance/diffusion_actor.h"

namespace stagecraft {
namespace {

// What is smaller than this share of the limit of flows is left out.
constexpr double kNegligible = 1e-9;
// Before it looks for modes, the computation simulates this number of rounds for each stage.
constexpr int64_t kRoundsOfAStage = 2;
constexpr size_t kFirstModes = 4;
constexpr double kNever = 2.0 * DiffusionActor::kMostFlowRounds;

struct Mode {
  double eigenvalue = 0;
  std::vector<double> vector;  // by stage, of length 1, in units of load / sqrt(speed)
  double amplitude = 0;        // of the loads at first
};

class Path {
 public:
  Path(const std::vector<double>& loads, const std::vector<double>& speeds)
      : loads_(loads), speeds_(speeds), count_(loads.size()) {
    const double load = std::accumulate(loads.begin(), loads.end(), 0.0);
    const double speed = std::accumulate(speeds.begin(), speeds.end(), 0.0);
    const double balanced = load / speed;
    const double least = *std::min_element(speeds.begin(), speeds.end());
    const PathSums sums{load, speed, least, static_cast<int>(count_)};
    limit_ = DiffusionActor::MostCalmFlow(sums) * (1 - DiffusionActor::kMargin);
    for (size_t i = 0; i + 1 < count_; ++i) {
      rates_.push_back(std::min(speeds[i], speeds[i + 1]) / 3);
    }
    for (size_t i = 0; i < count_; ++i) {
      const double left = i > 0 ? rates_[i - 1] : 0;
      const double right = i + 1 < count_ ? rates_[i] : 0;
      diagonal_.push_back((left + right) / speeds[i]);
      if (i + 1 < count_) beside_.push_back(-rates_[i] / std::sqrt(speeds[i] * speeds[i + 1]));
      rest_.push_back((loads[i] - balanced * speeds[i]) / std::sqrt(speeds[i]));
    }
  }

  PathFlow Run() {
    const int64_t simulated = kRoundsOfAStage * std::ssize(loads_);
    if (const std::optional<int64_t> calm = Simulate(simulated, true)) return After(*calm);
    for (size_t modes = kFirstModes;; modes *= 2) {
      FindModes(std::min(modes, count_ - 1));
      const int64_t busy = FirstKnown(simulated);
      if (busy == simulated) return After(FirstCalm(busy));
      // If it is calm by then, further modes tell since when.
      if (busy <= DiffusionActor::kMostFlowRounds && !IsCalm(busy)) return After(FirstCalm(busy));
    }
  }

 private:
  // Simulates rounds as actors do and adds up what flows. Returns the first round in which nothing
  // above the limit flows if it ends there, as it does if `until_calm`.
  std::optional<int64_t> Simulate(int64_t rounds, bool until_calm) {
    std::vector<double> loads = loads_, flows(count_ - 1);
    simulated_flows_.assign(count_ - 1, 0);
    for (int64_t round = 0; round < rounds; ++round) {
      double most = 0;
      for (size_t i = 0; i + 1 < count_; ++i) {
        flows[i] = rates_[i] * (loads[i] / speeds_[i] - loads[i + 1] / speeds_[i + 1]);
        most = std::max(most, std::abs(flows[i]));
      }
      if (until_calm && most <= limit_) return round;
      for (size_t i = 0; i < count_; ++i) {
        loads[i] += (i > 0 ? flows[i - 1] : 0) - (i + 1 < count_ ? flows[i] : 0);
      }
      for (size_t i = 0; i + 1 < count_; ++i) simulated_flows_[i] += flows[i];
    }
    return std::nullopt;
  }

  // Returns how many eigenvalues are less than a value, by the signs of the pivots of S - x.
  size_t CountBelow(double x) const {
    size_t below = 0;
    double pivot = 1;
    for (size_t i = 0; i < count_; ++i) {
      const double fill = i > 0 ? beside_[i - 1] * beside_[i - 1] / pivot : 0;
      pivot = NotZero(diagonal_[i] - x - fill);
      below += pivot < 0 ? 1 : 0;
    }
    return below;
  }

  static double NotZero(double pivot) {
    return pivot == 0 ? -std::numeric_limits<double>::min() : pivot;
  }

  // Returns the eigenvalue that has `number` smaller ones, by bisection.
  double Eigenvalue(size_t number) const {
    double low = 0, high = 1.5;
    while (true) {
      const double middle = low + (high - low) / 2;
      if (middle <= low || middle >= high) return low;
      (CountBelow(middle) > number ? high : low) = middle;
    }
  }

  // Returns the eigenvector of an eigenvalue by a factorization of S - x from both ends, which meet
  // where the pivot is least (Dhillon and Parlett 2004, "Orthogonal eigenvectors and relative
  // gaps").
  std::vector<double> Eigenvector(double x) const {
    std::vector<double> down(count_), up(count_);
    for (size_t i = 0; i < count_; ++i) {
      const double fill = i > 0 ? beside_[i - 1] * beside_[i - 1] / down[i - 1] : 0;
      down[i] = NotZero(diagonal_[i] - x - fill);
    }
    for (size_t i = count_; i-- > 0;) {
      const double fill = i + 1 < count_ ? beside_[i] * beside_[i] / up[i + 1] : 0;
      up[i] = NotZero(diagonal_[i] - x - fill);
    }
    size_t twist = 0;
    double least = std::numeric_limits<double>::infinity();
    for (size_t i = 0; i < count_; ++i) {
      const double pivot = std::abs(down[i] + up[i] - (diagonal_[i] - x));
      if (pivot < least) twist = i;
      least = std::min(least, pivot);
    }
    std::vector<double> vector(count_);
    vector[twist] = 1;
    for (size_t i = twist; i-- > 0;) vector[i] = -beside_[i] * vector[i + 1] / down[i];
    for (size_t i = twist + 1; i < count_; ++i) {
      vector[i] = -beside_[i - 1] * vector[i - 1] / up[i];
    }
    const double length = std::sqrt(Product(vector, vector));
    for (double& value : vector) value /= length;
    return vector;
  }

  static double Product(const std::vector<double>& a, const std::vector<double>& b) {
    return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
  }

  // Finds the modes that fall slowest, and how fast the next one falls.
  void FindModes(size_t count) {
    while (modes_.size() < count) {
      Mode mode;
      mode.vector = Eigenvector(Eigenvalue(modes_.size() + 1));
      // The sum of squares has the eigenvalue with all its digits, however small it is.
      for (size_t i = 0; i + 1 < count_; ++i) {
        const double slope = Slope(mode.vector, i);
        mode.eigenvalue += rates_[i] * slope * slope;
      }
      mode.amplitude = Product(mode.vector, rest_);
      modes_.push_back(std::move(mode));
    }
    next_eigenvalue_ = count + 1 < count_ ? Eigenvalue(count + 1) : 1;
  }

  // Returns the difference of load / speed over a boundary.
  double Slope(const std::vector<double>& vector, size_t boundary) const {
    return vector[boundary] / std::sqrt(speeds_[boundary]) -
           vector[boundary + 1] / std::sqrt(speeds_[boundary + 1]);
  }

  // Returns the first round, from `first` on, in which the modes that are not known are negligible.
  int64_t FirstKnown(int64_t first) const {
    if (modes_.size() + 1 == count_) return first;
    std::vector<double> left = rest_;
    for (const Mode& mode : modes_) {
      for (size_t i = 0; i < count_; ++i) left[i] -= mode.amplitude * mode.vector[i];
    }
    double most = 0;  // that flows for a vector of length 1
    for (size_t i = 0; i + 1 < count_; ++i) {
      most =
          std::max(most, rates_[i] * (1 / std::sqrt(speeds_[i]) + 1 / std::sqrt(speeds_[i + 1])));
    }
    most *= std::sqrt(Product(left, left));
    if (most <= kNegligible * limit_) return first;
    const double factor = std::max(1 - next_eigenvalue_, 1.0 / 3);
    const double rounds = std::log(kNegligible * limit_ / most) / std::log(factor);
    return std::max(first, static_cast<int64_t>(std::ceil(std::min(rounds, kNever))));
  }

  // Returns what remains of the loads after so many rounds, in units of load / sqrt(speed), beyond
  // those that are balanced.
  std::vector<double> RestAfter(int64_t rounds) const {
    std::vector<double> rest(count_);
    for (const Mode& mode : modes_) {
      // log1p, since 1 - eigenvalue would lose digits.
      const double factor =
          mode.eigenvalue < 1 ? std::exp(static_cast<double>(rounds) * std::log1p(-mode.eigenvalue))
                              : std::pow(1 - mode.eigenvalue, static_cast<double>(rounds));
      for (size_t i = 0; i < count_; ++i) rest[i] += factor * mode.amplitude * mode.vector[i];
    }
    return rest;
  }

  bool IsCalm(int64_t rounds) const {
    const std::vector<double> rest = RestAfter(rounds);
    for (size_t i = 0; i + 1 < count_; ++i) {
      if (std::abs(rates_[i] * Slope(rest, i)) > limit_) return false;
    }
    return true;
  }

  // The largest flow never grows: the first calm round after `busy` is found by bisection.
  int64_t FirstCalm(int64_t busy) const {
    int64_t calm = 2 * busy + 1;
    while (calm <= DiffusionActor::kMostFlowRounds && !IsCalm(calm)) {
      busy = calm;
      calm = 2 * calm + 1;
    }
    while (calm - busy > 1) {
      const int64_t middle = busy + (calm - busy) / 2;
      (IsCalm(middle) ? calm : busy) = middle;
    }
    return calm;
  }

  // Returns what actors find if nothing flows any more after so many rounds.
  PathFlow After(int64_t calm) {
    const auto stages = static_cast<int64_t>(count_);
    PathFlow path;
    path.has_settled = calm + stages <= DiffusionActor::kMostFlowRounds;
    path.rounds = path.has_settled ? calm : DiffusionActor::kMostFlowRounds;
    const int64_t rounds = path.has_settled ? calm + stages : path.rounds;
    if (modes_.empty()) {
      Simulate(rounds, false);
      path.flows = simulated_flows_;
      return path;
    }
    const std::vector<double> rest = RestAfter(rounds);
    double sum = 0;
    for (size_t i = 0; i + 1 < count_; ++i) {
      sum += std::sqrt(speeds_[i]) * (rest_[i] - rest[i]);
      path.flows.push_back(sum);
    }
    return path;
  }

  const std::vector<double>& loads_;
  const std::vector<double>& speeds_;
  const size_t count_;
  double limit_ = 0;           // of the flow over a boundary in a round in which it is calm
  std::vector<double> rates_;  // by boundary: what flows in a round for a difference of 1
  std::vector<double> diagonal_, beside_;  // of S
  std::vector<double> rest_;               // RestAfter(0), with all modes
  std::vector<Mode> modes_;                // the slowest ones but for that of the balanced loads
  double next_eigenvalue_ = 1;             // of the modes that are not known, the least
  std::vector<double> simulated_flows_;
};

}  // namespace

PathFlow FlowOnPath(const std::vector<double>& loads, const std::vector<double>& speeds) {
  return Path(loads, speeds).Run();
}

}  // namespace stagecraft
