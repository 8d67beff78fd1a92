#include "costmodel/learned/boosted_trees.h"

#include <gtest/gtest.h>
#include <xgboost/c_api.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "costmodel/check.h"
#include "costmodel/random.h"

namespace stagecraft {
namespace {

constexpr int kColumns = 5;
constexpr BoostingOptions kOptions = {.rounds = 60, .max_depth = 6};

struct Data {
  std::vector<float> features, targets, weights;
};

// Returns random rows whose targets are a smooth function of three columns and do not depend on the
// others; every fiftieth target is an outlier.
Data RandomData(int rows, uint64_t seed) {
  Random random(seed);
  Data data;
  for (int row = 0; row < rows; ++row) {
    float x[kColumns];
    for (float& value : x) value = static_cast<float>(4 * random.Uniform() - 2);
    data.features.insert(data.features.end(), x, x + kColumns);
    const double outlier = row % 50 == 0 ? 3 : 0;
    data.targets.push_back(static_cast<float>(std::sin(x[0]) + 0.5 * x[1] * x[2] + outlier));
    data.weights.push_back(static_cast<float>(0.5 + random.Uniform()));
  }
  return data;
}

BoostedTrees Train(const Data& data, const BoostingOptions& options) {
  return BoostedTrees::Train(data.features, kColumns, data.targets, data.weights, options);
}

std::vector<double> Predict(const BoostedTrees& trees, const std::vector<float>& features) {
  std::vector<double> predicted(features.size() / kColumns, 0);
  trees.AddTo(features, predicted);
  return predicted;
}

// XGBoost itself, which is trained and asked through its C API.
class Xgboost {
 public:
  Xgboost(const Data& data, const BoostingOptions& options) {
    train_ = Matrix(data.features);
    XGDMatrixSetFloatInfo(train_, "label", data.targets.data(), data.targets.size());
    XGDMatrixSetFloatInfo(train_, "weight", data.weights.data(), data.weights.size());
    XGBoosterCreate(&train_, 1, &booster_);
    Set("objective", "reg:squarederror");
    Set("base_score", "0");
    Set("tree_method", "hist");
    Set("nthread", "1");
    Set("max_depth", std::to_string(options.max_depth));
    Set("eta", std::to_string(options.learning_rate));
    Set("min_child_weight", std::to_string(options.min_child_weight));
    Set("subsample", std::to_string(options.row_fraction));
    Set("colsample_bytree", std::to_string(options.column_fraction));
    Set("lambda", std::to_string(options.l2));
    Set("seed", std::to_string(options.seed));
    for (int round = 0; round < options.rounds; ++round) Step(round, data, options.absolute_scale);
  }
  ~Xgboost() {
    XGBoosterFree(booster_);
    XGDMatrixFree(train_);
  }
  Xgboost(const Xgboost&) = delete;
  Xgboost& operator=(const Xgboost&) = delete;

  std::vector<float> Predict(const std::vector<float>& features) const {
    DMatrixHandle matrix = Matrix(features);
    std::vector<float> predicted = Ask(matrix, 0);
    XGDMatrixFree(matrix);
    return predicted;
  }

 private:
  static DMatrixHandle Matrix(const std::vector<float>& features) {
    DMatrixHandle matrix = nullptr;
    XGDMatrixCreateFromMat(features.data(), features.size() / kColumns, kColumns, NAN, &matrix);
    return matrix;
  }
  void Set(const char* key, const std::string& value) {
    XGBoosterSetParam(booster_, key, value.c_str());
  }
  std::vector<float> Ask(DMatrixHandle matrix, int is_training) const {
    bst_ulong count = 0;
    const float* out = nullptr;
    XGBoosterPredict(booster_, matrix, 1, 0, is_training, &count, &out);
    return {out, out + count};
  }
  void Step(int round, const Data& data, double scale) {
    if (scale == 0) {
      XGBoosterUpdateOneIter(booster_, round, train_);
      return;
    }
    const std::vector<float> predicted = Ask(train_, 1);
    std::vector<float> gradients, curvatures;
    for (size_t i = 0; i < predicted.size(); ++i) {
      const double error = static_cast<double>(predicted[i]) - data.targets[i];
      const double weight = data.weights[i] / std::hypot(1.0, error / scale);
      gradients.push_back(static_cast<float>(weight * error));
      curvatures.push_back(static_cast<float>(weight));
    }
    XGBoosterBoostOneIter(booster_, train_, gradients.data(), curvatures.data(), gradients.size());
  }

  DMatrixHandle train_ = nullptr;
  BoosterHandle booster_ = nullptr;
};

// Returns a tree with one split at 1.5 on column 0: 10 below, 20 from there on.
BoostedTreesProto Stump() {
  BoostedTreesProto proto;
  proto.set_columns(2);
  proto.add_roots(0);
  for (const float value : {1.5f, 10.0f, 20.0f}) proto.add_values(value);
  for (const int left : {1, 0, 0}) proto.add_left(left);
  for (int node = 0; node < 3; ++node) proto.add_split_columns(0);
  return proto;
}

std::string ErrorOf(const std::function<void(BoostedTreesProto&)>& spoil) {
  BoostedTreesProto proto = Stump();
  spoil(proto);
  try {
    BoostedTrees::FromProto(proto, "m.pb");
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(BoostedTreesTest, ARowGoesLeftBelowTheThreshold) {
  const BoostedTrees trees = BoostedTrees::FromProto(Stump(), "m.pb");
  std::vector<double> out = {100, 100, 100};
  trees.AddTo(std::vector<float>{1.4f, 0, 1.5f, 0, 1.6f, 0}, out);
  EXPECT_EQ(out, (std::vector<double>{110, 120, 120}));
}

TEST(BoostedTreesTest, PredictsWhatXgboostPredicts) {
  const Data data = RandomData(1000, 1);
  const Data fresh = RandomData(333, 2);
  for (const double absolute_scale : {0.0, 0.03}) {
    BoostingOptions options = kOptions;
    options.absolute_scale = absolute_scale;
    const std::vector<double> ours = Predict(Train(data, options), fresh.features);
    const std::vector<float> theirs = Xgboost(data, options).Predict(fresh.features);
    ASSERT_EQ(ours.size(), theirs.size());
    for (size_t i = 0; i < ours.size(); ++i) {
      EXPECT_NEAR(ours[i], theirs[i], 1e-6) << "row " << i << ", scale " << absolute_scale;
    }
  }
}

// Four targets of five are 0, the fifth is 1: their mean is 0.2, their median 0.
TEST(BoostedTreesTest, AnAbsoluteObjectiveTendsToTheMedian) {
  Data data;
  for (int row = 0; row < 500; ++row) {
    data.features.insert(data.features.end(), kColumns, 0.0f);
    data.targets.push_back(row % 5 == 0 ? 1.0f : 0.0f);
  }
  BoostingOptions options = kOptions;
  options.row_fraction = 1;
  EXPECT_NEAR(Predict(Train(data, options), data.features)[0], 0.2, 0.01);
  options.absolute_scale = 0.03;
  EXPECT_NEAR(Predict(Train(data, options), data.features)[0], 0, 0.02);
}

TEST(BoostedTreesTest, TheSameInputGivesTheSameBytes) {
  const Data data = RandomData(500, 4);
  const std::string once = Train(data, kOptions).ToProto().SerializeAsString();
  EXPECT_EQ(Train(data, kOptions).ToProto().SerializeAsString(), once);
  BoostingOptions other = kOptions;
  other.seed = 2;
  EXPECT_NE(Train(data, other).ToProto().SerializeAsString(), once);
}

TEST(BoostedTreesTest, AProtoHoldsAllOfIt) {
  const Data data = RandomData(500, 5);
  const BoostedTrees trees = Train(data, kOptions);
  const BoostedTrees read = BoostedTrees::FromProto(trees.ToProto(), "m.pb");
  EXPECT_EQ(read.columns(), kColumns);
  EXPECT_EQ(Predict(read, data.features), Predict(trees, data.features));
  EXPECT_EQ(read.ToProto().SerializeAsString(), trees.ToProto().SerializeAsString());
}

// The bytes of one node, as the field `nodes` has them.
std::string NodeBytes(float value, uint32_t below, uint32_t column) {
  const uint32_t words[] = {std::bit_cast<uint32_t>(value), below << 8 | column};
  std::string bytes;
  for (const uint32_t word : words) {
    for (int byte = 0; byte < 4; ++byte) bytes += static_cast<char>(word >> 8 * byte & 0xff);
  }
  return bytes;
}

TEST(BoostedTreesTest, RowsOfEarlierVersionsBecomeNodes) {
  const BoostedTreesProto proto = BoostedTrees::FromProto(Stump(), "m.pb").ToProto();
  EXPECT_EQ(proto.nodes(), NodeBytes(1.5f, 1, 0) + NodeBytes(10, 0, 0) + NodeBytes(20, 0, 0));
  ASSERT_EQ(proto.depths_size(), 1);
  EXPECT_EQ(proto.depths(0), 1);
  EXPECT_EQ(proto.values_size() + proto.left_size() + proto.split_columns_size(), 0);
  EXPECT_EQ(BoostedTrees::FromProto(proto, "m.pb").ToProto().SerializeAsString(),
            proto.SerializeAsString());
}

TEST(BoostedTreesTest, NodesMayStayWhereTheyAre) {
  const Data data = RandomData(500, 8);
  const BoostedTrees trees = Train(data, kOptions);
  BoostedTreesProto rest = trees.ToProto();
  const std::string shifted = "." + rest.nodes();  // at an odd address
  rest.clear_nodes();
  const BoostedTrees copy = BoostedTrees::InPlace(rest, std::string_view(shifted).substr(1));
  EXPECT_EQ(Predict(copy, data.features), Predict(trees, data.features));
  EXPECT_EQ(copy.ToProto().SerializeAsString(), trees.ToProto().SerializeAsString());
}

TEST(BoostedTreesTest, NodesThatAreNoTreesAreRefused) {
  const auto error_of = [](const std::string& nodes) {
    return ErrorOf([&](auto& proto) {
      proto.Clear();
      proto.set_columns(2);
      proto.add_roots(0);
      proto.set_nodes(nodes);
    });
  };
  const std::string leaf = NodeBytes(1, 0, 0);
  EXPECT_EQ(error_of(NodeBytes(1.5f, 1, 1) + leaf + leaf), "");
  EXPECT_EQ(error_of(leaf + "123"), "m.pb.nodes: got 11 bytes, want a multiple of 8");
  EXPECT_EQ(error_of(NodeBytes(1.5f, 1, 1) + leaf), "m.pb: node 0 is not part of a tree");
  EXPECT_EQ(error_of(NodeBytes(1.5f, 0xffffff, 1) + leaf), "m.pb: node 0 is not part of a tree");
  EXPECT_EQ(error_of(NodeBytes(1.5f, 1, 2) + leaf + leaf), "m.pb: node 0 is not part of a tree");
  EXPECT_EQ(error_of(NodeBytes(1.5f, 1, 1) + leaf + NodeBytes(NAN, 0, 0)),
            "m.pb: node 2 is not part of a tree");
  EXPECT_EQ(error_of(NodeBytes(101, 0, 0)),
            "m.pb.values: got leaves whose largest add up to 101, want at most 100");
}

TEST(BoostedTreesTest, AnEmptyProtoPredictsNothing) {
  const BoostedTrees trees = BoostedTrees::FromProto({}, "m.pb");
  EXPECT_TRUE(trees.empty());
  EXPECT_EQ(trees.columns(), 0);
  EXPECT_EQ(ErrorOf([](auto& proto) { proto.Clear(); }), "");
}

TEST(BoostedTreesTest, WhatIsNoTreeIsRefused) {
  const std::string counts =
      "m.pb: got 3 values, 2 children and 3 columns, want the same number of each";
  EXPECT_EQ(ErrorOf([](auto& proto) { proto.mutable_left()->RemoveLast(); }), counts);
  EXPECT_EQ(ErrorOf([](auto& proto) { proto.mutable_split_columns()->RemoveLast(); }),
            "m.pb: got 3 values, 3 children and 2 columns, want the same number of each");
  const std::string node = "m.pb: node 0 is not part of a tree";
  for (const int left : {-1, 2, 3, 1 << 30}) {
    EXPECT_EQ(ErrorOf([&](auto& proto) { proto.set_left(0, left); }), node) << left;
  }
  EXPECT_EQ(ErrorOf([](auto& proto) { proto.set_left(1, 1); }),
            "m.pb: node 1 is not part of a tree");
  EXPECT_EQ(ErrorOf([](auto& proto) { proto.set_left(2, 1); }),
            "m.pb: node 2 is not part of a tree");
  for (const float value : {NAN, INFINITY}) {
    EXPECT_EQ(ErrorOf([&](auto& proto) { proto.set_values(2, value); }),
              "m.pb: node 2 is not part of a tree");
  }
  for (const int column : {-1, 2}) {
    EXPECT_EQ(ErrorOf([&](auto& proto) { proto.set_split_columns(0, column); }), node) << column;
  }
  EXPECT_EQ(ErrorOf([](auto& proto) { proto.set_columns(0); }),
            "m.pb.columns: got 0, want at least 1");
  for (const int root : {-1, 3}) {
    EXPECT_EQ(ErrorOf([&](auto& proto) { proto.set_roots(0, root); }),
              "m.pb.roots: got " + std::to_string(root) + ", want 0 to 2");
  }
}

TEST(BoostedTreesTest, AFeatureThatIsNoNumberIsRefused) {
  for (const float value : {NAN, INFINITY}) {
    Data data = RandomData(100, 6);
    data.features[17] = value;
    try {
      Train(data, kOptions);
      ADD_FAILURE() << "trained on " << value;
    } catch (const InputError& error) {
      EXPECT_STREQ(error.what(), "boosted trees: a feature is not a finite number");
    }
  }
}

TEST(BoostedTreesTest, ATargetThatIsNoNumberIsRefused) {
  for (const float value : {NAN, INFINITY}) {
    Data data = RandomData(100, 7);
    data.targets[17] = value;
    EXPECT_THROW(Train(data, kOptions), InputError) << value;
  }
}

}  // namespace
}  // namespace stagecraft
