#include "treesample/reduce/propagator.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "support/random_models.hpp"
#include "treesample/exact/enumeration.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample {
namespace {

using StateLists = std::vector<std::vector<int>>;

StateLists states_left(const Propagator& propagator) {
  StateLists left(static_cast<std::size_t>(propagator.num_variables()));
  for (int v = 0; v < propagator.num_variables(); ++v) {
    for (int s = propagator.next_left(v, 0); s >= 0; s = propagator.next_left(v, s + 1)) left[v].push_back(s);
    EXPECT_EQ(static_cast<int>(left[v].size()), propagator.num_left(v));
  }
  return left;
}

bool contains(const std::vector<int>& states, int state) {
  return std::find(states.begin(), states.end(), state) != states.end();
}

// The definition, entry by entry: removes states without a support until nothing changes. False when a
// domain becomes empty.
bool literal_propagation(const FactorGraph& graph, StateLists& left) {
  for (bool is_changed = true; is_changed;) {
    is_changed = false;
    for (const Factor& factor : graph.factors()) {
      if (!factor.is_table()) continue;
      StateLists supported(left.size());
      bool has_entry = false;
      std::vector<int> x(factor.scope().size());
      for (std::size_t entry = 0; entry < factor.log_values().size(); ++entry) {
        std::size_t rest = entry;
        bool is_possible = factor.log_values()[entry] != kNegInf;
        for (std::size_t i = x.size(); i-- > 0;) {
          const auto num_states = static_cast<std::size_t>(graph.num_states(factor.scope()[i]));
          x[i] = static_cast<int>(rest % num_states);
          rest /= num_states;
          is_possible = is_possible && contains(left[factor.scope()[i]], x[i]);
        }
        if (!is_possible) continue;
        has_entry = true;
        for (std::size_t i = 0; i < x.size(); ++i) supported[factor.scope()[i]].push_back(x[i]);
      }
      if (!has_entry) return false;
      for (const int v : factor.scope()) {
        const auto gone = [&](int s) { return !contains(supported[v], s); };
        if (std::erase_if(left[v], gone) > 0) is_changed = true;
      }
    }
  }
  return true;
}

StateLists all_states(const FactorGraph& graph) {
  StateLists left(static_cast<std::size_t>(graph.num_variables()));
  for (int v = 0; v < graph.num_variables(); ++v) {
    for (int s = 0; s < graph.num_states(v); ++s) left[v].push_back(s);
  }
  return left;
}

testing::RandomModelOptions options_with_zeros(int variant) {
  testing::RandomModelOptions options{.num_variables = 6};
  options.max_states = variant % 3 == 0 ? 9 : 4;  // 9: tables of several words
  options.min_arity = variant % 10 == 0 ? 0 : 1;
  options.max_arity = variant % 3 == 0 ? 3 : 4;
  options.zero_probability = 0.1 * (variant % 10);
  options.function_probability = variant % 4 == 0 ? 0.3 : 0.0;
  return options;
}

TEST(Propagator, LeavesWhatTheDefinitionLeaves) {
  Random random(1);
  int num_inconsistent = 0, num_smaller = 0;
  for (int variant = 0; variant < 300; ++variant) {
    const FactorGraph graph = testing::random_model(random, options_with_zeros(variant));
    const Propagator propagator(graph);
    StateLists expected = all_states(graph);
    const bool is_consistent = literal_propagation(graph, expected);
    ASSERT_EQ(propagator.is_consistent(), is_consistent) << variant;
    if (is_consistent) {
      ASSERT_EQ(states_left(propagator), expected) << variant;
    }
    num_inconsistent += is_consistent ? 0 : 1;
    num_smaller += is_consistent && expected != all_states(graph) ? 1 : 0;
  }
  EXPECT_GT(num_inconsistent, 20);
  EXPECT_GT(num_smaller, 20);
}

// A random walk of assign, remove and undo: at every step the domains are those of the definition.
TEST(Propagator, FollowsAssignmentsAndGoesBack) {
  Random random(2);
  for (int variant = 0; variant < 200; ++variant) {
    const FactorGraph graph = testing::random_model(random, options_with_zeros(variant));
    Propagator propagator(graph);
    if (!propagator.is_consistent()) continue;
    struct Step {
      std::size_t mark;
      StateLists left;
    };
    std::vector<Step> steps;
    StateLists left = states_left(propagator);
    for (int i = 0; i < 40; ++i) {
      if (!steps.empty() && random.uniform() < 0.3) {
        const std::size_t target = random.below(steps.size());
        propagator.undo(steps[target].mark);
        left = steps[target].left;
        steps.resize(target);
        ASSERT_EQ(states_left(propagator), left);
        continue;
      }
      steps.push_back({propagator.mark(), left});
      const int v = static_cast<int>(random.below(static_cast<std::uint64_t>(graph.num_variables())));
      const int s = static_cast<int>(random.below(static_cast<std::uint64_t>(graph.num_states(v))));
      const bool is_assignment = random.uniform() < 0.5;
      const bool is_kept = is_assignment ? propagator.assign(v, s) : propagator.remove(v, s);
      std::erase_if(left[v], [&](int state) { return (state == s) != is_assignment; });
      const bool is_consistent = !left[v].empty() && literal_propagation(graph, left);
      ASSERT_EQ(is_kept, is_consistent);
      ASSERT_EQ(propagator.is_consistent(), is_consistent);
      if (is_consistent) {
        ASSERT_EQ(states_left(propagator), left);
      } else {
        propagator.undo(steps.back().mark);
        left = steps.back().left;
        steps.pop_back();
      }
    }
    propagator.undo(0);
    StateLists first = all_states(graph);
    literal_propagation(graph, first);
    ASSERT_EQ(states_left(propagator), first);
  }
}

TEST(Propagator, NoPossibleConfigurationIsLost) {
  Random random(3);
  for (int variant = 0; variant < 200; ++variant) {
    testing::RandomModelOptions options = options_with_zeros(variant);
    options.max_states = 3;
    const FactorGraph graph = testing::random_model(random, options);
    const Propagator propagator(graph);
    const Enumeration exact = enumerate(graph);
    if (!propagator.is_consistent()) {
      ASSERT_EQ(exact.log_z, kNegInf);
      continue;
    }
    for (int v = 0; v < graph.num_variables(); ++v) {
      for (int s = 0; s < graph.num_states(v); ++s) {
        ASSERT_TRUE(exact.marginals[v][s] == 0.0 || propagator.is_left(v, s));
      }
    }
  }
}

// Fields that begin in one word and end in another, and domains of several words.
TEST(Propagator, VariablesWithManyStates) {
  FactorGraph graph = testing::variables({3, 200, 130});
  std::vector<double> remainder, sum;
  for (int x1 = 0; x1 < 200; ++x1) {
    for (int x0 = 0; x0 < 3; ++x0) remainder.push_back(x0 == x1 % 3 ? 0.0 : kNegInf);
  }
  for (int x2 = 0; x2 < 130; ++x2) {
    for (int x1 = 0; x1 < 200; ++x1) sum.push_back(x1 + x2 == 199 ? -1.0 : kNegInf);
  }
  graph.add_table({1, 0}, remainder);
  graph.add_table({2, 1}, sum);
  Propagator propagator(graph);
  EXPECT_EQ(propagator.num_left(1), 130);
  EXPECT_EQ(propagator.next_left(1, 0), 70);
  EXPECT_EQ(propagator.next_left(2, 130), -1);
  const std::size_t mark = propagator.mark();
  ASSERT_TRUE(propagator.assign(2, 129));
  EXPECT_EQ(propagator.state(1), 70);
  EXPECT_EQ(propagator.state(0), 1);
  propagator.undo(mark);
  ASSERT_TRUE(propagator.assign(0, 2));
  EXPECT_EQ(propagator.num_left(1), 43);
  EXPECT_FALSE(propagator.assign(1, 72));
  EXPECT_EQ(propagator.failed_factor(), -1);
}

TEST(Propagator, ContradictionsStay) {
  FactorGraph graph = testing::variables({1});
  graph.add_table({0}, {kNegInf});
  Propagator propagator(graph);
  EXPECT_FALSE(propagator.is_consistent());
  EXPECT_EQ(propagator.failed_factor(), 0);
  propagator.undo(0);
  EXPECT_FALSE(propagator.is_consistent());
  FactorGraph constant;
  constant.add_table({}, {kNegInf});
  EXPECT_FALSE(Propagator(constant).is_consistent());
}

}  // namespace
}  // namespace treesample
