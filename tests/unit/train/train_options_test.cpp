// The options of a run as text, as workers get them.
#include <gtest/gtest.h>

#include <string>

#include "support/expect_error.hpp"
#include "treesample/train/train.hpp"

namespace treesample {
namespace {

TEST(TrainOptionsText, NumbersThatCannotBeAreRefused) {
  const std::string good = format_train_options(TrainOptions());
  EXPECT_EQ(format_train_options(parse_train_options(good)), good);
  for (const char* field :
       {"budget", "num_samples", "iterations", "batch_size", "seed", "reading", "order", "method", "targets", "loss"}) {
    for (const char* wrong : {"1e300", "1.5", "-1", "18446744073709551616", "\"1\"", "true"}) {
      std::string text = good;
      const std::size_t at = text.find("\"" + std::string(field) + "\":") + std::string(field).size() + 3;
      text.replace(at, text.find_first_of(",}", at) - at, wrong);
      testing::expect_error(ErrorCode::kParse, std::string(field) + ": allowed is a whole number from 0",
                            [&] { parse_train_options(text); });
    }
  }
}

}  // namespace
}  // namespace treesample
