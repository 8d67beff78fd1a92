// MessageFabrics: describes a cluster as messages that are in flight at the same time see it.
//
// Each message takes its own route. Inside a node, and over explicit links, the messages that pass
// a link share it equally. Across a generated network each has its share of the interfaces and
// uplinks (Cluster::DescribePair). What a message sees does not depend on the order in which the
// messages are listed.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "sim/cluster/cluster.h"

namespace stagecraft {

// The devices that a message leaves and reaches.
struct MessageEnds {
  int sender = 0;
  int receiver = 0;  // another device
};

// Remembers the kinds of messages it has described, of which a large cluster has few. The cluster
// must outlive it. Not thread-safe.
class MessageFabrics {
 public:
  explicit MessageFabrics(const Cluster& cluster) : cluster_(cluster) {}

  // Returns one fabric for each message, while all of them are in flight; valid until the next
  // call.
  const std::vector<Fabric>& Describe(std::span<const MessageEnds> messages);

 private:
  // How many messages leave or enter a node.
  struct NodeCount {
    int node = 0;
    int count = 0;
  };

  static int& CountAt(int node, std::vector<NodeCount>& counts);
  void CountCrossings(std::span<const MessageEnds> messages);
  bool HasOwnLinks(std::span<const MessageEnds> messages) const;
  const Fabric& DescribeOne(const MessageEnds& message, int concurrent);
  void ShareLinks(std::span<const MessageEnds> messages);

  const Cluster& cluster_;
  std::map<std::pair<int64_t, int>, Fabric> known_;  // by Cluster::PairClass() and concurrency
  // Scratch memory for the messages at hand: whether each crosses a generated network, how many
  // of them leave and enter every node, and the answer.
  std::vector<bool> crosses_;
  std::vector<NodeCount> leaving_, entering_;
  std::vector<Fabric> fabrics_;
};

}  // namespace stagecraft
