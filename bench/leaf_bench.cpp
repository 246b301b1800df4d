// A learned model as a leaf value for models of tables, against leaf values that read the tables:
// docs/methods/oracles.md.
//
//   leaf_bench [INSTANCES]    mean KL of the paper's search at equal evaluations, as CSV
//
// "learned" spends half of the evaluations on complete configurations, each of which costs one reward per variable, and
// learns main effects, pairs and larger terms from them. Its leaf value is the total that mini-buckets of the learned
// model expect, minus the rewards that the search has already paid for. "learned alone" is the learned search with all
// of the evaluations.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "treesample/evaluate/divergence.hpp"
#include "treesample/exact/elimination.hpp"
#include "treesample/families/family.hpp"
#include "treesample/infer/infer.hpp"
#include "treesample/surrogate/learned_function.hpp"
#include "treesample/value/make_leaf_value.hpp"

namespace treesample {
namespace {

constexpr int kNumSamples = 4'000;
constexpr double kExploration[] = {1.0, 0.1};  // for each family, budget and leaf value, the better of the two counts
constexpr std::uint64_t kSeed = 99;

struct Problem {
  std::string family;
  FactorGraph graph;
  double log_z;
  std::uint64_t seed;
};

Problem make_problem(const std::string& family, int instance) {
  FamilyOptions request{.seed = kSeed, .instance = static_cast<std::uint64_t>(instance)};
  if (family == "ising") request.values = {{"n", 8.0}};
  FactorGraph graph = make_family(family, request).graph;
  const double log_z = Elimination(graph, {}, {.goal = EliminationGoal::kLogZ}).log_z();
  return {family, std::move(graph), log_z, static_cast<std::uint64_t>(instance)};
}

double kl_of(const Problem& problem, const Approximation& approximation) {
  Random random(problem.seed, "evaluate");
  return problem.log_z + divergence(problem.graph, approximation, {.num_samples = kNumSamples}, random).delta_kl;
}

// KL of the paper's search, for each weight of exploration.
std::vector<double> search(const Problem& problem, std::int64_t budget, InferOptions options) {
  options.method = Method::kSearch;
  options.select = SelectRule::kQUct;
  options.space = SpaceKind::kTree;
  options.order = OrderKind::kGiven;
  options.budget_unit = BudgetUnit::kReward;
  options.importance = 0;
  options.simplify = false;
  options.seed = problem.seed;
  std::vector<double> kls;
  for (const double c : kExploration) {
    options.c = c;
    const Answer answer =
        infer(problem.graph, {.marginals = false, .best = false}, {.budget = budget, .threads = 1}, options);
    kls.push_back(kl_of(problem, *answer.approximation));
  }
  return kls;
}

// Answers by the learned search, with all factors hidden in one function. `note` is called with its arguments and
// value.
Answer learned_search(const Problem& problem, std::int64_t calls,
                      const std::function<void(std::span<const int>, double)>& note) {
  FactorGraph hidden;
  std::vector<int> scope;
  for (int v = 0; v < problem.graph.num_variables(); ++v) {
    scope.push_back(hidden.add_variable(problem.graph.num_states(v)));
  }
  hidden.add_factor(Factor::function(scope, [&](std::span<const int> x) {
    const double value = problem.graph.log_density(x);
    note(x, value);
    return value;
  }));
  const InferOptions options{.method = Method::kLearned, .importance = 0, .seed = problem.seed};
  return infer(hidden, {.best = false}, {.calls = calls, .threads = 1}, options);
}

// The sum of the factors that a prefix decides; -1 marks an open variable.
double decided_sum(const FactorGraph& graph, std::span<const int> x) {
  double sum = 0.0;
  for (int m = 0; m < graph.num_factors(); ++m) {
    const std::vector<int>& scope = graph.factor(m).scope();
    if (std::all_of(scope.begin(), scope.end(), [&](int v) { return x[v] >= 0; })) sum += graph.log_value(m, x);
  }
  return sum;
}

std::vector<double> search_with_learned(const Problem& problem, std::int64_t budget) {
  const FactorGraph& graph = problem.graph;
  const int num_variables = graph.num_variables();
  std::vector<int> order, num_states;
  FactorGraph model;
  for (int v = 0; v < num_variables; ++v) {
    order.push_back(v);
    num_states.push_back(graph.num_states(v));
    model.add_variable(num_states.back());
  }
  LearnedFunction learned(num_states);
  const std::int64_t calls = budget / 2 / num_variables;
  static_cast<void>(learned_search(problem, calls, [&](auto x, double value) { learned.add(x, value, value); }));
  learned.fit();
  const LearnedTerms& terms = learned.learned();
  for (const LearnedTerm& term : terms.terms) model.add_factor(Factor::table_of_sums(term.scope, term.log_values));
  const auto below =
      make_leaf_value({LeafKind::kMiniBucket, 6}, model, make_search_space(model, order, SpaceKind::kTree), {});
  InferOptions options;
  options.value_function = [&](int variable, std::span<const int> prefixes, int count, std::span<double> q) {
    for (int r = 0; r < count; ++r) {
      const auto row = prefixes.subspan(static_cast<std::size_t>(r) * order.size(), order.size());
      Assignment x(row.begin(), row.end());
      x[variable] = -1;
      const double paid = decided_sum(graph, x);
      for (int a = 0; a < num_states[variable]; ++a) {
        x[variable] = a;
        const double rest = variable + 1 < num_variables ? below->log_value(variable + 1, x) : 0.0;
        q[r * num_states[variable] + a] = terms.constant + decided_sum(model, x) + rest - paid;
      }
    }
  };
  return search(problem, budget - calls * num_variables, options);
}

using Results = std::map<std::string, std::vector<std::vector<double>>>;  // by leaf value; by problem, exploration

void run(const Problem& problem, std::int64_t budget, Results& results) {
  for (const char* const leaf : {"uniform", "means", "mini-bucket:2", "mini-bucket:6"}) {
    results[leaf].push_back(search(problem, budget, {.leaf = parse_leaf_choice(leaf)}));
  }
  results["learned"].push_back(search_with_learned(problem, budget));
  const Answer alone = learned_search(problem, budget / problem.graph.num_variables(), [](auto, double) {});
  results["learned alone"].push_back(
      std::vector<double>(std::size(kExploration), kl_of(problem, *alone.approximation)));
}

void print(const std::string& family, std::int64_t budget, const Results& results) {
  for (const auto& [leaf, problems] : results) {
    double best = HUGE_VAL, best_error = 0.0;
    const auto count = static_cast<double>(problems.size());
    for (std::size_t c = 0; c < std::size(kExploration); ++c) {
      double sum = 0.0, squares = 0.0;
      for (const std::vector<double>& kls : problems) sum += kls[c];
      for (const std::vector<double>& kls : problems) squares += (kls[c] - sum / count) * (kls[c] - sum / count);
      if (sum / count >= best) continue;
      best = sum / count;
      best_error = std::sqrt(squares / std::max(count - 1.0, 1.0) / count);
    }
    fmt::print("{},{},{},{:.4f},{:.4f}\n", family, budget, leaf, best, best_error);
  }
  std::fflush(stdout);
}

}  // namespace
}  // namespace treesample

int main(int argc, char** argv) {
  using namespace treesample;
  const int num_instances = argc > 1 ? std::atoi(argv[1]) : 10;
  fmt::print("family,evaluations,leaf value,kl,standard error\n");
  for (const char* const family : {"chain", "permuted-chain", "factor-graphs-1", "factor-graphs-2", "ising"}) {
    for (const std::int64_t budget : {1'000, 10'000}) {
      Results results;
      for (int i = 0; i < num_instances; ++i) run(make_problem(family, i), budget, results);
      print(family, budget, results);
    }
  }
  return 0;
}
