// DeviceOrders: the devices of a list that plans take, in the order in which ranks take them.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <utility>
#include <vector>

#include "search/link_order.h"
#include "sim/cluster/cluster.h"

namespace stagecraft {

// The devices of some nodes of a list.
struct DevicePart {
  int first_node = 0;    // of the list: this node and those behind it
  int node_devices = 0;  // at most this many of each of these nodes; 0: all

  bool is_whole() const { return first_node == 0 && node_devices == 0; }
  friend auto operator<=>(const DevicePart&, const DevicePart&) = default;
};

// If any two devices of a node see each other alike, ranks take devices in the order of the list.
// On other nodes they take them by their links (LinkOrder), so that the numbers of a node's devices
// make no difference: plans on part of the first node take the devices that suit them best (links
// of a file may make nodes unlike; then those of the best node of the same type), others take whole
// nodes and within each node the order that suits them. May be used from any thread.
class DeviceOrders {
 public:
  // The cluster must outlive this object. In `devices`, those of a node stand together.
  DeviceOrders(const Cluster& cluster, std::vector<int> devices);

  const std::vector<int>& devices() const { return devices_; }
  // The devices of a part, in the order of the list. Valid as long as this object.
  const std::vector<int>& In(const DevicePart& part) const;
  // How many devices a part has in each of its nodes.
  std::vector<int> NodeDevices(const DevicePart& part) const;
  // How many nodes at the beginning of the list are of one type that no later node of the list has;
  // 0 if some later node has it.
  int first_nodes_of_a_type() const { return first_nodes_of_a_type_; }
  // Whether ranks take the devices of each part in the order of the list, whatever the shape of
  // their groups.
  bool are_by_number() const { return are_alike_; }
  using Lists = std::vector<const std::vector<int>*>;
  // Lists of at least shape.ranks() devices, of which ranks take the first: at least one list, and
  // each only once. There is one for each order in which the sorts of groups may matter, and the
  // same with the stages the other way round. On nodes of which a part takes only some devices,
  // these are the ones that suit best. Equal lists are the same object. Precondition: there are at
  // most as many ranks as the part has devices.
  const Lists& For(const GroupShape& shape, const DevicePart& part = {}) const;

 private:
  struct Node {
    std::vector<int> devices;
    size_t first_alike = 0;            // the first of the nodes that are joined like this one
    std::unique_ptr<LinkOrder> links;  // of that node; nullptr if it has too many devices
  };
  // How many devices a part takes of a node with `devices` of them.
  static size_t Taken(const DevicePart& part, size_t devices);
  const Lists& ByNumber(const DevicePart& part) const;
  const Lists& OnOneNode(const GroupShape& shape) const;
  // `by_size` is the part of a plan that lies on a node, for each of sizes_. Many plans share
  // these.
  const Lists& OnNodes(const std::vector<GroupShape>& by_size, const DevicePart& part) const;
  std::vector<int> OnBestNode(const GroupShape& shape, const SortOrder& sorts) const;
  void FindAlike(size_t node);
  int FirstNodesOfAType() const;
  void Add(std::vector<int> list, Lists& lists) const;
  // A device of the node for each rank of the shape, in the order that suits these ranks best.
  std::vector<int> InOrder(const Node& node, const GroupShape& shape, const SortOrder& sorts) const;

  const Cluster& cluster_;
  const std::vector<int> devices_;
  std::vector<Node> nodes_;  // of devices_
  int first_nodes_of_a_type_ = 0;
  bool are_alike_ = true;      // so the order of the list is as good as any
  std::vector<size_t> sizes_;  // how many devices nodes_ have, the least first
  mutable std::mutex mutex_;
  mutable std::set<std::vector<int>> lists_;
  mutable std::map<GroupShape, Lists> on_one_node_;
  mutable std::map<std::pair<DevicePart, std::vector<GroupShape>>, Lists> on_nodes_;
  mutable std::map<DevicePart, Lists> parts_;  // one list each, in the order of devices_
  Lists only_;                                 // devices_
};

}  // namespace stagecraft
