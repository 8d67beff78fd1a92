#include "tools/validation/csv_table.h"

#include <gtest/gtest.h>

#include "costmodel/check.h"

namespace stagecraft {
namespace {

std::string ErrorOf(const std::string& text) {
  try {
    CsvTable::Parse(text, "rows.csv");
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(CsvTableTest, ReadsFieldsByColumn) {
  const CsvTable table = CsvTable::Parse("a,b\n1,2\n3,4\n", "rows.csv");
  EXPECT_EQ(table.row_count(), 2);
  EXPECT_EQ(table.field(1, table.Column("b")), "4");
  EXPECT_EQ(table.Column("c"), -1);
}

TEST(CsvTableTest, QuotesHoldCommasQuotesAndLines) {
  const CsvTable table = CsvTable::Parse("a,b\r\n\"1,2\",\"say \"\"x\"\"\ny\"\r\n5,6", "rows.csv");
  ASSERT_EQ(table.row_count(), 2);
  EXPECT_EQ(table.field(0, 0), "1,2");
  EXPECT_EQ(table.field(0, 1), "say \"x\"\ny");
  EXPECT_EQ(table.field(1, 1), "6");
  EXPECT_EQ(table.line(1), 4);
}

TEST(CsvTableTest, BlankLinesAndByteOrderMarkAreSkipped) {
  const CsvTable table = CsvTable::Parse(
      "\xEF\xBB\xBF"
      "a,b\n\n1,2\n\n",
      "rows.csv");
  EXPECT_EQ(table.row_count(), 1);
  EXPECT_EQ(table.Column("a"), 0);
}

TEST(CsvTableTest, BadFilesSayWhere) {
  const std::pair<const char*, const char*> cases[] = {
      {"", "rows.csv: got an empty file, want a header line"},
      {"a,b\n1,2,3\n", "rows.csv: line 2: got 3 fields, want 2 as in the header"},
      {"a,b\n1\n", "rows.csv: line 2: got 1 fields, want 2 as in the header"},
      {"a,b\n1,2\n3,\"x\n",
       "rows.csv: line 3: got an opening quote without a closing one, want both"},
      {"a,b\n\"1\"x,2\n", "rows.csv: line 2: got text after a closing quote, want a comma"},
      {"a,b,a\n", "rows.csv: column \"a\": got it twice, want it once"},
  };
  for (const auto& [text, error] : cases) EXPECT_EQ(ErrorOf(text), error) << text;
}

}  // namespace
}  // namespace stagecraft
