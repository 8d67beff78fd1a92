#include "tools/validation/row_facts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "costmodel/check.h"

namespace stagecraft {
namespace {

MeasuredRow RowOf(const std::string& source, const std::string& model = "",
                  const std::string& notes = "") {
  MeasuredRow row;
  row.source = source;
  row.model = model;
  row.notes = notes;
  return row;
}

constexpr const char* kTable = R"(
rows { source: "a" facts { attention: "unfused" vocabulary: 100 }
       inferred_from_scored_rows: true origin: "assumption: its rows say so" }
rows { source: "a" facts { attention: "flash" prints_gib: false } origin: "its paper" }
rows { model_words: ["Big", "net"] facts { layers: 7 } origin: "its paper" }
rows { flag: "swiglu" without_flag: "width" facts { swiglu_ffn: true } origin: "its options" }
flag_lists { source: "a" begin: "flags: " end: ";" origin: "its notes" })";

RowFactTable Table() { return RowFactTable::Parse(kTable, "t"); }

TEST(RowFactsTest, TheFirstEntryThatStatesAFactCounts) {
  std::vector<InferredFacts> inferred;
  const RowFacts facts = Table().Of(RowOf("a"), &inferred);
  EXPECT_EQ(facts.attention, "unfused");
  EXPECT_EQ(facts.vocabulary, 100);
  EXPECT_EQ(facts.prints_gib, false);
  EXPECT_FALSE(facts.layers.has_value());
  ASSERT_EQ(inferred.size(), 1u);
  EXPECT_EQ(inferred[0].words, "attention unfused, vocabulary 100");
  EXPECT_EQ(inferred[0].origin, "assumption: its rows say so");
}

TEST(RowFactsTest, WithoutInferredFactsTheNextEntryCounts) {
  const RowFacts facts = Table().WithoutInferred(RowOf("a"));
  EXPECT_EQ(facts.attention, "flash");
  EXPECT_FALSE(facts.vocabulary.has_value());
}

TEST(RowFactsTest, EachInferredFactCanBeLeftOutAlone) {
  const RowFactTable table = RowFactTable::Parse(
      "rows { facts { vocabulary: 100 } inferred_from_scored_rows: true origin: \"a\" }"
      "rows { facts { layers: 7 } inferred_from_scored_rows: true origin: \"b\" }",
      "t");
  std::vector<InferredFacts> inferred;
  table.Of(RowOf("x"), &inferred);
  ASSERT_EQ(inferred.size(), 2u);
  EXPECT_FALSE(table.Without(RowOf("x"), inferred[0]).vocabulary.has_value());
  EXPECT_EQ(table.Without(RowOf("x"), inferred[0]).layers, 7);
  EXPECT_EQ(table.Without(RowOf("x"), inferred[1]).vocabulary, 100);
  EXPECT_FALSE(table.WithoutInferred(RowOf("x")).layers.has_value());
}

TEST(RowFactsTest, ModelsAreKnownByWholeWordsInAnyCase) {
  const auto knows = [](const std::string& model) {
    return Table().Of(RowOf("b", model)).layers.has_value();
  };
  EXPECT_TRUE(knows("Big net"));
  EXPECT_TRUE(knows("the NET (big), v2"));
  EXPECT_FALSE(knows("Big"));
  EXPECT_FALSE(knows("Bigger net"));
  EXPECT_FALSE(knows("Big net-xl"));
}

TEST(RowFactsTest, FlagsAreWordsOfTheListThatTheTableDeclares) {
  const RowFactTable table = Table();
  const MeasuredRow row =
      RowOf("a", "", "swiglu here says nothing; flags: bf16 width=10 cp-comm-type=a2a; swiglu");
  EXPECT_TRUE(table.HasFlag(row, "bf16"));
  EXPECT_TRUE(table.HasFlag(row, "width"));
  EXPECT_TRUE(table.HasFlag(row, "cp-comm-type=a2a"));
  EXPECT_FALSE(table.HasFlag(row, "comm-type"));
  EXPECT_FALSE(table.HasFlag(row, "width=1"));
  EXPECT_FALSE(table.HasFlag(row, "swiglu"));
  // In the notes of a source for which no list is declared, nothing is a flag.
  EXPECT_FALSE(table.HasFlag(RowOf("b", "", "flags: bf16;"), "bf16"));
}

TEST(RowFactsTest, AFlagMayHoldUnlessAnotherIsGiven) {
  const auto is_wide = [](const std::string& flags) {
    return Table().Of(RowOf("a", "", "flags: " + flags + ";")).swiglu_ffn.has_value();
  };
  EXPECT_TRUE(is_wide("swiglu"));
  EXPECT_TRUE(is_wide("bf16 swiglu"));
  EXPECT_FALSE(is_wide("swiglu width=3"));
  EXPECT_FALSE(is_wide("bf16"));
}

// Every fact must say from where it is known, or why it is assumed.
TEST(RowFactsTest, BadTablesSayWhere) {
  const std::pair<const char*, const char*> cases[] = {
      {"rows { source: \"a\" facts { layers: 1 } }",
       "t: rows[0].origin: got none, want a document or \"assumption: why\""},
      {"rows { source: \"a\" origin: \"b\" }", "t: rows[0].facts: got none, want at least one"},
      {"rows { facts { attention: \"fast\" } origin: \"b\" }",
       "t: rows[0].facts.attention: got \"fast\", want one of flash, flash1, flash2, flash3, "
       "cudnn, unfused"},
      {"rows { facts { pass: \"up\" } origin: \"b\" }",
       "t: rows[0].facts.pass: got \"up\", want one of forward, backward, both"},
      {"rows { facts { gradient_bytes: 3 } origin: \"b\" }",
       "t: rows[0].facts.gradient_bytes: got 3, want 2 or 4"},
      {"rows { facts { vocabulary: -1 } origin: \"b\" }",
       "t: rows[0].facts.vocabulary: got -1, want 1 to 1000000000"},
      {"rows { facts { network: \"abacus\" } origin: \"b\" }",
       "t: rows[0].facts.network: got \"abacus\", want a classic network of `catalogue models`"},
      {"flag_lists { source: \"a\" begin: \"b\" end: \"c\" }",
       "t: flag_lists[0]: want source, begin, end and origin, none of them empty"},
  };
  for (const auto& [text, error] : cases) {
    try {
      RowFactTable::Parse(text, "t");
      ADD_FAILURE() << text;
    } catch (const InputError& caught) {
      EXPECT_STREQ(caught.what(), error);
    }
  }
}

// Scores of the published table rest on each of these facts.
TEST(RowFactsTest, FactsInferredFromScoredRowsAreMarkedInTheEmbeddedTable) {
  const std::pair<const char*, const char*> known[] = {
      {"Zero Bubble (Qi et al., ICLR24)", "vocabulary 32000"},
      {"Zero Bubble (Qi et al., ICLR24)", "attention unfused"},
      {"Balancing Pipeline Parallelism with Vocabulary Parallelism (MLSys25)", "gradient_bytes 2"},
      {"Balancing Pipeline Parallelism with Vocabulary Parallelism (MLSys25)", "prints_gib"},
      {"Gavel (OSDI20) measured throughputs", "counts_every_rank"},
      {"vTrain (MICRO24) nccl-tests LUT", "network_sites vTrain a100, vTrain v100"}};
  for (const auto& [source, words] : known) {
    std::vector<InferredFacts> inferred;
    RowFactTable::Embedded().Of(RowOf(source), &inferred);
    const bool is_there =
        std::any_of(inferred.begin(), inferred.end(),
                    [&wanted = words](const InferredFacts& f) { return f.words == wanted; });
    EXPECT_TRUE(is_there) << source << ": " << words;
  }
}

}  // namespace
}  // namespace stagecraft
