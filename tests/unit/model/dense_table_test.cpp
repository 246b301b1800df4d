#include "model/dense_table.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "support/random_models.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/math/random.hpp"

namespace treesample {
namespace {

struct OwnedTable {
  std::vector<int> scope;
  std::vector<double> values;
};

// The entry of a table at an assignment, by definition of the layout.
std::size_t entry_at(const FactorGraph& graph, const std::vector<int>& scope, const Assignment& x) {
  std::size_t index = 0;
  for (const int v : scope) index = index * graph.num_states(v) + x[v];
  return index;
}

Assignment assignment_at(const FactorGraph& graph, const std::vector<int>& scope, std::size_t entry) {
  Assignment x(static_cast<std::size_t>(graph.num_variables()), 0);
  for (auto v = scope.rbegin(); v != scope.rend(); ++v) {
    x[*v] = static_cast<int>(entry % graph.num_states(*v));
    entry /= graph.num_states(*v);
  }
  return x;
}

struct Case {
  FactorGraph graph;
  std::vector<int> scope;
  std::vector<OwnedTable> tables;

  [[nodiscard]] std::vector<TableView> views() const {
    std::vector<TableView> result;
    for (const OwnedTable& table : tables) result.push_back({table.scope, table.values.data()});
    return result;
  }
};

// A scope in random order, large enough for many blocks, and tables over subsets in random order.
Case random_case(Random& random, int num_variables, int num_tables) {
  Case result;
  for (int v = 0; v < num_variables; ++v) result.graph.add_variable(1 + static_cast<int>(random.below(5)));
  result.scope = random.permutation(num_variables);
  for (int t = 0; t < num_tables; ++t) {
    OwnedTable table{random.permutation(num_variables), {}};
    table.scope.resize(random.below(static_cast<std::uint64_t>(num_variables) + 1));
    table.values.resize(num_table_entries(result.graph, table.scope));
    for (double& value : table.values) value = random.normal();
    result.tables.push_back(std::move(table));
  }
  return result;
}

TEST(TableProduct, EqualsSumEntryByEntry) {
  Random random(21);
  for (int trial = 0; trial < 60; ++trial) {
    const Case c = random_case(random, 1 + trial % 9, static_cast<int>(random.below(8)));
    TableProduct product(c.graph, c.scope, c.views());
    std::vector<double> block(product.walk().block_size());
    std::size_t expected_first = 0;
    do {
      ASSERT_EQ(product.walk().first_entry(), expected_first);
      product.fill(0.5, block);
      for (std::size_t i = 0; i < block.size(); ++i) {
        const Assignment x = assignment_at(c.graph, c.scope, expected_first + i);
        double expected = 0.5;
        for (const OwnedTable& table : c.tables) expected += table.values[entry_at(c.graph, table.scope, x)];
        ASSERT_NEAR(block[i], expected, 1e-12) << "trial " << trial;
      }
      expected_first += block.size();
    } while (product.walk().next());
    ASSERT_EQ(expected_first, num_table_entries(c.graph, c.scope));
  }
}

TEST(BlockWalk, AccumulateSumsOverAbsentVariables) {
  Random random(22);
  for (int trial = 0; trial < 40; ++trial) {
    const Case c = random_case(random, 1 + trial % 8, 1);
    const OwnedTable& table = c.tables.front();
    std::vector<double> large(num_table_entries(c.graph, c.scope));
    for (double& value : large) value = random.uniform();
    std::vector<double> expected(table.values.size(), 0.0);
    for (std::size_t i = 0; i < large.size(); ++i) {
      expected[entry_at(c.graph, table.scope, assignment_at(c.graph, c.scope, i))] += large[i];
    }
    std::vector<double> sums(table.values.size(), 0.0);
    BlockWalk walk(c.graph, c.scope);
    const int id = walk.add_table(table.scope);
    do {
      walk.accumulate(id, {large.data() + walk.first_entry(), walk.block_size()}, sums.data());
    } while (walk.next());
    for (std::size_t i = 0; i < sums.size(); ++i) ASSERT_NEAR(sums[i], expected[i], 1e-9 * (1.0 + expected[i]));
  }
}

TEST(BlockWalk, LastVariableIsInsideTheBlockHoweverLarge) {
  FactorGraph graph = testing::variables({3, 10000});
  BlockWalk walk(graph, std::vector<int>{0, 1});
  EXPECT_EQ(walk.block_size(), 10000U);
  EXPECT_TRUE(walk.next());
  EXPECT_TRUE(walk.next());
  EXPECT_FALSE(walk.next());
}

TEST(GroupScopes, PartitionsIntoSmallUnions) {
  FactorGraph graph = testing::variables(40, 2);
  const std::vector<int> scope = testing::integers(40);
  std::vector<std::vector<int>> pairs;
  for (int v = 0; v + 1 < 40; ++v) pairs.push_back({39, v});
  pairs.push_back(scope);  // too large to share a group
  const std::vector<std::span<const int>> subsets(pairs.begin(), pairs.end());
  const std::vector<ScopeGroup> groups = group_scopes(graph, scope, subsets);
  std::vector<int> members;
  for (const ScopeGroup& group : groups) {
    if (group.members.size() > 1) {
      EXPECT_LE(group.scope.size(), 12U);
    }
    EXPECT_TRUE(std::is_sorted(group.scope.begin(), group.scope.end()));
    for (const int member : group.members) {
      members.push_back(member);
      for (const int v : pairs[member]) {
        EXPECT_TRUE(std::binary_search(group.scope.begin(), group.scope.end(), v));
      }
    }
  }
  std::sort(members.begin(), members.end());
  ASSERT_EQ(members.size(), pairs.size());
  for (std::size_t i = 0; i < members.size(); ++i) EXPECT_EQ(members[i], static_cast<int>(i));
  EXPECT_LE(groups.size(), 6U);  // 39 pairs that share one variable: 11 in a group
}

TEST(BlockWalk, AccumulateMaxFindsTheLargestEntryOfEachState) {
  Random random(24);
  for (int trial = 0; trial < 20; ++trial) {
    const Case with = random_case(random, 7, 3);
    std::vector<double> large(num_table_entries(with.graph, with.scope));
    for (double& value : large) value = random.uniform() < 0.2 ? kNegInf : random.normal();
    for (const OwnedTable& table : with.tables) {
      std::vector<double> expected(table.values.size(), kNegInf);
      for (std::size_t i = 0; i < large.size(); ++i) {
        double& entry = expected[entry_at(with.graph, table.scope, assignment_at(with.graph, with.scope, i))];
        entry = std::max(entry, large[i]);
      }
      std::vector<double> actual(expected.size(), kNegInf);
      BlockWalk walk(with.graph, with.scope);
      walk.add_table(table.scope);
      do {
        walk.accumulate_max(0, {large.data() + walk.first_entry(), walk.block_size()}, actual.data());
      } while (walk.next());
      ASSERT_EQ(actual, expected);
    }
  }
}

TEST(LogSumRows, EqualsWeightedLogSumExpPerRow) {
  Random random(23);
  for (const double weight : {1.0, 0.3, 4.0, -0.5}) {
    for (const int num_states : {1, 2, 3, 7}) {
      const double zero_probability = weight > 0.0 ? 0.3 : 0.0;
      std::vector<double> values(static_cast<std::size_t>(num_states) * 5);
      for (double& value : values) value = random.uniform() < zero_probability ? kNegInf : 1e4 * random.normal();
      if (weight > 0.0) std::fill(values.begin(), values.begin() + num_states, kNegInf);
      std::vector<double> block = values;
      std::vector<double> out(5);
      log_sum_rows(block, num_states, weight, out.data());
      for (int r = 0; r < 5; ++r) {
        std::vector<double> row(values.begin() + r * num_states, values.begin() + (r + 1) * num_states);
        for (double& value : row) value /= weight;
        const double log_sum = log_sum_exp(row);
        if (log_sum == kNegInf) {
          EXPECT_EQ(out[r], kNegInf);
        } else {
          EXPECT_NEAR(out[r], weight * log_sum, 1e-11);
        }
      }
    }
  }
}

}  // namespace
}  // namespace treesample
