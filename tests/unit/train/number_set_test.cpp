#include "train/number_set.hpp"

#include <gtest/gtest.h>

#include <set>

#include "treesample/error.hpp"
#include "treesample/math/random.hpp"

namespace treesample {
namespace {

TEST(NumberSet, JoinsNeighboursAndKnowsWhatItHas) {
  NumberSet set;
  for (const int number : {0, 2, 4, 3}) EXPECT_TRUE(set.insert(number));
  EXPECT_FALSE(set.insert(3));
  EXPECT_EQ(set.text(), "0 2-4");
  EXPECT_TRUE(set.insert(1));
  EXPECT_EQ(set.text(), "0-4");
  EXPECT_FALSE(set.contains(5));
}

TEST(NumberSet, AgreesWithASetAndItsTextGivesItBack) {
  Random random(3);
  NumberSet set;
  std::set<std::uint64_t> expected;
  for (int i = 0; i < 2'000; ++i) {
    const std::uint64_t number = random.below(1'500);
    EXPECT_EQ(set.insert(number), expected.insert(number).second);
  }
  const NumberSet back = NumberSet::parse(set.text());
  for (std::uint64_t number = 0; number < 1'600; ++number) {
    EXPECT_EQ(set.contains(number), expected.contains(number)) << number;
    EXPECT_EQ(back.contains(number), expected.contains(number)) << number;
  }
  EXPECT_EQ(back.text(), set.text());
  EXPECT_EQ(NumberSet::parse("").text(), "");
}

TEST(NumberSet, OtherTextsAreRefused) {
  for (const char* text : {"x", "1-", "-1", "3-2", "1 1", "5 3", "1-4 4", "1-4 5", "1  2", "99999999999999999999",
                           "18446744073709551615", "1,2"}) {
    EXPECT_THROW(NumberSet::parse(text), Error) << text;
  }
}

}  // namespace
}  // namespace treesample
