// DeviceOrders: the devices that plans take of a list, in the order in which ranks take them.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <utility>
#include <vector>

#include "search/link_order.h"
#include "sim/cluster.h"

namespace stagecraft {

// Where any two devices of a node see each other alike, ranks take devices in the order of the
// list. On other nodes they take them by their links (LinkOrder), so that it makes no difference
// how the devices of a node are numbered: plans on part of the first node take the devices that
// suit them best (links of a file may make nodes unlike: then of the best node with the same
// type), others take whole nodes and within each the order that suits. Safe from any thread.
class DeviceOrders {
 public:
  // The cluster outlives it. `devices`: those of a node stand together.
  DeviceOrders(const Cluster& cluster, std::vector<int> devices);

  const std::vector<int>& devices() const { return devices_; }
  using Lists = std::vector<const std::vector<int>*>;
  // Lists of at least shape.ranks() devices, of which ranks take the first: at least one, each
  // once. One for each order in which the sorts of groups may matter, and the same with the
  // stages the other way round. Equal lists are the same object. Precondition: at most as many
  // ranks as devices.
  const Lists& For(const GroupShape& shape) const;

 private:
  struct Node {
    std::vector<int> devices;
    size_t first_alike = 0;            // the first of the nodes that are joined as this one is
    std::unique_ptr<LinkOrder> links;  // of that one; nullptr where it has too many devices
  };
  const Lists& OnOneNode(const GroupShape& shape) const;
  // `by_size`: what of a plan lies on a node, for each of sizes_. Many plans have these in common.
  const Lists& OnNodes(const std::vector<GroupShape>& by_size) const;
  std::vector<int> OnBestNode(const GroupShape& shape, const SortOrder& sorts) const;
  void FindAlike(size_t node);
  void Add(std::vector<int> list, Lists& lists) const;
  // All devices of a node, in the order that suits such ranks on it.
  std::vector<int> InOrder(const Node& node, const GroupShape& shape, const SortOrder& sorts) const;

  const Cluster& cluster_;
  const std::vector<int> devices_;
  std::vector<Node> nodes_;    // of devices_; empty where the order of the list does
  std::vector<size_t> sizes_;  // numbers of devices that nodes_ have, the least first
  mutable std::mutex mutex_;
  mutable std::set<std::vector<int>> lists_;
  mutable std::map<GroupShape, Lists> on_one_node_;
  mutable std::map<std::vector<GroupShape>, Lists> on_nodes_;
  Lists only_;  // devices_
};

}  // namespace stagecraft
