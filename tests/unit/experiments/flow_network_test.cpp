#include "experiments/gflownet/flow_network.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "treesample/math/log_domain.hpp"
#include "treesample/program/environments/dag_edges.hpp"
#include "treesample/program/environments/hypergrid.hpp"
#include "treesample/program/environments/sequence_tables.hpp"

namespace treesample::experiments {
namespace {

constexpr FlowObjective kObjectives[] = {FlowObjective::kTrajectoryBalance, FlowObjective::kSubTrajectoryBalance,
                                         FlowObjective::kSoftDqn};

std::vector<std::vector<double>> random_scores(int n) {
  Random random(4, "scores");
  std::vector<std::vector<double>> scores(static_cast<std::size_t>(n), std::vector<double>(std::size_t{1} << n));
  for (auto& row : scores) {
    for (double& score : row) score = random.normal();
  }
  return scores;
}

struct Trained {
  double total_variation = 0.0, log_z_error = 0.0, mass = 0.0;
  std::int64_t calls = 0;
};

// Trains with a fixed seed until nothing is new for a long time, and compares with enumeration.
Trained train(FlowProgram& program, FlowObjective objective, std::int64_t rounds) {
  FlowNetwork network(program, {.objective = objective, .hidden = {32, 32}, .learning_rate = 3e-3, .updates = 4}, 1);
  SeenRewards seen(program.states());
  seen.set_limit(1'000'000);
  network.train(seen, rounds, [] { return false; });
  const auto ends = end_probabilities(network);
  std::vector<double> log_rewards(ends.size());
  for (std::size_t i = 0; i < ends.size(); ++i) {
    program.states().rewards({&ends[i].first, 1}, {&log_rewards[i], 1});
  }
  const double log_z = log_sum_exp(log_rewards);
  Trained trained{.log_z_error = std::abs(network.log_z() - log_z), .calls = seen.num_calls()};
  for (std::size_t i = 0; i < ends.size(); ++i) {
    trained.mass += ends[i].second;
    trained.total_variation += 0.5 * std::abs(ends[i].second - std::exp(log_rewards[i] - log_z));
  }
  return trained;
}

// A network is never exact. The seed is fixed, so the test cannot fail by chance on one build.
void expect_exact(const Trained& trained, std::int64_t objects) {
  EXPECT_EQ(trained.calls, objects) << "every object was seen";
  EXPECT_NEAR(trained.mass, 1.0, 1e-6);
  EXPECT_LT(trained.total_variation, 0.03);
  EXPECT_LT(trained.log_z_error, 0.05);
}

TEST(FlowNetwork, LearnsASmallHypergrid) {
  for (const FlowObjective objective : kObjectives) {
    SCOPED_TRACE(static_cast<int>(objective));
    expect_exact(train(*flow_program(Hypergrid<2>(5, 0.1)), objective, 1000), 25);
  }
}

TEST(FlowNetwork, LearnsASmallPosteriorOfGraphs) {
  for (const FlowObjective objective : kObjectives) {
    SCOPED_TRACE(static_cast<int>(objective));
    expect_exact(train(*flow_program(DagEdges{random_scores(3)}), objective, 1000), 25);
  }
}

TEST(FlowNetwork, LearnsSequencesThatHaveOnePathEach) {
  Random random(2, "rewards");
  std::vector<double> table(27);
  for (double& value : table) value = 2.0 * random.normal() - 30.0;  // far from 0: the offset counts
  for (const FlowObjective objective : kObjectives) {
    SCOPED_TRACE(static_cast<int>(objective));
    expect_exact(train(*flow_program(table_sequences({"ABC", 3, table})), objective, 1000), 27);
  }
}

TEST(FlowNetwork, EndsWhenTheLimitIsReachedAndPaysForNoRewardTwice) {
  const auto program = flow_program(Hypergrid<2>(8));
  FlowNetwork network(*program, {.hidden = {16}}, 3);
  SeenRewards seen(program->states());
  for (const std::int64_t limit : {1, 20, 40}) {
    seen.set_limit(limit);
    network.train(seen, 10'000, [] { return false; });
    EXPECT_EQ(seen.num_calls(), limit);
  }
  EXPECT_TRUE(seen.ask(seen.ends().front()).has_value()) << "known rewards are free";
}

TEST(FlowNetwork, TheSameSeedGivesTheSameBits) {
  double log_z[2];
  for (double& value : log_z) {
    const auto program = flow_program(Hypergrid<2>(6));
    FlowNetwork network(*program, {.objective = FlowObjective::kSubTrajectoryBalance, .hidden = {16}}, 5);
    SeenRewards seen(program->states());
    seen.set_limit(30);
    network.train(seen, 50, [] { return false; });
    value = network.log_z();
  }
  EXPECT_EQ(log_z[0], log_z[1]);
}

TEST(FlowNetwork, BuildsObjectsWithTheProbabilitiesThatItSays) {
  const auto program = flow_program(table_sequences({"AB", 3, std::vector<double>(8, 0.0)}));
  FlowNetwork network(*program, {.hidden = {16}}, 6);
  const auto ends = end_probabilities(network);
  Random random(1, "build");
  for (int i = 0; i < 20; ++i) {
    const auto [end, log_probability] = network.build(random);
    const auto found = std::find_if(ends.begin(), ends.end(), [&](const auto& one) { return one.first == end; });
    ASSERT_NE(found, ends.end());
    EXPECT_NEAR(log_probability, std::log(found->second), 1e-5);
  }
}

}  // namespace
}  // namespace treesample::experiments
