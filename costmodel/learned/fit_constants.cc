#include "costmodel/learned/fit_constants.h"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <map>

namespace stagecraft {
namespace {

constexpr size_t kMostRows = 8000;
constexpr double kLossScale = 0.15;
constexpr double kPull = 0.3;
constexpr double kMostSigmas = 4;
constexpr int kMostIterations = 40;
constexpr double kStep = 1e-2;  // of a logarithm, for derivatives: past the steps of tiles

// Every board gets the same number of rows, spread over its own.
std::vector<FitRow> Thin(std::span<const FitRow> rows) {
  std::map<std::string, std::vector<const FitRow*>> by_board;
  for (const FitRow& row : rows) by_board[row.device->id].push_back(&row);
  std::vector<FitRow> thin;
  const size_t share = kMostRows / std::max<size_t>(1, by_board.size());
  for (const auto& [board, own] : by_board) {
    const size_t count = std::min(share, own.size());
    for (size_t i = 0; i < count; ++i) thin.push_back(*own[i * own.size() / count]);
  }
  return thin;
}

class Fit {
 public:
  Fit(const KernelFamily& family, std::span<const double> start, std::span<const FitRow> rows)
      : family_(family), rows_(Thin(rows)) {
    for (size_t i = 0; i < start.size(); ++i) {
      start_.push_back(std::log(start[i]));
      if (family.constants()[i].is_fitted) free_.push_back(static_cast<int>(i));
    }
  }

  std::vector<double> Run() {
    std::vector<double> logs = start_;
    if (!free_.empty() && !rows_.empty()) Minimise(logs);
    for (double& value : logs) value = std::exp(value);
    return logs;
  }

 private:
  // Log ratios of all rows.
  Eigen::VectorXd Residuals(const std::vector<double>& logs) const {
    std::vector<double> constants(logs.size());
    for (size_t i = 0; i < logs.size(); ++i) constants[i] = std::exp(logs[i]);
    Eigen::VectorXd residuals(rows_.size());
    for (size_t i = 0; i < rows_.size(); ++i) {
      const double seconds =
          family_.Describe(*rows_[i].op, *rows_[i].device, constants, std::span<float>());
      residuals[static_cast<Eigen::Index>(i)] = std::log(seconds) - rows_[i].log_seconds;
    }
    return residuals;
  }

  double Sigma(int constant) const { return family_.constants()[constant].sigma; }

  double Loss(const Eigen::VectorXd& residuals, const std::vector<double>& logs) const {
    double loss = 0;
    for (const double r : residuals) {
      const double z = r / kLossScale;
      loss += kLossScale * kLossScale * 2 * (std::sqrt(1 + z * z) - 1);
    }
    for (const int i : free_) loss += kPull * std::pow((logs[i] - start_[i]) / Sigma(i), 2);
    return loss;
  }

  void Minimise(std::vector<double>& logs) const {
    const Eigen::Index n = static_cast<Eigen::Index>(free_.size());
    Eigen::VectorXd residuals = Residuals(logs);
    double loss = Loss(residuals, logs);
    double damping = 1e-3;
    for (int iteration = 0; iteration < kMostIterations && damping < 1e8; ++iteration) {
      Eigen::MatrixXd jacobian(residuals.size(), n);
      for (Eigen::Index c = 0; c < n; ++c) {
        std::vector<double> moved = logs;
        moved[free_[c]] += kStep;
        jacobian.col(c) = (Residuals(moved) - residuals) / kStep;
      }
      // Soft L1 as weighted squares.
      const Eigen::VectorXd weights =
          (1 + (residuals.array() / kLossScale).square()).sqrt().inverse();
      Eigen::MatrixXd normal = jacobian.transpose() * weights.asDiagonal() * jacobian;
      Eigen::VectorXd gradient = jacobian.transpose() * weights.asDiagonal() * residuals;
      for (Eigen::Index c = 0; c < n; ++c) {
        const double pull = kPull / std::pow(Sigma(free_[c]), 2);
        normal(c, c) += pull;
        gradient[c] += pull * (logs[free_[c]] - start_[free_[c]]);
      }
      bool improved = false;
      while (!improved && damping < 1e8) {
        Eigen::MatrixXd damped = normal;
        damped.diagonal() *= 1 + damping;
        const Eigen::VectorXd step = damped.ldlt().solve(-gradient);
        std::vector<double> next = logs;
        for (Eigen::Index c = 0; c < n; ++c) {
          const int i = free_[c];
          const double reach = kMostSigmas * Sigma(i);
          next[i] = std::clamp(next[i] + step[c], start_[i] - reach, start_[i] + reach);
        }
        const Eigen::VectorXd next_residuals = Residuals(next);
        const double next_loss = Loss(next_residuals, next);
        if (next_loss < loss) {
          improved = true;
          const bool is_done = loss - next_loss < 1e-6 * loss;
          logs = next;
          residuals = next_residuals;
          loss = next_loss;
          damping = std::max(damping / 5, 1e-9);
          if (is_done) return;
        } else {
          damping *= 5;
        }
      }
    }
  }

  const KernelFamily& family_;
  const std::vector<FitRow> rows_;
  std::vector<double> start_;  // logarithms
  std::vector<int> free_;      // indices of fitted constants
};

}  // namespace

std::vector<double> FitConstants(const KernelFamily& family, std::span<const double> start,
                                 std::span<const FitRow> rows) {
  return Fit(family, start, rows).Run();
}

}  // namespace stagecraft
