// Cluster: devices, the nodes that hold them, and the one-way links between them.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "costmodel/device.h"
#include "costmodel/link.h"
#include "sim/cluster/node_type.h"
#include "sim/cluster/node_wiring.h"
#include "sim/cluster/route.h"
#include "sim/cluster/slow_parts.h"
#include "sim/cluster/topology/interconnect.h"

namespace stagecraft {

struct LinkGraph;

// Where a device is. Device numbers of a cluster count node by node.
struct DevicePlace {
  int node = 0;
  int local = 0;  // index within the node
  friend bool operator==(const DevicePlace&, const DevicePlace&) = default;
};

// Devices that share one memory: parts of a GPU.
struct SharedMemory {
  std::vector<int> devices;  // of the cluster, ascending, at least two
  Bandwidth bandwidth;       // > 0; of all of them together. A device alone has that of its Device
  friend bool operator==(const SharedMemory&, const SharedMemory&) = default;
};

// Immutable once built. Queries are const and may be called from any thread; copies share the link
// graph.
class Cluster {
 public:
  struct NodeGroup {
    NodeType type;
    int count = 0;
    int fabric = 0;  // into which its interfaces are plugged
  };
  struct ExplicitLink {
    std::string from;  // endpoint names: "node0/gpu3" is a device, others are switches
    std::string to;
    Link link;  // one direction; both are given separately
  };
  static constexpr int kMaxDevices = 2'000'000;

  // `groups` are in rank order. If `links` are given, exactly these replace the generated wiring.
  // Throws InputError for node types and fabrics with errors, more than kMaxDevices or 2^28 links,
  // several nodes of which one has no interfaces, devices that no links join, and memories that
  // share a device; the message begins with `place`, or with `name` if that is empty.
  Cluster(std::string name, std::vector<NodeGroup> groups, std::vector<ExplicitLink> links = {},
          const std::string& place = "", InterconnectSpec interconnect = {},
          std::vector<SharedMemory> shared_memories = {});

  // Returns the same cluster with every device changed; links stay as they are.
  Cluster WithDevices(const std::function<void(Device&)>& change) const;

  // Returns the same cluster with interfaces between nodes that speak `kind`, with the latency that
  // is usual for it and the bandwidth they have. Throws InputError that begins with `place` if
  // every link is given explicitly.
  Cluster WithNetwork(NetworkKind kind, const std::string& place) const;

  // Returns the same cluster with these parts slow, and no others. Everything else is as before:
  // devices, links and routes, and with them what a plan, a memory or a peak is measured against.
  Cluster WithSlowParts(SlowParts parts) const;
  const SlowParts& slow_parts() const { return slow_; }
  // The share of its speed at which a device computes, and that of its bandwidth which a link has.
  double speed(int device) const { return RateOf(device, slow_.devices); }
  double link_rate(int link) const { return RateOf(link, slow_.links); }

  const std::string& name() const { return name_; }
  int device_count() const { return static_cast<int>(places_.size()); }
  int node_count() const { return static_cast<int>(node_type_.size()); }
  const std::vector<NodeGroup>& groups() const { return groups_; }
  DevicePlace place(int device) const { return places_[device]; }
  const NodeType& node(int index) const { return groups_[node_type_[index]].type; }
  const Device& device(int index) const { return node(places_[index].node).device; }
  // Index of the device's node type among groups(); equal types may occur twice there.
  int device_group(int index) const { return node_type_[places_[index].node]; }
  // The devices of a node are first_device(node), first_device(node) + 1, ...
  int first_device(int node) const { return first_device_[node]; }
  std::span<const SharedMemory> shared_memories() const { return shared_memories_; }
  // The index of the memory in shared_memories() that a device shares; -1 if it has its own.
  int shared_memory(int device) const {
    return shared_memory_.empty() ? -1 : shared_memory_[device];
  }
  // The number of a node's scale-up domain, counted over the cluster: consecutive nodes of a group
  // share one if domain_nodes is above 1. With explicit links each node is a domain.
  int domain(int node) const { return domain_[node]; }
  // The generated wiring: inside a node; at which port a device leaves its node; and the switches
  // between nodes, whose links have the indices from first_fabric_link() on.
  const NodeWiring& wiring(int node) const { return wirings_[node_type_[node]]; }
  Port port(int device) const;
  const Interconnect& switches() const { return *interconnect_; }
  int first_fabric_link() const { return first_fabric_link_; }
  // "node0/gpu3"
  std::string DeviceName(int device) const;
  // Whether all nodes are of one type.
  bool homogeneous() const;
  bool has_explicit_links() const { return has_explicit_links_; }
  const InterconnectSpec& interconnect() const { return interconnect_->spec(); }
  // A generated graph is built at the first call and takes about 50 bytes for each link.
  const LinkGraph& link_graph() const;
  int link_count() const { return link_count_; }
  // A link by its index, without building the graph; its name is like "node0/gpu3 -> node0/nic3".
  Link link(int index) const;
  std::string LinkName(int index) const;
  // Returns how many devices send over a link if all send to other nodes and what leads to the same
  // place is used evenly; of explicit links, whose use is not known, as many as a node has.
  double Senders(int link) const;

  // Returns the route between two different devices. With generated wiring it is known by
  // construction and takes time in proportion to its length; explicit links are searched by
  // FindGraphRoute(). Among equally long routes through a fabric a seeded hash of from, to and
  // `flow` chooses one, so flows 0, 1, ... spread.
  Route FindRoute(int from, int to, int flow = 0) const;

  // Describe the cluster as a communicator of these distinct devices, in any order, and as a single
  // message sees it (group_fabrics.h). Throw LinkDownError if that needs a link at rate 0.
  Fabric DescribeGroup(std::span<const int> devices, Traffic traffic = Traffic::kRing) const;
  Fabric DescribePair(int from, int to, int concurrent) const;
  // Returns the class of a pair. Pairs of one class have the same DescribePair(), for any
  // `concurrent`.
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
  static double RateOf(int part, const std::vector<std::pair<int, double>>& rates);

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
  std::vector<int> shared_memory_;  // by device; empty if there are none
  SlowParts slow_;
  bool has_explicit_links_ = false;
  int link_count_ = 0;
  int first_fabric_link_ = 0;
  std::shared_ptr<const Interconnect> interconnect_;
  std::shared_ptr<LazyGraph> graph_;
};

}  // namespace stagecraft
