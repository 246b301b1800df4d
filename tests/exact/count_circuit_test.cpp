// Circuits against enumeration, with weights and evidence other than those they were compiled with.
#include <gtest/gtest.h>

#include <cmath>

#include "support/random_models.hpp"
#include "support/trials.hpp"
#include "support/zero_models.hpp"
#include "treesample/count/count.hpp"
#include "treesample/error.hpp"
#include "treesample/exact/enumeration.hpp"

namespace treesample {
namespace {

using testing::below;
using testing::num_trials;

FactorGraph random_graph(Random& random) {
  testing::RandomCspOptions kind{.num_variables = 1 + below(random, 7),
                                 .max_states = 2 + below(random, 3),
                                 .num_factors = 1 + below(random, 9),
                                 .zeros = 0.2 + 0.5 * random.uniform(),
                                 .num_levels = below(random, 4),
                                 .num_blocks = 1 + below(random, 3)};
  return testing::random_csp(random, kind);
}

std::shared_ptr<const Circuit> compile(const FactorGraph& graph) {
  return count(graph, {}, {.keep_circuit = true}).circuit;
}

void expect_equal(const Circuit& circuit, const FactorGraph& graph) {
  const Enumeration truth = enumerate(graph);
  const LogBounds bounds = circuit.log_z();
  if (truth.log_z == kNegInf) {
    EXPECT_EQ(bounds.upper, kNegInf);
    return;
  }
  EXPECT_TRUE(bounds.is_exact());
  EXPECT_LE(bounds.lower, truth.log_z + 1e-9);
  EXPECT_GE(bounds.upper, truth.log_z - 1e-9);
  const Marginals marginals = circuit.marginals();
  double best = kNegInf;
  for (int v = 0; v < graph.num_variables(); ++v) {
    for (int s = 0; s < graph.num_states(v); ++s) EXPECT_NEAR(marginals[v][s], truth.marginals[v][s], 1e-9);
  }
  for (std::size_t i = 0; i < truth.log_probs.size(); ++i) {
    const Assignment x = configuration_at(graph, i);
    best = std::max(best, graph.log_density(x));
    const double log_prob = circuit.log_prob(x);
    const double log_density = graph.log_density(x);
    EXPECT_TRUE(log_density == kNegInf ? circuit.log_density(x) == kNegInf
                                       : std::abs(circuit.log_density(x) - log_density) < 1e-8);
    if (truth.log_probs[i] == kNegInf) {
      EXPECT_EQ(log_prob, kNegInf);
    } else {
      EXPECT_NEAR(log_prob, truth.log_probs[i], 1e-8);
    }
  }
  const Circuit::Best found = circuit.best();
  EXPECT_NEAR(found.configuration.log_density, best, 1e-8);
  EXPECT_NEAR(graph.log_density(found.configuration.x), best, 1e-8);
  EXPECT_GE(graph.log_density(found.configuration.x), best - found.gap - 1e-12 * (1.0 + std::abs(best)));
  EXPECT_LT(found.gap, 1e-9);
  Random random(1, "circuit samples");
  for (int i = 0; i < 5; ++i) EXPECT_GT(graph.log_density(circuit.sample(random)), kNegInf);
}

TEST(CountCircuit, EqualsEnumerationForOtherWeightsAndEvidence) {
  int num_possible = 0;
  for (int trial = 0; trial < num_trials(400); ++trial) {
    SCOPED_TRACE(trial);
    Random random(trial, "count circuit");
    FactorGraph graph = random_graph(random);
    const auto circuit = compile(graph);
    if (circuit == nullptr) {
      EXPECT_EQ(enumerate(graph).log_z, kNegInf);
      continue;
    }
    ++num_possible;
    expect_equal(*circuit, graph);
    expect_equal(parse_circuit(format_circuit(*circuit), "text"), graph);
    for (int change = 0; change < 3; ++change) {
      FactorGraph changed = graph;
      StateWeights weights;
      for (int v = 0; v < graph.num_variables(); ++v) {
        std::vector<double> of_variable;
        for (int s = 0; s < graph.num_states(v); ++s) {
          of_variable.push_back(random.uniform() < 0.2 ? kNegInf : 3.0 * random.normal());
        }
        changed.add_table({v}, of_variable);
        weights.push_back(of_variable);
      }
      expect_equal(circuit->with(weights), changed);
    }
    const Observation seen{below(random, graph.num_variables()), 0};
    FactorGraph observed = graph;
    std::vector<double> only(static_cast<std::size_t>(graph.num_states(seen.variable)), kNegInf);
    only[0] = 0.0;
    observed.add_table({seen.variable}, only);
    expect_equal(circuit->given({seen}), observed);
    StateWeights weights;
    for (int v = 0; v < graph.num_variables(); ++v) {
      weights.emplace_back();
      for (int s = 0; s < graph.num_states(v); ++s) weights.back().push_back(random.normal());
      observed.add_table({v}, weights.back());
    }
    expect_equal(circuit->with(weights).given({seen}), observed);
    if (HasFailure()) return;
  }
  EXPECT_GT(num_possible, 100);
}

// Of the states of a free variable one is in a product, so that their weights do not add up.
TEST(CountCircuit, WeightsOfManyStatesMayBeFarBelowTheLargest) {
  FactorGraph graph = testing::variables({4});
  graph.add_table({0}, {0.0, -4e8, -4e8, -4e8});
  const auto circuit = compile(graph);
  ASSERT_NE(circuit, nullptr);
  EXPECT_EQ(parse_circuit(format_circuit(*circuit), "text").log_z().lower, circuit->log_z().lower);
}

// False-alarm rate: 1e-6.
TEST(CountCircuit, SamplesHaveTheProbabilitiesOfTheModel) {
  Random random(3, "circuit model");
  FactorGraph graph = testing::coloured_cycle(5, 3);
  for (int v = 0; v < 5; ++v) graph.add_table({v}, {random.normal(), random.normal(), random.normal()});
  const auto circuit = compile(graph);
  ASSERT_NE(circuit, nullptr);
  const Enumeration truth = enumerate(graph);
  std::vector<std::int64_t> observed(truth.log_probs.size(), 0);
  constexpr int kSamples = 20'000;
  for (int i = 0; i < kSamples; ++i) ++observed[configuration_index(graph, circuit->sample(random))];
  double chi_square = 0.0;
  int num_cells = 0;
  for (std::size_t i = 0; i < observed.size(); ++i) {
    const double mean = kSamples * std::exp(truth.log_probs[i]);
    if (mean == 0.0) {
      EXPECT_EQ(observed[i], 0);
      continue;
    }
    chi_square += (static_cast<double>(observed[i]) - mean) * (static_cast<double>(observed[i]) - mean) / mean;
    ++num_cells;
  }
  // 30 cells: above 95 with a probability of less than 1e-6 for 29 degrees of freedom.
  EXPECT_EQ(num_cells, 30);
  EXPECT_LT(chi_square, 95.0);
}

TEST(CountCircuit, TextReadsBackBitForBit) {
  const auto circuit = compile(testing::queens(6));
  ASSERT_NE(circuit, nullptr);
  const std::string text = format_circuit(*circuit);
  const Circuit read = parse_circuit(text, "text");
  EXPECT_EQ(format_circuit(read), text);
  EXPECT_EQ(read.log_z().lower, circuit->log_z().lower);
  EXPECT_EQ(read.log_z().upper, circuit->log_z().upper);
}

TEST(CountCircuit, DamagedTextIsRefusedOrStillACircuit) {
  const auto circuit = compile(testing::queens(5));
  ASSERT_NE(circuit, nullptr);
  const std::string text = format_circuit(*circuit);
  for (const std::size_t cut : {std::size_t{0}, std::size_t{5}, text.size() / 3, text.size() / 2, text.size() - 4}) {
    EXPECT_THROW((void)parse_circuit(text.substr(0, cut), "cut"), Error);
  }
  std::string huge = text;
  for (std::size_t place = huge.find("0x1p+0 0 "); place != std::string::npos; place = huge.find("0x1p+0 0 ")) {
    huge.replace(place, 9, "0x1p+0 1400000000 ");
  }
  EXPECT_THROW((void)parse_circuit(huge, "huge"), Error);
  Random random(7, "circuit damage");
  int num_refused = 0;
  for (int trial = 0; trial < num_trials(2000); ++trial) {
    std::string damaged = text;
    const auto place = static_cast<std::size_t>(below(random, static_cast<int>(text.size())));
    damaged[place] = "0123456789 -xp."[below(random, 15)];
    try {
      const Circuit read = parse_circuit(damaged, "damaged");
      const LogBounds bounds = read.log_z();
      EXPECT_FALSE(std::isnan(bounds.lower) || std::isnan(bounds.upper));
      if (bounds.upper != kNegInf) (void)read.sample(random);
      (void)read.marginals();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kParse);
      ++num_refused;
    }
  }
  EXPECT_GT(num_refused, 1000);
}

TEST(CountCircuit, RefusesWeightsThatDoNotFit) {
  const auto circuit = compile(testing::coloured_cycle(4, 3));
  ASSERT_NE(circuit, nullptr);
  EXPECT_THROW((void)circuit->with({}), Error);
  EXPECT_THROW((void)circuit->with(StateWeights(4, std::vector<double>(2, 0.0))), Error);
  EXPECT_THROW((void)circuit->with(StateWeights(4, std::vector<double>(3, std::nan("")))), Error);
  EXPECT_THROW((void)circuit->given({{.variable = 9, .state = 0}}), Error);
  // Products above exp(1e9), which do not fit into 32-bit exponents.
  const auto many = compile([] {
    FactorGraph graph = testing::variables(2000, 2);
    return graph;
  }());
  ASSERT_NE(many, nullptr);
  EXPECT_THROW((void)many->with(StateWeights(2000, std::vector<double>(2, 1e6))), Error);
  EXPECT_NEAR(many->with(StateWeights(2000, std::vector<double>(2, 1e5))).log_z().lower, 2000.0 * (1e5 + std::log(2.0)),
              1e-3);
  const Circuit none = circuit->with(StateWeights(4, std::vector<double>(3, kNegInf)));
  EXPECT_EQ(none.log_z().upper, kNegInf);
  Random random(1);
  EXPECT_THROW((void)none.sample(random), Error);
  EXPECT_THROW((void)none.best(), Error);
}

TEST(CountCircuit, IsLeftOutWhereItDoesNotFit) {
  Random random(3, "count memory");
  const FactorGraph graph = testing::random_clauses(random, 50, 100);
  const CountOptions options{.keep_circuit = true};
  const CountResult whole = count(graph, {}, options);
  ASSERT_NE(whole.circuit, nullptr);
  const CountResult small = count(graph, {.bytes = 2 * whole.circuit->bytes()}, options);
  EXPECT_EQ(small.circuit, nullptr);
  EXPECT_LE(small.report.log_z.lower, whole.report.log_z.upper);
  EXPECT_GE(small.report.log_z.upper, whole.report.log_z.lower);
}

}  // namespace
}  // namespace treesample
