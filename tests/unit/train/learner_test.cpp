#include "treesample/train/learner.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>

#include "treesample/space/reward.hpp"

namespace treesample {
namespace {

ProblemSource small_source() {
  ProblemOptions options;
  options.values["n"] = 6;
  options.seed = 3;
  return ProblemSource(options);
}

// The first loss of a learner whose replay has one row: every minibatch is that row again and again.
double first_loss(const Network& network, const LearnerOptions& options, const std::shared_ptr<const Problem>& problem,
                  std::vector<int> x, int level) {
  auto experience = std::make_shared<Experience>();
  experience->problem = problem;
  experience->num_targets = 2;
  experience->samples = std::move(x);
  experience->row_samples = {0};
  experience->row_levels = {level};
  experience->row_targets = {0.5F, -1.0F};
  Replay replay(10);
  replay.add(experience);
  return Learner(network, options).step(replay);
}

class LearnerBellman : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Architectures, LearnerBellman, testing::Values("gnn", "mlp"));

// With all parameters 0 Q is the offset of its level, and the residual is known by hand.
TEST_P(LearnerBellman, LossHoldsTheSquaredResidualOfTheEdgeThatTheSampleTakes) {
  ProblemSource problems = small_source();
  LearnerOptions options{.architecture = GetParam()};
  Network network = make_network(options, problems);
  for (float& value : parameters_of(network).values()) value = 0.0F;
  problems.plan_for(network);
  const std::shared_ptr<const Problem> problem = problems.problem(0);
  const std::vector<int> x = {0, 1, 1, 0, 1, 0};
  Reward reward(problem->graph, problem->space);
  Budget unlimited(INT64_MAX, BudgetUnit::kReward);
  for (const int level : {0, 3, 5}) {
    const double below = level == 5 ? 0.0 : problem->offsets[level + 1] + std::log(2.0);
    const double residual = reward.evaluate(level, x, unlimited) + below - problem->offsets[level];
    options.bellman_weight = 0.7;
    const double error = first_loss(network, options, problem, x, level);
    EXPECT_NEAR(error, 0.25 + 1.0 + 0.7 * residual * residual, 1e-5) << level;
  }
}

// A sample that a factor forbids has no finite residual: the rest of the loss stays.
TEST(Learner, ImpossibleEdgesHaveNoBellmanTerm) {
  ProblemOptions options{.model_text = "MARKOV\n2\n2 2\n1\n2 0 1\n4\n1 0 1 1\n", .model_format = ".uai"};
  ProblemSource problems(options);
  LearnerOptions learner{.bellman_weight = 1.0};
  Network network = make_network(learner, problems);
  for (float& value : parameters_of(network).values()) value = 0.0F;
  problems.plan_for(network);
  EXPECT_NEAR(first_loss(network, learner, problems.problem(0), {0, 1}, 1), 1.25, 1e-6);
}

}  // namespace
}  // namespace treesample
