#include "tools/sweep/grid.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "costmodel/error_of.h"
#include "costmodel/proto_file.h"
#include "proto/grid.pb.h"
#include "tools/sweep/read_grid.h"

namespace stagecraft {
namespace {

Grid Parse(const std::string& yaml) {
  GridProto proto;
  ParseProtoText(yaml, "g.yaml", ".yaml", &proto);
  return GridFrom(proto, "g.yaml");
}

std::string Error(const std::string& yaml) {
  return ErrorOf([&] { Parse(yaml); });
}

TEST(GridTest, PointsAreAllCombinationsAndTheFirstFlagOfTheHelpVariesSlowest) {
  const Grid grid = Parse("flags: {tp: [1, 2], model: [gpt2, bert-base], pp: 4}");
  ASSERT_EQ(grid.size(), 4);
  EXPECT_EQ(grid.At(0), (StudyPoint{{{"model", "gpt2"}, {"tp", "1"}, {"pp", "4"}}}));
  EXPECT_EQ(grid.At(1), (StudyPoint{{{"model", "gpt2"}, {"tp", "2"}, {"pp", "4"}}}));
  EXPECT_EQ(grid.At(2), (StudyPoint{{{"model", "bert-base"}, {"tp", "1"}, {"pp", "4"}}}));
  EXPECT_EQ(grid.Varied(), (std::vector<std::string>{"model", "tp"}));
}

TEST(GridTest, AllPointsDiffer) {
  const Grid grid = Parse(
      "flags: {tp: [1, 2, 4], pp: {from: 1, to: 8, times: 2}, compiled: [true, false], zero: 1}");
  ASSERT_EQ(grid.size(), 24);
  std::set<std::map<std::string, std::string>> seen;
  for (int64_t i = 0; i < grid.size(); ++i) seen.insert(grid.At(i).flags);
  EXPECT_EQ(seen.size(), 24u);
}

TEST(GridTest, RangesMultiplyOrAddUpToTheirEnd) {
  const auto values = [](const std::string& range) {
    return Parse("flags: {seq: " + range + "}").axes()[0].values;
  };
  using Values = std::vector<std::string>;
  EXPECT_EQ(values("{from: 1, to: 8, times: 2}"), (Values{"1", "2", "4", "8"}));
  EXPECT_EQ(values("{from: 1, to: 9, times: 2}"), (Values{"1", "2", "4", "8"}));
  EXPECT_EQ(values("{from: 2, to: 8, step: 3}"), (Values{"2", "5", "8"}));
  EXPECT_EQ(values("{from: 0, to: 0.3, step: 0.1}"), (Values{"0", "0.1", "0.2", "0.3"}));
  EXPECT_EQ(values("{from: 5, to: 5, step: 1}"), (Values{"5"}));
}

TEST(GridTest, ValuesAreAsTheyWouldBeTyped) {
  const Grid grid = Parse(
      "flags: {clock: 0.5, global-batch: 1e3, compiled: true, stage-layers: '6,6', "
      "software-date: 2023-05}");
  EXPECT_EQ(grid.At(0), (StudyPoint{{{"clock", "0.5"},
                                     {"global-batch", "1000"},
                                     {"compiled", "true"},
                                     {"stage-layers", "6,6"},
                                     {"software-date", "2023-05"}}}));
}

TEST(GridTest, PointsOfTheirOwnTakeCommonFlagsAndReplaceThem) {
  const Grid grid = Parse("flags: {model: gpt2, tp: 2}\npoints: [{pp: 4}, {tp: 8}, {}]");
  ASSERT_EQ(grid.size(), 3);
  EXPECT_EQ(grid.At(0), (StudyPoint{{{"model", "gpt2"}, {"pp", "4"}, {"tp", "2"}}}));
  EXPECT_EQ(grid.At(1), (StudyPoint{{{"model", "gpt2"}, {"tp", "8"}}}));
  EXPECT_EQ(grid.Varied(), (std::vector<std::string>{"tp", "pp"}));
}

TEST(GridTest, EqualGridsHaveOneDefinitionHoweverTheyAreWritten) {
  GridProto json;
  ParseProtoText(R"({"flags": {"pp": {"from": 1, "to": 4, "times": 2}, "model": "gpt2"}})",
                 "g.json", ".json", &json);
  EXPECT_EQ(GridFrom(json, "g.json").Definition(),
            Parse("flags:\n  model: gpt2\n  pp: [1, 2, 4]\nverb: simulate\n").Definition());
  EXPECT_NE(Parse("flags: {tp: [1, 2]}").Definition(), Parse("flags: {tp: [2, 1]}").Definition());
}

TEST(GridTest, AGridOfSearchesTakesTheFlagsOfSearch) {
  const Grid grid = Parse("verb: SEARCH\nflags: {model: gpt2, budget: 100evals, tp: '1,2'}");
  EXPECT_EQ(grid.verb(), GridVerb::kSearch);
  EXPECT_EQ(grid.At(0).flags.at("tp"), "1,2");
  EXPECT_NE(Error("verb: SEARCH\nflags: {top: 3}").find("\"top\""), std::string::npos);
  EXPECT_NE(Error("flags: {budget: 1s}").find("want a flag of simulate"), std::string::npos);
}

TEST(GridTest, MistakesAreOneSentenceThatNamesTheKey) {
  EXPECT_EQ(Error("flags: {tpp: 1}"),
            "g.yaml: flags: got \"tpp\", want a flag of simulate that acts on a step; did you mean "
            "\"pp\", \"tp\" or \"vpp\"?");
  EXPECT_EQ(Error("flags: {tp: []}"),
            "g.yaml: flags.tp: got an empty list, want at least one value");
  EXPECT_EQ(Error("flags: {tp: [1, 2, 1]}"),
            "g.yaml: flags.tp: got \"1\" twice, want every value once");
  EXPECT_EQ(Error("flags: {tp: true}"), "g.yaml: flags.tp: got true, want a value to type");
  EXPECT_EQ(Error("flags: {compiled: 1}"), "g.yaml: flags.compiled: got 1, want true or false");
  EXPECT_EQ(Error("flags: {tp: {from: 4, to: 1, step: 1}}"),
            "g.yaml: flags.tp: got a range from 4 to 1, want one that ends after it begins");
  EXPECT_EQ(Error("flags: {tp: {from: 1, to: 4}}"),
            "g.yaml: flags.tp: got a range of 2 keys, want from, to, and one of times and step");
  EXPECT_EQ(Error("flags: {tp: {from: 0, to: 4, times: 2}}"),
            "g.yaml: flags.tp: got from 0 times 2, want from above 0 and times above 1");
  EXPECT_EQ(
      Error("flags: {tp: [[1, 2]]}"),
      "g.yaml: flags.tp[0]: got a list, want one value; a list that a flag takes is one text, "
      "with commas");
  EXPECT_EQ(Error("points: [{tp: 1}]"), "g.yaml: flags: got none, want some");
  EXPECT_EQ(Error("flags: {tp: [1, 2]}\npoints: [{pp: 1}]"),
            "g.yaml: flags.tp: got 2 values beside points, want one");
  EXPECT_EQ(Error("flags: {model: gpt2}\npoints: [{pp: 1}, {pp: 1}]"),
            "g.yaml: points[1]: got the flags of points[0], want others");
  EXPECT_NE(
      Error("flags: {seq: {from: 1, to: 1e5, step: 1}, global-batch: {from: 1, to: 1e5, step: "
            "1}}")
          .find("more than 100000000 points"),
      std::string::npos);
  EXPECT_NE(Error("flags: {seq: 12345678901234567890}").find("quotes"), std::string::npos);
}

}  // namespace
}  // namespace stagecraft
