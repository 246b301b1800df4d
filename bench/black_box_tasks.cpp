#include "black_box_tasks.hpp"

#include <array>
#include <cmath>
#include <memory>

#include "numpy_random.hpp"
#include "treesample/error.hpp"
#include "treesample/math/random.hpp"

namespace treesample::bench {
namespace {

using States = std::span<const int>;

double beta(Random& random, double a, double b) {
  const double x = random.gamma(a), y = random.gamma(b);
  return x / (x + y);
}

// At which of 25 stages of a chain to prevent contamination: costs, and penalties for broken limits.
struct Chain {
  static constexpr int kStages = 25, kRuns = 100;
  std::array<double, kRuns> start{};
  std::array<std::array<double, kRuns>, kStages> spread{}, restore{};
};

BlackBoxProblem contamination(std::shared_ptr<const Chain> chain, double lambda) {
  return {.domain = {.num_states = std::vector<int>(Chain::kStages, 2)}, .function = [chain, lambda](States x) {
            std::array<double, Chain::kRuns> z = chain->start;
            double total = 0.0;
            for (int i = 0; i < Chain::kStages; ++i) {
              int clean = 0;
              for (int r = 0; r < Chain::kRuns; ++r) {
                z[r] = chain->spread[i][r] * (1 - x[i]) * (1 - z[r]) + (1 - chain->restore[i][r] * x[i]) * z[r];
                clean += z[r] < 0.1 ? 1 : 0;
              }
              total += x[i] - (clean / static_cast<double>(Chain::kRuns) - 0.95) + lambda * x[i];
            }
            return -total;
          }};
}

std::shared_ptr<const Chain> random_chain(Random random) {
  auto chain = std::make_shared<Chain>();
  for (double& z : chain->start) z = beta(random, 1, 30);
  for (auto& stage : chain->spread) {
    for (double& z : stage) z = beta(random, 1, 17.0 / 3.0);
  }
  for (auto& stage : chain->restore) {
    for (double& z : stage) z = beta(random, 1, 3.0 / 7.0);
  }
  return chain;
}

// The five instances of Oh, Tomczak, Gavves and Welling (2019), of which the last digit of the number chooses one.
std::shared_ptr<const Chain> published_chain(std::uint64_t instance) {
  constexpr int kInstances = 5;
  std::uint32_t name = 0;
  for (const char letter : std::string("2019ICML_CONTAMINATION")) name += static_cast<unsigned char>(letter);
  NumpyRandom seeds(name);
  std::uint32_t seed = 0;
  for (std::uint64_t k = 0; k <= instance % kInstances; ++k) {
    seed = seeds.below(10'000, 0x3fff);
    for (int i = 0; i < kInstances; ++i) seeds.below(10'000, 0x3fff);  // of first designs, which are not used here
  }
  auto chain = std::make_shared<Chain>();
  NumpyRandom start(seed), spread(seed), restore(seed);
  for (double& z : chain->start) z = start.beta(1, 30);
  for (auto& stage : chain->spread) {
    for (double& z : stage) z = spread.beta(1, 17.0 / 3.0);
  }
  for (auto& stage : chain->restore) {
    for (double& z : stage) z = restore.beta(1, 3.0 / 7.0);
  }
  return chain;
}

// Which treatment to use against a pest at each of 25 stages. Its price falls with use, and so does its effect; noisy.
BlackBoxProblem pest(std::uint64_t seed) {
  auto random = std::make_shared<Random>(seed, "pest");
  return {.domain = {.num_states = std::vector<int>(25, 5)}, .function = [random](States x) {
            const std::array<double, 5> discount{0, 0.2, 0.3, 0.3, 0.0}, price{0, 1.0, 0.8, 0.7, 0.5};
            const std::array<double, 5> tolerance{0, 1.0 / 7, 2.5 / 7, 2.0 / 7, 0.5 / 7};
            std::array<double, 5> strength{0, 2.0 / 7, 3.0 / 7, 3.0 / 7, 5.0 / 7};
            std::array<double, 100> now{};
            for (double& z : now) z = beta(*random, 1, 30);
            double paid = 0.0, above = 0.0;
            for (int i = 0; i < 25; ++i) {
              std::array<double, 100> grow{}, then{};
              for (double& z : grow) z = beta(*random, 1, 17.0 / 3.0);
              const int a = x[i];
              if (a > 0) {
                for (int r = 0; r < 100; ++r) then[r] = (1 - beta(*random, 1, strength[a])) * now[r];
                strength[a] += tolerance[a] / 25;
                int same = 0;
                for (const int s : x) same += s == a ? 1 : 0;
                paid += price[a] * (1 - discount[a] / 25 * same);
              } else {
                for (int r = 0; r < 100; ++r) then[r] = grow[r] * (1 - now[r]) + now[r];
              }
              int high = 0;
              for (const double z : now) high += z > 0.1 ? 1 : 0;
              above += high / 100.0;
              now = then;
            }
            return -(paid + above);
          }};
}

// Weighted satisfiability: random clauses with standardised weights, to be minimised.
BlackBoxProblem max_sat(Random random, int n, int num_clauses) {
  struct Clause {
    std::array<int, 3> v{}, sign{};
    double weight = 0.0;
  };
  std::vector<Clause> clauses(num_clauses);
  double mean = 0.0, squares = 0.0;
  for (Clause& clause : clauses) {
    const std::vector<int> order = random.permutation(n);
    for (int i = 0; i < 3; ++i) {
      clause.v[i] = order[i];
      clause.sign[i] = static_cast<int>(random.below(2));
    }
    clause.weight = 1.0 + static_cast<double>(random.below(10));
    mean += clause.weight / num_clauses;
    squares += clause.weight * clause.weight / num_clauses;
  }
  const double sd = std::sqrt(squares - mean * mean);
  for (Clause& clause : clauses) clause.weight = (clause.weight - mean) / sd;
  return {.domain = {.num_states = std::vector<int>(n, 2)}, .function = [clauses](States x) {
            double sum = 0.0;
            for (const Clause& clause : clauses) {
              bool holds = false;
              for (int i = 0; i < 3; ++i) holds = holds || x[clause.v[i]] == clause.sign[i];
              if (holds) sum += clause.weight;
            }
            return sum;
          }};
}

// A weighted cut of a random graph as satisfiability: each edge becomes two clauses of two variables; weights are
// standardised.
BlackBoxProblem max_cut(Random random, int n, double density) {
  struct Edge {
    int a = 0, b = 0;
    double weight = 0.0;
  };
  std::vector<Edge> edges;
  double mean = 0.0, squares = 0.0;
  for (int a = 0; a < n; ++a) {
    for (int b = a + 1; b < n; ++b) {
      if (random.uniform() > density) continue;
      edges.push_back({a, b, 1.0 + static_cast<double>(random.below(10))});
    }
  }
  for (const Edge& edge : edges) {
    mean += edge.weight / static_cast<double>(edges.size());
    squares += edge.weight * edge.weight / static_cast<double>(edges.size());
  }
  const double sd = std::sqrt(squares - mean * mean);
  for (Edge& edge : edges) edge.weight = (edge.weight - mean) / sd;
  return {.domain = {.num_states = std::vector<int>(n, 2)}, .function = [edges](States x) {
            double sum = 0.0;
            for (const Edge& edge : edges) {
              // (a or b) and (not a or not b)
              sum += (x[edge.a] + x[edge.b] > 0 ? edge.weight : 0.0) + (x[edge.a] + x[edge.b] < 2 ? edge.weight : 0.0);
            }
            return sum;
          }};
}

}  // namespace

const std::vector<std::string>& black_box_tasks() {
  static const std::vector<std::string> kinds{"contamination", "contamination-4", "contamination-2", "pest",
                                              "maxcut28",      "maxcut43",        "maxsat60",        "nk30",
                                              "published",     "published-4",     "published-2"};
  return kinds;
}

BlackBoxProblem black_box_task(const std::string& kind, std::uint64_t instance) {
  Random random(instance, kind);
  const double lambda = kind.ends_with("-4") ? 1e-4 : kind.ends_with("-2") ? 1e-2 : 0.0;
  if (kind.starts_with("contamination")) return contamination(random_chain(random), lambda);
  if (kind.starts_with("published")) return contamination(published_chain(instance), lambda);
  if (kind == "pest") return pest(instance);
  if (kind == "maxcut28") return max_cut(random, 28, 0.55);
  if (kind == "maxcut43") return max_cut(random, 43, 0.55);
  if (kind == "maxsat60") return max_sat(random, 60, 600);
  throw_argument("black_box_problem", "there is no kind '" + kind + "'");
}

}  // namespace treesample::bench
