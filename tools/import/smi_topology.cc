#include "tools/import/smi_topology.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "costmodel/check.h"
#include "costmodel/usual_links.h"
#include "tools/import/imported_gpu.h"
#include "tools/import/observed_node.h"
#include "tools/import/smi_matrix.h"

namespace stagecraft {
namespace {

// Disjoint sets of the numbers 0, 1 and so on, which can be joined.
class Sets {
 public:
  explicit Sets(int count) : parent_(count) { std::iota(parent_.begin(), parent_.end(), 0); }
  int Find(int i) const {
    while (parent_[i] != i) i = parent_[i];
    return i;
  }
  void Join(int a, int b) {
    const int first = Find(a);
    const int second = Find(b);
    parent_[std::max(first, second)] = std::min(first, second);
  }
  // Returns the number of each member's set; sets are numbered in the order of their first members.
  std::vector<int> Numbers() const {
    std::map<int, int> number;
    std::vector<int> numbers;
    for (int i = 0; i < static_cast<int>(parent_.size()); ++i) {
      numbers.push_back(number.emplace(Find(i), static_cast<int>(number.size())).first->second);
    }
    return numbers;
  }

 private:
  std::vector<int> parent_;
};

PcieTree TreeOf(const SmiMatrix& matrix) {
  const int all = matrix.gpus + matrix.nics;
  Sets switches(all), roots(all);
  for (int a = 0; a < all; ++a) {
    for (int b = 0; b < a; ++b) {
      const SmiPath path = matrix.cells[a][b].path;
      if (path == SmiPath::kSameSwitch) switches.Join(a, b);
      if (path == SmiPath::kSameSwitch || path == SmiPath::kSameRoot) roots.Join(a, b);
      const bool may_tell =
          path == SmiPath::kNvlink && b < std::ssize(matrix.numa) && a < std::ssize(matrix.numa);
      if (may_tell && matrix.numa[a] == matrix.numa[b]) roots.Join(a, b);
    }
  }
  PcieTree tree;
  const std::vector<int> at_switch = switches.Numbers();
  const std::vector<int> at_root = roots.Numbers();
  tree.device_switch.assign(at_switch.begin(), at_switch.begin() + matrix.gpus);
  tree.nic_switch.assign(at_switch.begin() + matrix.gpus, at_switch.end());
  tree.switch_root.assign(*std::max_element(at_switch.begin(), at_switch.end()) + 1, 0);
  for (int i = 0; i < all; ++i) tree.switch_root[at_switch[i]] = at_root[i];
  tree.roots = *std::max_element(at_root.begin(), at_root.end()) + 1;
  return tree;
}

// Fills in the direct links between GPUs or, if the matrix shows those to a switch, which it prints
// for every pair of GPUs, the links to switches.
void AddNvlinks(const SmiMatrix& matrix, ObservedNode* node) {
  node->nvlinks.assign(node->gpus, std::vector<int>(node->gpus, 0));
  node->switch_links.assign(node->gpus, 0);
  int least = matrix.cells[0][0].nvlinks;
  bool is_first = true;
  for (int a = 0; a < node->gpus; ++a) {
    for (int b = 0; b < node->gpus; ++b) {
      if (a == b) continue;
      node->nvlinks[a][b] = matrix.cells[a][b].nvlinks;
      least = is_first ? node->nvlinks[a][b] : std::min(least, node->nvlinks[a][b]);
      is_first = false;
    }
  }
  const double known = node->gpu->scale_up.bytes_per_s();
  const double shown = least * NvlinkBandwidth(*node->gpu).bytes_per_s();
  const bool all_to_each = node->gpus > 2 ? shown * (node->gpus - 1) > known : shown >= known;
  if (least == 0 || !all_to_each || !HasSwitchedReference(*node->gpu)) return;
  node->switch_links.assign(node->gpus, least);
  for (auto& row : node->nvlinks) std::fill(row.begin(), row.end(), 0);
}

}  // namespace

ImportedCluster ImportSmiTopology(const std::string& text, const std::string& name,
                                  const ImportOptions& options) {
  const SmiMatrix matrix = ParseSmiMatrix(text, name);
  if (options.gpu.empty()) {
    throw InputError("--gpu: got none, want the GPU's name, which the matrix does not give");
  }
  ImportedCluster result;
  ObservedNode node;
  node.gpu = &FindImportedGpu(options.gpu, "--gpu");
  node.gpus = matrix.gpus;
  node.nics = matrix.nics;
  AddNvlinks(matrix, &node);
  const int generation = PcieGeneration(*node.gpu);
  const bool is_known = node.gpu->pcie_generation > 0;
  result.notes.push_back(
      fmt::format("PCIe is assumed to have 16 lanes of generation {}, {}", generation,
                  is_known ? "as the GPU type has" : "as that of the GPU type is not known"));
  node.port = {LinkKind::kPcie, kPcieLatency, PcieBandwidth(generation)};
  node.tree = TreeOf(matrix);
  node.tree.uplinks.assign(node.tree.switches(),
                           {LinkKind::kPcie, Duration(), node.port.bandwidth});
  if (node.tree.roots > 1) node.tree.root_link = RootLink(generation);
  NodeGroupProto* group = result.cluster.add_node_groups();
  group->set_count(1);
  *group->mutable_inline_node_type() = ToNodeType(node, "node", options, name, &result.notes);
  return result;
}

}  // namespace stagecraft
