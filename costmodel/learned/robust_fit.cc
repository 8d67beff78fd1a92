#include "costmodel/learned/robust_fit.h"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>

#include "costmodel/check.h"

namespace stagecraft {
namespace {

using Eigen::VectorXd;

class RobustFit {
 public:
  RobustFit(const std::function<std::vector<double>(std::span<const double>)>& residuals,
            std::span<const double> start, const RobustFitOptions& options)
      : residuals_(residuals), start_(start.begin(), start.end()), options_(options) {}

  std::vector<double> Run() {
    at_ = start_;
    now_ = Residuals(at_);
    loss_ = Loss(now_, at_);
    damping_ = options_.damping;
    for (int i = 0; i < options_.most_iterations; ++i) {
      if (!Improve()) break;
    }
    return at_;
  }

 private:
  VectorXd Residuals(const std::vector<double>& x) const {
    const std::vector<double> residuals = residuals_(x);
    return Eigen::Map<const VectorXd>(residuals.data(),
                                      static_cast<Eigen::Index>(residuals.size()));
  }

  double Loss(const VectorXd& residuals, const std::vector<double>& x) const {
    const double scale = options_.scale;
    double loss = 0;
    for (const double r : residuals) {
      const double z = r / scale;
      loss += scale * scale * 2 * (std::sqrt(1 + z * z) - 1);
    }
    for (size_t i = 0; i < x.size(); ++i) {
      loss += options_.pull * std::pow((x[i] - start_[i]) / options_.sigmas[i], 2);
    }
    return loss;
  }

  // Takes one step downwards, trying ever shorter steps until one improves the loss. Returns false
  // if nothing more can be gained.
  bool Improve() {
    const Eigen::Index count = static_cast<Eigen::Index>(at_.size());
    Eigen::MatrixXd jacobian(now_.size(), count);
    for (Eigen::Index c = 0; c < count; ++c) {
      std::vector<double> moved = at_;
      moved[static_cast<size_t>(c)] += options_.step;
      jacobian.col(c) = (Residuals(moved) - now_) / options_.step;
    }
    // Soft L1 as weighted squares.
    const VectorXd weights = (1 + (now_.array() / options_.scale).square()).sqrt().inverse();
    Eigen::MatrixXd normal = jacobian.transpose() * weights.asDiagonal() * jacobian;
    VectorXd gradient = jacobian.transpose() * weights.asDiagonal() * now_;
    for (Eigen::Index c = 0; c < count; ++c) {
      const size_t i = static_cast<size_t>(c);
      const double pull = options_.pull / std::pow(options_.sigmas[i], 2);
      normal(c, c) += pull;
      gradient[c] += pull * (at_[i] - start_[i]);
    }
    for (; damping_ < options_.most_damping; damping_ *= 5) {
      Eigen::MatrixXd damped = normal;
      damped.diagonal() *= 1 + damping_;
      const VectorXd step = damped.ldlt().solve(-gradient);
      std::vector<double> next = at_;
      for (size_t i = 0; i < next.size(); ++i) {
        const double reach = options_.most_sigmas * options_.sigmas[i];
        next[i] = std::clamp(next[i] + step[static_cast<Eigen::Index>(i)], start_[i] - reach,
                             start_[i] + reach);
      }
      const VectorXd residuals = Residuals(next);
      const double loss = Loss(residuals, next);
      if (loss >= loss_) continue;
      const bool is_worthwhile = loss_ - loss >= options_.tolerance * loss_;
      at_ = next;
      now_ = residuals;
      loss_ = loss;
      damping_ = std::max(damping_ / 5, options_.least_damping);
      return is_worthwhile;
    }
    return false;
  }

  const std::function<std::vector<double>(std::span<const double>)>& residuals_;
  const std::vector<double> start_;
  const RobustFitOptions& options_;
  std::vector<double> at_;  // the best so far, with its residuals and loss
  VectorXd now_;
  double loss_ = 0;
  double damping_ = 0;
};

}  // namespace

std::vector<double> FitRobustly(
    const std::function<std::vector<double>(std::span<const double>)>& residuals,
    std::span<const double> start, const RobustFitOptions& options) {
  CHECK(options.sigmas.size() == start.size());
  return RobustFit(residuals, start, options).Run();
}

}  // namespace stagecraft
