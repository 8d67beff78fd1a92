#include "costmodel/file_kind.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>
#include <string>

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
}

}  // namespace
}  // namespace stagecraft
