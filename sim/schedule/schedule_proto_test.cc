#include "sim/schedule/schedule_proto.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "costmodel/check.h"
#include "costmodel/gradient_sync.h"
#include "costmodel/op.h"
#include "costmodel/op_proto.h"
#include "costmodel/units.h"
#include "sim/schedule/schedule.h"
#include "sim/schedule/timeline.h"

namespace stagecraft {
namespace {

Op AllReduce() {
  Fabric fabric;
  fabric.ranks = 16;
  fabric.nodes = 2;
  fabric.ranks_per_node = 8;
  fabric.intra = {LinkKind::kNvlink, 700_ns, Bandwidth(450e9)};
  fabric.inter = {LinkKind::kNetwork, 5_us, Bandwidth(400e9)};
  fabric.nvls = true;
  return Op::Collective(OpKind::kAllReduce, Bytes(1 << 20), fabric);
}

// rank 0: [F 0] -> [send]      the second dependency is added before the first
// rank 1:               [F 1]
Schedule TwoStages() {
  Schedule::Builder s;
  const OpId gemm = s.AddOp(Op::Gemm(DType::kFp8, 4, 5, 6));
  const OpId reduce = s.AddOp(AllReduce());
  const OpSequenceId op_sequence = s.AddOpSequence(std::vector<OpId>{gemm, reduce, gemm});
  s.AddRank({.device = 3, .stage = 0, .replica = 0, .multiplicity = 8});
  s.AddRank({.device = -1, .stage = 1, .replica = -1, .multiplicity = 1});
  const Lane compute0 = s.AddLane({0, LaneKind::kCompute});
  const Lane send0 = s.AddLane({0, LaneKind::kSendNext});
  const Lane compute1 = s.AddLane({1, LaneKind::kCompute});
  const std::vector<Lane> first = {compute0}, send = {send0, compute0}, second = {compute1};
  s.Add(first, {}, op_sequence, {0, 0, 0, 7, Phase::kForward, 2});
  s.Add(send, {}, -1, {0, 0, -1, 7, Phase::kSendForward, 0});
  s.Add(second, {}, op_sequence, {1, 1, 0, 7, Phase::kForward, 0});
  s.AddDependency(0, 2);
  s.AddDependency(0, 1);
  s.AddDependency(1, 2);
  return s.Build();
}

// The sentence of the InputError that `read` throws.
template <typename Read>
std::string ErrorOf(Read read) {
  try {
    read();
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

TEST(ScheduleProtoTest, ARoundTripKeepsHowGradientsAreSynchronised) {
  Op op = AllReduce();
  op.sync.method = SyncMethod::kParameterServer;
  op.sync.servers = 2;
  op.sync.server = {LinkKind::kNetwork, 5_us, Bandwidth(50e9)};
  op.sync.worker = {LinkKind::kNetwork, 5_us, Bandwidth(25e9)};
  EXPECT_EQ(OpFromProto(ToProto(op), "op"), op);
  const Op odd = Op::GemmOfRows(DType::kBf16, 8, 9, 16, 1, {9, 16});
  EXPECT_EQ(odd.alignment, 2);
  EXPECT_EQ(OpFromProto(ToProto(odd), "op"), odd);
  OpProto bad = ToProto(odd);
  bad.set_alignment(3);
  EXPECT_EQ(ErrorOf([&] { OpFromProto(bad, "op"); }),
            "op.alignment: got 3, want 1, 2, 4, 8 or 16, below 16 for a GEMM only");
  OpProto proto = ToProto(op);
  proto.mutable_sync()->set_worker_bandwidth_bytes_per_s(0);
  EXPECT_NE(ErrorOf([&] {
              OpFromProto(proto, "op");
            }).find("op.sync.worker_bandwidth_bytes_per_s: got 0, want > 0"),
            std::string::npos);
  proto = ToProto(op);
  proto.mutable_sync()->set_peers(1);
  EXPECT_NE(ErrorOf([&] { OpFromProto(proto, "op"); }).find("op.sync.peers: got 1, want 0 to 0"),
            std::string::npos);
  op.sync = {};
  op.sync.method = SyncMethod::kGossip;
  op.sync.peers = 15;
  EXPECT_EQ(OpFromProto(ToProto(op), "op"), op);
  proto = ToProto(op);
  proto.mutable_sync()->set_peers(16);
  EXPECT_NE(ErrorOf([&] { OpFromProto(proto, "op"); }).find("got 16, want 1 to 15"),
            std::string::npos);
}

TEST(ScheduleProtoTest, ARoundTripGivesAnEqualSchedule) {
  const Schedule schedule = TwoStages();
  const ScheduleProto proto = ToProto(schedule);
  const Schedule again = ScheduleFromProto(proto);
  EXPECT_EQ(ToProto(again).SerializeAsString(), proto.SerializeAsString());
  ASSERT_EQ(again.task_count(), 3);
  EXPECT_EQ(again.lane_count(), 3);
  EXPECT_EQ(again.op(1), AllReduce());
  EXPECT_EQ(again.ops(0).size(), 3u);
  EXPECT_EQ(again.successors(0)[0], 2);
  EXPECT_EQ(again.successors(0)[1], 1);
  EXPECT_EQ(again.predecessor_count(2), 2);
  EXPECT_EQ(again.order(Lane{0}).size(), 2u);
  EXPECT_EQ(again.op_sequence(1), -1);
  EXPECT_EQ(again.tag(1).chunk, -1);
  EXPECT_EQ(again.tag(0).segment, 2);
  EXPECT_EQ(again.ranks()[0].multiplicity, 8);
  EXPECT_EQ(again.ranks()[1].device, -1);
  EXPECT_EQ(again.lane_infos()[1].kind, LaneKind::kSendNext);
}

TEST(ScheduleProtoTest, AnUndescribedLaneComesBackWithoutARank) {
  Schedule::Builder s;
  s.Add(Lane{1});
  const Schedule again = ScheduleFromProto(ToProto(s.Build()));
  EXPECT_EQ(again.lane_count(), 2);
  EXPECT_EQ(again.lane_infos()[1].rank, -1);
}

TEST(ScheduleProtoTest, AnErrorNamesThePathOfTheField) {
  const ScheduleProto good = ToProto(TwoStages());
  ScheduleProto bad = good;
  bad.mutable_tasks(1)->set_lanes(0, 9);
  EXPECT_EQ(ErrorOf([&] { ScheduleFromProto(bad, "run.pb: schedule"); }),
            "run.pb: schedule.tasks[1].lanes: got 9, want 0 to 2");
  bad = good;
  bad.mutable_tasks(2)->add_successors(2);
  EXPECT_EQ(ErrorOf([&] { ScheduleFromProto(bad); }),
            "schedule.tasks[2].successors: got 2, want another task");
  bad = good;
  bad.mutable_tasks(1)->set_lanes(1, bad.tasks(1).lanes(0));
  EXPECT_EQ(ErrorOf([&] { ScheduleFromProto(bad); }),
            "schedule.tasks[1].lanes: got 1, want every lane at most once");
  bad = good;
  bad.mutable_blocks(0)->set_ops(2, -1);
  EXPECT_EQ(ErrorOf([&] { ScheduleFromProto(bad); }),
            "schedule.blocks[0].ops: got -1, want 0 to 1");
  bad = good;
  bad.mutable_ranks(0)->set_multiplicity(0);
  EXPECT_EQ(ErrorOf([&] { ScheduleFromProto(bad); }),
            "schedule.ranks[0].multiplicity: got 0, want 1 to 2147483647");
  bad = good;
  bad.mutable_ops(1)->mutable_fabric()->set_inter_bandwidth_bytes_per_s(-1);
  EXPECT_EQ(ErrorOf([&] { ScheduleFromProto(bad); }),
            "schedule.ops[1].fabric.inter_bandwidth_bytes_per_s: got -1, want a finite number "
            ">= 0");
  bad.mutable_ops(1)->mutable_fabric()->set_inter_bandwidth_bytes_per_s(
      std::numeric_limits<double>::quiet_NaN());
  EXPECT_EQ(ErrorOf([&] { ScheduleFromProto(bad); }),
            "schedule.ops[1].fabric.inter_bandwidth_bytes_per_s: got nan, want a finite number "
            ">= 0");
  bad = good;
  bad.clear_blocks();
  EXPECT_EQ(ErrorOf([&] { ScheduleFromProto(bad); }),
            "schedule.tasks[0].block: got 0, want no value, as there is nothing to refer to");
}

TEST(OpProtoTest, EveryKindSurvivesARoundTrip) {
  std::vector<Op> ops = {Op(),
                         Op::Gemm(DType::kTf32, 2, 3, 5, 7),
                         Op::Attention(DType::kFp16, Direction::kBackward, 4, 8, 8, 64, true),
                         Op::Elementwise(Bytes(12), 3),
                         Op::Elementwise(Bytes(12), 0),
                         Op::Optimizer(Bytes(34), 2),
                         AllReduce()};
  ops.push_back(Op::Collective(OpKind::kSendRecv, Bytes(5), Fabric()));
  for (const SparseProduct product :
       {SparseProduct::kFaster, SparseProduct::kFromEntries, SparseProduct::kExpanded}) {
    ops.push_back(Op::Sparse(DType::kFp16, Direction::kBackward, 2, 3, 5, 15, 7));
    ops.back().product = product;
  }
  for (const Op& op : ops) EXPECT_EQ(OpFromProto(ToProto(op), "op"), op) << Describe(op);
}

TEST(OpProtoTest, SparseMatricesHaveAtMostAsManyEntriesAsPlaces) {
  OpProto proto = ToProto(Op::Sparse(DType::kFp16, Direction::kForward, 2, 3, 5, 15));
  proto.set_nonzeros(16);
  EXPECT_EQ(ErrorOf([&] { OpFromProto(proto, "op"); }),
            "op.nonzeros: got 16, want at most k x n, 15");
  proto = ToProto(Op::Gemm(DType::kFp16, 2, 3, 5));
  proto.set_nonzeros(1);
  EXPECT_EQ(ErrorOf([&] { OpFromProto(proto, "op"); }),
            "op.nonzeros: got 1, want none but for SPARSE");
  proto.clear_nonzeros();
  proto.set_product(OpProto::EXPANDED);
  EXPECT_EQ(ErrorOf([&] { OpFromProto(proto, "op"); }),
            "op.product: got 2, want FASTER, FROM_ENTRIES or EXPANDED, for SPARSE only");
}

TEST(OpProtoTest, OnlyElementwiseOpsHaveNoLaunchOfTheirOwn) {
  OpProto proto = ToProto(Op::Optimizer(Bytes(34), 2));
  proto.set_kernels(0);
  EXPECT_EQ(ErrorOf([&] { OpFromProto(proto, "op"); }), "op.kernels: got 0, want >= 1");
  proto = ToProto(Op::Elementwise(Bytes(12)));
  proto.set_kernels(-1);
  EXPECT_EQ(ErrorOf([&] { OpFromProto(proto, "op"); }), "op.kernels: got -1, want >= 0");
}

TEST(OpProtoTest, AProductNeedsItsShapeAndItsNumberFormat) {
  OpProto proto;
  proto.set_kind(OpProto::GEMM);
  EXPECT_EQ(ErrorOf([&] { OpFromProto(proto, "op"); }), "op.dtype: got 0, want a number format");
  proto.set_dtype(OpProto::BF16);
  EXPECT_EQ(ErrorOf([&] { OpFromProto(proto, "op"); }), "op.m: got 0, want >= 1");
  proto.set_m(std::numeric_limits<int64_t>::max());
  proto.set_n(1);
  proto.set_k(1);
  EXPECT_NE(ErrorOf([&] { OpFromProto(proto, "op"); }), "no error");
}

TEST(TimelineProtoTest, ARoundTripGivesAnEqualTimeline) {
  const Timeline timeline({0_us, 3_us, 5_us}, {3_us, 5_us, 9_us});
  const TimelineProto proto = ToProto(timeline, TwoStages());
  const Timeline again = TimelineFromProto(proto);
  EXPECT_EQ(again.Fingerprint(), timeline.Fingerprint());
  EXPECT_EQ(again.makespan(), 9_us);
  EXPECT_EQ(ScheduleFromProto(proto.schedule()).task_count(), 3);
}

TEST(TimelineProtoTest, WhatDoesNotAddUpIsRefused) {
  const TimelineProto good = ToProto(Timeline({0_us, 3_us}, {3_us, 5_us}));
  TimelineProto bad = good;
  bad.add_end_ns(1);
  EXPECT_EQ(ErrorOf([&] { TimelineFromProto(bad); }),
            "timeline.end_ns: got 3 values, want 2 as in start_ns");
  bad = good;
  bad.set_end_ns(1, 2999);
  EXPECT_EQ(ErrorOf([&] { TimelineFromProto(bad); }),
            "timeline.end_ns[1]: got 2999, want >= 3000, the start");
  bad = good;
  bad.set_start_ns(0, 1);
  EXPECT_EQ(ErrorOf([&] { TimelineFromProto(bad); }).substr(0, 25), "timeline.fingerprint: got");
}

}  // namespace
}  // namespace stagecraft
