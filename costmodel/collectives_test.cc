#include "costmodel/collectives.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <string_view>

#include "costmodel/op.h"
#include "proto/op.pb.h"

namespace stagecraft {
namespace {

// In a ring of two, both ranks send both halves.
TEST(CollectivesTest, BusFactorsAreThoseOfNcclTests) {
  EXPECT_EQ(CollectiveOf(OpKind::kAllReduce).BusFactor(2), 1);
  EXPECT_EQ(CollectiveOf(OpKind::kAllReduce).BusFactor(4), 1.5);
  EXPECT_EQ(CollectiveOf(OpKind::kAllGather).BusFactor(4), 0.75);
  EXPECT_EQ(CollectiveOf(OpKind::kReduceScatter).BusFactor(4), 0.75);
  EXPECT_EQ(CollectiveOf(OpKind::kAllToAll).BusFactor(4), 0.75);
  EXPECT_EQ(CollectiveOf(OpKind::kBroadcast).BusFactor(4), 1);
  EXPECT_EQ(CollectiveOf(OpKind::kSendRecv).BusFactor(4), 1);
}

TEST(CollectivesTest, AnOpIsACollectiveIfItHasARowAndIsFoundByItsWord) {
  int rows = 0;
  for (int kind = 0; kind < kOpKindCount; ++kind) rows += IsCollective(static_cast<OpKind>(kind));
  EXPECT_EQ(rows, static_cast<int>(Collectives().size()));
  for (const Collective& collective : Collectives()) {
    EXPECT_EQ(&CollectiveOf(collective.kind), &collective);
    EXPECT_EQ(FindCollective(collective.word), &collective);
    EXPECT_STREQ(Name(collective.kind), collective.name);
  }
  EXPECT_EQ(FindCollective("gemm"), nullptr);
}

TEST(CollectivesTest, NoTwoShareAName) {
  std::set<std::string_view> names, words, programs;
  for (const Collective& collective : Collectives()) {
    EXPECT_TRUE(names.insert(collective.name).second) << collective.name;
    EXPECT_TRUE(words.insert(collective.word).second) << collective.word;
    EXPECT_TRUE(programs.insert(collective.nccl_tests).second) << collective.nccl_tests;
  }
}

// Parts pass each link once, or twice if they are first reduced and then gathered. If there is a
// root and no rank holds a part, before or after, the whole buffer passes each link once.
TEST(CollectivesTest, WhatPassesALinkFollowsFromWhoHoldsWhat) {
  for (const Collective& collective : Collectives()) {
    const auto& [kind, name, word, program, before, after, reduces, passes, algorithms] =
        collective;
    const bool has_parts = before == Holding::kPart || after == Holding::kPart;
    const bool has_root = before == Holding::kOne || after == Holding::kOne;
    Passes expected = Passes::kPartsOnce;
    if (has_root && !has_parts) expected = Passes::kWholeOnce;
    if (!has_root && !has_parts && reduces) expected = Passes::kPartsTwice;
    EXPECT_EQ(passes, expected) << name;
    EXPECT_FALSE(reduces && before != Holding::kWhole) << name << ": nothing to add up";
    EXPECT_FALSE(reduces && collective.IsDirect()) << name << ": messages do not add up";
  }
}

// Four ranks are on two nodes: each has a different quarter for each of the three others.
TEST(CollectivesTest, AnExchangeLoadsLinksWithThePartsOfThoseBehindThem) {
  const auto [intra, inter] = CollectiveOf(OpKind::kAllToAll).LoadOfDirect(4, 2);
  EXPECT_EQ(intra, 1);
  EXPECT_EQ(inter, 4);
  EXPECT_EQ(CollectiveOf(OpKind::kSendRecv).LoadOfDirect(4, 2).inter, 4) << "the whole buffer";
}

// OpProto::Kind and OpKind are cast to each other, so that "ALL_REDUCE" must be "all-reduce".
TEST(OpKindTest, KindsOfProtosHaveTheSameNamesAsKindsOfOps) {
  ASSERT_EQ(OpProto::Kind_ARRAYSIZE, kOpKindCount);
  for (int kind = 0; kind < kOpKindCount; ++kind) {
    std::string name;
    for (const char c : OpProto::Kind_Name(static_cast<OpProto::Kind>(kind))) {
      name += c == '_' ? '-' : static_cast<char>(c - 'A' + 'a');
    }
    EXPECT_EQ(name, Name(static_cast<OpKind>(kind)));
  }
}

}  // namespace
}  // namespace stagecraft
