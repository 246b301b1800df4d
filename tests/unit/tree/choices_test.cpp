// The choice for a whole path, computed in vectors, is the choice of the plain rule node by node.
#include "tree/choices.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>

#include "support/random_models.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/math/random.hpp"

namespace treesample {
namespace {

// A tree with one node per level, filled at random: ties, complete and impossible edges, tiny weights.
class RandomPath {
 public:
  RandomPath(Random& random, const std::vector<int>& num_states, bool has_q_phi) {
    FactorGraph graph = testing::variables(num_states);
    const std::vector<int> order = testing::integers(num_states.size());
    store_ = std::make_unique<TreeStore>(
        std::make_shared<const SearchSpace>(make_search_space(graph, order, SpaceKind::kTree)), has_q_phi);
    std::vector<NodeIndex> indices;
    for (int n = 0; n < graph.num_variables(); ++n) indices.push_back(store_->create(n));
    for (int n = 0; n < graph.num_variables(); ++n) {
      const Node node = store_->node(n, indices[n]);
      const int spared = random.below(num_states[n]);  // one edge stays incomplete
      for (int a = 0; a < num_states[n]; ++a) {
        double log = random.uniform() < 0.3 ? -1.5 : 2.0 * random.normal();
        if (has_q_phi) node.q_phi()[a] = 2.0 * random.normal();
        if (random.uniform() < 0.05) log = random.uniform() < 0.5 ? -705.0 : -5000.0;
        node.set_weight(a, std::exp(log), log);
        for (int visits = random.below(4); visits > 0; --visits) node.add_visit(a);
        if (a == spared || random.uniform() < 0.6) continue;
        node.set_complete(a);
        if (random.uniform() > 0.5) continue;
        node.set_weight(a, 0.0, kNegInf);
      }
      steps_.push_back({node, n, static_cast<int>(random.below(num_states[n])), 1.0});
    }
  }
  [[nodiscard]] const TreeStore& store() const { return *store_; }
  [[nodiscard]] const std::vector<Step<Node>>& steps() const { return steps_; }

 private:
  std::unique_ptr<TreeStore> store_;
  std::vector<Step<Node>> steps_;
};

TEST(Choices, PathAndSingleNodesChooseAlike) {
  Random random(1);
  for (int round = 0; round < 400; ++round) {
    std::vector<int> num_states(1 + random.below(20));
    const int most_states = 2 + random.below(12);
    for (int& k : num_states) k = round % 2 == 0 ? most_states : 1 + random.below(most_states);
    const RandomPath path(random, num_states, round % 3 == 0);
    Choices choices(path.store(), {.c = 0.5});
    std::vector<std::uint32_t> expected;
    for (const Step<Node>& step : path.steps()) {
      choices.choose(step.level, step.node);
      expected.push_back(step.node.choice());
      step.node.set_choice(kNoChoice);
    }
    // All but the logarithm of the path's edge is known to the nodes.
    std::vector<double> logs;
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const auto& [node, level, action, factor] = path.steps()[i];
      logs.push_back(node.log_weight(action));
      if (node.has_logs() && node.weight(action) >= kLeastWeight) node.stored_logs()[action] = 99.0;
      choices.set_repaired_edge(i, path.steps()[i]);
    }
    choices.choose_all(std::span<const Step<Node>>(path.steps()));
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const auto& [node, level, action, factor] = path.steps()[i];
      ASSERT_TRUE(node.log_weight(action) == logs[i] || std::abs(node.log_weight(action) - logs[i]) < 1e-13);
      ASSERT_EQ(path.steps()[i].node.choice(), expected[i]) << "round " << round << " level " << i;
      ASSERT_FALSE(path.steps()[i].node.is_complete(static_cast<int>(expected[i])));
    }
  }
}

TEST(Choices, RandomTiesReachEveryTiedEdge) {
  Random random(2);
  const RandomPath path(random, {3}, false);
  const Step<Node>& step = path.steps()[0];
  step.node.copy_from(TreeStore(std::make_shared<const SearchSpace>(path.store().space()), false).blank(0));
  for (int a = 0; a < 3; ++a) step.node.set_weight(a, 1.0, 0.0);
  step.node.set_complete(1);
  Choices choices(path.store(), {.ties = TieRule::kRandom});
  std::vector<int> counts(3, 0);
  for (int draw = 0; draw < 300; ++draw) {  // all 300 on one side: 1e-90
    choices.choose_all(std::span<const Step<Node>>(path.steps()));
    ++counts[step.node.choice()];
  }
  EXPECT_GT(counts[0], 0);
  EXPECT_EQ(counts[1], 0);
  EXPECT_GT(counts[2], 0);
}

}  // namespace
}  // namespace treesample
