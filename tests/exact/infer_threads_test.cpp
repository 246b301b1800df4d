// The search by several threads as infer() uses it: with a time limit, and the answer names the threads.
#include <gtest/gtest.h>

#include "treesample/families/family.hpp"
#include "treesample/infer/infer.hpp"

namespace treesample {
namespace {

TEST(InferThreads, SearchTogetherOnlyWithATimeLimit) {
  const FactorGraph grid = make_family("ising", {.seed = 1, .values = {{"n", 10.0}}}).graph;
  const InferOptions options{
      .method = Method::kSearch, .select = SelectRule::kGap, .leaf = LeafChoice{LeafKind::kUniform}};
  const Answer one = infer(grid, {.samples = 5}, {.threads = 1}, options);
  const Answer two = infer(grid, {.samples = 5}, {.threads = 2}, options);
  EXPECT_EQ(one.method, two.method);
  EXPECT_EQ(one.log_z, two.log_z);
  EXPECT_EQ(one.samples, two.samples);
  const Answer timed = infer(grid, {.samples = 5}, {.seconds = 60.0, .threads = 3}, options);
  EXPECT_NE(timed.method.find(", 3 threads"), std::string::npos) << timed.method;
  EXPECT_TRUE(timed.is_exact);
  EXPECT_NEAR(*timed.log_z, *one.log_z, 1e-9);
  ASSERT_EQ(timed.samples.size(), 5U);
  for (const Assignment& x : timed.samples) {
    EXPECT_NEAR(timed.approximation->log_prob(x), grid.log_density(x) - *one.log_z, 1e-8);
  }
}

// Certified bounds in time, and samples from the parts that the threads searched.
TEST(InferThreads, AnOpenModelIsAnsweredInTime) {
  const FactorGraph grid = make_family("ising", {.seed = 1, .values = {{"n", 12.0}}}).graph;
  const double log_z = *infer(grid, {}, {}, {.method = Method::kExact}).log_z;
  const InferOptions options{.method = Method::kSearch,
                             .select = SelectRule::kGap,
                             .leaf = LeafChoice{LeafKind::kUniform},
                             .sampler = SampleSource::kLower};
  const Answer answer = infer(grid, {.samples = 5}, {.seconds = 5.0, .threads = 2}, options);
  EXPECT_NE(answer.method.find(", 2 threads"), std::string::npos) << answer.method;
  EXPECT_LE(*answer.lower, log_z);
  EXPECT_GE(*answer.upper, log_z);
  EXPECT_EQ(answer.samples.size(), 5U);
}

}  // namespace
}  // namespace treesample
