#include "costmodel/learned/baselines.h"

#include <Eigen/Dense>
#include <algorithm>
#include <boost/geometry.hpp>
#include <boost/geometry/index/rtree.hpp>
#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "costmodel/kernel_model.h"
#include "costmodel/learned/boosted_trees.h"
#include "costmodel/learned/fit_constants.h"
#include "costmodel/learned/kernel_families.h"
#include "costmodel/learned/training_rows.h"

namespace stagecraft {
namespace {

constexpr size_t kMostRidgeRows = 60'000;
// The spread if no sample gives any.
constexpr double kUnknownSpread = 0.5;

double LogRoofline(const Op& op, const Device& device) {
  return std::log(std::max(1e-9, RooflineTime(op, device).seconds()));
}

// RatioModel: a model that knows log(time / roofline) of each family's ops.
class RatioModel : public CostModel {
 public:
  std::vector<Estimate> Predict(std::span<const Op> ops, const Device& device) const override {
    std::vector<Estimate> estimates;
    for (const Op& op : ops) {
      const KernelFamily* const family = FamilyOf(op, device);
      const auto [ratio, spread] =
          family == nullptr ? std::pair(0.0, kUnknownSpread) : LogRatio(*family, op, device);
      const double log_time = LogRoofline(op, device) + std::clamp(ratio, -20.0, 20.0);
      estimates.push_back({Duration::Seconds(std::exp(log_time)), Basis::kExtrapolated, spread});
    }
    return estimates;
  }

 protected:
  virtual std::pair<double, double> LogRatio(const KernelFamily& family, const Op& op,
                                             const Device& device) const = 0;
};

class RooflineModel : public RatioModel {
  std::pair<double, double> LogRatio(const KernelFamily&, const Op&, const Device&) const override {
    return {0, kUnknownSpread};
  }
};

namespace bg = boost::geometry;
using Point = bg::model::point<float, 4, bg::cs::cartesian>;

Point MakePoint(float a, float b, float c, float d) {
  Point point;
  bg::set<0>(point, a);
  bg::set<1>(point, b);
  bg::set<2>(point, c);
  bg::set<3>(point, d);
  return point;
}

Point PointOf(const Op& op) {
  const auto log = [](double size) { return static_cast<float>(std::log(std::max(1.0, size))); };
  const double batch = static_cast<double>(op.batch);
  const double m = static_cast<double>(op.m);
  const double n = static_cast<double>(op.n);
  if (op.kind == OpKind::kElementwise || op.kind == OpKind::kOptimizer) {
    return MakePoint(log(static_cast<double>(op.bytes.count())), 0, 0, 0);
  }
  if (op.kind == OpKind::kAttention) {
    const double sequences = static_cast<double>(op.sequences);
    return MakePoint(log(sequences), log(batch / sequences), log(n),
                     log(static_cast<double>(op.k)));
  }
  return MakePoint(log(batch), log(m), log(n), log(static_cast<double>(op.k)));
}

class InterpolationModel : public RatioModel {
 public:
  InterpolationModel(std::span<const Sample> samples, const CallOverhead& overhead) {
    const std::vector<std::vector<FitRow>> rows = MakeTrainingRows(samples, overhead);
    std::map<std::pair<const KernelFamily*, std::string>, std::vector<Value>> values;
    for (size_t f = 0; f < rows.size(); ++f) {
      const KernelFamily* const family = KernelFamilies()[f];
      for (const FitRow& row : rows[f]) {
        const Value value(PointOf(*row.op),
                          static_cast<float>(row.log_seconds - LogRoofline(*row.op, *row.device)));
        values[{family, row.device->id}].push_back(value);
        values[{family, ""}].push_back(value);
      }
    }
    for (const auto& [key, own] : values) trees_.emplace(key, Tree(own.begin(), own.end()));
  }

 private:
  using Value = std::pair<Point, float>;
  using Tree = bg::index::rtree<Value, bg::index::quadratic<16>>;

  std::pair<double, double> LogRatio(const KernelFamily& family, const Op& op,
                                     const Device& device) const override {
    auto tree = trees_.find({&family, device.id});
    if (tree == trees_.end()) tree = trees_.find({&family, ""});
    if (tree == trees_.end()) return {0, kUnknownSpread};
    constexpr unsigned kNeighbours = 8;
    const Point at = PointOf(op);
    std::vector<Value> near;
    tree->second.query(bg::index::nearest(at, kNeighbours), std::back_inserter(near));
    double sum = 0, weights = 0, squares = 0;
    for (const Value& value : near) {
      const double weight = 1 / (bg::comparable_distance(value.first, at) + 1e-3);
      sum += weight * value.second;
      squares += weight * value.second * value.second;
      weights += weight;
    }
    const double mean = sum / weights;
    return {mean, std::sqrt(std::max(0.0, squares / weights - mean * mean))};
  }

  std::map<std::pair<const KernelFamily*, std::string>, Tree> trees_;
};

// The features of rows, with the family's own constants, and log(measured / roofline).
struct Table {
  std::vector<float> features;
  std::vector<float> targets;
};
Table MakeTable(const KernelFamily& family, std::span<const FitRow> rows) {
  const std::vector<double> constants = StartOf(family);
  const size_t columns = static_cast<size_t>(family.feature_count());
  Table table;
  table.features.resize(rows.size() * columns);
  for (size_t i = 0; i < rows.size(); ++i) {
    family.Describe(*rows[i].op, *rows[i].device, constants,
                    std::span(table.features).subspan(i * columns, columns));
    table.targets.push_back(
        static_cast<float>(rows[i].log_seconds - LogRoofline(*rows[i].op, *rows[i].device)));
  }
  return table;
}

class RidgeModel : public RatioModel {
 public:
  RidgeModel(std::span<const Sample> samples, const CallOverhead& overhead) {
    const std::vector<std::vector<FitRow>> rows = MakeTrainingRows(samples, overhead);
    for (size_t f = 0; f < rows.size(); ++f) {
      const std::vector<FitRow>& all = rows[f];
      if (!all.empty()) fits_[KernelFamilies()[f]] = FitFamily(*KernelFamilies()[f], all);
    }
  }

 private:
  struct Fit {
    Eigen::VectorXd mean, scale, weights;  // of features and squares; weights with intercept
    double spread = 0;
  };

  static Eigen::VectorXd Expand(std::span<const float> features) {
    const Eigen::Index count = static_cast<Eigen::Index>(features.size());
    Eigen::VectorXd x(2 * count);
    for (Eigen::Index i = 0; i < count; ++i) {
      x[i] = features[static_cast<size_t>(i)];
      x[count + i] = x[i] * x[i];
    }
    return x;
  }

  static Fit FitFamily(const KernelFamily& family, std::span<const FitRow> all) {
    const std::vector<FitRow> rows = Thin(all, kMostRidgeRows);
    const size_t count = rows.size();
    const Table table = MakeTable(family, rows);
    const size_t columns = static_cast<size_t>(family.feature_count());
    Eigen::MatrixXd x(static_cast<Eigen::Index>(count), static_cast<Eigen::Index>(2 * columns));
    Eigen::VectorXd y(static_cast<Eigen::Index>(count));
    for (size_t i = 0; i < count; ++i) {
      const Eigen::Index row = static_cast<Eigen::Index>(i);
      x.row(row) = Expand(std::span(table.features).subspan(i * columns, columns));
      y[row] = table.targets[i];
    }
    Fit fit;
    fit.mean = x.colwise().mean();
    x.rowwise() -= fit.mean.transpose();
    fit.scale = (x.colwise().squaredNorm() / static_cast<double>(count)).array().sqrt().max(1e-9);
    x.array().rowwise() /= fit.scale.transpose().array();
    const double intercept = y.mean();
    y.array() -= intercept;
    Eigen::MatrixXd normal = x.transpose() * x;
    normal.diagonal().array() += 1e-4 * static_cast<double>(count);
    const Eigen::VectorXd weights = normal.ldlt().solve(x.transpose() * y);
    fit.spread = std::sqrt((x * weights - y).squaredNorm() / static_cast<double>(count));
    fit.weights.resize(weights.size() + 1);
    fit.weights << weights, intercept;
    return fit;
  }

  std::pair<double, double> LogRatio(const KernelFamily& family, const Op& op,
                                     const Device& device) const override {
    const auto fit = fits_.find(&family);
    if (fit == fits_.end()) return {0, kUnknownSpread};
    std::vector<float> features(static_cast<size_t>(family.feature_count()));
    family.Describe(op, device, StartOf(family), features);
    const Eigen::VectorXd x =
        ((Expand(features) - fit->second.mean).array() / fit->second.scale.array());
    const Eigen::Index count = x.size();
    return {fit->second.weights.head(count).dot(x) + fit->second.weights[count],
            fit->second.spread};
  }

  std::map<const KernelFamily*, Fit> fits_;
};

class PlainTrees : public RatioModel {
 public:
  PlainTrees(std::span<const Sample> samples, const CallOverhead& overhead) {
    const std::vector<std::vector<FitRow>> rows = MakeTrainingRows(samples, overhead);
    for (size_t f = 0; f < rows.size(); ++f) {
      const KernelFamily& family = *KernelFamilies()[f];
      const std::vector<FitRow> all = rows[f];
      if (all.empty() || family.feature_count() == 0) continue;
      const Table table = MakeTable(family, all);
      trees_[&family] = BoostedTrees::Train(table.features, family.feature_count(), table.targets,
                                            {}, {.rounds = 200, .max_depth = 8});
    }
  }

 private:
  std::pair<double, double> LogRatio(const KernelFamily& family, const Op& op,
                                     const Device& device) const override {
    const auto trees = trees_.find(&family);
    if (trees == trees_.end()) return {0, kUnknownSpread};
    std::vector<float> features(static_cast<size_t>(family.feature_count()));
    family.Describe(op, device, StartOf(family), features);
    double ratio = 0;
    trees->second.AddTo(features, {&ratio, 1});
    return {ratio, kUnknownSpread};
  }

  std::map<const KernelFamily*, BoostedTrees> trees_;
};

}  // namespace

std::unique_ptr<CostModel> MakeRooflineModel() { return std::make_unique<RooflineModel>(); }

std::unique_ptr<CostModel> FitInterpolation(std::span<const Sample> samples,
                                            const CallOverhead& overhead) {
  return std::make_unique<InterpolationModel>(samples, overhead);
}

std::unique_ptr<CostModel> FitRidge(std::span<const Sample> samples, const CallOverhead& overhead) {
  return std::make_unique<RidgeModel>(samples, overhead);
}

std::unique_ptr<CostModel> FitPlainTrees(std::span<const Sample> samples,
                                         const CallOverhead& overhead) {
  return std::make_unique<PlainTrees>(samples, overhead);
}

}  // namespace stagecraft
