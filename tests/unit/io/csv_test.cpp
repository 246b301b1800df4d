#include "treesample/io/csv.hpp"

#include <gtest/gtest.h>

#include "support/expect_error.hpp"
#include "treesample/error.hpp"

namespace treesample {
namespace {

using Fields = std::vector<std::string>;

std::vector<Fields> rows(const std::string& text) {
  std::vector<Fields> all;
  for (const CsvRow& row : parse_csv(text, "t.csv")) all.push_back(row.fields);
  return all;
}

TEST(Csv, ReadsWhatSpreadsheetsWrite) {
  EXPECT_EQ(rows("a,b\r\n1,2\r\n"), (std::vector<Fields>{{"a", "b"}, {"1", "2"}}));
  EXPECT_EQ(rows("\xEF\xBB\xBF"
                 "a;b\n1,5;2"),
            (std::vector<Fields>{{"a", "b"}, {"1,5", "2"}}));
  EXPECT_EQ(rows("a\tb\n,\t"), (std::vector<Fields>{{"a", "b"}, {",", ""}}));
  EXPECT_EQ(rows("\"a,\"\"b\",c\n\"two\nlines\",\n"), (std::vector<Fields>{{"a,\"b", "c"}, {"two\nlines", ""}}));
  EXPECT_EQ(rows("a\n\n\"\"\nb\n"), (std::vector<Fields>{{"a"}, {""}, {"b"}}));
  EXPECT_EQ(rows(""), std::vector<Fields>());
}

TEST(Csv, LinesAreCountedAlsoWithinQuotes) {
  const std::vector<CsvRow> all = parse_csv("a\n\"x\ny\"\n\nz\n", "t.csv");
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[1].line, 2U);
  EXPECT_EQ(all[2].line, 5U);
}

TEST(Csv, RefusesQuotesThatAreNotClosed) {
  for (const char* wrong : {"a\n\"b", "\"a\"b,c"}) {
    const std::string message = testing::message_of(ErrorCode::kParse, [&] { parse_csv(wrong, "t.csv"); });
    EXPECT_TRUE(message.starts_with("t.csv:")) << message;
  }
}

TEST(Csv, WhatIsWrittenReadsBack) {
  for (const Fields& fields : {Fields{"a"}, Fields{""}, Fields{"", ""}, Fields{"a;b"}, Fields{"a\tb", "c"},
                               Fields{"\"", "x,y", "line\nbreak", "\r", "\xC3\xA9"}}) {
    EXPECT_EQ(rows(csv_line(fields)), std::vector<Fields>{fields});
  }
}

}  // namespace
}  // namespace treesample
