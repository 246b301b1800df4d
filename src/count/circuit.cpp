#include "treesample/count/circuit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "count/circuit_shape.hpp"
#include "math/compensated_sum.hpp"
#include "treesample/error.hpp"

namespace treesample {

struct Circuit::Values {
  std::vector<CountNumber> weights;  // by state
  std::vector<CountNumber> nodes;
  double log_range = 0.0;  // no product is beyond exp(+-log_range)
};

namespace {

CountNumber sum_of(std::span<const std::uint32_t> states, const std::vector<CountNumber>& weights) {
  CountNumber sum;
  for (const std::uint32_t state : states) sum += weights[state];
  return sum;
}

CountNumber value_of(const CircuitShape& shape, const CircuitTerm& term, const std::vector<CountNumber>& weights,
                     const std::vector<CountNumber>& nodes) {
  CountNumber value = CountNumber::one();
  for (const std::uint32_t state : term.fixed) {
    if (!weights[state].is_one()) value *= weights[state];
  }
  shape.for_each_free(term, [&](std::span<const std::uint32_t> states) { value *= sum_of(states, weights); });
  for (const std::uint32_t child : term.children) value *= nodes[child];
  if (term.constant != 0) value *= shape.constants[term.constant - 1];
  return value;
}

}  // namespace

Circuit::Circuit(std::shared_ptr<const CircuitShape> shape) : shape_(std::move(shape)) {
  *this = evaluated(shape_->state_weights, shape_->log_range);
}

Circuit Circuit::with(const StateWeights& weights) const {
  constexpr const char* kFunction = "Circuit::with";
  constexpr double kLargest = 1e6;
  check_argument(weights.size() == shape_->num_states.size(), kFunction, "needs weights for each variable");
  std::vector<CountNumber> of_states = values_->weights;
  double log_range = values_->log_range;
  for (std::size_t v = 0; v < weights.size(); ++v) {
    if (weights[v].empty()) continue;
    check_argument(weights[v].size() == static_cast<std::size_t>(shape_->num_states[v]), kFunction,
                   fmt::format("variable {} has {} weights, {} states", v, weights[v].size(), shape_->num_states[v]));
    double largest = 0.0;
    for (std::size_t s = 0; s < weights[v].size(); ++s) {
      const double weight = weights[v][s];
      check_argument(weight == kNegInf || std::abs(weight) <= kLargest, kFunction,
                     fmt::format("weight {}, allowed are -inf and -1e6 to 1e6", weight));
      if (weight != kNegInf) largest = std::max(largest, std::abs(weight));
      // A weight with logarithm 0 has an error too: the number whose logarithm was given need not be exactly 1.
      of_states[shape_->first_state[v] + s] *= CountNumber::of_log(weight, kEpsilon * (1.0 + std::abs(weight)));
    }
    log_range += largest;
  }
  check_argument(log_range <= CountNumber::kLargestLog, kFunction, "the weights together are beyond exp(1e9)");
  return evaluated(std::move(of_states), log_range);
}

Circuit Circuit::evaluated(std::vector<CountNumber> weights, double log_range) const {
  auto values = std::make_shared<Values>();
  values->log_range = log_range;
  values->weights = std::move(weights);
  values->nodes.reserve(shape_->num_nodes());
  for (std::size_t node = 0; node < shape_->num_nodes(); ++node) {
    CountNumber sum;
    shape_->for_each_term(
        node, [&](const CircuitTerm& term) { sum += value_of(*shape_, term, values->weights, values->nodes); });
    values->nodes.push_back(sum);
  }
  Circuit result = *this;
  result.values_ = std::move(values);
  return result;
}

Circuit Circuit::given(const Evidence& evidence) const {
  FactorGraph variables;
  for (const int count : shape_->num_states) variables.add_variable(count);
  const Assignment observed = observed_states(variables, evidence);
  std::vector<CountNumber> weights = values_->weights;
  for (std::size_t state = 0; state < weights.size(); ++state) {
    const int v = shape_->variable_of[state];
    const bool is_open = observed[v] < 0 || shape_->first_state[v] + static_cast<std::uint32_t>(observed[v]) == state;
    if (!is_open) weights[state] = {};
  }
  return evaluated(std::move(weights), values_->log_range);
}

LogBounds Circuit::log_z() const {
  const LogBounds count = values_->nodes.back().log_bounds();
  if (count.upper == kNegInf) return count;
  const double constant = shape_->log_constant;
  const double error = shape_->log_error + kEpsilon * (2.0 * std::abs(constant) + std::abs(count.upper) + 1.0);
  return {constant + count.lower - error, constant + count.upper + error};
}

Marginals Circuit::marginals() const {
  const CircuitShape& shape = *shape_;
  Marginals result;
  for (const int count : shape.num_states) result.emplace_back(static_cast<std::size_t>(count), 0.0);
  if (values_->nodes.back().is_zero()) return result;
  const auto add = [&](std::uint32_t state, double probability) {
    const int v = shape.variable_of[state];
    result[v][state - shape.first_state[v]] += probability;
  };
  // The probability that a configuration passes through a node.
  std::vector<double> flow(shape.num_nodes(), 0.0);
  flow.back() = 1.0;
  for (std::size_t node = shape.num_nodes(); node-- > 0;) {
    if (flow[node] == 0.0) continue;
    shape.for_each_term(node, [&](const CircuitTerm& term) {
      const CountNumber value = value_of(shape, term, values_->weights, values_->nodes);
      const double probability = flow[node] * quotient(value, values_->nodes[node]);
      if (probability == 0.0) return;
      for (const std::uint32_t state : term.fixed) add(state, probability);
      shape.for_each_free(term, [&](std::span<const std::uint32_t> states) {
        const CountNumber sum = sum_of(states, values_->weights);
        for (const std::uint32_t state : states) add(state, probability * quotient(values_->weights[state], sum));
      });
      for (const std::uint32_t child : term.children) flow[child] += probability;
    });
  }
  for (std::vector<double>& of_variable : result) {  // removes the rounding of the downward pass
    double total = 0.0;
    for (const double probability : of_variable) total += probability;
    for (double& probability : of_variable) probability /= total;
  }
  return result;
}

Assignment Circuit::sample(Random& random) const {
  const CircuitShape& shape = *shape_;
  check_argument(!values_->nodes.back().is_zero(), "Circuit::sample",
                 "the distribution has no configuration with positive probability");
  Assignment x(shape.num_states.size(), 0);
  const auto set = [&](std::uint32_t state) {
    const int v = shape.variable_of[state];
    x[v] = static_cast<int>(state - shape.first_state[v]);
  };
  std::vector<std::size_t> open{shape.root()};
  std::vector<double> weights;
  std::vector<CircuitTerm> terms;
  while (!open.empty()) {
    const std::size_t node = open.back();
    open.pop_back();
    weights.clear();
    terms.clear();
    shape.for_each_term(node, [&](const CircuitTerm& term) {
      weights.push_back(quotient(value_of(shape, term, values_->weights, values_->nodes), values_->nodes[node]));
      terms.push_back(term);
    });
    const CircuitTerm term = terms[random.categorical(weights)];
    for (const std::uint32_t state : term.fixed) set(state);
    shape.for_each_free(term, [&](std::span<const std::uint32_t> states) {
      const CountNumber sum = sum_of(states, values_->weights);
      weights.clear();
      for (const std::uint32_t state : states) weights.push_back(quotient(values_->weights[state], sum));
      set(states[random.categorical(weights)]);
    });
    open.insert(open.end(), term.children.begin(), term.children.end());
  }
  return x;
}

double Circuit::log_prob(std::span<const int> x) const {
  check_states("Circuit::log_prob", shape_->num_states, x);
  const CountNumber at_x = density(x);
  return at_x.is_zero() ? kNegInf : std::min(0.0, at_x.log() - values_->nodes.back().log());  // rounding may exceed 0
}

double Circuit::log_density(std::span<const int> x) const {
  check_states("Circuit::log_density", shape_->num_states, x);
  const CountNumber at_x = density(x);
  return at_x.is_zero() ? kNegInf : shape_->log_constant + at_x.log();
}

CountNumber Circuit::density(std::span<const int> x) const {
  const CircuitShape& shape = *shape_;
  const auto is_in_x = [&](std::uint32_t state) {
    const int v = shape.variable_of[state];
    return static_cast<std::uint32_t>(x[v]) + shape.first_state[v] == state;
  };
  CountNumber density = CountNumber::one();
  std::vector<std::size_t> open{shape.root()};
  while (!open.empty() && !density.is_zero()) {
    const std::size_t node = open.back();
    open.pop_back();
    bool is_found = false;
    shape.for_each_term(node, [&](const CircuitTerm& term) {  // at most one term contains x
      if (is_found || !std::all_of(term.fixed.begin(), term.fixed.end(), is_in_x)) return;
      is_found = true;
      for (const std::uint32_t state : term.fixed) density *= values_->weights[state];
      shape.for_each_free(term, [&](std::span<const std::uint32_t> states) {
        const auto own = std::find_if(states.begin(), states.end(), is_in_x);
        density *= own == states.end() ? CountNumber() : values_->weights[*own];
      });
      if (term.constant != 0) density *= shape.constants[term.constant - 1];
      open.insert(open.end(), term.children.begin(), term.children.end());
    });
    if (!is_found) return {};
  }
  return density;
}

Circuit::Best Circuit::best() const {
  const CircuitShape& shape = *shape_;
  check_argument(!values_->nodes.back().is_zero(), "Circuit::best", "no configuration is possible");
  const std::vector<CountNumber>& weights = values_->weights;
  const auto most = [&](std::span<const std::uint32_t> states) {
    CountNumber largest;
    for (const std::uint32_t state : states) largest = larger(largest, weights[state]);
    return largest;
  };
  std::vector<CountNumber> best;  // by node
  const auto best_of = [&](const CircuitTerm& term) {
    CountNumber product = term.constant == 0 ? CountNumber::one() : shape.constants[term.constant - 1];
    for (const std::uint32_t state : term.fixed) product *= weights[state];
    shape.for_each_free(term, [&](std::span<const std::uint32_t> states) { product *= most(states); });
    for (const std::uint32_t child : term.children) product *= best[child];
    return product;
  };
  for (std::size_t node = 0; node < shape.num_nodes(); ++node) {
    CountNumber largest;
    shape.for_each_term(node, [&](const CircuitTerm& term) { largest = larger(largest, best_of(term)); });
    best.push_back(largest);
  }
  const LogBounds bounds = best.back().log_bounds();
  Best result{{Assignment(shape.num_states.size(), 0), shape.log_constant + best.back().log()},
              bounds.upper - bounds.lower + 2.0 * shape.log_error};
  const auto set = [&](std::uint32_t state) {
    const int v = shape.variable_of[state];
    result.configuration.x[v] = static_cast<int>(state - shape.first_state[v]);
  };
  std::vector<std::size_t> open{shape.root()};
  while (!open.empty()) {
    const std::size_t node = open.back();
    open.pop_back();
    bool is_found = false;
    shape.for_each_term(node, [&](const CircuitTerm& term) {
      if (is_found || !best_of(term).equals(best[node])) return;
      is_found = true;
      for (const std::uint32_t state : term.fixed) set(state);
      shape.for_each_free(term, [&](std::span<const std::uint32_t> states) {
        const CountNumber largest = most(states);
        set(*std::find_if(states.begin(), states.end(),
                          [&](std::uint32_t state) { return weights[state].equals(largest); }));
      });
      open.insert(open.end(), term.children.begin(), term.children.end());
    });
  }
  return result;
}

std::vector<StateWeights> state_weights(const FactorGraph& graph) {
  const StateWeights none(static_cast<std::size_t>(graph.num_variables()));
  std::vector<StateWeights> weights;
  std::vector<std::size_t> num_tables(none.size(), 0);  // by variable
  for (const Factor& factor : graph.factors()) {
    check_argument(factor.is_table() && factor.scope().size() == 1, "state_weights",
                   "needs tables over one variable each");
    const int v = factor.scope()[0];
    if (num_tables[v] == weights.size()) weights.push_back(none);
    weights[num_tables[v]++][v] = factor.log_values();
  }
  return weights;
}

int Circuit::num_variables() const { return static_cast<int>(shape_->num_states.size()); }
int Circuit::num_states(int variable) const { return shape_->num_states[variable]; }
std::int64_t Circuit::num_nodes() const { return static_cast<std::int64_t>(shape_->num_nodes()); }
std::uint64_t Circuit::bytes() const {
  return shape_->words.size() * sizeof(std::uint32_t) +
         shape_->nodes.size() * (sizeof(std::uint64_t) + sizeof(CountNumber)) +
         shape_->constants.size() * sizeof(CountNumber);
}

}  // namespace treesample
