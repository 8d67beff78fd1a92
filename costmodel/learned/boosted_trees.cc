#include "costmodel/learned/boosted_trees.h"

#include <fmt/core.h>
#include <xgboost/c_api.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>

#include "costmodel/check.h"

namespace stagecraft {
namespace {

using Json = nlohmann::json;

// Leaves add to logarithms: a sum of larger absolute value cannot have been learned from times.
constexpr double kMostSum = 100;

void Call(int status) {
  if (status != 0) throw InputError(fmt::format("xgboost: {}", XGBGetLastError()));
}

// Handles of the C API, freed when they go out of scope.
struct Matrix {
  DMatrixHandle handle = nullptr;
  ~Matrix() {
    if (handle != nullptr) XGDMatrixFree(handle);
  }
};
struct Booster {
  BoosterHandle handle = nullptr;
  ~Booster() {
    if (handle != nullptr) XGBoosterFree(handle);
  }
};

void Set(const Booster& booster, const char* key, const std::string& value) {
  Call(XGBoosterSetParam(booster.handle, key, value.c_str()));
}

void SetParameters(const Booster& booster, const BoostingOptions& options) {
  Set(booster, "objective", "reg:squarederror");
  Set(booster, "base_score", "0");
  Set(booster, "tree_method", "hist");
  Set(booster, "nthread", "1");  // a fixed order of sums gives the same trees everywhere
  Set(booster, "max_depth", std::to_string(options.max_depth));
  Set(booster, "eta", fmt::format("{}", options.learning_rate));
  Set(booster, "min_child_weight", fmt::format("{}", options.min_child_weight));
  Set(booster, "subsample", fmt::format("{}", options.row_fraction));
  Set(booster, "colsample_bytree", fmt::format("{}", options.column_fraction));
  Set(booster, "lambda", fmt::format("{}", options.l2));
  Set(booster, "seed", std::to_string(options.seed));
}

// Adds one more tree that reduces absolute errors, which are smoothed below `scale`.
void AddRobustRound(const Booster& booster, const Matrix& matrix, std::span<const float> targets,
                    std::span<const float> weights, double scale) {
  const size_t rows = targets.size();
  bst_ulong count = 0;
  const float* predicted = nullptr;
  constexpr int kMargin = 1;  // option mask: no transformation
  Call(XGBoosterPredict(booster.handle, matrix.handle, kMargin, 0, 1, &count, &predicted));
  CHECK(count == rows);
  std::vector<float> gradients(rows), curvatures(rows);
  for (size_t i = 0; i < rows; ++i) {
    const double error = static_cast<double>(predicted[i]) - targets[i];
    const double weight = (weights.empty() ? 1.0 : weights[i]) / std::hypot(1.0, error / scale);
    gradients[i] = static_cast<float>(weight * error);
    curvatures[i] = static_cast<float>(weight);
  }
  Call(XGBoosterBoostOneIter(booster.handle, matrix.handle, gradients.data(), curvatures.data(),
                             rows));
}

}  // namespace

BoostedTrees BoostedTrees::Train(std::span<const float> features, int columns,
                                 std::span<const float> targets, std::span<const float> weights,
                                 const BoostingOptions& options) {
  const size_t rows = targets.size();
  CHECK(columns > 0 && rows > 0 && features.size() == rows * static_cast<size_t>(columns));
  CHECK(weights.empty() || weights.size() == rows);
  for (const float feature : features) {
    if (!std::isfinite(feature))
      throw InputError("boosted trees: a feature is not a finite number");
  }
  Matrix matrix;
  Call(XGDMatrixCreateFromMat(features.data(), rows, static_cast<bst_ulong>(columns), NAN,
                              &matrix.handle));
  Call(XGDMatrixSetFloatInfo(matrix.handle, "label", targets.data(), rows));
  if (!weights.empty()) {
    Call(XGDMatrixSetFloatInfo(matrix.handle, "weight", weights.data(), rows));
  }
  Booster booster;
  Call(XGBoosterCreate(&matrix.handle, 1, &booster.handle));
  SetParameters(booster, options);
  for (int round = 0; round < options.rounds; ++round) {
    if (options.absolute_scale == 0) {
      Call(XGBoosterUpdateOneIter(booster.handle, round, matrix.handle));
    } else {
      AddRobustRound(booster, matrix, targets, weights, options.absolute_scale);
    }
  }
  bst_ulong size = 0;
  const char* bytes = nullptr;
  Call(XGBoosterSaveModelToBuffer(booster.handle, R"({"format":"json"})", &size, &bytes));
  return ReadTrees({bytes, size}, columns);
}

BoostedTrees BoostedTrees::ReadTrees(std::string_view json, int columns) {
  const Json model = Json::parse(json);
  BoostedTrees trees;
  trees.columns_ = columns;
  for (const Json& tree : model.at("learner").at("gradient_booster").at("model").at("trees")) {
    const auto left = tree.at("left_children").get<std::vector<int32_t>>();
    const auto right = tree.at("right_children").get<std::vector<int32_t>>();
    const auto column = tree.at("split_indices").get<std::vector<int32_t>>();
    const auto value = tree.at("split_conditions").get<std::vector<float>>();
    // Breadth first, so that the children of a node are neighbours.
    const int32_t root = static_cast<int32_t>(trees.nodes_.size());
    trees.roots_.push_back(root);
    std::vector<int32_t> order = {0};
    for (size_t i = 0; i < order.size(); ++i) {
      const int32_t from = order[i];
      Node node{value[from], 0, column[from]};
      if (left[from] >= 0) {
        node.left = root + static_cast<int32_t>(order.size());
        order.push_back(left[from]);
        order.push_back(right[from]);
      } else {
        node.column = 0;
      }
      trees.nodes_.push_back(node);
    }
  }
  trees.MakeSteps();
  return trees;
}

void BoostedTrees::AddTo(std::span<const float> features, std::span<double> out) const {
  CHECK(features.size() == out.size() * static_cast<size_t>(columns_));
  // Many rows walk one tree, which stays in the cache. Some of them walk side by side, so that
  // their loads do not wait for each other. All walk as deep as the deepest leaf: leaves lead to
  // themselves, which is cheaper than a test.
  constexpr size_t kBlock = 128;
  constexpr size_t kBeside = 32;
  const Step* const steps = steps_.data();
  for (size_t first = 0; first < out.size(); first += kBlock) {
    const size_t rows = std::min(kBlock, out.size() - first);
    float sum[kBlock] = {};
    for (size_t tree = 0; tree < roots_.size(); ++tree) {
      const int32_t root = roots_[tree];
      const int depth = depths_[tree];
      for (size_t r = 0; r < rows; r += kBeside) {
        // If fewer than kBeside rows are left, earlier rows are walked again with them.
        const size_t start = rows < kBeside ? 0 : std::min(r, rows - kBeside);
        const size_t count = std::min(kBeside, rows);
        const float* row[kBeside];
        int32_t at[kBeside];
        for (size_t i = 0; i < kBeside; ++i) {
          row[i] = features.data() + (first + start + (i < count ? i : 0)) * columns_;
          at[i] = root;
        }
        for (int level = 0; level < depth; ++level) {
          for (size_t i = 0; i < kBeside; ++i) {
            const Step& step = steps[at[i]];
            at[i] = step.left + (row[i][step.column] < step.threshold ? 0 : 1);
          }
        }
        for (size_t i = start < r ? r - start : 0; i < count; ++i) {
          sum[start + i] += nodes_[at[i]].value;
        }
      }
    }
    for (size_t r = 0; r < rows; ++r) out[first + r] += sum[r];
  }
}

void BoostedTrees::MakeSteps() {
  CHECK(nodes_.size() < (size_t{1} << 24) && columns_ <= 256);
  constexpr float kAlways = std::numeric_limits<float>::infinity();
  steps_.clear();
  depths_.clear();
  for (size_t i = 0; i < nodes_.size(); ++i) {
    const Node& node = nodes_[i];
    const bool is_leaf = node.left == 0;
    Step step;
    step.threshold = is_leaf ? kAlways : node.value;
    step.left = (is_leaf ? static_cast<uint32_t>(i) : static_cast<uint32_t>(node.left)) & 0xffffff;
    step.column = static_cast<uint32_t>(node.column) & 0xff;
    steps_.push_back(step);
  }
  // Children come after their parents, the trees one after another.
  std::vector<int> below(nodes_.size(), 0);
  for (size_t i = nodes_.size(); i-- > 0;) {
    const int32_t left = nodes_[i].left;
    if (left != 0) below[i] = 1 + std::max(below[left], below[left + 1]);
  }
  for (const int32_t root : roots_) depths_.push_back(below[root]);
}

BoostedTrees BoostedTrees::FromProto(const BoostedTreesProto& proto, const std::string& name) {
  const int count = proto.values_size();
  if (proto.left_size() != count || proto.split_columns_size() != count) {
    throw InputError(
        fmt::format("{}: got {} values, {} children and {} columns, want the same number of each",
                    name, count, proto.left_size(), proto.split_columns_size()));
  }
  BoostedTrees trees;
  if (count >= 1 << 24 || proto.columns() > 256) {
    throw InputError(
        fmt::format("{}: got {} nodes and {} columns, want fewer than 2^24 and at most 256", name,
                    count, proto.columns()));
  }
  trees.columns_ = proto.columns();
  if (proto.columns() < (count > 0 ? 1 : 0)) {
    throw InputError(fmt::format("{}.columns: got {}, want at least 1", name, proto.columns()));
  }
  trees.nodes_.reserve(count);
  for (int i = 0; i < count; ++i) {
    const Node node{proto.values(i), proto.left(i), proto.split_columns(i)};
    const bool is_leaf = node.left == 0;
    if (!std::isfinite(node.value) || (!is_leaf && (node.left <= i || node.left >= count - 1)) ||
        node.column < 0 || node.column >= trees.columns_) {
      throw InputError(fmt::format("{}: node {} is not part of a tree", name, i));
    }
    trees.nodes_.push_back(node);
  }
  for (const int32_t root : proto.roots()) {
    if (root < 0 || root >= count) {
      throw InputError(fmt::format("{}.roots: got {}, want 0 to {}", name, root, count - 1));
    }
    trees.roots_.push_back(root);
  }
  trees.MakeSteps();
  const double sum = trees.LargestSum();
  if (!(sum <= kMostSum)) {
    throw InputError(
        fmt::format("{}.values: got leaves whose largest add up to {:g}, want at most {}", name,
                    sum, kMostSum));
  }
  return trees;
}

// Children come after their parents, which may share them.
double BoostedTrees::LargestSum() const {
  std::vector<double> largest(nodes_.size());
  for (size_t i = nodes_.size(); i-- > 0;) {
    const int32_t left = nodes_[i].left;
    largest[i] = left == 0 ? std::abs(static_cast<double>(nodes_[i].value))
                           : std::max(largest[left], largest[left + 1]);
  }
  double sum = 0;
  for (const int32_t root : roots_) sum += largest[root];
  return sum;
}

BoostedTreesProto BoostedTrees::ToProto() const {
  BoostedTreesProto proto;
  proto.set_columns(columns_);
  for (const int32_t root : roots_) proto.add_roots(root);
  for (const Node& node : nodes_) {
    proto.add_values(node.value);
    proto.add_left(node.left);
    proto.add_split_columns(node.column);
  }
  return proto;
}

}  // namespace stagecraft
