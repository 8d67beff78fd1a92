#include "tools/schema/output_schema.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "costmodel/error_of.h"
#include "tools/schema/schema_validator.h"

namespace stagecraft {
namespace {

constexpr const char* kShared = R"(
header: {schema: integer}
point: {x: number, next~: $point}
)";

nlohmann::json SchemaOf(const std::string& description) {
  return OutputSchema("title", description, kShared, "test.yaml");
}

std::vector<std::string> Errors(const std::string& description, const std::string& value) {
  return FindSchemaErrors(nlohmann::json::parse(value), SchemaOf(description));
}

using Strings = std::vector<std::string>;

TEST(OutputSchemaTest, KeysHaveTypesAndMayBeAbsent) {
  const std::string keys = "mfu: number|null; a share\nname~: string\n";
  EXPECT_EQ(Errors(keys, R"({"schema": 1, "mfu": 0.5})"), Strings());
  EXPECT_EQ(Errors(keys, R"({"schema": 1, "mfu": null, "name": "x"})"), Strings());
  EXPECT_EQ(Errors(keys, R"({"schema": 1})"), Strings{"the whole: key \"mfu\" is missing"});
  EXPECT_EQ(Errors(keys, R"({"schema": 1, "mfu": "x"})"),
            Strings{"mfu: got \"x\", want [\"number\",\"null\"]"});
  EXPECT_EQ(Errors(keys, R"({"schema": 1, "mfu": 1, "nmae": 1})"), Strings{"nmae: is not wanted"});
  EXPECT_EQ(Errors(keys, R"({"schema": 1.5, "mfu": 1})"),
            Strings{"schema: got 1.5, want \"integer\""});
  EXPECT_EQ(SchemaOf(keys)["properties"]["mfu"]["description"], "a share");
}

TEST(OutputSchemaTest, ListsMapsChoicesAndSharedParts) {
  const std::string keys =
      "points: [$point]\ncurves: {\"*\": [number]}\nstages: {$or: [[integer], \"null\"]}\n";
  EXPECT_EQ(Errors(keys, R"({"schema": 1, "points": [{"x": 1, "next": {"x": 2}}],
                            "curves": {"a": [1], "b": []}, "stages": [0, 1]})"),
            Strings());
  const Strings errors =
      Errors(keys, R"({"schema": 1, "points": [{"x": 1, "next": {}}], "curves": {"a": ["1"]},
                "stages": 3})");
  ASSERT_EQ(errors.size(), 3u);
  EXPECT_EQ(errors[0], "curves.a[0]: got \"1\", want \"number\"");
  EXPECT_EQ(errors[1], "points[0].next: key \"x\" is missing");
  EXPECT_EQ(errors[2],
            "stages: fits none of several choices; the first: stages: got 3, want \"array\"");
}

TEST(OutputSchemaTest, MistakesInDescriptionsAreNamed) {
  const auto error = [](const char* keys) { return ErrorOf([&] { SchemaOf(keys); }); };
  EXPECT_EQ(
      error("a: real\n"),
      "test.yaml: got \"real\", want number, integer, string, boolean or null, separated by |");
  EXPECT_EQ(error("a: $nothing\n"), "test.yaml: got $nothing, want a part of shared.yaml");
  EXPECT_EQ(error("a: [number, string]\n"), "test.yaml: got a list of 2, want one part in it");
}

}  // namespace
}  // namespace stagecraft
