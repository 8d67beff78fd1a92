#include <fmt/core.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "costmodel/check.h"
#include "costmodel/learned/boosted_trees.h"
#include "costmodel/learned/xgboost_library.h"

namespace stagecraft {
namespace {

using Json = nlohmann::json;

void Call(int status) {
  if (status != 0) throw InputError(fmt::format("xgboost: {}", Xgboost().BGetLastError()));
}

// Handles of the C API, freed when they go out of scope.
struct Matrix {
  DMatrixHandle handle = nullptr;
  ~Matrix() {
    if (handle != nullptr) Xgboost().DMatrixFree(handle);
  }
};
struct Booster {
  BoosterHandle handle = nullptr;
  ~Booster() {
    if (handle != nullptr) Xgboost().BoosterFree(handle);
  }
};

void Set(const Booster& booster, const char* key, const std::string& value) {
  Call(Xgboost().BoosterSetParam(booster.handle, key, value.c_str()));
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
  Call(Xgboost().BoosterPredict(booster.handle, matrix.handle, kMargin, 0, 1, &count, &predicted));
  CHECK(count == rows);
  std::vector<float> gradients(rows), curvatures(rows);
  for (size_t i = 0; i < rows; ++i) {
    const double error = static_cast<double>(predicted[i]) - targets[i];
    const double weight = (weights.empty() ? 1.0 : weights[i]) / std::hypot(1.0, error / scale);
    gradients[i] = static_cast<float>(weight * error);
    curvatures[i] = static_cast<float>(weight);
  }
  Call(Xgboost().BoosterBoostOneIter(booster.handle, matrix.handle, gradients.data(),
                                     curvatures.data(), rows));
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
  Call(Xgboost().DMatrixCreateFromMat(features.data(), rows, static_cast<bst_ulong>(columns), NAN,
                                      &matrix.handle));
  Call(Xgboost().DMatrixSetFloatInfo(matrix.handle, "label", targets.data(), rows));
  if (!weights.empty()) {
    Call(Xgboost().DMatrixSetFloatInfo(matrix.handle, "weight", weights.data(), rows));
  }
  Booster booster;
  Call(Xgboost().BoosterCreate(&matrix.handle, 1, &booster.handle));
  SetParameters(booster, options);
  for (int round = 0; round < options.rounds; ++round) {
    if (options.absolute_scale == 0) {
      Call(Xgboost().BoosterUpdateOneIter(booster.handle, round, matrix.handle));
    } else {
      AddRobustRound(booster, matrix, targets, weights, options.absolute_scale);
    }
  }
  bst_ulong size = 0;
  const char* bytes = nullptr;
  Call(Xgboost().BoosterSaveModelToBuffer(booster.handle, R"({"format":"json"})", &size, &bytes));
  return ReadTrees({bytes, size}, columns);
}

BoostedTrees BoostedTrees::ReadTrees(std::string_view json, int columns) {
  const Json model = Json::parse(json);
  BoostedTrees trees;
  trees.columns_ = columns;
  std::vector<Node> nodes;
  for (const Json& tree : model.at("learner").at("gradient_booster").at("model").at("trees")) {
    const auto left = tree.at("left_children").get<std::vector<int32_t>>();
    const auto right = tree.at("right_children").get<std::vector<int32_t>>();
    const auto column = tree.at("split_indices").get<std::vector<int32_t>>();
    const auto value = tree.at("split_conditions").get<std::vector<float>>();
    // Breadth first, so that the children of a node are neighbours.
    trees.roots_.push_back(static_cast<int32_t>(nodes.size()));
    std::vector<int32_t> order = {0};
    for (size_t i = 0; i < order.size(); ++i) {
      const int32_t from = order[i];
      Node node{value[from]};
      if (left[from] >= 0) {
        const auto below = static_cast<uint32_t>(order.size() - i);
        node.link = below << 8 | static_cast<uint32_t>(column[from]);
        order.push_back(left[from]);
        order.push_back(right[from]);
      }
      nodes.push_back(node);
    }
  }
  trees.TakeNodes(nodes);
  trees.depths_ = trees.Depths();
  return trees;
}

}  // namespace stagecraft
