// Trained networks and mini-buckets as leaf values of the paper's search, with the cost of each, as CSV.
//
//   value_bench NETWORK I[:degree],... MODEL[@NAME=STATE,NAME=STATE,...] ...
//
// It prints the KL of P_X after 1,000 evaluations in the space `tree` and the given order, from 500 samples and the
// exact log Z; and the processor time of everything that a new problem takes: making the leaf value, the search, the
// samples. Mini-buckets get one pass and ten passes; `:degree` gives them and their search that order of the variables.
// "elimination" is log Z in the best order found; the others do not use that order. Impossible samples would make the
// KL infinite; they are left out of it, and their share is printed.
#include <fmt/format.h>

#include <ctime>
#include <string>
#include <vector>

#include "treesample/exact/elimination.hpp"
#include "treesample/io/model_file.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/model/names.hpp"
#include "treesample/reduce/evidence.hpp"
#include "treesample/tree/tree_sample.hpp"
#include "treesample/value/make_leaf_value.hpp"
#include "treesample/value/telescoped_value.hpp"

namespace treesample {
namespace {

constexpr std::int64_t kBudget = 1'000;
constexpr int kNumSamples = 500;

double processor_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

struct Problem {
  std::string name;
  FactorGraph graph;
  SearchSpace space;
  double log_z = 0.0;
};

FactorGraph read_problem(const std::string& word) {
  const std::size_t at = word.find('@');
  FactorGraph graph = read_model(word.substr(0, at));
  if (at == std::string::npos) return graph;
  const Names names(graph);
  Evidence evidence;
  for (const std::string& pair : split_names(word.substr(at + 1))) {
    const std::size_t equals = pair.find('=');
    const int v = names.variable(pair.substr(0, equals));
    evidence.push_back({v, names.state(v, pair.substr(equals + 1))});
  }
  return condition(graph, evidence).graph;
}

void print_row(const Problem& problem, const std::string& method, double seconds, double sample_seconds, double kl,
               double impossible) {
  fmt::print("{},\"{}\",{:.6f},{:.6f},{:.6f},{}\n", problem.name, method, seconds, sample_seconds, kl, impossible);
}

// The samples of a telescoped network are paid from the budget, and the tree contains the rewards that they found.
void measure(const Problem& problem, const std::string& method, const std::string& word, double c, int passes) {
  const double start = processor_seconds();
  const LeafValueOptions options{.mini_bucket = {.passes = passes, .lower_bound = false}};
  LeafValues leaves{.estimate =
                        make_leaf_value(parse_leaf_choice(word).value(), problem.graph, problem.space, options)};
  std::int64_t budget = kBudget;
  TreeSearchOptions search{.c = c};
  if (method == "network, telescoped") {
    const Telescoped made =
        telescope(problem.graph, problem.space, leaves.estimate, Budget(budget, BudgetUnit::kReward), {}, 1);
    leaves.estimate = made.value;
    search.known = made.known;
    budget -= made.spent.reward_evaluations;
  }
  const TreeSearchResult result = tree_sample(problem.graph, problem.space, leaves, {.budget = budget}, search);
  const double searched = processor_seconds();
  Random random(1, "value_bench");
  const TreeApproximation::SampleBatch batch = result.approximation.sample_batch(kNumSamples, random);
  const double sampled = processor_seconds();
  double sum = 0.0;
  int num_possible = 0;
  const auto width = static_cast<std::size_t>(problem.graph.num_variables());
  for (std::size_t i = 0; i < kNumSamples; ++i) {
    const double log_density = problem.graph.log_density(std::span(batch.states).subspan(i * width, width));
    if (log_density == kNegInf) continue;
    sum += batch.log_probs[i] - log_density;
    ++num_possible;
  }
  print_row(problem, method, searched - start, sampled - searched, sum / num_possible + problem.log_z,
            1.0 - static_cast<double>(num_possible) / kNumSamples);
}

void measure_all(const std::string& word, const std::string& network, const std::vector<std::string>& i_bounds) {
  Problem problem{.name = fmt::format("\"{}\"", word), .graph = read_problem(word)};
  std::vector<int> order;
  for (int v = 0; v < problem.graph.num_variables(); ++v) order.push_back(v);
  problem.space = make_search_space(problem.graph, order, SpaceKind::kTree);
  const double start = processor_seconds();
  problem.log_z = Elimination(problem.graph, {.bytes = std::uint64_t{4} << 30, .threads = 1},
                              {.goal = EliminationGoal::kLogZ, .may_slice = true})
                      .log_z();
  print_row(problem, "elimination", processor_seconds() - start, 0.0, 0.0, 0.0);
  measure(problem, "uniform prior", "uniform", 1.0, 1);
  for (const char* const method : {"network, absolute", "network, telescoped"}) {
    measure(problem, method, "net:" + network, 0.1, 1);
  }
  const SearchSpace given = problem.space;
  const SearchSpace by_degree = make_search_space(
      problem.graph, search_order(problem.graph, SpaceKind::kTree, {.kind = OrderKind::kDegree}), SpaceKind::kTree);
  for (const std::string& word_of_i : i_bounds) {
    const std::string i = word_of_i.substr(0, word_of_i.find(':'));
    problem.space = i == word_of_i ? given : by_degree;
    for (const int passes : {1, 10}) {
      measure(problem,
              fmt::format("mini-buckets, i = {}{}, {} pass{}", i, i == word_of_i ? "" : ", order degree", passes,
                          passes == 1 ? "" : "es"),
              "mini-bucket:" + i, 0.1, passes);
    }
  }
  std::fflush(stdout);
}

}  // namespace
}  // namespace treesample

int main(int count, char** arguments) {
  using namespace treesample;
  if (count < 4) {
    fmt::print(stderr, "usage: value_bench NETWORK I[:degree],... MODEL[@NAME=STATE,...] ...\n");
    return 64;
  }
  try {
    fmt::print("model,method,seconds,sample_seconds,kl,impossible\n");
    for (int i = 3; i < count; ++i) measure_all(arguments[i], arguments[1], split_names(arguments[2]));
  } catch (const std::exception& error) {
    fmt::print(stderr, "value_bench: {}\n", error.what());
    return 1;
  }
  return 0;
}
