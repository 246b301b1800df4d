#include "treesample/train/replay.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>

#include "support/random_models.hpp"
#include "train/target_range.hpp"
#include "treesample/error.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/math/random.hpp"

namespace treesample {
namespace {

std::shared_ptr<const Problem> small_problem() {
  ProblemOptions options;
  options.values["n"] = 4;
  return ProblemSource(options).problem(0);
}

// One sample, a row for each level; the target tells the row.
std::shared_ptr<Experience> experience(float first_target, int num_rows = 4) {
  auto result = std::make_shared<Experience>();
  result->problem = small_problem();
  result->num_targets = 2;
  result->samples = {1, 0, 1, 1};
  for (int row = 0; row < num_rows; ++row) {
    result->row_samples.push_back(0);
    result->row_levels.push_back(row % 4);
    result->row_targets.push_back(first_target + static_cast<float>(row));
    result->row_targets.push_back(-1.0F);
  }
  return result;
}

TEST(Replay, KeepsTheLastRowsInOrder) {
  Replay replay(6);
  for (const float first : {0.0F, 100.0F, 200.0F}) replay.add(experience(first));
  std::vector<float> kept;
  for (const ReplayEntry& entry : replay.entries()) kept.push_back(entry.experience->target(entry.row)[0]);
  EXPECT_EQ(kept, (std::vector<float>{102.0F, 103.0F, 200.0F, 201.0F, 202.0F, 203.0F}));
  EXPECT_EQ(replay.size(), 6U);
}

TEST(Replay, SamplesAllRowsAndFollowsTheStream) {
  Replay replay(100);
  Random none(1);
  EXPECT_TRUE(replay.sample(3, none).empty());
  replay.add(experience(0.0F, 8));
  const auto draw = [&](std::uint64_t seed) {
    Random random(seed);
    std::vector<int> rows;
    for (const ReplayEntry& entry : replay.sample(200, random)) rows.push_back(entry.row);
    return rows;
  };
  const std::vector<int> rows = draw(5);
  EXPECT_EQ(rows.size(), 200U);
  EXPECT_EQ(std::set<int>(rows.begin(), rows.end()).size(), 8U);  // fails by chance once in 1e10 seeds
  EXPECT_EQ(rows, draw(5));
  EXPECT_NE(rows, draw(6));
}

TEST(Replay, NeedsRoomForARow) { EXPECT_THROW(Replay(0), Error); }

TEST(Experience, PrefixHoldsTheStatesBeforeTheLevelOnly) {
  const auto data = experience(0.0F);
  std::vector<int> prefix(4);
  data->write_prefix(2, prefix);
  EXPECT_EQ(prefix, (std::vector<int>{1, 0, -1, -1}));
  EXPECT_EQ(data->variable(2), 2);
}

TEST(Experience, ValidateRefusesWhatDoesNotFit) {
  const auto broken = [](auto change) {
    std::shared_ptr<Experience> data = experience(0.0F);
    change(*data);
    return [data] { data->validate(); };
  };
  EXPECT_NO_THROW(experience(0.0F)->validate());
  EXPECT_NO_THROW(broken([](Experience& e) { e.row_targets[0] = -std::numeric_limits<float>::infinity(); })());
  EXPECT_THROW(broken([](Experience& e) { e.row_targets[0] = std::numeric_limits<float>::quiet_NaN(); })(), Error);
  EXPECT_THROW(broken([](Experience& e) { e.row_targets.pop_back(); })(), Error);
  EXPECT_THROW(broken([](Experience& e) { e.samples[1] = 2; })(), Error);
  EXPECT_THROW(broken([](Experience& e) { e.samples.pop_back(); })(), Error);
  EXPECT_THROW(broken([](Experience& e) { e.row_levels[0] = 4; })(), Error);
  EXPECT_THROW(broken([](Experience& e) { e.row_samples[0] = -1; })(), Error);
}

TEST(Experience, TargetsBeyondWhatTheFactorsCanReachAreRefused) {
  const auto with_target = [](float value) {
    std::shared_ptr<Experience> data = experience(0.0F);
    data->row_targets[3] = value;
    return data;
  };
  const TargetRange range = with_target(0.0F)->problem->target_ranges[1];
  for (const double right : {range.low + 1.0, 0.0, range.high - 1.0, -HUGE_VAL}) {
    EXPECT_NO_THROW(with_target(static_cast<float>(right))->check_targets()) << right;
  }
  for (const double wrong : {range.low - 1.0, range.high + 1.0, 3e38, -3e38, double{NAN}, HUGE_VAL}) {
    EXPECT_THROW(with_target(static_cast<float>(wrong))->check_targets(), Error) << wrong;
  }
}

// Factors {1, 3} of the first and {-2, -inf} of the second variable: Q_0 lies in [1 - 2, log 2 + 3 - 2], Q_1 is -2.
TEST(TargetRange, IsWhatTheFactorsCanReachWithSlack) {
  FactorGraph graph = testing::variables({2, 2});
  graph.add_table({0}, {1.0, 3.0});
  graph.add_table({1}, {-2.0, kNegInf});
  graph.add_table({1}, {kNegInf, kNegInf});  // adds nothing, as to the offsets
  const SearchSpace space = make_search_space(graph, std::vector<int>{0, 1}, SpaceKind::kTree);
  const std::vector<TargetRange> ranges = target_ranges(graph, space, {10.0, 0.0});
  const double width = std::log(2.0) + 2.0;
  EXPECT_NEAR(ranges[0].low, -1.0 - width - 100.0 - 10.0, 1e-9);
  EXPECT_NEAR(ranges[0].high, std::log(2.0) + 1.0 + width + 100.0 - 10.0, 1e-9);
  EXPECT_NEAR(ranges[1].low, -2.0 - 100.0, 1e-9);
  EXPECT_NEAR(ranges[1].high, -2.0 + 100.0, 1e-9);
  graph.add_factor(Factor::function({0}, [](std::span<const int>) { return 0.0; }));
  EXPECT_EQ(target_ranges(graph, space, {0.0, 0.0})[1].high, ranges[1].high);
  EXPECT_EQ(
      target_ranges(graph, make_search_space(graph, std::vector<int>{0, 1}, SpaceKind::kTree), {0.0, 0.0})[0].high,
      HUGE_VAL);
}

}  // namespace
}  // namespace treesample
