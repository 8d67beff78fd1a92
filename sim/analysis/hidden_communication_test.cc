#include "sim/analysis/hidden_communication.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <vector>

#include "costmodel/cost_model.h"
#include "costmodel/link.h"
#include "costmodel/op.h"
#include "sim/schedule/schedule.h"

namespace stagecraft {
namespace {

// Tasks of one rank, each on one lane, and what their ops cost.
class OneRank {
 public:
  Lane AddLane(LaneKind kind) { return builder_.AddLane({rank_, kind}); }

  OpId AddOp(const Op& op, Duration time) {
    Estimate estimate;
    estimate.time = time;
    costs_.estimates[0].push_back(estimate);
    return builder_.AddOp(op);
  }

  void Add(Lane lane, Phase phase, Duration start, Duration end, std::vector<OpId> ops = {},
           std::vector<uint8_t> flags = {}) {
    Tag tag;
    tag.phase = phase;
    const OpSequenceId op_sequence = ops.empty() ? -1 : builder_.AddOpSequence(ops, flags);
    builder_.Add({&lane, 1}, {}, op_sequence, tag);
    starts_.push_back(start);
    ends_.push_back(end);
  }

  Duration Hidden() {
    return HiddenCommunication(builder_.Build(), Timeline(starts_, ends_), costs_, rank_);
  }

 private:
  static BoundCosts OneDevice() {
    BoundCosts costs;
    costs.device_of_rank = {0};
    costs.estimates.emplace_back();
    return costs;
  }

  Schedule::Builder builder_;
  int32_t rank_ = builder_.AddRank({.device = 0});
  BoundCosts costs_ = OneDevice();
  std::vector<Duration> starts_, ends_;
};

Op AllReduce() {
  Fabric fabric;
  fabric.ranks = 8;
  return Op::Collective(OpKind::kAllReduce, Bytes(1000), fabric);
}

// compute |forward 4 ms|      |optimizer 1 ms|
// data        |reduce from 3 to 6 ms|
// The first millisecond of the reduction runs beside the forward, the last beside the optimizer.
TEST(HiddenCommunicationTest, AReductionIsHiddenWhileTheRankComputes) {
  OneRank rank;
  const Lane compute = rank.AddLane(LaneKind::kCompute), data = rank.AddLane(LaneKind::kData);
  rank.Add(compute, Phase::kForward, 0_ms, 4_ms);
  rank.Add(data, Phase::kGradReduce, 3_ms, 6_ms);
  rank.Add(compute, Phase::kOptimizer, 5_ms, 6_ms);
  EXPECT_EQ(rank.Hidden(), 2_ms);
}

TEST(HiddenCommunicationTest, WhatRunsOnTheComputeLaneIsExposed) {
  OneRank rank;
  const Lane compute = rank.AddLane(LaneKind::kCompute);
  rank.Add(compute, Phase::kForward, 0_ms, 4_ms);
  rank.Add(compute, Phase::kGradReduce, 4_ms, 7_ms);
  EXPECT_EQ(rank.Hidden(), 0_ms);
}

TEST(HiddenCommunicationTest, TransfersThatRunAtOnceCountOneByOne) {
  OneRank rank;
  const Lane compute = rank.AddLane(LaneKind::kCompute);
  rank.Add(compute, Phase::kForward, 0_ms, 4_ms);
  rank.Add(rank.AddLane(LaneKind::kSendNext), Phase::kSendForward, 1_ms, 3_ms);
  rank.Add(rank.AddLane(LaneKind::kHostOut), Phase::kOffload, 0_ms, 3_ms);
  EXPECT_EQ(rank.Hidden(), 5_ms);
}

// Beside a product of 3 ms, a collective of 5 ms exposes 2 ms, and one of 2 ms exposes nothing.
TEST(HiddenCommunicationTest, CollectivesInsidePassesAreHiddenByTheOpsBesideThem) {
  for (const auto& [collective, hidden] : {std::pair(5_ms, 3_ms), std::pair(2_ms, 2_ms)}) {
    OneRank rank;
    const Lane compute = rank.AddLane(LaneKind::kCompute);
    const OpId reduce = rank.AddOp(AllReduce(), collective);
    const OpId product = rank.AddOp(Op::Elementwise(Bytes(1)), 3_ms);
    rank.Add(compute, Phase::kForward, 0_ms, 5_ms, {reduce, product}, {kOverlapsNext, 0});
    rank.Add(compute, Phase::kForward, 5_ms, 10_ms, {product, reduce}, {0, 0});
    EXPECT_EQ(rank.Hidden(), hidden);
  }
}

}  // namespace
}  // namespace stagecraft
