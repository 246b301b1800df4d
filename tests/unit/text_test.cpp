#include "treesample/text.hpp"

#include <gtest/gtest.h>

#include "treesample/error.hpp"

namespace treesample {
namespace {

TEST(Printable, OrdinaryTextStaysAsItIs) {
  for (const std::string text : {"", "plain", "a\\x1b", "Größe", "日本", "\U0001F600", "100 % 'quoted' \"too\""}) {
    EXPECT_EQ(printable(text), text);
  }
}

TEST(Printable, WhatATerminalWouldObeyIsShown) {
  EXPECT_EQ(printable("\x1b[2J"), "\\x1b[2J");
  EXPECT_EQ(printable("a\nb\tc\rd"), "a\\x0ab\\x09c\\x0dd");
  EXPECT_EQ(printable(std::string("nul\0", 4)), "nul\\x00");
  EXPECT_EQ(printable("\x7f"), "\\x7f");
  EXPECT_EQ(printable("\u009b31m"), "\\xc2\\x9b31m");  // one control character in two bytes
  EXPECT_EQ(printable("\u202e"
                      "cod"),
            "\\xe2\\x80\\xaecod");                        // turns the direction of writing
  EXPECT_EQ(printable("a\u2028b"), "a\\xe2\\x80\\xa8b");  // separates lines
}

TEST(Printable, BytesThatAreNoUtf8AreShown) {
  EXPECT_EQ(printable("\xff"), "\\xff");
  EXPECT_EQ(printable("\xc3"), "\\xc3");                    // cut off
  EXPECT_EQ(printable("\xc0\xaf"), "\\xc0\\xaf");           // overlong
  EXPECT_EQ(printable("\xe0\x80\xaf"), "\\xe0\\x80\\xaf");  // overlong
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80");  // a surrogate
  EXPECT_EQ(printable("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");
  EXPECT_EQ(printable("a\xff\xc3\xa4"), "a\\xff\u00e4");
}

TEST(Printable, DoingItTwiceChangesNothing) {
  const std::string once = printable("\x1b\xff\n\\");
  EXPECT_EQ(printable(once), once);
}

TEST(Shortened, CutsBetweenCharacters) {
  EXPECT_EQ(shortened("1234", 4), "1234");
  EXPECT_EQ(shortened("12345", 4), "1234...");
  EXPECT_EQ(shortened("123\u00e4", 4), "123...");
  EXPECT_EQ(shortened("12\u00e4", 4), "12\u00e4");
  EXPECT_EQ(shortened("123\U0001F600", 4), "123...");
  EXPECT_LE(shortened(std::string(1'000'000, '\x01'), 40).size(), 43U);
}

TEST(Counted, OneIsSingular) {
  EXPECT_EQ(counted(0, "factor"), "0 factors");
  EXPECT_EQ(counted(1, "factor"), "1 factor");
  EXPECT_EQ(counted(2, "factor"), "2 factors");
}

TEST(Fixed, ZeroHasNoSign) {
  EXPECT_EQ(fixed(-1e-9), "0.000000");
  EXPECT_EQ(fixed(-0.0), "0.000000");
  EXPECT_EQ(fixed(-0.4, 0), "0");
  EXPECT_EQ(fixed(-1e-6), "-0.000001");
  EXPECT_EQ(fixed(-10.0, 1), "-10.0");
  EXPECT_EQ(fixed(-HUGE_VAL), "-inf");
}

TEST(IsUtf8, RefusesWhatOnlyLooksLikeIt) {
  for (const char* const text : {"", "abc", "\u00e4\u20ac\U0001f600"}) EXPECT_TRUE(is_utf8(text)) << text;
  for (const char* const text : {"\xe4", "a\xc3", "\xc0\x80", "\xed\xa0\x80", "\xf5\x80\x80\x80"})
    EXPECT_FALSE(is_utf8(text));
}

TEST(ErrorText, IsOneLineWhateverItQuotes) {
  EXPECT_STREQ(Error(ErrorCode::kParse, "file\n\x1b]0;x\x07: bad").what(), "file\\x0a\\x1b]0;x\\x07: bad");
  EXPECT_LT(std::string(Error(ErrorCode::kIo, std::string(1'000'000, 'x')).what()).size(), 11'000U);
}

}  // namespace
}  // namespace treesample
