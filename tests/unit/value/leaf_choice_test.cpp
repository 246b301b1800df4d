#include "treesample/value/leaf_choice.hpp"

#include <gtest/gtest.h>

namespace treesample {
namespace {

TEST(LeafChoice, IsWrittenAsItIsRead) {
  for (const char* const text : {"calibrated", "uniform", "means", "elbo", "maxima", "mini-bucket", "mini-bucket:0",
                                 "mini-bucket:12", "net:a:b", "program:mine.py"}) {
    const auto choice = parse_leaf_choice(text);
    ASSERT_TRUE(choice) << text;
    EXPECT_EQ(to_string(*choice), text);
  }
}

TEST(LeafChoice, HasTheArgumentOfItsWord) {
  EXPECT_EQ(parse_leaf_choice("mini-bucket:7"), (LeafChoice{LeafKind::kMiniBucket, 7}));
  EXPECT_EQ(parse_leaf_choice("mini-bucket"), LeafChoice{LeafKind::kMiniBucket});
  EXPECT_EQ(parse_leaf_choice("net:mini-bucket:7"), (LeafChoice{LeafKind::kNetwork, {}, "mini-bucket:7"}));
}

TEST(LeafChoice, RefusesOtherText) {
  for (const char* const text : {"", "Uniform", "uniform ", "uniform:", "mini-bucket:", "mini-bucket:-1",
                                 "mini-bucket:2x", "mini-bucket:99999999999", "net:", "program:", "net", "function"}) {
    EXPECT_FALSE(parse_leaf_choice(text)) << text;
  }
}

TEST(LeafChoice, ShowsAllWords) {
  EXPECT_EQ(leaf_choice_words(),
            "calibrated|uniform|means|elbo|maxima|mini-bucket|mini-bucket:I|net:FILE|program:FILE");
}

}  // namespace
}  // namespace treesample
