#include "tools/import/kubernetes_nodes.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "costmodel/check.h"
#include "costmodel/json_to_proto.h"
#include "sim/cluster/node_catalogue.h"
#include "sim/cluster/node_type.h"
#include "tools/import/import_text.h"
#include "tools/import/placed_nodes.h"

namespace stagecraft {
namespace {

using Json = nlohmann::json;

constexpr const char* kGpuResources[] = {"nvidia.com/gpu", "amd.com/gpu"};
// The labels of network layers, from the outermost to the nearest: the last one names a leaf
// switch, the one before it a pod.
constexpr const char* kAwsLayers[] = {"topology.k8s.aws/network-node-layer-1",
                                      "topology.k8s.aws/network-node-layer-2",
                                      "topology.k8s.aws/network-node-layer-3"};
constexpr const char* kGceLayers[] = {"cloud.google.com/gce-topology-block",
                                      "cloud.google.com/gce-topology-subblock"};

struct KubernetesNode {
  std::string name;
  bool has_leaf = false;
  // What nodes are sorted by: region, zone, network layers, NVLink clique, name.
  std::vector<std::string> order;
  NodeGroupProto type;
};

class NodeReader {
 public:
  NodeReader(const Json& item, const std::string& name, size_t index) : item_(item) {
    place_ = name + ": items[" + std::to_string(index) + "]";
    const Json& metadata = Object(item, "metadata", place_);
    if (!metadata.contains("name") || !metadata["name"].is_string()) {
      throw InputError(place_ + ".metadata.name: got none, want a name");
    }
    node_.name = metadata["name"].get<std::string>();
    place_ += " " + Quoted(node_.name);
    if (metadata.contains("labels")) labels_ = &Object(metadata, "labels", place_);
  }

  // Returns false for a node without GPUs.
  bool Read(const ImportOptions& options, std::vector<std::string>* notes) {
    const int capacity = Capacity();
    const std::string labelled = Label("nvidia.com/gpu.count");
    int count = labelled.empty() ? 0 : Whole(labelled, "nvidia.com/gpu.count");
    if (count == 0 && capacity == 0) return false;
    const std::string replicas = Label("nvidia.com/gpu.replicas");
    const int shared =
        replicas.empty() ? 1 : std::max(1, Whole(replicas, "nvidia.com/gpu.replicas"));
    if (shared > 1) notes->push_back("time-sliced GPUs are counted once");
    if (count > 0 && capacity > 0 && capacity != count * shared) {
      throw InputError(
          fmt::format("{}: got {} GPUs by label and {} by capacity, want the same number", place_,
                      count * shared, capacity));
    }
    if (count == 0) count = capacity;
    node_.type = TypeOf(count, options);
    Place();
    return true;
  }

  KubernetesNode Take() { return std::move(node_); }
  const std::string& place() const { return place_; }
  const std::string& name() const { return node_.name; }

 private:
  static const Json& Object(const Json& parent, const char* key, const std::string& place) {
    if (!parent.is_object() || !parent.contains(key) || !parent[key].is_object()) {
      throw InputError(place + "." + key + ": got no object, want one");
    }
    return parent[key];
  }

  std::string Label(const char* key) const {
    if (labels_ == nullptr || !labels_->contains(key)) return "";
    const Json& value = (*labels_)[key];
    if (!value.is_string()) {
      throw InputError(place_ + ".labels." + key + ": got no text, want text");
    }
    return value.get<std::string>();
  }

  int Whole(const std::string& text, const std::string& key) const {
    return static_cast<int>(ParseWhole(text, 0, kMaxDevicesPerNode, place_ + " " + key));
  }

  int Capacity() const {
    if (!item_.contains("status")) return 0;
    const Json& status = Object(item_, "status", place_);
    if (!status.contains("capacity")) return 0;
    const Json& capacity = Object(status, "capacity", place_ + ".status");
    int count = 0;
    for (const auto& [resource, value] : capacity.items()) {
      const std::string text = value.is_string() ? value.get<std::string>() : value.dump();
      // When MIG is turned off, nodes keep the resource with the value zero.
      if (resource.starts_with("nvidia.com/mig-") && Whole(text, resource) > 0) {
        throw InputError(place_ + ".status.capacity: got " + Quoted(resource) +
                         ", want whole GPUs: MIG instances are not supported");
      }
      for (const char* gpu : kGpuResources) {
        if (resource == gpu) count += Whole(text, resource);
      }
    }
    return count;
  }

  NodeGroupProto TypeOf(int count, const ImportOptions& options) const {
    std::string instance = Label("node.kubernetes.io/instance-type");
    if (instance.empty()) instance = Label("beta.kubernetes.io/instance-type");
    if (options.gpu.empty() && options.node.empty() && !instance.empty()) {
      for (const NodeEntry& entry : NodeCatalogue::Embedded().entries()) {
        // A name like "AWS p5.48xlarge" has the provider, then its name for the instance type.
        const size_t blank = entry.name.find(' ');
        if (blank == entry.name.npos || entry.name.substr(blank + 1) != instance) continue;
        UseDevicesChecked(entry.type, count, place_);
        NodeGroupProto group;
        group.set_node_type(entry.type.id);
        group.set_devices_per_node(count);
        return group;
      }
    }
    std::string product = Label("nvidia.com/gpu.product");
    if (product.empty()) product = Label("cloud.google.com/gke-accelerator");
    if (product.empty()) product = Label("amd.com/gpu.product-name");
    return NodeOf(product, count, options, place_);
  }

  void Place() {
    std::vector<std::string> layers;
    for (const char* key : kAwsLayers) layers.push_back(Label(key));
    if (layers.back().empty()) {
      layers = {Label(kGceLayers[0]), Label(kGceLayers[1])};
    }
    node_.has_leaf = !layers.back().empty();
    node_.order = {Label("topology.kubernetes.io/region"), Label("topology.kubernetes.io/zone")};
    node_.order.insert(node_.order.end(), layers.begin(), layers.end());
    node_.order.push_back(Label("nvidia.com/gpu.clique"));
    node_.order.push_back(node_.name);
  }

  const Json& item_;
  const Json* labels_ = nullptr;
  std::string place_;
  KubernetesNode node_;
};

std::vector<KubernetesNode> ReadNodes(const Json& items, const std::string& name,
                                      const ImportOptions& options,
                                      std::vector<std::string>* notes) {
  std::vector<KubernetesNode> nodes;
  std::set<std::string> names;
  for (size_t i = 0; i < items.size(); ++i) {
    NodeReader reader(items[i], name, i);
    if (!names.insert(reader.name()).second) {
      throw InputError(reader.place() + ": got this name again, want each node once");
    }
    if (reader.Read(options, notes)) nodes.push_back(reader.Take());
  }
  if (nodes.empty()) {
    throw InputError(fmt::format("{}: got {} nodes without GPUs, want nvidia.com/gpu in a capacity",
                                 name, items.size()));
  }
  if (nodes.size() < items.size()) {
    notes->push_back(
        fmt::format("{} nodes without GPUs are left out", items.size() - nodes.size()));
  }
  return nodes;
}

// Sorts the nodes, and names the leaf switch and pod of each by all layers above it, since a switch
// of the same name in another block or zone is another switch.
std::vector<PlacedNode> PlaceNodes(std::vector<KubernetesNode> nodes,
                                   std::vector<std::string>* notes) {
  std::sort(nodes.begin(), nodes.end(),
            [](const auto& a, const auto& b) { return a.order < b.order; });
  const auto has_no_leaf = [](const KubernetesNode& node) { return !node.has_leaf; };
  const auto unplaced = std::find_if(nodes.begin(), nodes.end(), has_no_leaf);
  const auto count = std::count_if(nodes.begin(), nodes.end(), has_no_leaf);
  const bool are_placed = count == 0;
  if (count > 0 && count < std::ssize(nodes)) {
    notes->push_back(fmt::format(
        "leaf switches are left out: {} of {} nodes have neither label {} nor {}, {} is the first",
        count, nodes.size(), kAwsLayers[2], kGceLayers[1], Quoted(unplaced->name)));
  }
  std::vector<PlacedNode> placed;
  for (KubernetesNode& node : nodes) {
    PlacedNode& added = placed.emplace_back();
    added.type = std::move(node.type);
    if (!are_placed) continue;
    for (size_t i = 0; i + 2 < node.order.size(); ++i) {
      added.leaf += node.order[i] + '\n';
      if (i + 3 < node.order.size()) added.pod += node.order[i] + '\n';
    }
  }
  return placed;
}

}  // namespace

ImportedCluster ImportKubernetesNodes(const std::string& text, const std::string& name,
                                      const ImportOptions& options) {
  const Json root = ParseJson(text, name);
  const bool is_list = root.is_object() && root.contains("items") && root["items"].is_array();
  if (!is_list || root["items"].empty()) {
    throw InputError(name +
                     ": items: got no list of nodes, want what kubectl get nodes -o json "
                     "prints");
  }
  ImportedCluster result;
  std::vector<KubernetesNode> nodes = ReadNodes(root["items"], name, options, &result.notes);
  AddPlacedNodes(PlaceNodes(std::move(nodes), &result.notes), options, &result);
  return result;
}

}  // namespace stagecraft
