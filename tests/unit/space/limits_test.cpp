#include "treesample/space/limits.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "space/run_watch.hpp"
#include "support/expect_error.hpp"

namespace treesample {
namespace {

TEST(Limits, RefuseWhatMeansNothing) {
  EXPECT_NO_THROW(Limits().validate());
  EXPECT_NO_THROW((Limits{.budget = 0, .seconds = 0.0, .bytes = 0}.validate()));
  const Limits bad[] = {{.budget = -1}, {.seconds = -1.0},     {.seconds = std::nan("")},
                        {.gap = -0.5},  {.gap = std::nan("")}, {.threads = -1}};
  for (const Limits& limits : bad) testing::expect_error(ErrorCode::kArgument, [&] { limits.validate(); });
}

TEST(StopReason, EachHasAWordOfItsOwn) {
  std::set<std::string> words;
  for (int i = 0; i <= static_cast<int>(StopReason::kFactorFailed); ++i) {
    words.insert(to_string(static_cast<StopReason>(i)));
  }
  EXPECT_EQ(words.size(), static_cast<std::size_t>(StopReason::kFactorFailed) + 1);
  EXPECT_FALSE(words.contains(""));
}

TEST(RunWatch, TellsAsksAndSaysWhyToStop) {
  const RunWatch endless({}, {});
  endless.tell({});
  EXPECT_FALSE(endless.is_told());
  EXPECT_FALSE(endless.reason_to_stop());
  int num_told = 0;
  bool is_over = false;
  const RunWatch watch({.seconds = 1e9},
                       {[&](const Progress& now) { num_told += now.num_samples == 5 && now.seconds >= 0.0 ? 1 : 0; },
                        [&] { return is_over; }});
  watch.tell({.num_samples = 5});
  EXPECT_EQ(num_told, 1);
  EXPECT_FALSE(watch.reason_to_stop());
  is_over = true;
  EXPECT_EQ(watch.reason_to_stop(), StopReason::kInterrupted);
  EXPECT_EQ(RunWatch({.seconds = 0.0}, {}).reason_to_stop(), StopReason::kTime);
  EXPECT_TRUE(RunWatch({.seconds = 100.0}, {}).is_time_over(101.0));
}

}  // namespace
}  // namespace treesample
