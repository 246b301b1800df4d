#include "treesample/program/dag_posterior.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "treesample/error.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/math/random.hpp"

namespace treesample {
namespace {

DagScores random_scores(int n, std::uint64_t seed, double size) {
  Random random(seed, "scores");
  DagScores scores(static_cast<std::size_t>(n), std::vector<double>(std::size_t{1} << n));
  for (std::vector<double>& node : scores) {
    for (double& score : node) score = random.below(20) == 0 ? kNegInf : size * random.normal();
    node[0] = size * random.normal();  // so that the graph without edges is possible
  }
  return scores;
}

bool is_acyclic(const std::vector<std::uint32_t>& parents) {
  std::uint32_t left = (1u << parents.size()) - 1;
  for (bool changes = true; changes && left != 0;) {
    changes = false;
    for (std::size_t v = 0; v < parents.size(); ++v) {
      if ((left >> v & 1) == 0 || (parents[v] & left) != 0) continue;
      left &= ~(1u << v);
      changes = true;
    }
  }
  return left == 0;
}

void for_each_dag(int n, const std::function<void(const std::vector<std::uint32_t>&)>& f) {
  std::vector<std::uint32_t> parents(static_cast<std::size_t>(n));
  const std::function<void(int)> choose = [&](int v) {
    if (v == n) {
      if (is_acyclic(parents)) f(parents);
      return;
    }
    for (std::uint32_t set = 0; set < 1u << n; ++set) {
      if ((set >> v & 1) != 0) continue;
      parents[static_cast<std::size_t>(v)] = set;
      choose(v + 1);
    }
  };
  choose(0);
}

double score_of(const DagScores& scores, const std::vector<std::uint32_t>& parents) {
  double sum = 0.0;
  for (std::size_t v = 0; v < parents.size(); ++v) sum += scores[v][parents[v]];
  return sum;
}

// Edges that are certain or impossible, scores of any size.
void compare_with_enumeration(int n, std::uint64_t seed, double size) {
  const DagScores scores = random_scores(n, seed, size);
  std::vector<double> all;
  double best = kNegInf;
  for_each_dag(n, [&](const std::vector<std::uint32_t>& parents) {
    all.push_back(score_of(scores, parents));
    best = std::max(best, all.back());
  });
  const double log_z = log_sum_exp(all);
  std::vector<std::vector<double>> edges(static_cast<std::size_t>(n), std::vector<double>(static_cast<std::size_t>(n)));
  for_each_dag(n, [&](const std::vector<std::uint32_t>& parents) {
    const double probability = std::exp(score_of(scores, parents) - log_z);
    for (std::size_t v = 0; v < parents.size(); ++v) {
      DagLayers::for_each_node(parents[v], [&](int u) { edges[static_cast<std::size_t>(u)][v] += probability; });
    }
  });
  const DagPosterior posterior = dag_posterior(scores, {.samples = 3, .seed = seed});
  const double slack = 1e-13 * (1.0 + std::abs(log_z));
  EXPECT_NEAR(posterior.log_z, log_z, 1e-11 * (1.0 + std::abs(log_z)));
  EXPECT_LE(posterior.bounds.lower, log_z + slack);
  EXPECT_GE(posterior.bounds.upper, log_z - slack);
  EXPECT_NEAR(posterior.best.log_score, best, 1e-10 * (1.0 + std::abs(best)));
  EXPECT_TRUE(is_acyclic(posterior.best.parents));
  EXPECT_NEAR(score_of(scores, posterior.best.parents), best, 1e-10 * (1.0 + std::abs(best)));
  for (std::size_t u = 0; u < edges.size(); ++u) {
    for (std::size_t v = 0; v < edges.size(); ++v) EXPECT_NEAR(posterior.edges[u][v], edges[u][v], 1e-10) << u << v;
  }
  for (const std::vector<double>& node : posterior.parent_sets) {
    double total = 0.0;
    for (const double probability : node) total += probability;
    EXPECT_NEAR(total, 1.0, 1e-10);
  }
  for (const Dag& dag : posterior.samples) {
    EXPECT_TRUE(is_acyclic(dag.parents));
    EXPECT_NEAR(dag.log_score, score_of(scores, dag.parents), 1e-10 * (1.0 + std::abs(best)));
    EXPECT_NEAR(dag.log_prob, dag.log_score - log_z, 1e-10 * (1.0 + std::abs(best)));
  }
}

TEST(DagPosterior, EqualsTheEnumerationOfAllGraphs) {
  for (int n = 1; n <= 4; ++n) {
    for (std::uint64_t seed = 0; seed < 8; ++seed) {
      compare_with_enumeration(n, seed, seed % 2 == 0 ? 1.0 : 300.0);
    }
  }
  compare_with_enumeration(5, 1, 3.0);
}

// Another algorithm (Robinson's recurrence): the nodes T of the graphs over S that have no children are counted by
// inclusion and exclusion, where A_v(S) is the sum over sets of parents within S:
//
//   Z(S) = sum over T within S, not empty, of (-1)^(|T| + 1) Z(S less T) product over v in T of A_v(S less T)
long double sum_by_exclusion(const DagScores& scores) {
  const std::size_t n = scores.size(), num_sets = std::size_t{1} << n;
  std::vector<std::vector<long double>> sums(n, std::vector<long double>(num_sets));
  for (std::size_t v = 0; v < n; ++v) {
    for (std::size_t set = 0; set < num_sets; ++set)
      sums[v][set] = (set >> v & 1) != 0 ? 0.0L : std::exp(static_cast<long double>(scores[v][set]));
    for (std::size_t b = 0; b < n; ++b) {
      for (std::size_t set = 0; set < num_sets; ++set) {
        if ((set >> b & 1) != 0) sums[v][set] += sums[v][set & ~(std::size_t{1} << b)];
      }
    }
  }
  std::vector<long double> z(num_sets);
  z[0] = 1.0L;
  for (std::uint32_t set = 1; set < num_sets; ++set) {
    for (std::uint32_t sinks = set; sinks != 0; sinks = (sinks - 1) & set) {
      long double term = std::popcount(sinks) % 2 == 1 ? z[set & ~sinks] : -z[set & ~sinks];
      DagLayers::for_each_node(sinks, [&](int v) { term *= sums[static_cast<std::size_t>(v)][set & ~sinks]; });
      z[set] += term;
    }
  }
  return z.back();
}

TEST(DagPosterior, EqualsInclusionAndExclusionBeyondEnumeration) {
  for (const std::size_t n : {7, 9}) {
    const DagScores scores = random_scores(static_cast<int>(n), n, 1.0);
    const DagPosterior posterior = dag_posterior(scores);
    const long double z = sum_by_exclusion(scores);
    EXPECT_NEAR(posterior.log_z, static_cast<double>(std::log(z)), 1e-10);
    for (const auto& [u, v] : {std::pair(0u, 1u), std::pair(3u, 2u), std::pair(6u, 0u)}) {
      DagScores without = scores;
      for (std::size_t set = 0; set < without[v].size(); ++set) {
        if ((set >> u & 1) != 0) without[v][set] = kNegInf;
      }
      EXPECT_NEAR(posterior.edges[u][v], static_cast<double>(1.0L - sum_by_exclusion(without) / z), 1e-9);
    }
  }
}

// OEIS A003024.
TEST(DagPosterior, CountsAllGraphs) {
  const std::vector<double> counts = {1, 3, 25, 543, 29281, 3781503, 1138779265, 783702329343};
  for (std::size_t n = 1; n <= counts.size(); ++n) {
    const DagPosterior posterior = dag_posterior(DagScores(n, std::vector<double>(std::size_t{1} << n)));
    EXPECT_NEAR(std::exp(posterior.log_z), counts[n - 1], 1e-9 * counts[n - 1]);
    EXPECT_NEAR(posterior.edges[0][n - 1], posterior.edges[n - 1][0], 1e-12);
  }
}

TEST(DagPosterior, SamplesHaveThePosteriorsDistribution) {
  constexpr int kSamples = 20'000;
  const DagScores scores = random_scores(3, 5, 1.0);
  const DagPosterior posterior = dag_posterior(scores, {.samples = kSamples});
  std::map<std::vector<std::uint32_t>, int> counts;
  for (const Dag& dag : posterior.samples) ++counts[dag.parents];
  // Chi-squared with 24 degrees of freedom is below 60 but for 1 of 15,000 seeds.
  double chi_squared = 0.0;
  for_each_dag(3, [&](const std::vector<std::uint32_t>& parents) {
    const double expected = kSamples * std::exp(score_of(scores, parents) - posterior.log_z);
    if (expected == 0.0) {
      EXPECT_EQ(counts[parents], 0);
      return;
    }
    chi_squared += (counts[parents] - expected) * (counts[parents] - expected) / expected;
  });
  EXPECT_LT(chi_squared, 60.0);
}

// Graphs of one equivalence class explain data equally well.
TEST(DagScores, BgeAndBdeuAreTheSameForGraphsThatSayTheSame) {
  Random random(3, "data");
  std::vector<std::vector<double>> numbers;
  std::vector<std::vector<int>> states;
  for (int row = 0; row < 40; ++row) {
    const double a = random.normal(), b = a + random.normal(), c = b - random.normal();
    numbers.push_back({a, b, c});
    states.push_back({a > 0, (b > -1) + (b > 1), c > 0.5});
  }
  for (const DagScores& scores : {bge_scores(numbers), bdeu_scores(states)}) {
    const double chain = score_of(scores, {0, 0b001, 0b010}), back = score_of(scores, {0b010, 0b100, 0});
    const double fork = score_of(scores, {0b010, 0, 0b010}), collider = score_of(scores, {0, 0b101, 0});
    EXPECT_NEAR(chain, back, 1e-10);
    EXPECT_NEAR(chain, fork, 1e-10);
    EXPECT_GT(std::abs(chain - collider), 1e-3);
  }
}

// One column of two rows by hand: theta is Beta(1/2, 1/2), so p(0, 1) = 1/2 * 1/4.
TEST(DagScores, BdeuEqualsTheIntegralByHand) {
  EXPECT_NEAR(bdeu_scores({{0}, {1}})[0][0], std::log(0.125), 1e-12);
  EXPECT_NEAR(bdeu_scores({{0}, {0}}, {.num_states = {2}})[0][0], std::log(0.375), 1e-12);
}

// One column of numbers x_1..x_N with mean m: a Student distribution, by the chain rule of its predictive
// distributions. With alpha_mu = 1 and alpha_w = 3 (one column), T = 1/2, and the prior mean at the data's.
TEST(DagScores, BgeEqualsTheProductOfPredictiveDistributions) {
  const std::vector<double> x = {0.3, -1.2, 2.0, 0.1};
  double mean = 0.0;
  for (const double value : x) mean += value / 4.0;
  double expected = 0.0, centre = mean, kappa = 1.0, nu = 3.0, scale = 0.5;  // normal-gamma with nu = alpha_w
  for (const double value : x) {
    const double dof = nu, s2 = scale * (kappa + 1.0) / (kappa * dof);
    const double z = (value - centre) * (value - centre) / (dof * s2);
    expected += std::lgamma(0.5 * (dof + 1.0)) - std::lgamma(0.5 * dof) - 0.5 * std::log(dof * M_PI * s2) -
                0.5 * (dof + 1.0) * std::log1p(z);
    scale += kappa / (kappa + 1.0) * (value - centre) * (value - centre);
    centre = (kappa * centre + value) / (kappa + 1.0);
    kappa += 1.0;
    nu += 1.0;
  }
  std::vector<std::vector<double>> rows;
  for (const double value : x) rows.push_back({value});
  EXPECT_NEAR(bge_scores(rows)[0][0], expected, 1e-10);
}

TEST(DagPosterior, WrongInputIsNamed) {
  const auto message = [](const auto& work) -> std::string {
    try {
      work();
    } catch (const Error& error) {
      return error.what();
    }
    return "none";
  };
  EXPECT_EQ(message([] { bge_scores({{1, 2}, {3}}); }), "bge_scores: row 1 has 1 values, and the first one 2");
  EXPECT_EQ(message([] { bge_scores({{1, NAN}}); }), "bge_scores: row 0, column 1 is nan, allowed are finite numbers");
  EXPECT_EQ(message([] { bdeu_scores({{0, -1}}); }), "bdeu_scores: row 0, column 1 is -1, allowed are 0 to 29");
  EXPECT_EQ(message([] { bdeu_scores({}); }), "bdeu_scores: the table has no rows");
  EXPECT_EQ(message([] { dag_posterior({{0, NAN}}); }), "none");  // an entry that is not used
  EXPECT_EQ(message([] { dag_posterior({{NAN, 0}}); }), "DagLayers: scores[0][0] is nan, allowed are numbers and -inf");
  EXPECT_EQ(message([] { dag_posterior({{kNegInf, 0}}); }), "dag_posterior: no graph is possible");
  EXPECT_EQ(message([] { dag_posterior(random_scores(9, 1, 1.0), {}, {.bytes = 100'000}); }),
            "dag_posterior: the limit of memory does not suffice");
}

}  // namespace
}  // namespace treesample
