#include "costmodel/file_kind.h"

#include <google/protobuf/descriptor.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "costmodel/error_of.h"
#include "costmodel/json_to_proto.h"
#include "proto/cluster.pb.h"
#include "proto/dynamics.pb.h"
#include "proto/grid.pb.h"
#include "proto/job.pb.h"
#include "proto/job_events.pb.h"
#include "proto/layer_state.pb.h"
#include "proto/plan.pb.h"
#include "proto/timeline.pb.h"

namespace stagecraft {
namespace {

using Json = nlohmann::json;

TEST(FileKindTest, OneTellingKeyIsEnough) {
  EXPECT_EQ(KindOfJson(Json::parse(R"({"name": "lab", "node_groups": []})")), "a cluster");
  EXPECT_EQ(KindOfJson(Json::parse(R"({"displayTimeUnit": "ms", "traceEvents": []})")),
            "a Chrome or Kineto trace");
  EXPECT_EQ(KindOfJson(Json::parse(R"({"bf16": {}, "zero_optimization": {"stage": 3}})")),
            "a DeepSpeed configuration");
}

TEST(FileKindTest, WhatVerbsPrintIsNamedByTheVerb) {
  EXPECT_EQ(KindOfJson(Json::parse(R"({"tool_version": "1", "command": "search", "degrees": {}})")),
            "what search prints as JSON");
  EXPECT_EQ(KindOfJson(Json::parse(R"({"tool_version": "1", "command": 3})")), "");
}

TEST(FileKindTest, OtherKeysTellNothing) {
  EXPECT_EQ(KindOfJson(Json::parse(R"({"name": {"degrees": 1}})")), "");
  EXPECT_EQ(KindOfJson(Json::parse("[1, 2]")), "");
  EXPECT_EQ(KindOfJson(Json()), "");
  EXPECT_EQ(KindOfKeys({}), "");
}

TEST(FileKindTest, KeysOfTheTextFormatAreThoseAtItsTop) {
  EXPECT_EQ(TextFormatKeys("degrees { tp: 8 } # zero: 1\nname: \"x: 1\" links < a: 1 >"),
            (std::set<std::string>{"degrees", "name", "links"}));
  EXPECT_EQ(KindOfKeys(TextFormatKeys("degrees { tp: 8 ")), "a plan");
  EXPECT_EQ(TextFormatKeys("\"unfinished"), std::set<std::string>());
}

TEST(FileKindTest, MessagesHaveWordsOfUsers) {
  EXPECT_EQ(NounOfMessage("ClusterProto"), "a cluster");
  EXPECT_EQ(NounOfMessage("CostModelProto"), "a cost model");
  EXPECT_EQ(NounOfMessage("InViewTableProto"), "an in view table");
  EXPECT_EQ(NounOfMessage("JobEventsProto"), "a file of cluster events");
}

// Returns how many fields of the message are telling keys, and expects that these tell its own
// kind.
int CountTellingFields(const google::protobuf::Descriptor* message) {
  int telling = 0;
  for (int i = 0; i < message->field_count(); ++i) {
    const std::string kind = KindOfKeys({message->field(i)->name()});
    if (kind.empty()) continue;
    EXPECT_EQ(kind, NounOfMessage(message->name())) << message->field(i)->name();
    ++telling;
  }
  return telling;
}

TEST(FileKindTest, FieldsOfOwnMessagesTellTheirNouns) {
  for (const google::protobuf::Descriptor* message :
       {ClusterProto::descriptor(), DynamicsProto::descriptor(), GridProto::descriptor(),
        JobProto::descriptor(), JobEventsProto::descriptor(), LayerStatesProto::descriptor(),
        PlanProto::descriptor(), TimelineProto::descriptor()}) {
    EXPECT_GT(CountTellingFields(message), 0) << message->name();
  }
}

TEST(FileKindTest, AMisspeltKeyOfTheRightKindIsNotTakenForAnotherKind) {
  DynamicsProto dynamics;
  const Json json = Json::parse(R"({"pruning": {}, "mixture_of_dephts": {}})");
  EXPECT_EQ(ErrorOf([&] { JsonToProto(json, "d.json", &dynamics); }),
            "d.json: unknown key \"mixture_of_dephts\"; did you mean \"mixture_of_depths\"?");
}

}  // namespace
}  // namespace stagecraft
