// BoostedTrees: gradient-boosted regression trees. XGBoost trains them through its C API;
// predictions walk flat arrays, because passing a row through the library costs twenty times as
// much.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "costmodel/learned/boosting_options.h"
#include "proto/cost_model.pb.h"

namespace stagecraft {

// Immutable once made; may be used from any thread.
class BoostedTrees {
 public:
  BoostedTrees() = default;  // no trees: must not be asked for predictions

  // Fits `targets`; `features` holds a row of `columns` finite numbers for each target. `weights`
  // is empty or has one number for each target. The same input gives the same trees. Throws
  // InputError if XGBoost refuses.
  static BoostedTrees Train(std::span<const float> features, int columns,
                            std::span<const float> targets, std::span<const float> weights,
                            const BoostingOptions& options);

  // Adds the prediction of each row to `out`. CHECKs the sizes.
  void AddTo(std::span<const float> features, std::span<double> out) const;

  int columns() const { return columns_; }
  bool empty() const { return roots_.empty(); }

  // FromProto() throws an InputError that begins with `name` for malformed trees, and for leaves
  // that could add up to more than 100.
  static BoostedTrees FromProto(const BoostedTreesProto& proto, const std::string& name);
  BoostedTreesProto ToProto() const;

 private:
  struct Node {
    float value = 0;   // threshold, or what a leaf adds
    int32_t left = 0;  // child below the threshold, the other is left + 1; 0: a leaf
    int32_t column = 0;
  };
  // The same nodes in the form in which they are walked: a leaf leads to itself for every row. A
  // Step has eight bytes, so that more of a tree fits into the nearest cache.
  struct Step {
    float threshold;
    uint32_t left : 24;
    uint32_t column : 8;
  };
  // Reads the trees of a model as XGBoost saves it.
  static BoostedTrees ReadTrees(std::string_view json, int columns);
  void MakeSteps();
  // Returns the sum, over all trees, of the largest absolute value among a tree's leaves. It bounds
  // the absolute value of every prediction.
  double LargestSum() const;

  std::vector<int32_t> roots_;
  std::vector<Node> nodes_;
  std::vector<Step> steps_;  // by node
  std::vector<int> depths_;  // by root
  int columns_ = 0;
};

}  // namespace stagecraft
