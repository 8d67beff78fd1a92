#include "sim/schedule/timeline_record_proto.h"

#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "costmodel/check.h"
#include "costmodel/op.h"
#include "costmodel/units.h"

namespace stagecraft {
namespace {

// Two ranks of one pass each, measured over two steps.
TimelineRecord Example() {
  Schedule::Builder s;
  const OpId op = s.AddOp(Op::Gemm(DType::kBf16, 2, 3, 5));
  const OpSequenceId op_sequence = s.AddOpSequence(std::vector<OpId>{op});
  for (int16_t rank = 0; rank < 2; ++rank) {
    s.AddRank({.device = rank, .stage = rank});
    const Lane lanes[] = {s.AddLane({rank, LaneKind::kCompute})};
    s.Add(lanes, {}, op_sequence, {});
  }
  TimelineRecord record;
  record.schedule = s.Build();
  record.timeline = Timeline({0_us, 1_us}, {3_us, 4_us});
  record.peak_memory = {Bytes(1000), Bytes(0)};
  record.op_times = {{{3_us}, {2_us}}, {0, 1}};
  record.measurement = {.executor = "cuda",
                        .software = "CUDA 12.8",
                        .devices = {"NVIDIA H200", "NVIDIA H100"},
                        .steps = {4_us, 5_us},
                        .task_sigma = {1_us, 0_us},
                        .gpus = {{1.7e9, 1.6e9, 410, 430, 61, 0.25}, {}},
                        .queued_late = {0_us, 3_us}};
  record.host_wait = 2_us;
  return record;
}

TEST(TimelineRecordProtoTest, ARoundTripKeepsTheWholeRecord) {
  const TimelineRecord again = TimelineRecordFromProto(ToProto(Example()), "run.pb");
  EXPECT_EQ(again.schedule.task_count(), 2);
  EXPECT_EQ(again.timeline.makespan(), 4_us);
  EXPECT_EQ(again.peak_memory, (std::vector<Bytes>{Bytes(1000), Bytes(0)}));
  EXPECT_EQ(again.op_times.by_device[1][0], 2_us);
  EXPECT_EQ(again.op_times.device_of_rank, (std::vector<int>{0, 1}));
  EXPECT_EQ(again.host_wait, 2_us);
  ASSERT_TRUE(again.measurement);
  EXPECT_EQ(again.measurement->executor, "cuda");
  EXPECT_EQ(again.measurement->software, "CUDA 12.8");
  EXPECT_EQ(again.measurement->devices[1], "NVIDIA H100");
  EXPECT_EQ(again.measurement->gpus, Example().measurement->gpus);
  EXPECT_EQ(again.measurement->queued_late, (std::vector<Duration>{0_us, 3_us}));
  EXPECT_EQ(again.measurement->steps, (std::vector<Duration>{4_us, 5_us}));
  EXPECT_EQ(again.measurement->task_sigma, (std::vector<Duration>{1_us, 0_us}));
}

TEST(TimelineRecordProtoTest, WhatIsNotKnownMayBeLeftOut) {
  TimelineRecord record = Example();
  record.peak_memory.clear();
  record.op_times = {};
  record.measurement.reset();
  const TimelineRecord again = TimelineRecordFromProto(ToProto(record), "run.pb");
  EXPECT_TRUE(again.peak_memory.empty());
  EXPECT_TRUE(again.op_times.by_device.empty());
  EXPECT_FALSE(again.measurement);
}

TEST(TimelineRecordProtoTest, OneListOfOpTimesHoldsForAllRanks) {
  TimelineProto proto = ToProto(Example());
  proto.mutable_op_times()->RemoveLast();
  proto.clear_op_times_of_rank();
  EXPECT_EQ(TimelineRecordFromProto(proto, "run.pb").op_times.device_of_rank,
            (std::vector<int>{0, 0}));
}

// The error message of reading the example after `change` has damaged it.
std::string ErrorBy(const std::function<void(TimelineProto&)>& change) {
  TimelineProto proto = ToProto(Example());
  change(proto);
  try {
    TimelineRecordFromProto(proto, "run.pb");
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

TEST(TimelineRecordProtoTest, BadValuesAreNamed) {
  using P = TimelineProto;
  EXPECT_EQ(ErrorBy([](P&) {}), "no error");
  EXPECT_EQ(ErrorBy([](P& p) { p.clear_schedule(); }),
            "run.pb: timeline.schedule: got none, want the one that was run");
  EXPECT_EQ(ErrorBy([](P& p) { p.add_peak_memory_bytes(5); }),
            "run.pb: timeline.peak_memory_bytes: got 3 values, want 2, one for each rank, or none");
  EXPECT_EQ(ErrorBy([](P& p) { p.set_peak_memory_bytes(1, -1); }),
            "run.pb: timeline.peak_memory_bytes[1]: got -1, want at least 0");
  EXPECT_EQ(ErrorBy([](P& p) { p.mutable_op_times(1)->add_op_ns(5); }),
            "run.pb: timeline.op_times[1].op_ns: got 2 values, want 1, one for each op");
  EXPECT_EQ(ErrorBy([](P& p) { p.mutable_op_times(1)->set_op_ns(0, -2); }),
            "run.pb: timeline.op_times[1].op_ns[0]: got -2, want at least 0");
  EXPECT_EQ(ErrorBy([](P& p) { p.set_op_times_of_rank(1, 2); }),
            "run.pb: timeline.op_times_of_rank[1]: got 2, want 0 to 1");
  EXPECT_EQ(ErrorBy([](P& p) { p.add_op_times_of_rank(0); }),
            "run.pb: timeline.op_times_of_rank: got 3 values, want 2, one for each rank, or none");
  EXPECT_EQ(ErrorBy([](P& p) { p.clear_op_times(); }),
            "run.pb: timeline.op_times_of_rank: got values, want none without op_times");
  EXPECT_EQ(ErrorBy([](P& p) { p.set_host_wait_ns(-1); }),
            "run.pb: timeline.host_wait_ns: got -1, want at least 0");
}

TEST(TimelineRecordProtoTest, BadMeasurementsAreNamed) {
  using M = TimelineProto::Measurement;
  const auto error_by = [](const std::function<void(M&)>& change) {
    return ErrorBy([&](TimelineProto& proto) { change(*proto.mutable_measurement()); });
  };
  const std::string path = "run.pb: timeline.measurement.";
  EXPECT_EQ(error_by([](M& m) { m.clear_executor(); }),
            path + "executor: got \"\", want the executor that measured");
  EXPECT_EQ(error_by([](M& m) { m.add_devices("x"); }),
            path + "devices: got 3 values, want 2, one for each rank, or none");
  EXPECT_EQ(error_by([](M& m) { m.set_step_ns(1, 0); }),
            path + "step_ns[1]: got 0, want at least 1");
  EXPECT_EQ(error_by([](M& m) { m.add_task_sigma_ns(1); }),
            path + "task_sigma_ns: got 3 values, want 2, one for each task, or none");
  EXPECT_EQ(error_by([](M& m) { m.set_task_sigma_ns(0, -1); }),
            path + "task_sigma_ns[0]: got -1, want at least 0");
  EXPECT_EQ(error_by([](M& m) { m.mutable_step_ns()->RemoveLast(); }),
            path + "step_ns: got 1 values, want at least 2 for task_sigma_ns");
  EXPECT_EQ(error_by([](M& m) { m.add_boards(); }),
            path + "boards: got 3 values, want 2, one for each rank, or none");
  EXPECT_EQ(error_by([](M& m) { m.mutable_boards(1)->set_watts(-1); }),
            path + "boards[1]: got -1, want 0 to 100000000000");
  EXPECT_EQ(error_by([](M& m) { m.mutable_boards(0)->set_throttled(1.5); }),
            path + "boards[0]: got 1.5, want 0 to 1");
  EXPECT_EQ(error_by([](M& m) { m.add_queued_late_ns(1); }),
            path + "queued_late_ns: got 3 values, want 2, one for each step, or none");
  EXPECT_EQ(error_by([](M& m) { m.set_queued_late_ns(1, -1); }),
            path + "queued_late_ns[1]: got -1, want at least 0");
}

TEST(TimelineRecordProtoTest, TasksThatWaitInACircleAreRefused) {
  EXPECT_NE(ErrorBy([](TimelineProto& proto) {
              proto.mutable_schedule()->mutable_tasks(0)->add_successors(1);
              proto.mutable_schedule()->mutable_tasks(1)->add_successors(0);
            }).find("run.pb: tasks wait for each other in a circle: "),
            std::string::npos);
}

TEST(TimelineRecordProtoTest, TimesAddUpWithin64Bits) {
  const std::string error = ErrorBy([](TimelineProto& proto) {
    for (int task = 0; task < 2; ++task) {
      proto.set_end_ns(task, std::numeric_limits<int64_t>::max());
    }
    proto.clear_fingerprint();
  });
  EXPECT_EQ(error.substr(0, 57), "run.pb: timeline.end_ns: got ends that add up to 1.844674");
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  for (const int64_t time : {kMost, kMost / 2, kMost / 2 - 1}) {
    EXPECT_NE(ErrorBy([&](TimelineProto& proto) {
                proto.mutable_op_times(1)->set_op_ns(0, time);
              }).find("run.pb: timeline.op_times: got times of ops that add up to "),
              std::string::npos)
        << time;
    EXPECT_NE(ErrorBy([&](TimelineProto& proto) {
                proto.mutable_measurement()->set_step_ns(0, time);
              }).find("run.pb: timeline.measurement.step_ns: got steps that add up to "),
              std::string::npos)
        << time;
  }
}

}  // namespace
}  // namespace stagecraft
