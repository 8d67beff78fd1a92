// Cluster: devices, the nodes they sit in, and the one-way links between them.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "costmodel/device.h"
#include "costmodel/link.h"
#include "sim/cluster/node_type.h"
#include "sim/cluster/node_wiring.h"
#include "sim/cluster/route.h"
#include "sim/cluster/topology/interconnect.h"

namespace stagecraft {

struct LinkGraph;

// Where a device is. Ranks of a cluster count devices node by node.
struct DevicePlace {
  int node = 0;
  int local = 0;  // index within the node
  friend bool operator==(const DevicePlace&, const DevicePlace&) = default;
};

// Devices whose memory is one: parts of a board.
struct SharedMemory {
  std::vector<int> devices;  // of the cluster, ascending, at least two
  Bandwidth bandwidth;       // > 0; of all together. One alone has its Device's
  friend bool operator==(const SharedMemory&, const SharedMemory&) = default;
};

// Immutable once built. Queries are const and safe from any thread; copies
// share the link graph.
class Cluster {
 public:
  struct NodeGroup {
    NodeType type;
    int count = 0;
    int fabric = 0;  // that its interfaces are plugged into
  };
  struct ExplicitLink {
    std::string from;  // endpoint names: "node0/gpu3"; others become switches
    std::string to;
    Link link;  // both directions are given separately
  };
  static constexpr int kMaxDevices = 1'000'000;

  // `groups` in rank order. With `links` the generated wiring is replaced by
  // exactly these. Throws InputError for node types and fabrics with errors, more
  // than kMaxDevices or 2^28 links, several nodes of which one has no interfaces,
  // devices that no links join, and memories that share a device; `place` (or else
  // `name`) opens the sentence.
  Cluster(std::string name, std::vector<NodeGroup> groups, std::vector<ExplicitLink> links = {},
          const std::string& place = "", InterconnectSpec interconnect = {},
          std::vector<SharedMemory> shared_memories = {});

  // The same cluster with every device changed; links stay as they are.
  Cluster WithDevices(const std::function<void(Device&)>& change) const;

  const std::string& name() const { return name_; }
  int device_count() const { return static_cast<int>(places_.size()); }
  int node_count() const { return static_cast<int>(node_type_.size()); }
  const std::vector<NodeGroup>& groups() const { return groups_; }
  DevicePlace place(int device) const { return places_[device]; }
  const NodeType& node(int index) const { return groups_[node_type_[index]].type; }
  const Device& device(int index) const { return node(places_[index].node).device; }
  // Index of the device's type among groups(); equal types may have two.
  int device_group(int index) const { return node_type_[places_[index].node]; }
  // The devices of a node are first_device(node), first_device(node) + 1, ...
  int first_device(int node) const { return first_device_[node]; }
  std::span<const SharedMemory> shared_memories() const { return shared_memories_; }
  // Which of these a device's is; -1: it has its own.
  int shared_memory(int device) const {
    return shared_memory_.empty() ? -1 : shared_memory_[device];
  }
  // The scale-up domain of a node, counted over the cluster: consecutive nodes of
  // a group share one where domain_nodes is above 1. Explicit links: each is one.
  int domain(int node) const { return domain_[node]; }
  // The generated wiring: of a node, of the interface that serves a device towards other nodes,
  // and between nodes, whose links come behind all others.
  const NodeWiring& wiring(int node) const { return wirings_[node_type_[node]]; }
  Port port(int device) const;
  const Interconnect& switches() const { return *interconnect_; }
  int first_fabric_link() const { return first_fabric_link_; }
  // "node0/gpu3"
  std::string DeviceName(int device) const;
  // All nodes are of one type.
  bool homogeneous() const;
  bool has_explicit_links() const { return has_explicit_links_; }
  const InterconnectSpec& interconnect() const { return interconnect_->spec(); }
  // Generated graphs are built at the first call: about 50 bytes a link.
  const LinkGraph& link_graph() const;
  int link_count() const { return link_count_; }
  // By index, without building the graph; "node0/gpu3 -> node0/nic3".
  Link link(int index) const;
  std::string LinkName(int index) const;

  // Precondition: from != to. Generated wiring answers by construction, in time
  // of the route's length; links of the link graph answer by FindGraphRoute. Of
  // equally long ways through a fabric a seeded hash of from, to and `flow` takes
  // one, so flows 0, 1, ... spread.
  Route FindRoute(int from, int to, int flow = 0) const;

  // What a communicator of these distinct devices, in any order, and one message see of it
  // (group_fabrics.h).
  Fabric DescribeGroup(std::span<const int> devices, Traffic traffic = Traffic::kRing) const;
  Fabric DescribePair(int from, int to, int concurrent) const;
  // Pairs of equal number are described alike, for any `concurrent`.
  int64_t PairClass(int from, int to) const;

 private:
  struct LazyGraph;
  static std::shared_ptr<LazyGraph> NewGraph();

  void CheckGroups(const std::string& place) const;
  void AddNodes(const std::string& place);
  void BuildGenerated(LinkGraph* graph) const;
  void BuildExplicit(const std::vector<ExplicitLink>& links, const std::string& place);
  void TakeSharedMemories(const std::string& place);
  void CheckReachable(const LinkGraph& graph, const std::string& place) const;

  Route GeneratedRoute(int from, int to, int flow) const;
  void BuildInterconnect(InterconnectSpec spec, const std::string& place);
  int link_base(int node) const;
  size_t GroupOfLink(int index) const;

  std::string name_;
  std::vector<NodeGroup> groups_;
  std::vector<NodeWiring> wirings_;  // by group
  std::vector<int> first_node_;      // by group
  std::vector<int> first_link_;      // by group
  std::vector<int> node_type_;       // node -> group
  std::vector<int> domain_;          // node -> domain
  std::vector<int> first_device_;    // by node
  std::vector<DevicePlace> places_;  // device -> place
  std::vector<SharedMemory> shared_memories_;
  std::vector<int> shared_memory_;  // by device; empty where there are none
  bool has_explicit_links_ = false;
  int link_count_ = 0;
  int first_fabric_link_ = 0;
  std::shared_ptr<const Interconnect> interconnect_;
  std::shared_ptr<LazyGraph> graph_;
};

}  // namespace stagecraft
