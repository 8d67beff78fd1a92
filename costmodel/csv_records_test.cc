#include "costmodel/csv_records.h"

#include <gtest/gtest.h>

#include "costmodel/error_of.h"

namespace stagecraft {
namespace {

using Record = std::vector<std::string>;

std::vector<Record> RecordsOf(std::string_view text) {
  CsvRecords records(text, "t.csv");
  std::vector<Record> all;
  while (records.Next()) all.emplace_back(records.fields().begin(), records.fields().end());
  return all;
}

TEST(CsvRecordsTest, FieldsAreBetweenCommas) {
  EXPECT_EQ(RecordsOf("a,b\n1,\n"), (std::vector<Record>{{"a", "b"}, {"1", ""}}));
  EXPECT_TRUE(RecordsOf("").empty());
}

TEST(CsvRecordsTest, TheLastLineNeedsNoEnd) {
  EXPECT_EQ(RecordsOf("a\r\n1"), (std::vector<Record>{{"a"}, {"1"}}));
  EXPECT_EQ(RecordsOf("1,"), (std::vector<Record>{{"1", ""}}));
}

TEST(CsvRecordsTest, QuotesHoldCommasQuotesAndLines) {
  EXPECT_EQ(RecordsOf("\"1,2\",\"say \"\"x\"\"\ny\"\r\n5\n"),
            (std::vector<Record>{{"1,2", "say \"x\"\ny"}, {"5"}}));
}

TEST(CsvRecordsTest, AByteOrderMarkIsNoPartOfTheFirstField) {
  EXPECT_EQ(RecordsOf("\xEF\xBB\xBF"
                      "a"),
            std::vector<Record>{{"a"}});
}

TEST(CsvRecordsTest, LinesAreThoseThatRecordsBeginOn) {
  CsvRecords records("\"1\n2\"\n\n3", "t.csv");
  for (const int line : {1, 3, 4}) {
    ASSERT_TRUE(records.Next());
    EXPECT_EQ(records.line(), line);
    EXPECT_EQ(records.is_blank(), line == 3);
  }
  EXPECT_EQ(records.Place(), "t.csv:4");
  EXPECT_FALSE(records.Next());
}

TEST(CsvRecordsTest, BadQuotesAreRefusedWithTheLine) {
  EXPECT_EQ(ErrorOf([] { RecordsOf("a\n1,\"2\n"); }),
            "t.csv:2: got an opening quote without a closing one, want both");
  EXPECT_EQ(ErrorOf([] { RecordsOf("a\n\"1\"2\n"); }),
            "t.csv:2: got text after a closing quote, want a comma");
  EXPECT_EQ(ErrorOf([] { CsvRecords("\"", "t.csv", ": line ").Next(); }),
            "t.csv: line 1: got an opening quote without a closing one, want both");
}

}  // namespace
}  // namespace stagecraft
