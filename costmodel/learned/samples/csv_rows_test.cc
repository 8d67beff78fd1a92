#include "costmodel/learned/samples/csv_rows.h"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <string_view>

#include "costmodel/error_of.h"

namespace stagecraft {
namespace {

// Doubled quotes make CsvRecords copy a field, and a copy lasts only until the next record.
TEST(CsvRowsTest, ColumnNamesOutliveTheRows) {
  CsvRows rows("\"say \"\"x\"\"\",n\n\"say \"\"y\"\"\",1\n", "t.csv");
  ASSERT_TRUE(rows.Next());
  ASSERT_EQ(rows.header().size(), 2u);
  EXPECT_EQ(rows.header()[0], "say \"x\"");
  constexpr std::array<std::string_view, 1> kColumns = {"say \"x\""};
  rows.Select(kColumns);
  EXPECT_EQ(rows.Text(0), "say \"y\"");
}

TEST(CsvRowsTest, RowsHaveAsManyFieldsAsTheHeaderAndBlankLinesAreNone) {
  CsvRows rows("a,b\n\n1,2\n3\n", "t.csv");
  ASSERT_TRUE(rows.Next());
  EXPECT_EQ(rows.line(), 3);
  EXPECT_EQ(ErrorOf([&] { rows.Next(); }), "t.csv:4: got 1 fields, want 2 as in the header");
}

}  // namespace
}  // namespace stagecraft
