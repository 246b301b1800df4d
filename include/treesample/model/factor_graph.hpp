// The target: log gamma_hat(x) = sum_m psi_m(x) over variables with their own numbers of states.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "treesample/model/factor.hpp"

namespace treesample {

class EvaluationQueue;

// One state (from 0) per variable.
using Assignment = std::vector<int>;

struct Variable {
  int num_states = 1;
  std::string name = {};                      // may be empty
  std::vector<std::string> state_names = {};  // empty, or one per state
};

class FactorGraph {
 public:
  static constexpr int kMaxStates = 1 << 20;
  static constexpr std::int64_t kMaxTableEntries = std::int64_t{1} << 28;

  // Both return the index of the new variable or factor and throw Error (kArgument) on bad input: a scope that names an
  // unknown variable or the same variable twice, a table of the wrong size, a number of states outside 1..kMaxStates. A
  // function with an empty scope is evaluated at once and kept as a constant.
  int add_variable(Variable variable);
  int add_variable(int num_states) { return add_variable(Variable{.num_states = num_states}); }
  int add_factor(Factor factor);
  int add_table(std::vector<int> scope, std::vector<double> log_values) {
    return add_factor(Factor::table(std::move(scope), std::move(log_values)));
  }

  [[nodiscard]] int num_variables() const { return static_cast<int>(variables_.size()); }
  [[nodiscard]] int num_factors() const { return static_cast<int>(factors_.size()); }
  [[nodiscard]] int num_states(int variable) const { return variables_[variable].num_states; }
  [[nodiscard]] const Variable& variable(int index) const { return variables_[index]; }
  [[nodiscard]] const Factor& factor(int index) const { return factors_[index]; }
  [[nodiscard]] const std::vector<Factor>& factors() const { return factors_; }
  // True if every factor is a table, as elimination, belief propagation and bounds require.
  [[nodiscard]] bool has_only_tables() const;
  // Sum of log(number of states): the log of the size of the domain.
  [[nodiscard]] double log_num_configurations() const;

  // The queue that evaluates functions, several values at a time; null if they can only be called. Copies of the graph
  // share it.
  [[nodiscard]] EvaluationQueue* evaluation_queue() const { return evaluation_queue_.get(); }
  void set_evaluation_queue(std::shared_ptr<EvaluationQueue> queue) { evaluation_queue_ = std::move(queue); }

  // Identifies the graph for which a search space, a leaf value or an approximation was made: a hash of the numbers of
  // states, of the scopes in their order, and of the constants. It does not depend on other values of factors, nor on
  // how the calls that add variables and those that add factors alternate.
  [[nodiscard]] std::uint64_t shape() const;

  // psi_m at a full assignment. Throws kArgument for an unknown factor, for an x without one state per variable, and
  // for an illegal state in the scope; kNumeric as checked_function_value does.
  [[nodiscard]] double log_value(int index, std::span<const int> x) const;
  // log gamma_hat(x). Stops at the first -inf. Throws kArgument as check_assignment does.
  [[nodiscard]] double log_density(std::span<const int> x) const;
  // Throws kArgument unless x has one legal state per variable.
  void check_assignment(std::span<const int> x, const char* function) const;

 private:
  // The same as log_value, for arguments that are known to be legal.
  [[nodiscard]] double value_at(int index, std::span<const int> x) const;

  std::vector<Variable> variables_;
  std::vector<Factor> factors_;
  std::uint64_t variables_hash_ = 0, scopes_hash_ = 0;
  std::shared_ptr<EvaluationQueue> evaluation_queue_;
};

// Throws kArgument unless x has one legal state for each of the numbers of states.
void check_states(const char* function, std::span<const int> num_states, std::span<const int> x);

// Position of the scope's states in a factor's table (row-major, last variable fastest). The states must be legal:
// they are not checked.
std::size_t table_index(const FactorGraph& graph, const Factor& factor, std::span<const int> x);

// States of some variables, by name if they have names: "pump=failed, x3=2".
std::string describe_states(const FactorGraph& graph, std::span<const int> scope, std::span<const int> states);

// The value of a function at the states of its scope, checked as model/log_value.hpp says and against the declared
// maximum: throws kNumeric naming the factor, the states, the value and what is allowed.
double checked_function_value(const FactorGraph& graph, int factor_index, std::span<const int> states);
// The same with its witness, whose positions must be in the scope.
FactorValue checked_factor_value(const FactorGraph& graph, int factor_index, std::span<const int> states);

}  // namespace treesample
