#include "search/device_orders.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <numeric>

#include "sim/cluster/node_type.h"

namespace stagecraft {
namespace {

constexpr size_t kMostNodeDevices = 64;  // the most that LinkOrder takes

// Returns the shape of the part of a plan that lies on each node of `devices` devices.
GroupShape OnNode(const GroupShape& all, int devices) {
  GroupShape shape;
  int left = devices;
  const auto take = [&](int ranks) {
    const int taken = std::gcd(ranks, left);
    left /= taken;
    return taken;
  };
  shape.tensor = take(all.tensor);
  shape.context = take(all.context);
  shape.data = take(all.data);
  shape.pipeline = left;
  return shape;
}

// Returns every order of the sorts for which any of these shapes has groups, followed by the other
// sorts.
std::vector<SortOrder> SortOrders(const std::vector<GroupShape>& shapes) {
  std::array<int, kGroupSorts> most{};
  for (const GroupShape& shape : shapes) {
    const std::array counts{shape.tensor, shape.context, shape.data, shape.pipeline};
    for (size_t sort = 0; sort < most.size(); ++sort) {
      most[sort] = std::max(most[sort], counts[sort]);
    }
  }
  SortOrder sorts{};
  std::iota(sorts.begin(), sorts.end(), size_t{0});
  const auto has_groups = [&](size_t sort) { return most[sort] > 1; };
  const auto end = std::stable_partition(sorts.begin(), sorts.end(), has_groups);
  std::vector<SortOrder> orders;
  do {
    orders.push_back(sorts);
  } while (std::next_permutation(sorts.begin(), end));
  return orders;
}

}  // namespace

DeviceOrders::DeviceOrders(const Cluster& cluster, std::vector<int> devices)
    : cluster_(cluster), devices_(std::move(devices)) {
  are_alike_ = !cluster.has_explicit_links();
  int last = -1;
  for (const int device : devices_) {
    const int node = cluster.place(device).node;
    if (node != last) nodes_.emplace_back();
    nodes_.back().devices.push_back(device);
    are_alike_ = are_alike_ && JoinsAlike(cluster.node(node));
    last = node;
  }
  only_ = {&devices_};
  first_nodes_of_a_type_ = FirstNodesOfAType();
  if (are_alike_) return;
  std::set<size_t> sizes;
  for (size_t node = 0; node < nodes_.size(); ++node) {
    FindAlike(node);
    sizes.insert(nodes_[node].devices.size());
  }
  sizes_.assign(sizes.begin(), sizes.end());
}

void DeviceOrders::FindAlike(size_t node) {
  Node& own = nodes_[node];
  own.first_alike = node;
  const int group = cluster_.device_group(own.devices[0]);
  const bool is_known = !cluster_.has_explicit_links();
  if (!is_known && own.devices.size() <= kMostNodeDevices) {
    own.links = std::make_unique<LinkOrder>(cluster_, own.devices);
  }
  for (size_t other = 0; other < node; ++other) {
    const Node& before = nodes_[other];
    if (before.first_alike != other || before.devices.size() != own.devices.size()) continue;
    if (cluster_.device_group(before.devices[0]) != group) continue;
    const bool is_alike =
        is_known || (own.links != nullptr && own.links->pairs() == before.links->pairs());
    if (!is_alike) continue;
    own.first_alike = other;
    own.links = nullptr;
    return;
  }
  if (is_known && own.devices.size() <= kMostNodeDevices) {
    own.links = std::make_unique<LinkOrder>(cluster_, own.devices);
  }
}

void DeviceOrders::Add(std::vector<int> list, Lists& lists) const {
  const std::vector<int>* const own = &*lists_.insert(std::move(list)).first;
  if (std::find(lists.begin(), lists.end(), own) == lists.end()) lists.push_back(own);
}

size_t DeviceOrders::Taken(const DevicePart& part, size_t devices) {
  if (part.node_devices == 0) return devices;
  return std::min(devices, static_cast<size_t>(part.node_devices));
}

std::vector<int> DeviceOrders::NodeDevices(const DevicePart& part) const {
  std::vector<int> counts;
  for (size_t node = part.first_node; node < nodes_.size(); ++node) {
    counts.push_back(static_cast<int>(Taken(part, nodes_[node].devices.size())));
  }
  return counts;
}

int DeviceOrders::FirstNodesOfAType() const {
  const std::vector<Cluster::NodeGroup>& groups = cluster_.groups();
  const int first = cluster_.device_group(nodes_[0].devices[0]);
  std::vector<bool> is_same;  // by group of the cluster
  for (const Cluster::NodeGroup& group : groups) {
    is_same.push_back(group.type == groups[first].type);
  }
  const auto is_other = [&](const Node& node) {
    return !is_same[cluster_.device_group(node.devices[0])];
  };
  const auto end = std::find_if(nodes_.begin(), nodes_.end(), is_other);
  return std::all_of(end, nodes_.end(), is_other) ? static_cast<int>(end - nodes_.begin()) : 0;
}

const std::vector<int>& DeviceOrders::In(const DevicePart& part) const {
  if (part.is_whole()) return devices_;
  const std::lock_guard lock(mutex_);
  return *ByNumber(part)[0];
}

const DeviceOrders::Lists& DeviceOrders::ByNumber(const DevicePart& part) const {
  const auto [entry, is_new] = parts_.try_emplace(part);
  if (is_new) {
    std::vector<int> list;
    for (size_t node = part.first_node; node < nodes_.size(); ++node) {
      const std::vector<int>& own = nodes_[node].devices;
      list.insert(list.end(), own.begin(),
                  own.begin() + static_cast<ptrdiff_t>(Taken(part, own.size())));
    }
    Add(std::move(list), entry->second);
  }
  return entry->second;
}

const DeviceOrders::Lists& DeviceOrders::For(const GroupShape& shape,
                                             const DevicePart& part) const {
  if (are_alike_ && part.is_whole()) return only_;
  const std::lock_guard lock(mutex_);
  if (are_alike_) return ByNumber(part);
  const bool is_on_one = shape.ranks() <= static_cast<int>(nodes_[0].devices.size());
  if (part.is_whole() && is_on_one) return OnOneNode(shape);
  std::vector<GroupShape> by_size;
  for (const size_t size : sizes_) {
    by_size.push_back(OnNode(shape, static_cast<int>(Taken(part, size))));
  }
  return OnNodes(by_size, part);
}

const DeviceOrders::Lists& DeviceOrders::OnNodes(const std::vector<GroupShape>& by_size,
                                                 const DevicePart& part) const {
  const auto [entry, is_new] = on_nodes_.try_emplace({part, by_size});
  if (!is_new) return entry->second;
  for (const SortOrder& sorts : SortOrders(by_size)) {
    std::vector<int> list;
    for (size_t i = part.first_node; i < nodes_.size(); ++i) {
      const Node& node = nodes_[i];
      const auto size = std::lower_bound(sizes_.begin(), sizes_.end(), node.devices.size());
      const std::vector<int> own = InOrder(node, by_size[size - sizes_.begin()], sorts);
      list.insert(list.end(), own.begin(), own.end());
    }
    Add(std::move(list), entry->second);
  }
  return entry->second;
}

const DeviceOrders::Lists& DeviceOrders::OnOneNode(const GroupShape& shape) const {
  const auto [entry, is_new] = on_one_node_.try_emplace(shape);
  if (!is_new) return entry->second;
  for (const SortOrder& sorts : SortOrders({shape})) {
    std::vector<int> list = OnBestNode(shape, sorts);
    std::vector<int> reversed;
    const int stage = shape.ranks() / shape.pipeline;
    for (int first = shape.ranks() - stage; first >= 0; first -= stage) {
      reversed.insert(reversed.end(), list.begin() + first, list.begin() + first + stage);
    }
    Add(std::move(list), entry->second);
    Add(std::move(reversed), entry->second);
  }
  return entry->second;
}

std::vector<int> DeviceOrders::OnBestNode(const GroupShape& shape, const SortOrder& sorts) const {
  const Node& first = nodes_[0];
  const OrderedDevices* best = nullptr;
  for (const Node& node : nodes_) {
    const bool is_same =
        cluster_.device_group(node.devices[0]) == cluster_.device_group(first.devices[0]);
    if (!is_same || node.links == nullptr || shape.ranks() > node.links->size()) continue;
    const OrderedDevices& own = node.links->Best(shape, sorts);
    if (best == nullptr || own.worst > best->worst) best = &own;
  }
  return best == nullptr ? first.devices : best->devices;
}

std::vector<int> DeviceOrders::InOrder(const Node& node, const GroupShape& shape,
                                       const SortOrder& sorts) const {
  const Node& alike = nodes_[node.first_alike];
  if (alike.links == nullptr) {
    return {node.devices.begin(), node.devices.begin() + shape.ranks()};
  }
  std::vector<int> ordered = alike.links->Best(shape, sorts).devices;
  // These are devices of the alike node; take those in the same places of this node.
  for (int& device : ordered) {
    const auto found = std::find(alike.devices.begin(), alike.devices.end(), device);
    device = node.devices[found - alike.devices.begin()];
  }
  return ordered;
}

}  // namespace stagecraft
