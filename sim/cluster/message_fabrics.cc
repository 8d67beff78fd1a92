#include "sim/cluster/message_fabrics.h"

#include <algorithm>

namespace stagecraft {
// A list suffices, since the messages of a plan's replicas touch few nodes.
int& MessageFabrics::CountAt(int node, std::vector<NodeCount>& counts) {
  for (NodeCount& known : counts) {
    if (known.node == node) return known.count;
  }
  counts.push_back({node, 0});
  return counts.back().count;
}

void MessageFabrics::CountCrossings(std::span<const MessageEnds> messages) {
  crosses_.clear();
  leaving_.clear();
  entering_.clear();
  for (const MessageEnds& message : messages) {
    const int from = cluster_.place(message.sender).node;
    const int to = cluster_.place(message.receiver).node;
    crosses_.push_back(!cluster_.has_explicit_links() &&
                       cluster_.domain(from) != cluster_.domain(to));
    if (!crosses_.back()) continue;
    ++CountAt(from, leaving_);
    ++CountAt(to, entering_);
  }
}

// Returns whether no two messages can meet on a link of a node, because every device has links of
// its own to the others, and none sends or receives twice.
bool MessageFabrics::HasOwnLinks(std::span<const MessageEnds> messages) const {
  if (cluster_.has_explicit_links()) return false;
  std::vector<int> senders, receivers;
  for (size_t i = 0; i < messages.size(); ++i) {
    if (crosses_[i]) continue;
    if (!cluster_.node(cluster_.place(messages[i].sender).node).pcie.empty()) return false;
    senders.push_back(messages[i].sender);
    receivers.push_back(messages[i].receiver);
  }
  const auto are_distinct = [](std::vector<int>& devices) {
    std::sort(devices.begin(), devices.end());
    return std::adjacent_find(devices.begin(), devices.end()) == devices.end();
  };
  return are_distinct(senders) && are_distinct(receivers);
}

const Fabric& MessageFabrics::DescribeOne(const MessageEnds& message, int concurrent) {
  const auto [entry, is_new] = known_.try_emplace(
      {cluster_.PairClass(message.sender, message.receiver), concurrent}, Fabric());
  if (is_new) {
    entry->second = cluster_.DescribePair(message.sender, message.receiver, concurrent);
  }
  return entry->second;
}

void MessageFabrics::ShareLinks(std::span<const MessageEnds> messages) {
  std::vector<std::vector<int>> routes(messages.size());
  std::map<int, int> users;  // by link
  for (size_t i = 0; i < messages.size(); ++i) {
    if (crosses_[i]) continue;
    routes[i] = cluster_.FindRoute(messages[i].sender, messages[i].receiver).links;
    for (const int link : routes[i]) ++users[link];
  }
  for (size_t i = 0; i < messages.size(); ++i) {
    Fabric& fabric = fabrics_[i];
    Link& seen = fabric.nodes > 1 ? fabric.inter : fabric.intra;
    Bandwidth left;  // by slow links
    for (size_t hop = 0; hop < routes[i].size(); ++hop) {
      const int link = routes[i][hop];
      const Bandwidth share = (1.0 / users[link]) * cluster_.link(link).bandwidth;
      const Bandwidth slow_share = cluster_.link_rate(link) * share;
      if (hop == 0 || share < seen.bandwidth) seen.bandwidth = share;
      if (hop == 0 || slow_share < left) left = slow_share;
    }
    if (routes[i].empty()) continue;
    (fabric.nodes > 1 ? fabric.inter_rate : fabric.intra_rate) =
        left.bytes_per_s() / seen.bandwidth.bytes_per_s();
  }
}

const std::vector<Fabric>& MessageFabrics::Describe(std::span<const MessageEnds> messages) {
  CountCrossings(messages);
  fabrics_.clear();
  for (size_t i = 0; i < messages.size(); ++i) {
    int concurrent = 1;
    if (crosses_[i]) {
      concurrent = std::max(CountAt(cluster_.place(messages[i].sender).node, leaving_),
                            CountAt(cluster_.place(messages[i].receiver).node, entering_));
    }
    fabrics_.push_back(DescribeOne(messages[i], concurrent));
  }
  if (!HasOwnLinks(messages)) ShareLinks(messages);
  return fabrics_;
}

}  // namespace stagecraft
