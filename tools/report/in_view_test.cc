#include "tools/report/in_view.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "costmodel/check.h"

namespace stagecraft {
namespace {

constexpr const char* kTable = R"(
chosen { constants: "a clock" how: "by rows" judged: "rows" sources: ["lab", "paper"]
         metric_kinds: "step_time" origin: "a file" }
chosen { constants: "a length" how: "by groups" judged: "collectives" sources: "lab"
         splits: ["leave-out:group", "random"] origin: "a file" }
chosen { constants: "a form" how: "by GPU types" judged: "kernels" sources: "lab" ops: "gemm"
         splits: "leave-out:gpu" origin: "a file" })";

TEST(InViewTest, RowsAreOfTheirSourceAndMetric) {
  const InViewTable table = InViewTable::Parse(kTable, "t");
  ASSERT_EQ(table.OfRows("lab", "step_time").size(), 1u);
  EXPECT_EQ(table.OfRows("paper", "step_time")[0].InWords(), "a clock: by rows (a file)");
  EXPECT_TRUE(table.OfRows("lab", "mfu").empty());
  EXPECT_TRUE(table.OfRows("other", "step_time").empty());
}

TEST(InViewTest, SplitsAreKnownWithWhateverValue) {
  const InViewTable table = InViewTable::Parse(kTable, "t");
  const auto count = [&](const std::string& split, const std::string& source) {
    return table.OfCollectives(split, {source, "someone"}).size();
  };
  EXPECT_EQ(count("leave-out:group", "lab"), 1u);
  EXPECT_EQ(count("leave-out:group=2x8x1x1", "lab"), 1u);
  EXPECT_EQ(count("random:0.25", "lab"), 1u);
  EXPECT_EQ(count("leave-out:gpu", "lab"), 0u);
  EXPECT_EQ(count("leave-out:group", "paper"), 0u);
  EXPECT_EQ(table.OfKernels("leave-out:gpu=v100", {"lab"}, {"gemm", "softmax"}).size(), 1u);
  EXPECT_EQ(table.OfKernels("leave-out:gpu", {"lab"}, {"attention"}).size(), 0u);
  EXPECT_EQ(table.OfKernels("leave-out:group", {"lab"}, {"gemm"}).size(), 0u);
}

TEST(InViewTest, BadTablesSayWhere) {
  const std::pair<const char*, const char*> cases[] = {
      {"chosen { how: \"a\" }", "t: chosen[0].constants: got none, want words"},
      {"chosen { constants: \"a\" how: \"b\" judged: \"rows\" sources: \"c\" }",
       "t: chosen[0].origin: got none, want words"},
      {"chosen { constants: \"a\" how: \"b\" origin: \"c\" judged: \"all\" }",
       "t: chosen[0].judged: got \"all\", want rows, kernels or collectives"},
      {"chosen { constants: \"a\" how: \"b\" origin: \"c\" judged: \"rows\" }",
       "t: chosen[0].sources: got none, want at least one"},
      {"chosen { constants: \"a\" how: \"b\" origin: \"c\" judged: \"rows\" sources: \"d\" "
       "splits: \"random\" }",
       "t: chosen[0].splits: got some with judged rows, want none"},
      {"chosen { constants: \"a\" how: \"b\" origin: \"c\" judged: \"rows\" sources: \"d\" "
       "ops: \"gemm\" }",
       "t: chosen[0].ops: got some with judged rows, want none"},
      {"chosen { constants: \"a\" how: \"b\" origin: \"c\" judged: \"kernels\" sources: \"d\" }",
       "t: chosen[0]: got judged kernels, want splits with it and no metric_kinds"},
  };
  for (const auto& [text, error] : cases) {
    try {
      InViewTable::Parse(text, "t");
      ADD_FAILURE() << text;
    } catch (const InputError& caught) {
      EXPECT_STREQ(caught.what(), error);
    }
  }
}

// The splits are those of the tables of collectives in docs/cost-model.md.
TEST(InViewTest, TheTableKnowsTheSplitsThatCollectivesWereTunedOn) {
  for (const char* split : {"leave-out:bytes", "leave-out:group", "leave-out:site",
                            "leave-out:system=p3.16xlarge 4x8"}) {
    EXPECT_FALSE(InViewTable::Embedded().OfCollectives(split, {"vTrain"}).empty()) << split;
    EXPECT_TRUE(InViewTable::Embedded().OfCollectives(split, {"my lab"}).empty()) << split;
  }
}

}  // namespace
}  // namespace stagecraft
