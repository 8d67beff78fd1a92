#include "costmodel/learned/boosted_trees.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <utility>

#include "costmodel/check.h"

namespace stagecraft {
namespace {

// Leaves add to logarithms: a sum of larger absolute value cannot have been learned from times.
constexpr double kMostSum = 100;

}  // namespace

static_assert(std::endian::native == std::endian::little, "nodes are read as they lie in files");

BoostedTrees::Node BoostedTrees::NodeAt(size_t index) const {
  static_assert(sizeof(Node) == 8);
  Node node;
  std::memcpy(&node, nodes_.data() + index * sizeof(Node), sizeof(Node));
  return node;
}

void BoostedTrees::TakeNodes(std::span<const Node> nodes) {
  CHECK(nodes.size() <= kMostNodes && columns_ <= kMostColumns);
  owned_ = std::make_shared<const std::string>(reinterpret_cast<const char*>(nodes.data()),
                                               nodes.size_bytes());
  nodes_ = *owned_;
}

void BoostedTrees::AddTo(std::span<const float> features, std::span<double> out) const {
  CHECK(features.size() == out.size() * static_cast<size_t>(columns_));
  // Many rows walk one tree, which stays in the cache. Some of them walk side by side, so that
  // their loads do not wait for each other. All walk as deep as the deepest leaf: a row that is at
  // a leaf stays there, without a jump.
  constexpr size_t kBlock = 128;
  constexpr size_t kBeside = 32;
  for (size_t first = 0; first < out.size(); first += kBlock) {
    const size_t rows = std::min(kBlock, out.size() - first);
    float sum[kBlock] = {};
    for (size_t tree = 0; tree < roots_.size(); ++tree) {
      const auto root = static_cast<uint32_t>(roots_[tree]);
      const int depth = depths_[tree];
      for (size_t r = 0; r < rows; r += kBeside) {
        // If fewer than kBeside rows are left, earlier rows are walked again with them.
        const size_t start = rows < kBeside ? 0 : std::min(r, rows - kBeside);
        const size_t count = std::min(kBeside, rows);
        const float* row[kBeside];
        uint32_t at[kBeside];
        for (size_t i = 0; i < kBeside; ++i) {
          row[i] = features.data() + (first + start + (i < count ? i : 0)) * columns_;
          at[i] = root;
        }
        for (int level = 0; level < depth; ++level) {
          for (size_t i = 0; i < kBeside; ++i) {
            const Node node = NodeAt(at[i]);
            const bool is_second = !(row[i][node.column()] < node.value);
            at[i] += node.below() +
                     (static_cast<uint32_t>(is_second) & static_cast<uint32_t>(!node.is_leaf()));
          }
        }
        for (size_t i = start < r ? r - start : 0; i < count; ++i) {
          sum[start + i] += NodeAt(at[i]).value;
        }
      }
    }
    for (size_t r = 0; r < rows; ++r) out[first + r] += sum[r];
  }
}

// Children come after their parents, which may share them.
std::vector<int> BoostedTrees::Depths() const {
  std::vector<int> below(node_count(), 0);
  for (size_t i = below.size(); i-- > 0;) {
    const Node node = NodeAt(i);
    if (node.is_leaf()) continue;
    const size_t child = i + node.below();
    below[i] = 1 + std::max(below[child], below[child + 1]);
  }
  std::vector<int> depths;
  for (const int32_t root : roots_) depths.push_back(below[root]);
  return depths;
}

double BoostedTrees::LargestSum() const {
  std::vector<double> largest(node_count());
  for (size_t i = largest.size(); i-- > 0;) {
    const Node node = NodeAt(i);
    const size_t child = i + node.below();
    largest[i] = node.is_leaf() ? std::abs(static_cast<double>(node.value))
                                : std::max(largest[child], largest[child + 1]);
  }
  double sum = 0;
  for (const int32_t root : roots_) sum += largest[root];
  return sum;
}

std::vector<BoostedTrees::Node> BoostedTrees::ReadRows(const BoostedTreesProto& proto,
                                                       const std::string& name) {
  const int count = proto.values_size();
  if (proto.left_size() != count || proto.split_columns_size() != count) {
    throw InputError(
        fmt::format("{}: got {} values, {} children and {} columns, want the same number of each",
                    name, count, proto.left_size(), proto.split_columns_size()));
  }
  std::vector<Node> nodes;
  nodes.reserve(count);
  for (int i = 0; i < count; ++i) {
    const int32_t left = proto.left(i), column = proto.split_columns(i);
    if ((left != 0 && (left <= i || left >= count - 1)) || column < 0 || column >= kMostColumns) {
      throw InputError(fmt::format("{}: node {} is not part of a tree", name, i));
    }
    const auto below = static_cast<uint32_t>(left == 0 ? 0 : left - i);
    nodes.push_back({proto.values(i), below << 8 | static_cast<uint32_t>(column)});
  }
  return nodes;
}

void BoostedTrees::CheckNodes(const std::string& name) const {
  const size_t count = node_count();
  for (size_t i = 0; i < count; ++i) {
    const Node node = NodeAt(i);
    if (!std::isfinite(node.value) || (!node.is_leaf() && i + node.below() + 1 >= count) ||
        static_cast<int>(node.column()) >= columns_) {
      throw InputError(fmt::format("{}: node {} is not part of a tree", name, i));
    }
  }
}

BoostedTrees BoostedTrees::FromProto(const BoostedTreesProto& proto, const std::string& name) {
  if (proto.nodes().size() % sizeof(Node) != 0) {
    throw InputError(fmt::format("{}.nodes: got {} bytes, want a multiple of {}", name,
                                 proto.nodes().size(), sizeof(Node)));
  }
  const size_t count =
      std::max(proto.nodes().size() / sizeof(Node), static_cast<size_t>(proto.values_size()));
  if (count > kMostNodes || proto.columns() > kMostColumns) {
    throw InputError(fmt::format("{}: got {} nodes and {} columns, want at most {} and {}", name,
                                 count, proto.columns(), kMostNodes, kMostColumns));
  }
  if (proto.columns() < (count > 0 ? 1 : 0)) {
    throw InputError(fmt::format("{}.columns: got {}, want at least 1", name, proto.columns()));
  }
  BoostedTrees trees;
  trees.columns_ = proto.columns();
  if (proto.nodes().empty()) {
    trees.TakeNodes(ReadRows(proto, name));
  } else {
    trees.owned_ = std::make_shared<const std::string>(proto.nodes());
    trees.nodes_ = *trees.owned_;
  }
  trees.CheckNodes(name);
  for (const int32_t root : proto.roots()) {
    if (root < 0 || root >= static_cast<int32_t>(count)) {
      throw InputError(fmt::format("{}.roots: got {}, want 0 to {}", name, root,
                                   static_cast<int64_t>(count) - 1));
    }
    trees.roots_.push_back(root);
  }
  trees.depths_ = trees.Depths();
  const double sum = trees.LargestSum();
  if (!(sum <= kMostSum)) {
    throw InputError(
        fmt::format("{}.values: got leaves whose largest add up to {:g}, want at most {}", name,
                    sum, kMostSum));
  }
  return trees;
}

BoostedTrees BoostedTrees::InPlace(const BoostedTreesProto& rest, std::string_view nodes) {
  BoostedTrees trees;
  trees.columns_ = rest.columns();
  trees.roots_.assign(rest.roots().begin(), rest.roots().end());
  trees.depths_.assign(rest.depths().begin(), rest.depths().end());
  trees.nodes_ = nodes;
  return trees;
}

BoostedTreesProto BoostedTrees::ToProto() const {
  BoostedTreesProto proto;
  proto.set_columns(columns_);
  for (const int32_t root : roots_) proto.add_roots(root);
  for (const int depth : depths_) proto.add_depths(depth);
  proto.set_nodes(std::string(nodes_));
  return proto;
}

}  // namespace stagecraft
