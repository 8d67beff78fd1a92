#include "sim/network/collective_patterns.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace stagecraft {
namespace {

constexpr Bytes kBytes(1 << 20);

TEST(CollectivePatternsTest, ARingOfThreeSendsTwelveThirds) {
  const MessagePattern ring = RingAllReduce(3, Bytes(300));
  EXPECT_EQ(ring.messages(), 12);
  EXPECT_EQ(ring.bytes(), 1200);
  ASSERT_EQ(ring.pairs().size(), 3u);
  EXPECT_EQ(ring.pairs()[2], (MessagePair{2, 0}));
}

// Runs a pattern without time: messages that may be sent are sent in random
// order. A message carries what its sender has heard of when it is sent, so
// what a rank knows in the end is what the pattern's waits guarantee.
class Gossipers {
 public:
  Gossipers(const MessagePattern& pattern, int participants, uint64_t seed)
      : pattern_(pattern), random_(seed), counts_(pattern.counters(), 0) {
    for (int rank = 0; rank < participants; ++rank) {
      heard_.emplace_back(participants, false);
      heard_.back()[rank] = true;
    }
    next_.assign(pattern.senders().size(), 0);
    carried_.resize(pattern.senders().size());
  }

  // Returns false if messages are left that can never be sent.
  bool Run() {
    for (int64_t left = pattern_.messages(); left > 0;) {
      SendAll();
      if (in_flight_.empty()) return false;
      const int64_t pick = random_.Integer(0, static_cast<int64_t>(in_flight_.size()) - 1);
      const int sender = in_flight_[pick];
      in_flight_.erase(in_flight_.begin() + pick);
      Arrive(sender);
      --left;
    }
    return true;
  }

  bool HasHeard(int rank, int of) const { return heard_[rank][of]; }
  bool AllHaveHeardOfAll(int ranks) const {
    for (int rank = 0; rank < ranks; ++rank) {
      for (int of = 0; of < ranks; ++of) {
        if (!heard_[rank][of]) return false;
      }
    }
    return true;
  }

 private:
  MessagePair Pair(int sender) const {
    const MessageSender& s = pattern_.senders()[sender];
    return pattern_.pairs()[s.pair + next_[sender] * s.pair_step];
  }

  void SendAll() {
    for (int sender = 0; sender < static_cast<int>(next_.size()); ++sender) {
      const MessageSender& s = pattern_.senders()[sender];
      if (next_[sender] == s.messages || !carried_[sender].empty()) continue;
      bool may_send = true;
      for (const MessageNeed& need : pattern_.needs(s)) {
        may_send &= next_[sender] < need.from ||
                    counts_[need.counter] >= need.slope * next_[sender] + need.offset;
      }
      if (!may_send) continue;
      carried_[sender] = heard_[Pair(sender).from];
      in_flight_.push_back(sender);
    }
  }

  void Arrive(int sender) {
    const MessageSender& s = pattern_.senders()[sender];
    std::vector<bool>& heard = heard_[Pair(sender).to];
    for (size_t of = 0; of < heard.size(); ++of) heard[of] = heard[of] || carried_[sender][of];
    carried_[sender].clear();
    ++counts_[s.counter + (s.turn + next_[sender]) % s.turns];
    ++next_[sender];
  }

  const MessagePattern& pattern_;
  Random random_;
  std::vector<int> counts_, next_, in_flight_;
  std::vector<std::vector<bool>> heard_, carried_;
};

void ExpectAllHearOfAll(const MessagePattern& pattern, int ranks, int participants) {
  for (uint64_t seed = 0; seed < 5; ++seed) {
    Gossipers gossipers(pattern, participants, seed);
    EXPECT_TRUE(gossipers.Run());
    EXPECT_TRUE(gossipers.AllHaveHeardOfAll(ranks));
  }
}

TEST(CollectivePatternsTest, WhateverReducesToAllHasEveryRankHearOfEveryOther) {
  for (int ranks = 1; ranks <= 17; ++ranks) {
    SCOPED_TRACE(ranks);
    ExpectAllHearOfAll(RingAllReduce(ranks, kBytes), ranks, ranks);
    ExpectAllHearOfAll(RingAllGather(ranks, kBytes), ranks, ranks);
    ExpectAllHearOfAll(RingReduceScatter(ranks, kBytes), ranks, ranks);
    ExpectAllHearOfAll(TreeAllReduce(ranks, kBytes, 3), ranks, ranks);
    ExpectAllHearOfAll(DoubleTreeAllReduce(ranks, kBytes, 2), ranks, ranks);
    ExpectAllHearOfAll(DirectAllToAll(ranks, kBytes), ranks, ranks);
    ExpectAllHearOfAll(PairwiseAllToAll(ranks, kBytes), ranks, ranks);
  }
  for (int nodes = 1; nodes <= 5; ++nodes) {
    for (int per_node = 1; per_node <= 4; ++per_node) {
      const int ranks = nodes * per_node;
      ExpectAllHearOfAll(HierarchicalAllReduce(nodes, per_node, kBytes), ranks, ranks);
    }
  }
}

TEST(CollectivePatternsTest, ABroadcastReachesEveryRank) {
  for (int ranks = 1; ranks <= 17; ++ranks) {
    for (const MessagePattern& pattern :
         {ChainBroadcast(ranks, kBytes, 4), TreeBroadcast(ranks, kBytes, 4)}) {
      Gossipers gossipers(pattern, ranks, 1);
      EXPECT_TRUE(gossipers.Run());
      for (int rank = 0; rank < ranks; ++rank) EXPECT_TRUE(gossipers.HasHeard(rank, 0));
      EXPECT_NEAR(pattern.bytes(), (ranks - 1.0) * kBytes.count(), 1e-3);
    }
  }
}

// The bytes that each rank sends, by the usual formulas.
TEST(CollectivePatternsTest, PatternsSendTheBytesOfTheirAlgorithm) {
  const double bytes = kBytes.count();
  for (int n = 2; n <= 9; ++n) {
    EXPECT_NEAR(RingAllReduce(n, kBytes).bytes(), 2 * (n - 1) * bytes, 1e-3);
    EXPECT_NEAR(RingAllGather(n, kBytes).bytes(), (n - 1) * bytes, 1e-3);
    EXPECT_NEAR(TreeAllReduce(n, kBytes, 5).bytes(), 2 * (n - 1) * bytes, 1e-3);
    EXPECT_NEAR(DoubleTreeAllReduce(n, kBytes, 5).bytes(), 2 * (n - 1) * bytes, 1e-3);
    EXPECT_NEAR(DirectAllToAll(n, kBytes).bytes(), (n - 1) * bytes, 1e-3);
    EXPECT_NEAR(PairwiseAllToAll(n, kBytes).bytes(), (n - 1) * bytes, 1e-3);
    EXPECT_NEAR(Gossip(n, 1, kBytes, Random(1)).bytes(), n * bytes, 1e-3);
    // Inside 2 (g - 1) / g, across 2 (N - 1) / N of a g-th.
    const double inside = 2.0 * (n - 1) * bytes * 4;
    EXPECT_NEAR(HierarchicalAllReduce(4, n, kBytes).bytes(), inside + 2 * 3 * bytes, 1e-3);
  }
}

TEST(CollectivePatternsTest, OwnersHearFromEveryoneBeforeTheyAnswer) {
  const std::vector<std::vector<double>> owners = {
      {0, 0, 0, 0, 9}, {0, 0, 9, 0}, {3, 3, 3, 3}, {1, 1, 1, 1, 2, 2}};
  for (const std::vector<double>& owned : owners) {
    const MessagePattern pattern = SumByOwners(4, owned);
    const int participants = static_cast<int>(owned.size());
    Gossipers gossipers(pattern, participants, 5);
    EXPECT_TRUE(gossipers.Run());
    for (int rank = 0; rank < 4; ++rank) {
      for (int other = 0; other < 4; ++other) EXPECT_TRUE(gossipers.HasHeard(rank, other));
    }
    double bytes = 0;  // a server beyond the workers hears all four, a worker three
    for (int p = 0; p < participants; ++p) bytes += 2 * owned[p] * (p < 4 ? 3 : 4);
    EXPECT_NEAR(pattern.bytes(), bytes, 1e-9);
  }
}

TEST(CollectivePatternsTest, ServersThatPassSumsOnSendTheirPartsBothWays) {
  const double bytes = kBytes.count();
  EXPECT_NEAR(ReductionServers(4, 3, kBytes).bytes(), 2 * 4 * bytes, 1e-3);
  for (int servers = 0; servers <= 4; ++servers) {
    // Every rank's link carries 1 + (n - 2) w out, and servers what they get.
    const double whole = 16.0 + 4 * servers - 2 * servers;
    const double of_rank = (4 - servers) / whole;
    const double of_servers = servers * 6 / whole * 4;
    EXPECT_NEAR(BytePs(4, servers, kBytes).bytes() / bytes, 4 * (1 + 2 * of_rank) + of_servers,
                1e-9);
  }
}

TEST(CollectivePatternsTest, EveryRankHearsAsManyGossipersAsItTells) {
  std::vector<int> heard(9, 0);
  const MessagePattern gossip = Gossip(9, 3, kBytes, Random(2));
  for (const MessagePair& pair : gossip.pairs()) ++heard[pair.to];
  EXPECT_EQ(heard, std::vector<int>(9, 3));
}

TEST(CollectivePatternsTest, NoRankIsInnerInBothTreesOfTwo) {
  for (int ranks = 3; ranks <= 33; ++ranks) {
    const MessagePattern both = DoubleTreeAllReduce(ranks, kBytes, 1);
    const auto pairs = both.pairs();
    const size_t half = pairs.size() / 2;
    std::vector<int> inner(ranks, 0);
    for (int tree = 0; tree < 2; ++tree) {
      std::vector<bool> has_child(ranks, false);
      for (size_t i = tree * half; i < (tree + 1) * half; i += 2) has_child[pairs[i].to] = true;
      for (int rank = 0; rank < ranks; ++rank) inner[rank] += has_child[rank];
    }
    // The root has one child; it alone may be inner twice.
    EXPECT_LE(std::count(inner.begin(), inner.end(), 2), 1) << ranks;
  }
}

TEST(CollectivePatternsTest, EveryRankGossipsWithDistinctPeers) {
  const MessagePattern gossip = Gossip(10, 4, kBytes, Random(7));
  ASSERT_EQ(gossip.pairs().size(), 40u);
  for (size_t i = 0; i < 40; ++i) {
    EXPECT_NE(gossip.pairs()[i].from, gossip.pairs()[i].to);
    for (size_t j = i + 1; j < 40; ++j) EXPECT_FALSE(gossip.pairs()[i] == gossip.pairs()[j]);
  }
  const MessagePattern again = Gossip(10, 4, kBytes, Random(7));
  EXPECT_TRUE(std::ranges::equal(gossip.pairs(), again.pairs()));
}

TEST(CollectivePatternsTest, AllToAllOfUnevenPartsLeavesOutNothingAndZeros) {
  const std::vector<Bytes> bytes = {Bytes(9), Bytes(1), Bytes(0), Bytes(5)};
  const MessagePattern pattern = DirectAllToAllV(2, bytes);
  EXPECT_EQ(pattern.messages(), 1);
  EXPECT_EQ(pattern.bytes(), 1);
}

}  // namespace
}  // namespace stagecraft
