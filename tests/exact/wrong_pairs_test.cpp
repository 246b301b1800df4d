// Every function that takes a graph together with something made for a graph gets the wrong one: it must throw, and
// must not read beyond its memory (run under the address sanitizer).
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "support/random_models.hpp"
#include "treesample/baselines/smc.hpp"
#include "treesample/error.hpp"
#include "treesample/evaluate/bounded_importance.hpp"
#include "treesample/evaluate/divergence.hpp"
#include "treesample/evaluate/importance.hpp"
#include "treesample/exact/elimination.hpp"
#include "treesample/exact/enumeration.hpp"
#include "treesample/nn/network_value.hpp"
#include "treesample/reduce/evidence.hpp"
#include "treesample/reduce/summed_model.hpp"
#include "treesample/search/q_uct_search.hpp"
#include "treesample/search/search.hpp"
#include "treesample/search/search_approximation.hpp"
#include "treesample/search/solved_marginals.hpp"
#include "treesample/space/reward.hpp"
#include "treesample/value/mini_bucket.hpp"

namespace treesample {
namespace {

using testing::random_model;
using testing::RandomModelOptions;

RandomModelOptions random_options(Random& random) {
  return {.num_variables = 2 + static_cast<int>(random.below(8)),
          .max_states = 1 + static_cast<int>(random.below(5)),
          .num_factors = static_cast<int>(random.below(10)),
          .min_arity = static_cast<int>(random.below(2))};
}

SearchSpace random_space(const FactorGraph& graph, SpaceKind kind, Random& random) {
  return make_search_space(graph, random.permutation(graph.num_variables()), kind);
}

// True when the call threw an Error, whose code must be kArgument; false when it threw nothing.
bool is_refused(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kArgument) << error.what();
    return true;
  }
  return false;
}

struct Call {
  std::string name;
  std::function<void()> run;
};

// All public functions that take a graph and a space.
std::vector<Call> calls_with_space(const FactorGraph& graph, const SearchSpace& space) {
  return {{"q_uct_search", [&] { q_uct_search(graph, space, {}, {.budget = 50}); }},
          {"search", [&] { search(graph, space, {}, {.budget = 50}); }},
          {"smc", [&] { smc(graph, space, {}, {.budget = 1000}); }},
          {"Reward", [&] { Reward(graph, space); }},
          {"WeightedMiniBucket", [&] { WeightedMiniBucket(graph, space); }},
          {"product_value", [&] { product_value(graph, space, uniform_distributions(graph)); }},
          {"maxima_value", [&] { maxima_value(graph, space); }},
          {"independent_values", [&] { independent_values(graph, space); }}};
}

TEST(WrongPairs, ASpaceOfAnotherGraphIsRefused) {
  Random random(7);
  int num_pairs = 0;
  for (int trial = 0; trial < 2000; ++trial) {
    const FactorGraph graph = random_model(random, random_options(random));
    FactorGraph other = trial % 3 == 0 ? graph : random_model(random, random_options(random));
    if (trial % 3 == 0) {  // as similar as possible: one more factor, one more variable, or one scope reversed
      const int v = static_cast<int>(random.below(static_cast<std::uint64_t>(graph.num_variables())));
      if (trial % 2 == 0) other.add_table({v}, std::vector<double>(static_cast<std::size_t>(graph.num_states(v)), 0.5));
      if (trial % 2 == 1) other.add_variable(1);
    }
    const SearchSpace space = random_space(other, static_cast<SpaceKind>(trial % 2), random);
    if (graph.shape() == other.shape()) continue;
    ++num_pairs;
    for (const Call& call : calls_with_space(graph, space)) EXPECT_TRUE(is_refused(call.run)) << call.name;
  }
  EXPECT_GT(num_pairs, 1900);
}

TEST(WrongPairs, AGraphThatGrewAfterItsSpaceWasMadeIsRefused) {
  FactorGraph graph = testing::variables(3, 2);
  const std::vector<int> order = {0, 1, 2};
  const SearchSpace space = make_search_space(graph, order, SpaceKind::kTree);
  EXPECT_NO_THROW(q_uct_search(graph, space, {}, {.budget = 10}));
  graph.add_table({0, 2}, {0, 1, 2, 3});
  EXPECT_TRUE(is_refused([&] { q_uct_search(graph, space, {}, {.budget = 10}); }));
}

// Valid pairs still work: another graph with the same structure, and one whose variables and factors were added in
// turns.
TEST(WrongPairs, ASpaceFitsEveryGraphOfItsShape) {
  FactorGraph together, in_turns, other_values;
  for (int v = 0; v < 3; ++v) together.add_variable(2);
  for (int v = 0; v + 1 < 3; ++v) together.add_table({v, v + 1}, {0, 1, 2, 3});
  for (int v = 0; v < 3; ++v) {
    in_turns.add_variable(2);
    if (v > 0) in_turns.add_table({v - 1, v}, {0, 1, 2, 3});
  }
  for (int v = 0; v < 3; ++v) other_values.add_variable(2);
  for (int v = 0; v + 1 < 3; ++v) other_values.add_table({v, v + 1}, {3, 1, 2, 3});
  EXPECT_EQ(together.shape(), in_turns.shape());
  EXPECT_EQ(together.shape(), other_values.shape());
  const std::vector<int> order = {2, 0, 1};
  const SearchSpace space = make_search_space(together, order, SpaceKind::kGraph);
  for (const Call& call : calls_with_space(in_turns, space)) {
    EXPECT_FALSE(is_refused(call.run)) << call.name;
  }
}

TEST(WrongPairs, ShapesTellScopesAndStatesApart) {
  const auto shape = [](const std::vector<int>& states, const std::vector<std::vector<int>>& scopes) {
    FactorGraph graph = testing::variables(states);
    for (const std::vector<int>& scope : scopes) graph.add_factor(Factor::function(scope, [](auto) { return 0.0; }));
    return graph.shape();
  };
  const std::vector<std::uint64_t> shapes = {shape({}, {}),
                                             shape({1}, {}),
                                             shape({2}, {}),
                                             shape({1, 1}, {}),
                                             shape({2, 3}, {}),
                                             shape({3, 2}, {}),
                                             shape({2, 3}, {{}}),
                                             shape({2, 3}, {{0}}),
                                             shape({2, 3}, {{1}}),
                                             shape({2, 3}, {{0, 1}}),
                                             shape({2, 3}, {{1, 0}}),
                                             shape({2, 3}, {{0}, {1}}),
                                             shape({2, 3}, {{1}, {0}}),
                                             shape({2, 3}, {{0}, {}, {1}})};
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) EXPECT_NE(shapes[i], shapes[j]) << i << " " << j;
  }
}

// A space stores the sum of the constants; that of another graph would be added to log Z.
TEST(WrongPairs, ASpaceWithOtherConstantsIsRefused) {
  const auto with_constant = [](double value) {
    FactorGraph graph = testing::variables({2});
    graph.add_table({0}, {0.0, 1.0});
    graph.add_table({}, {value});
    return graph;
  };
  const std::vector<int> order = {0};
  const SearchSpace space = make_search_space(with_constant(1.0), order, SpaceKind::kTree);
  EXPECT_NO_THROW(q_uct_search(with_constant(1.0), space, {}, {.budget = 10}));
  for (const double value : {2.0, kNegInf}) {
    const FactorGraph other = with_constant(value);
    for (const Call& call : calls_with_space(other, space)) EXPECT_TRUE(is_refused(call.run)) << call.name;
  }
}

// Leaf values of another space, also of the same graph.
TEST(WrongPairs, PriorsAndLeafValuesOfAnotherSpaceAreRefused) {
  Random random(8);
  int num_pairs = 0;
  for (int trial = 0; trial < 300; ++trial) {
    const FactorGraph graph = random_model(random, random_options(random));
    const FactorGraph other = trial % 2 == 0 ? graph : random_model(random, random_options(random));
    const SearchSpace space = random_space(graph, SpaceKind::kGraph, random);
    const SearchSpace wrong = random_space(other, trial % 4 < 2 ? SpaceKind::kGraph : SpaceKind::kTree, random);
    if (space.fingerprint == wrong.fingerprint) continue;
    ++num_pairs;
    const LocalDistributions uniform = uniform_distributions(graph), other_uniform = uniform_distributions(other);
    const auto buckets = std::make_shared<const WeightedMiniBucket>(other, wrong);
    const std::shared_ptr<const LeafValue> constant = std::make_shared<UniformValue>(wrong);
    for (const std::shared_ptr<const LeafValue>& prior :
         {constant, std::static_pointer_cast<const LeafValue>(buckets)}) {
      EXPECT_TRUE(is_refused([&] { q_uct_search(graph, space, {.estimate = prior}, {.budget = 50}); }));
      EXPECT_TRUE(is_refused([&] { smc(graph, space, {.estimate = prior}, {.budget = 1000}); }));
    }
    EXPECT_TRUE(is_refused([&] { mini_bucket_leaves(graph, space, buckets, uniform); }));
    for (const std::shared_ptr<const LeafValue>& leaf : std::initializer_list<std::shared_ptr<const LeafValue>>{
             product_value(other, wrong, other_uniform), maxima_value(other, wrong), buckets, constant}) {
      EXPECT_TRUE(is_refused([&] { search(graph, space, {.lower = leaf}, {.budget = 50}); }));
      EXPECT_TRUE(is_refused([&] { search(graph, space, {.upper = leaf}, {.budget = 50}); }));
      EXPECT_TRUE(is_refused([&] { search(graph, space, {.estimate = leaf}, {.budget = 50}); }));
    }
    if (graph.num_variables() != other.num_variables()) {
      EXPECT_TRUE(is_refused([&] { product_value(graph, space, other_uniform); }));
    }
  }
  EXPECT_GT(num_pairs, 200);
}

TEST(WrongPairs, PlansAndPerceptronsOfAnotherGraphAreRefused) {
  FactorGraph graph, other;
  for (int v = 0; v < 3; ++v) graph.add_variable(2);
  graph.add_table({0, 1}, {0, 1, 1, 0});
  for (int v = 0; v < 5; ++v) other.add_variable(2);
  other.add_table({0, 4}, {0, 1, 1, 0});
  const std::vector<int> order = {0, 1, 2};
  const SearchSpace space = make_search_space(graph, order, SpaceKind::kTree);
  Random random(9);
  const auto gnn = std::make_shared<const Network>(Gnn({.kinds = {"not"}, .num_states = 2}, random));
  const std::vector<std::string> kinds = {"not"};
  EXPECT_NO_THROW(NetworkValue(gnn, plan_network(*gnn, graph, kinds), graph, space));
  EXPECT_TRUE(is_refused([&] { NetworkValue(gnn, plan_network(*gnn, other, kinds), graph, space); }));
  for (const int num_variables : {2, 4}) {
    const auto mlp =
        std::make_shared<const Network>(Mlp({.num_variables = num_variables, .num_states = 2, .hidden = {16}}, random));
    EXPECT_TRUE(is_refused([&] { NetworkValue(mlp, std::nullopt, graph, space); }));
  }
  const auto narrow =
      std::make_shared<const Network>(Mlp({.num_variables = 3, .num_states = 1, .hidden = {16}}, random));
  EXPECT_TRUE(is_refused([&] { NetworkValue(narrow, std::nullopt, graph, space); }));
  EXPECT_TRUE(is_refused([&] { NetworkValue(nullptr, std::nullopt, graph, space); }));
}

// Approximations of another graph, in functions that need the graph.
TEST(WrongPairs, ApproximationsOfAnotherGraphAreRefused) {
  Random random(10);
  int num_pairs = 0;
  for (int trial = 0; trial < 300; ++trial) {
    const FactorGraph graph = random_model(random, random_options(random));
    const FactorGraph other = random_model(random, random_options(random));
    if (graph.num_variables() == other.num_variables()) continue;
    ++num_pairs;
    const SearchSpace wrong = random_space(other, static_cast<SpaceKind>(trial % 3), random);
    const QUctResult searched = q_uct_search(other, wrong, {}, {.budget = 20});
    const SearchResult bounded =
        search(other, wrong,
               mini_bucket_leaves(other, wrong, std::make_shared<const WeightedMiniBucket>(other, wrong),
                                  uniform_distributions(other)),
               {.budget = 20});
    const SearchApproximation upper(bounded, SamplerKind::kUpper);
    const Elimination exact(other);
    for (const Approximation* approximation :
         {static_cast<const Approximation*>(&*searched.approximation), static_cast<const Approximation*>(&upper),
          static_cast<const Approximation*>(&exact)}) {
      EXPECT_TRUE(is_refused([&] { importance_estimate(graph, *approximation, 10, random); }));
      EXPECT_TRUE(is_refused([&] { sampled_marginals(*approximation, graph, 10, random); }));
      EXPECT_TRUE(is_refused([&] { divergence(graph, *approximation, {}, random); }));
      EXPECT_TRUE(is_refused([&] { enumerated_divergence(graph, *approximation); }));
      EXPECT_TRUE(is_refused([&] { sampled_divergence(graph, *approximation, 10, random); }));
    }
    EXPECT_TRUE(is_refused([&] { bounded_importance(graph, upper, {}, random); }));
    EXPECT_TRUE(is_refused([&] { rejection_samples(graph, upper, {.num_samples = 5}, random); }));
    EXPECT_TRUE(is_refused([&] { store_divergence(graph, *searched.approximation); }));
    EXPECT_TRUE(is_refused([&] { store_divergence(graph, upper); }));
    const SearchResult another = search(other, wrong, {.upper = bounded.leaves.upper}, {.budget = 10});
    EXPECT_TRUE(is_refused([&] { solved_marginals(another, upper); }));
    const auto reduced = std::make_shared<const ReducedModel>(condition(graph, {}));
    const auto summed = std::make_shared<const SummedModel>(graph);
    const auto shared = std::make_shared<const Elimination>(other);
    EXPECT_TRUE(is_refused([&] { (void)LiftedApproximation(reduced, shared).sample(random); }));
    if (summed->graph().num_variables() != other.num_variables()) {
      EXPECT_TRUE(is_refused([&] { (void)CompletedApproximation(summed, shared).sample(random); }));
    }
  }
  EXPECT_GT(num_pairs, 200);
}

// Assignments that are too short, too long, or have a state that is too low or too high.
std::vector<Assignment> bad_assignments(const FactorGraph& graph, Random& random) {
  Assignment good(static_cast<std::size_t>(graph.num_variables()), 0);
  const auto v = static_cast<std::size_t>(random.below(good.size()));
  std::vector<Assignment> bad = {{}, Assignment(good.size() - 1, 0), Assignment(good.size() + 1, 0)};
  for (const int state : {-1, graph.num_states(static_cast<int>(v)), -1'000'000'000, 1'000'000'000}) {
    bad.push_back(good);
    bad.back()[v] = state;
  }
  return bad;
}

TEST(WrongPairs, BadAssignmentsAreRefused) {
  Random random(11);
  for (int trial = 0; trial < 200; ++trial) {
    const FactorGraph graph = random_model(random, random_options(random));
    const SearchSpace space = random_space(graph, static_cast<SpaceKind>(trial % 2), random);
    const QUctResult searched = q_uct_search(graph, space, {}, {.budget = 10});
    const SearchResult bounded = search(graph, space, {.upper = maxima_value(graph, space)}, {.budget = 10});
    const auto exact = std::make_shared<const Elimination>(graph);
    const SmcResult particles = smc(graph, space, {}, {.budget = 200});
    const auto reduced = std::make_shared<const ReducedModel>(condition(graph, {}));
    const auto summed = std::make_shared<const SummedModel>(graph);
    const TreeSearchResult in_tree =
        tree_sample(graph, random_space(graph, SpaceKind::kTree, random), {}, {.budget = 10});
    const SearchApproximation upper(bounded, SamplerKind::kUpper);
    const LiftedApproximation lifted(reduced, exact);
    const CompletedApproximation completed(summed, std::make_shared<const Elimination>(summed->graph()));
    for (const Assignment& x : bad_assignments(graph, random)) {
      EXPECT_TRUE(is_refused([&] { (void)graph.log_density(x); }));
      EXPECT_TRUE(is_refused([&] { (void)configuration_index(graph, x); }));
      EXPECT_TRUE(is_refused([&] { (void)reduced->lift(x); }));
      EXPECT_TRUE(is_refused([&] { (void)reduced->lower(x); }));
      EXPECT_TRUE(is_refused([&] { (void)summed->left(x); }));
      EXPECT_TRUE(is_refused([&] { (void)summed->log_prob(x); }));
      EXPECT_TRUE(is_refused([&] { in_tree.approximation.visit_path(x, [](int, auto) {}); }));
      EXPECT_TRUE(is_refused([&] { search(graph, space, {}, {.budget = 9}, {.first_configurations = {x}}); }));
      for (const Approximation* approximation :
           {static_cast<const Approximation*>(&*searched.approximation), static_cast<const Approximation*>(&upper),
            static_cast<const Approximation*>(exact.get()), static_cast<const Approximation*>(&particles.approximation),
            static_cast<const Approximation*>(&lifted), static_cast<const Approximation*>(&completed)}) {
        EXPECT_TRUE(is_refused([&] { (void)approximation->log_prob(x); }));
      }
      for (int m = 0; m < graph.num_factors(); ++m) {
        try {
          (void)graph.log_value(m, x);  // a state outside of the scope does no harm
        } catch (const Error& error) {
          EXPECT_EQ(error.code(), ErrorCode::kArgument);
        }
      }
    }
    Assignment short_one(static_cast<std::size_t>(graph.num_variables()) - 1, 0);
    EXPECT_TRUE(is_refused([&] { upper.sample_into(short_one, random); }));
    EXPECT_TRUE(is_refused([&] { summed->draw(short_one, random); }));
    EXPECT_TRUE(is_refused([&] { summed->choose_best(short_one); }));
    for (const int m : {-1, graph.num_factors()}) {
      EXPECT_TRUE(is_refused([&] { (void)graph.log_value(m, Assignment(space.levels.size(), 0)); }));
    }
  }
}

// Searches call these often: the length and the level are checked, the states are not.
TEST(WrongPairs, MiniBucketsRefuseWrongLevelsAndLengths) {
  Random random(12);
  const FactorGraph graph = random_model(random);
  const SearchSpace space = random_space(graph, SpaceKind::kAndOr, random);
  const WeightedMiniBucket buckets(graph, space);
  Assignment x(space.levels.size(), 0), shorter(space.levels.size() - 1, 0);
  std::vector<double> values(16);
  for (const int level : {-1, space.num_levels()}) {
    EXPECT_TRUE(is_refused([&] { (void)buckets.log_upper(level, x); }));
    EXPECT_TRUE(is_refused([&] { (void)buckets.log_lower(level, x); }));
    EXPECT_TRUE(is_refused([&] { buckets.log_values(level, 0, x, values); }));
    EXPECT_TRUE(is_refused([&] { (void)buckets.is_exact(level); }));
    EXPECT_TRUE(is_refused([&] { (void)buckets.table_reads(level); }));
    EXPECT_TRUE(is_refused([&] { buckets.q_values(level, x, 1, values); }));
    EXPECT_TRUE(is_refused([&] { buckets.sample_below(level, x, random); }));
    EXPECT_TRUE(is_refused([&] { (void)buckets.log_prob_below(level, x); }));
    EXPECT_TRUE(is_refused([&] { UniformValue(space).q_values(level, x, 1, values); }));
  }
  EXPECT_TRUE(is_refused([&] { (void)buckets.log_upper(0, shorter); }));
  EXPECT_TRUE(is_refused([&] { buckets.q_values(0, shorter, 1, values); }));
  EXPECT_TRUE(is_refused([&] { buckets.q_values(0, x, 2, values); }));
  EXPECT_TRUE(is_refused([&] { buckets.sample_below(0, shorter, random); }));
}

}  // namespace
}  // namespace treesample
