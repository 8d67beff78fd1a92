// DeviceOrders: which devices of a list plans use, and the order in which ranks take them.
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

// DevicePart says which devices of a list may be used: all or some of each node, from some node on.
struct DevicePart {
  int first_node = 0;    // in the list: the part begins with this node
  int node_devices = 0;  // at most this many devices of each node; 0: all

  bool is_whole() const { return first_node == 0 && node_devices == 0; }
  friend auto operator<=>(const DevicePart&, const DevicePart&) = default;
};

// If all pairs of devices of a node are joined alike, ranks take devices in the order of the list.
// On other nodes they take them by their links (LinkOrder), so that the numbers of a node's devices
// make no difference. A plan on part of the first node takes the devices that suit it best; if
// nodes are unlike because their links come from a file, it takes those of the best node of the
// same type. Other plans take whole nodes, and within each node the order that suits them.
// DeviceOrders may be used from any thread.
class DeviceOrders {
 public:
  // The cluster must outlive this object. In `devices`, those of one node are next to each other.
  DeviceOrders(const Cluster& cluster, std::vector<int> devices);

  const std::vector<int>& devices() const { return devices_; }
  // Returns the devices of a part, in the order of the list. The reference is valid as long as this
  // object.
  const std::vector<int>& In(const DevicePart& part) const;
  // Returns how many devices a part has in each of its nodes.
  std::vector<int> NodeDevices(const DevicePart& part) const;
  // Returns how many nodes at the beginning of the list are of the first node's type; 0 if a node
  // of another type comes before another one of this type.
  int first_nodes_of_a_type() const { return first_nodes_of_a_type_; }
  // Returns whether ranks take the devices of each part in the order of the list, whatever the
  // shape of their groups.
  bool are_by_number() const { return are_alike_; }
  using Lists = std::vector<const std::vector<int>*>;
  // Returns lists of at least shape.ranks() devices each, of which ranks take the first ones: at
  // least one list, and none twice. There is one list for each order in which the sorts of groups
  // may matter; for plans on one node also the same list with the stages the other way round. Of a
  // node of which a part takes only some devices, the list has those that suit best. Equal lists
  // are the same object. Precondition: there are at most as many ranks as the part has devices.
  const Lists& For(const GroupShape& shape, const DevicePart& part = {}) const;

 private:
  struct Node {
    std::vector<int> devices;
    size_t first_alike = 0;            // the first node whose devices are joined like this one's
    std::unique_ptr<LinkOrder> links;  // of the first alike node only; nullptr if too many devices
  };
  // Returns how many devices a part takes of a node that has `devices` of them.
  static size_t Taken(const DevicePart& part, size_t devices);
  const Lists& ByNumber(const DevicePart& part) const;
  const Lists& OnOneNode(const GroupShape& shape) const;
  // `by_size` is the shape of the ranks that lie on one node, for each of sizes_. Many plans have
  // the same ones.
  const Lists& OnNodes(const std::vector<GroupShape>& by_size, const DevicePart& part) const;
  std::vector<int> OnBestNode(const GroupShape& shape, const SortOrder& sorts) const;
  void FindAlike(size_t node);
  int FirstNodesOfAType() const;
  void Add(std::vector<int> list, Lists& lists) const;
  // Returns a device of the node for each rank of the shape, in the order that suits these ranks
  // best.
  std::vector<int> InOrder(const Node& node, const GroupShape& shape, const SortOrder& sorts) const;

  const Cluster& cluster_;
  const std::vector<int> devices_;
  std::vector<Node> nodes_;  // in the order of the list
  int first_nodes_of_a_type_ = 0;
  bool are_alike_ = true;      // within each node, all pairs of devices
  std::vector<size_t> sizes_;  // the numbers of devices that nodes_ have, ascending
  mutable std::mutex mutex_;
  mutable std::set<std::vector<int>> lists_;
  mutable std::map<GroupShape, Lists> on_one_node_;
  mutable std::map<std::pair<DevicePart, std::vector<GroupShape>>, Lists> on_nodes_;
  mutable std::map<DevicePart, Lists> parts_;  // one list for each, in the order of devices_
  Lists only_;                                 // devices_
};

}  // namespace stagecraft
