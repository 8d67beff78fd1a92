#include "tools/validation/baselines.h"

#include <Eigen/Dense>
#include <cmath>
#include <map>
#include <set>
#include <string>

#include "costmodel/statistics.h"

namespace stagecraft {
namespace {

constexpr int kFeatures = 9;
// The penalty of the ridge regression, on standardised features.
constexpr double kPenalty = 1;

using Features = Eigen::Matrix<double, 1, kFeatures>;

Features LogFeatures(const StepFeatures& step) {
  Features x;
  x << step.layers, step.hidden, step.sequence, step.global_batch, step.devices, step.tp, step.pp,
      step.peak_flop_per_s, step.model_flops;
  return x.array().log();
}

double MeasuredSeconds(const ValidatedRow& row) {
  return row.prediction.metric->ToSeconds(row.measured.value);
}

double SecondsAtPeak(const StepFeatures& step) {
  return step.model_flops / (step.devices * step.peak_flop_per_s);
}

// The rows to learn from, by source. All sources count alike, so that the one with the most rows
// does not decide for all others.
using Training = std::map<std::string, std::vector<const ValidatedRow*>>;

size_t RowCount(const Training& training) {
  size_t count = 0;
  for (const auto& [source, rows] : training) count += rows.size();
  return count;
}

// Least squares with a quadratic penalty on every weight except the constant.
class Ridge {
 public:
  explicit Ridge(const Training& training) {
    const Eigen::Index count = static_cast<Eigen::Index>(RowCount(training));
    Eigen::MatrixXd x(count, kFeatures);
    Eigen::VectorXd y(count), share(count);
    Eigen::Index i = 0;
    for (const auto& [source, rows] : training) {
      for (const ValidatedRow* row : rows) {
        x.row(i) = LogFeatures(*row->prediction.step);
        y[i] = std::log(MeasuredSeconds(*row));
        share[i++] = 1 / static_cast<double>(training.size() * rows.size());
      }
    }
    mean_ = share.transpose() * x;
    x.rowwise() -= mean_;
    scale_ = (share.transpose() * x.cwiseAbs2()).cwiseSqrt();
    for (int feature = 0; feature < kFeatures; ++feature) {
      if (!(scale_[feature] > 0)) scale_[feature] = 1;
    }
    x.array().rowwise() /= scale_.array();
    constant_ = share.dot(y);
    y.array() -= constant_;
    const Eigen::VectorXd weight = static_cast<double>(count) * share;
    Eigen::MatrixXd normal = x.transpose() * weight.asDiagonal() * x;
    normal.diagonal().array() += kPenalty;
    weights_ = normal.ldlt().solve(x.transpose() * weight.cwiseProduct(y));
  }

  double Seconds(const StepFeatures& step) const {
    const Features x = (LogFeatures(step) - mean_).array() / scale_.array();
    return std::exp(constant_ + x * weights_);
  }

 private:
  Features mean_, scale_;
  Eigen::Matrix<double, kFeatures, 1> weights_;
  double constant_ = 0;
};

double MedianUtilisation(const Training& training) {
  std::vector<double> medians;
  for (const auto& [source, rows] : training) {
    std::vector<double> utilisations;
    for (const ValidatedRow* row : rows) {
      utilisations.push_back(SecondsAtPeak(*row->prediction.step) / MeasuredSeconds(*row));
    }
    medians.push_back(InterpolatedQuantile(utilisations, 0.5));
  }
  return InterpolatedQuantile(medians, 0.5);
}

}  // namespace

void AddBaselines(std::vector<ValidatedRow>& rows) {
  std::set<std::string> sources;
  for (const ValidatedRow& row : rows) sources.insert(row.measured.source);
  for (const std::string& source : sources) {
    Training training;
    for (const ValidatedRow& row : rows) {
      const bool counts = row.prediction.step.has_value() && row.measured.is_primary;
      if (counts && row.measured.source != source) {
        training[row.measured.source].push_back(&row);
      }
    }
    if (RowCount(training) < kLeastTraining) continue;
    const double utilisation = MedianUtilisation(training);
    const Ridge ridge(training);
    for (ValidatedRow& row : rows) {
      if (row.measured.source != source || !row.prediction.step.has_value()) continue;
      const StepFeatures& step = *row.prediction.step;
      row.constant_rate = row.prediction.metric->FromSeconds(SecondsAtPeak(step) / utilisation);
      row.ridge = row.prediction.metric->FromSeconds(ridge.Seconds(step));
    }
  }
}

}  // namespace stagecraft
