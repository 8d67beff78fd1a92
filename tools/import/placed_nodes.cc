#include "tools/import/placed_nodes.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "costmodel/check.h"
#include "sim/cluster/node_catalogue.h"
#include "tools/import/imported_gpu.h"

namespace stagecraft {
namespace {

// How many consecutive nodes share the value of a field.
std::vector<int> RunsOf(const std::vector<PlacedNode>& nodes, std::string PlacedNode::*field) {
  std::vector<int> runs;
  for (size_t i = 0; i < nodes.size(); ++i) {
    const bool goes_on = i > 0 && nodes[i].*field == nodes[i - 1].*field;
    if (!goes_on) runs.push_back(0);
    ++runs.back();
  }
  return runs;
}

// Whether all are equal, except that the last may be shorter.
bool AreEqual(const std::vector<int>& runs) {
  return std::all_of(runs.begin(), runs.end() - 1, [&](int run) { return run == runs[0]; }) &&
         runs.back() <= runs[0];
}

double Oversubscription(const ImportOptions& options) {
  return options.oversubscription > 0 ? options.oversubscription : 1;
}

void AddTier(const ImportOptions& options, SwitchedFabricProto* fabric) {
  fabric->add_tiers()->set_oversubscription(Oversubscription(options));
}

}  // namespace

void AddPlacedNodes(const std::vector<PlacedNode>& nodes, const ImportOptions& options,
                    ImportedCluster* result) {
  ClusterProto& cluster = result->cluster;
  std::string last;
  for (const PlacedNode& node : nodes) {
    const std::string type = node.type.SerializeAsString();
    if (cluster.node_groups_size() == 0 || type != last) {
      *cluster.add_node_groups() = node.type;
      last = type;
    }
    NodeGroupProto* group = cluster.mutable_node_groups(cluster.node_groups_size() - 1);
    group->set_count(group->count() + 1);
  }
  const std::vector<int> leaves = RunsOf(nodes, &PlacedNode::leaf);
  if (leaves.size() < 2) {
    if (options.oversubscription > 0) {
      result->notes.push_back("--oversubscription changes nothing: no two leaf switches are known");
    }
    return;
  }
  SwitchedFabricProto* fabric = cluster.add_fabrics();
  fabric->set_kind(SwitchedFabricProto::FAT_TREE);
  AddTier(options, fabric);
  if (AreEqual(leaves)) {
    fabric->set_nodes_per_leaf(leaves[0]);
  } else {
    fabric->mutable_leaf_nodes()->Add(leaves.begin(), leaves.end());
  }
  result->notes.push_back(fmt::format(
      "leaf switches are assumed to be {:g}:1 oversubscribed, with links as fast as a network "
      "interface",
      Oversubscription(options)));
  const std::vector<int> pods = RunsOf(nodes, &PlacedNode::pod);
  if (pods.size() < 2) return;
  if (!AreEqual(leaves) || !AreEqual(pods) || pods[0] % leaves[0] != 0) {
    result->notes.push_back(
        "leaves or pods are of unequal sizes: switches above the second tier are left out");
    return;
  }
  fabric->set_nodes_per_pod(pods[0]);
  AddTier(options, fabric);
}

NodeGroupProto NodeOf(const std::string& gpu, int count, const ImportOptions& options,
                      const std::string& place) {
  NodeGroupProto group;
  if (!options.node.empty()) {
    group.set_node_type(NodeCatalogue::Embedded().Get(options.node, "--node").type.id);
    group.set_devices_per_node(count);
    return group;
  }
  if (gpu.empty() && options.gpu.empty()) {
    throw InputError(place + ": got a node without a GPU's name, want --gpu, --node or --gres");
  }
  const DeviceEntry& entry =
      options.gpu.empty() ? FindImportedGpu(gpu, place) : FindImportedGpu(options.gpu, "--gpu");
  // What is imported exists, so nothing about its wiring may be assumed.
  if (entry.reference_node.empty()) {
    throw InputError(place + ": the catalogue has no reference node for " + entry.device.id +
                     ", want --node");
  }
  // Throws now, with a place, what the reader of the cluster would throw later.
  ReferenceNode(entry.device.id, count, place);
  group.set_device(entry.device.id);
  group.set_devices_per_node(count);
  return group;
}

}  // namespace stagecraft
