#include "sim/network/channel_patterns.h"

#include <algorithm>
#include <array>

#include "costmodel/check.h"

namespace stagecraft {
namespace {

// Participants are numbered node by node.
class Channels {
 public:
  explicit Channels(std::span<const std::vector<int>> by_node) {
    count_ = static_cast<int>(by_node[0].size());
    for (const std::vector<int>& node : by_node) {
      first_.push_back(static_cast<int>(devices.size()));
      size_.push_back(static_cast<int>(node.size()));
      count_ = std::min(count_, size_.back());
      devices.insert(devices.end(), node.begin(), node.end());
    }
    if (first_.size() == 1) count_ = 1;  // every way inside a node is open to one ring
  }

  int count() const { return count_; }
  int nodes() const { return static_cast<int>(first_.size()); }
  int size(int node) const { return size_[node]; }
  // The i-th rank of a node on a channel.
  int Rank(int channel, int node, int i) const {
    return first_[node] + (channel + i) % size_[node];
  }

  std::vector<int> devices;

 private:
  int count_ = 1;
  std::vector<int> first_, size_;  // by node
};

// One message from rank to rank that waits for nothing.
void AddFlow(int from, int to, double bytes, MessagePattern* pattern) {
  MessageSender sender;
  sender.messages = 1;
  sender.bytes = bytes;
  sender.pair = pattern->AddPair({from, to});
  sender.counter = pattern->AddCounters(1);
  pattern->AddSender(sender, {});
}

std::vector<int> RingOf(const Channels& channels, int channel) {
  std::vector<int> ring;
  for (int node = 0; node < channels.nodes(); ++node) {
    for (int i = 0; i < channels.size(node); ++i) ring.push_back(channels.Rank(channel, node, i));
  }
  return ring;
}

// `steps` messages from each rank to the next, each after what the rank before
// sent a step earlier.
void AddRing(std::span<const int> ring, int steps, double bytes_of_step, MessagePattern* pattern) {
  const int ranks = static_cast<int>(ring.size());
  const int32_t counters = pattern->AddCounters(ranks);
  for (int i = 0; i < ranks; ++i) {
    MessageSender sender;
    sender.messages = steps;
    sender.bytes = bytes_of_step;
    sender.pair = pattern->AddPair({ring[i], ring[(i + 1) % ranks]});
    sender.counter = counters + i;
    const MessageNeed need{counters + (i + ranks - 1) % ranks, 1, 1, 0};
    pattern->AddSender(sender, std::array{need});
  }
}

void AddRings(OpKind kind, double bytes, const Channels& channels, double most_messages,
              ChannelPattern* result) {
  const int ranks = static_cast<int>(channels.devices.size());
  const int steps = (kind == OpKind::kAllReduce ? 2 : 1) * (ranks - 1);
  const double own = bytes / channels.count();
  const double messages = static_cast<double>(steps) * ranks * channels.count();
  result->steps = messages > most_messages ? 1 : steps;
  for (int channel = 0; channel < channels.count(); ++channel) {
    AddRing(RingOf(channels, channel), result->steps, own / ranks * steps / result->steps,
            &result->pattern);
  }
}

// The parent of a node in a binary tree over 0 ... nodes - 1, -1 for the root:
// the tree of NCCL's trees.cc, where leaves are the odd nodes and root is 0.
int TreeParent(int node, int nodes) {
  if (node == 0) return -1;
  int bit = 1;
  while ((node & bit) == 0) bit <<= 1;
  const int parent = (node ^ bit) | (bit << 1);
  return parent < nodes ? parent : node ^ bit;
}

// Half of the bytes takes the tree, half its mirror image, or, where nodes are odd
// in number, the tree shifted by one.
int SecondParent(int node, int nodes) {
  if (nodes % 2 == 0) {
    const int parent = TreeParent(nodes - 1 - node, nodes);
    return parent < 0 ? -1 : nodes - 1 - parent;
  }
  const int parent = TreeParent((node + nodes - 1) % nodes, nodes);
  return parent < 0 ? -1 : (parent + 1) % nodes;
}

void AddTrees(double bytes, const Channels& channels, MessagePattern* pattern) {
  const int nodes = channels.nodes();
  const double own = bytes / channels.count();
  const auto add_edge = [&](int child, int parent, double share) {
    AddFlow(child, parent, share, pattern);
    AddFlow(parent, child, share, pattern);
  };
  for (int channel = 0; channel < channels.count(); ++channel) {
    for (int node = 0; node < nodes; ++node) {
      for (int i = 1; i < channels.size(node); ++i) {
        add_edge(channels.Rank(channel, node, i), channels.Rank(channel, node, i - 1), own);
      }
      for (const int parent : {TreeParent(node, nodes), SecondParent(node, nodes)}) {
        if (parent < 0) continue;
        add_edge(channels.Rank(channel, node, 0), channels.Rank(channel, parent, 0), own / 2);
      }
    }
  }
}

}  // namespace

ChannelPattern MakeChannels(OpKind kind, Algorithm algorithm, Bytes bytes,
                            std::span<const std::vector<int>> by_node, double most_messages) {
  const Channels channels(by_node);
  const int ranks = static_cast<int>(channels.devices.size());
  CHECK(ranks >= 2);
  const double all = static_cast<double>(bytes.count());
  ChannelPattern result;
  if (kind == OpKind::kSendRecv) {
    AddFlow(0, 1, all, &result.pattern);
  } else if (algorithm == Algorithm::kDirect) {
    for (int from = 0; from < ranks; ++from) {
      for (int to = 0; to < ranks; ++to) {
        if (to != from) AddFlow(from, to, all / ranks, &result.pattern);
      }
    }
  } else if (algorithm == Algorithm::kTree) {
    AddTrees(all, channels, &result.pattern);
  } else {
    AddRings(kind, all, channels, most_messages, &result);
  }
  result.devices = channels.devices;
  return result;
}

}  // namespace stagecraft
