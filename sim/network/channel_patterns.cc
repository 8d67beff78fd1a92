#include "sim/network/channel_patterns.h"

#include <algorithm>

#include "costmodel/check.h"
#include "costmodel/collectives.h"
#include "sim/network/collective_patterns.h"
#include "sim/network/pattern_parts.h"

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
    if (first_.size() == 1) count_ = 1;  // one ring may use every route inside a node
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

// The ranks of the first `nodes` nodes on a channel.
std::vector<int> RingOf(const Channels& channels, int channel, int nodes) {
  std::vector<int> ring;
  for (int node = 0; node < nodes; ++node) {
    for (int i = 0; i < channels.size(node); ++i) ring.push_back(channels.Rank(channel, node, i));
  }
  return ring;
}

// Adds what the first `period` nodes send of the rings over all nodes.
void AddRings(int rounds, double bytes, const Channels& channels, int period, double most_messages,
              ChannelPattern* result) {
  const int ranks = static_cast<int>(channels.devices.size());
  const int steps = rounds * (ranks - 1);
  const double own = bytes / channels.count();
  const double messages = static_cast<double>(steps) * ranks * channels.count();
  result->steps = messages > most_messages ? 1 : steps;
  for (int channel = 0; channel < channels.count(); ++channel) {
    AddRingPart(RingOf(channels, channel, period),
                channels.Rank(channel, period % channels.nodes(), 0), result->steps,
                own / ranks * steps / result->steps, &result->pattern);
  }
}

// Each of the two trees carries half of the bytes.
void AddTrees(double bytes, const Channels& channels, MessagePattern* pattern) {
  const int nodes = channels.nodes();
  const double own = bytes / channels.count();
  const int32_t counter = pattern->AddCounters(1);
  const auto add_edge = [&](int child, int parent, double share) {
    AddFlows({child, parent}, share, 1, counter, {}, pattern);
    AddFlows({parent, child}, share, 1, counter, {}, pattern);
  };
  for (int channel = 0; channel < channels.count(); ++channel) {
    for (int node = 0; node < nodes; ++node) {
      for (int i = 1; i < channels.size(node); ++i) {
        add_edge(channels.Rank(channel, node, i), channels.Rank(channel, node, i - 1), own);
      }
      for (const int parent : {TreeParent(node, nodes), SecondTreeParent(node, nodes)}) {
        if (parent < 0) continue;
        add_edge(channels.Rank(channel, node, 0), channels.Rank(channel, parent, 0), own / 2);
      }
    }
  }
}

}  // namespace

bool IsRing(OpKind kind, Algorithm algorithm) {
  return !CollectiveOf(kind).IsMessage() && algorithm != Algorithm::kDirect &&
         algorithm != Algorithm::kTree;
}

ChannelPattern MakeChannels(OpKind kind, Algorithm algorithm, Bytes bytes,
                            std::span<const std::vector<int>> by_node, double most_messages) {
  const Channels channels(by_node);
  const int ranks = static_cast<int>(channels.devices.size());
  CHECK(ranks >= 2);
  const double all = static_cast<double>(bytes.count());
  const Collective& collective = CollectiveOf(kind);
  ChannelPattern result;
  if (collective.IsMessage()) {
    result.pattern = SendReceive(bytes);
  } else if (algorithm == Algorithm::kDirect) {
    result.pattern = DirectAllToAll(ranks, bytes);
  } else if (algorithm == Algorithm::kTree) {
    AddTrees(all, channels, &result.pattern);
  } else {
    AddRings(collective.Rounds(), all, channels, channels.nodes(), most_messages, &result);
  }
  result.devices = channels.devices;
  return result;
}

ChannelPattern MakePeriodOfRings(OpKind kind, Bytes bytes,
                                 std::span<const std::vector<int>> by_node, int period,
                                 double most_messages) {
  const Channels channels(by_node);
  CHECK(2 * period <= channels.nodes() && channels.nodes() % period == 0);
  ChannelPattern result;
  AddRings(CollectiveOf(kind).Rounds(), static_cast<double>(bytes.count()), channels, period,
           most_messages, &result);
  result.devices = channels.devices;
  return result;
}

}  // namespace stagecraft
