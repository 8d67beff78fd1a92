#include "costmodel/proto_to_json.h"

#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "costmodel/json_to_proto.h"
#include "proto/history.pb.h"
#include "proto/job_events.pb.h"

namespace stagecraft {
namespace {

TEST(ProtoToJsonTest, NumbersAreNumbersAndTextIsText) {
  PhaseProto phase;
  phase.set_kind(PhaseProto::RELOAD);
  phase.set_start_ns(std::numeric_limits<int64_t>::max());
  phase.set_working_devices(3);
  phase.set_reason("12");
  EXPECT_EQ(ProtoToJson(phase).dump(),
            R"({"kind":"RELOAD","first_step":0,"steps":0,"start_ns":9223372036854775807,)"
            R"("length_ns":0,"step_time_ns":0,"working_devices":3,"reason":"12","plan":0,)"
            R"("idle_share":0.0})");
}

TEST(ProtoToJsonTest, WhatCanBeAbsentIsLeftOut) {
  ClusterEventProto event;
  event.set_at_step(0);
  event.set_node("node1");
  event.set_what(ClusterEventProto::FAIL);
  EXPECT_EQ(ProtoToJson(event).dump(),
            R"({"at_step":0,"node":"node1","what":"FAIL","notice_s":0.0})");
}

TEST(ProtoToJsonTest, ItIsReadBack) {
  HistoryProto history;
  history.set_goodput(0.1);
  history.set_time_ns((int64_t{1} << 60) + 1);
  history.add_losses()->set_gpu_hours(1.0 / 3);
  history.add_phases()->set_reason("a \"b\"");
  history.add_phases()->set_steps(7);
  HistoryProto read;
  JsonToProto(ParseJson(ProtoToJson(history).dump(), "h"), "h", &read);
  EXPECT_EQ(read.SerializeAsString(), history.SerializeAsString());
}

}  // namespace
}  // namespace stagecraft
