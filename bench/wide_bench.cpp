// Measures what few values tell of functions with more configurations than can be listed: the black box, and the search
// that learns only sparse terms, which `infer` uses there.
//
//   wide_bench KINDS CALLS INSTANCES        for example  chain-10,trees-24 300,1000 1-2
//
// Prints a row of CSV for each run: KL[P_X || P*] from 1,000 samples of P_X, error of log Z, whether an interval was
// given and whether it covers the truth, processor seconds. The truth is known by elimination.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <sstream>
#include <string>
#include <vector>

#include "black_box_terms.hpp"
#include "treesample/blackbox/black_box_search.hpp"
#include "treesample/error.hpp"
#include "treesample/exact/elimination.hpp"
#include "treesample/families/family.hpp"
#include "treesample/surrogate/learned_search.hpp"

namespace treesample::bench {
namespace {

std::vector<std::string> split(const std::string& text, char separator = ',') {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
  return parts;
}

FactorGraph with_terms(const std::vector<int>& num_states, const std::vector<Term>& terms) {
  FactorGraph graph;
  for (const int k : num_states) graph.add_variable(k);
  for (const Term& term : terms) graph.add_table(term.scope, term.values);
  return graph;
}

// A random tree of pairs.
FactorGraph tree(Random& random, int n, int k, double sd) {
  const std::vector<int> num_states(static_cast<std::size_t>(n), k);
  std::vector<Term> terms;
  for (int v = 1; v < n; ++v)
    terms.push_back(normal_term(random, {static_cast<int>(random.below(v)), v}, num_states, sd));
  return with_terms(num_states, terms);
}

// Main effects, and tables of `order` binary variables.
FactorGraph tables(Random& random, int n, int count, int order, double sd) {
  const std::vector<int> num_states(static_cast<std::size_t>(n), 2);
  std::vector<Term> terms;
  for (int v = 0; v < n; ++v) terms.push_back(normal_term(random, {v}, num_states, 0.5 * sd));
  for (int i = 0; i < count; ++i) {
    std::vector<int> scope = choose(random, n, order);
    std::sort(scope.begin(), scope.end());
    terms.push_back(normal_term(random, scope, num_states, sd));
  }
  return with_terms(num_states, terms);
}

FactorGraph model_of(const std::string& kind, std::uint64_t instance) {
  Random random(instance, kind);
  const auto family = [&](const char* name) {
    return make_family(name, {.seed = instance, .values = {{"n", 10}}}).graph;
  };
  if (kind == "chain-10") return family("chain");
  if (kind == "permuted-chain-10") return family("permuted-chain");
  if (kind == "factor-graphs-1-10") return family("factor-graphs-1");
  if (kind == "tree-24") return tree(random, 24, 2, 1.2);
  if (kind == "tree-20x4") return tree(random, 20, 4, 1.0);
  if (kind == "triples-24") return tables(random, 24, 16, 3, 1.0);
  if (kind == "quadruples-30") return tables(random, 30, 20, 4, 0.8);
  throw_argument("wide_bench", fmt::format("there is no kind '{}'", kind));
}

struct Result {
  std::shared_ptr<const Approximation> approximation;
  double log_z = 0.0;
  std::optional<SampledErrors> errors;
};

Result learn(const std::string& method, const FactorGraph& graph, const Limits& limits, std::uint64_t seed) {
  if (method == "terms") {
    const LearnedResult found = learned_search(graph, limits, {.seed = seed});
    return {found.approximation, found.report.estimate, found.report.errors};
  }
  const BlackBoxResult found = black_box_search(
      graph, limits, {.box = {.seed = seed, .looks_for_noise = false}, .answer_order = AnswerOrder::kSubmission});
  return {found.answer.approximation, found.report.estimate, found.report.errors};
}

void run(const std::string& kind, std::uint64_t instance, std::int64_t calls, const std::string& method) {
  constexpr int kSamples = 1000;
  const FactorGraph model = model_of(kind, instance);
  const double log_z = Elimination(model).log_z();
  FactorGraph graph;
  std::vector<int> scope;
  for (int v = 0; v < model.num_variables(); ++v) scope.push_back(graph.add_variable(model.num_states(v)));
  graph.add_factor(Factor::function(scope, [&](std::span<const int> x) { return model.log_density(x); }));
  const std::clock_t start = std::clock();
  const Result result = learn(method, graph, {.budget = calls, .unit = BudgetUnit::kCall}, instance);
  const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  Random random(instance, "samples");
  double kl = 0.0;
  for (int i = 0; i < kSamples; ++i) {
    const Assignment x = result.approximation->sample(random);
    kl += (result.approximation->log_prob(x) - model.log_density(x) + log_z) / kSamples;
  }
  const bool is_given = result.errors && result.errors->no_error.empty();
  const bool covers = is_given && result.errors->interval.lower <= log_z && log_z <= result.errors->interval.upper;
  fmt::print("{},{},{},{},{:.3f},{:.4f},{},{},{:.1f}\n", kind, instance, calls, method, kl,
             std::abs(result.log_z - log_z), is_given ? 1 : 0, covers ? 1 : 0, seconds);
  std::fflush(stdout);
}

}  // namespace
}  // namespace treesample::bench

int main(int argc, char** argv) {
  using namespace treesample::bench;
  if (argc != 4) {
    fmt::print(stderr, "usage: wide_bench KINDS CALLS INSTANCES\n");
    return 64;
  }
  const std::vector<std::string> range = split(argv[3], '-');
  fmt::print("kind,instance,calls,method,kl,log_z,given,covering,seconds\n");
  for (const std::string& kind : split(argv[1])) {
    for (const std::string& calls : split(argv[2])) {
      for (std::uint64_t i = std::stoull(range.front()); i <= std::stoull(range.back()); ++i) {
        for (const char* method : {"black-box", "terms"}) run(kind, i, std::stoll(calls), method);
      }
    }
  }
  return 0;
}
