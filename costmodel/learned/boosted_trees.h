// BoostedTrees: gradient-boosted regression trees. XGBoost trains them through its C API;
// predictions walk a flat array, because passing a row through the library costs twenty times as
// much. The array is the field `nodes` of BoostedTreesProto, byte for byte.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
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
  // Trees whose nodes are not copied. `nodes` is that field of a message of which `rest` is
  // everything else; it must outlive the trees and their copies. Nothing is checked.
  static BoostedTrees InPlace(const BoostedTreesProto& rest, std::string_view nodes);
  BoostedTreesProto ToProto() const;

 private:
  // Eight bytes, so that much of a tree fits into the nearest cache.
  struct Node {
    float value = 0;    // threshold, or what a leaf adds
    uint32_t link = 0;  // below() << 8 | column()

    uint32_t column() const { return link & 0xff; }
    // How many nodes further on the child below the threshold is, which the other child follows; 0:
    // a leaf.
    uint32_t below() const { return link >> 8; }
    bool is_leaf() const { return below() == 0; }
  };
  static constexpr size_t kMostNodes = (size_t{1} << 24) - 1;
  static constexpr int kMostColumns = 256;

  // Reads the trees of a model as XGBoost saves it.
  static BoostedTrees ReadTrees(std::string_view json, int columns);
  // Reads the rows of a message without `nodes`; throws as FromProto() does.
  static std::vector<Node> ReadRows(const BoostedTreesProto& proto, const std::string& name);
  void TakeNodes(std::span<const Node> nodes);
  // Bytes need not lie at a multiple of a Node's alignment.
  Node NodeAt(size_t index) const;
  size_t node_count() const { return nodes_.size() / sizeof(Node); }
  void CheckNodes(const std::string& name) const;
  // Returns by root how many splits lead to the deepest leaf.
  std::vector<int> Depths() const;
  // Returns the sum, over all trees, of the largest absolute value among a tree's leaves. It bounds
  // the absolute value of every prediction.
  double LargestSum() const;

  std::vector<int32_t> roots_;
  std::vector<int> depths_;  // by root
  std::string_view nodes_;   // in owned_, or outside
  std::shared_ptr<const std::string> owned_;
  int columns_ = 0;
};

}  // namespace stagecraft
