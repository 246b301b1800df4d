// A search by count(), recorded as a circuit that answers further questions in one pass over its nodes.
//
// A node is a sum over the states of one variable. Each term is a product of states that became fixed, free variables
// (sums over the states that were left), one number and other nodes. The parts of a product share no variable, the
// terms of a sum share no configuration, and all terms of a sum have the same variables: this is a smooth d-DNNF with
// more than two states. So one pass upward gives log Z, one pass downward gives all marginals, and one walk down gives
// a sample or the best configuration.
//
// Weights of single states may be changed; evidence is a weight of 0 for all other states:
// circuit.with(weights).given(evidence) is the circuit of the model with both, without a search. The tables of the
// model itself are compiled in.
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "treesample/math/log_bounds.hpp"
#include "treesample/model/approximation.hpp"
#include "treesample/reduce/evidence.hpp"

namespace treesample {

// By variable and state: log-values that are added to those of the model; -inf forbids a state. An empty list: none for
// this variable.
using StateWeights = std::vector<std::vector<double>>;
// The weights in the tables of a model, each of which must be over one variable; otherwise throws kArgument. If a
// variable has several tables, they stand one after the other, each for its own Circuit::with(). Adding them up first
// would lose precision: each log-value is known to one unit in the last place, but their sum is not if large values
// cancel.
std::vector<StateWeights> state_weights(const FactorGraph& graph);

struct CircuitShape;
class CountNumber;

class Circuit final : public Approximation {
 public:
  // Certified for any weights; both bounds are -inf if nothing is possible.
  [[nodiscard]] LogBounds log_z() const;
  // [variable][state]; all 0 if nothing is possible.
  [[nodiscard]] Marginals marginals() const;
  [[nodiscard]] Assignment sample(Random& random) const override;
  [[nodiscard]] double log_prob(std::span<const int> x) const override;
  // A configuration of the largest density, and that density as computed, weights included. No other has a density that
  // is larger by more than `gap`, which is due to rounding. Throws kArgument if none is possible.
  struct Best {
    Configuration configuration;
    double gap = 0.0;
  };
  [[nodiscard]] Best best() const;
  // log of the density at x, weights included. The exponentials of these sum to Z.
  [[nodiscard]] double log_density(std::span<const int> x) const;

  // The same circuit with these weights in addition to those that it has. Throws kArgument for other numbers of states,
  // NaN, and finite weights beyond 1e6 in magnitude.
  [[nodiscard]] Circuit with(const StateWeights& weights) const;
  // The same circuit and weights, with all states that contradict the evidence made impossible. Throws as
  // observed_states does.
  [[nodiscard]] Circuit given(const Evidence& evidence) const;

  [[nodiscard]] int num_variables() const;
  [[nodiscard]] int num_states(int variable) const;
  [[nodiscard]] std::int64_t num_nodes() const;
  [[nodiscard]] std::uint64_t bytes() const;

  explicit Circuit(std::shared_ptr<const CircuitShape> shape);
  [[nodiscard]] const CircuitShape& shape() const { return *shape_; }

 private:
  struct Values;
  // The same circuit with weights for all states, by their numbers, whose products are within exp(log_range).
  [[nodiscard]] Circuit evaluated(std::vector<CountNumber> weights, double log_range) const;
  // 0 if x is impossible.
  [[nodiscard]] CountNumber density(std::span<const int> x) const;
  std::shared_ptr<const CircuitShape> shape_;
  std::shared_ptr<const Values> values_;
};

// The text format of docs/methods/zeros.md, section 7. Numbers are hexadecimal, so that they read back bit for bit.
// Weights set by with() or given() are not written.
std::string format_circuit(const Circuit& circuit);
void write_circuit(const Circuit& circuit, const std::filesystem::path& path);
// Throws kParse naming the line and what is allowed. It checks all indices and ranges, and three properties: nodes use
// only earlier nodes, the terms of each sum differ in the state of their first variable, and each term of a sum has
// each variable of the sum once.
Circuit parse_circuit(std::string_view text, std::string_view source_name);
Circuit read_circuit(const std::filesystem::path& path);

}  // namespace treesample
