// The messages of belief propagation on one factor graph, and their steps.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "baselines/factor_messages.hpp"
#include "treesample/model/factor_graph.hpp"

namespace treesample {

class MessagePassing {
 public:
  // Keeps a reference to the graph, which must outlive it. Throws Error (kArgument) for function factors.
  MessagePassing(const FactorGraph& graph, double damping);
  MessagePassing(const MessagePassing&) = delete;  // it holds pointers into its own arrays
  MessagePassing& operator=(const MessagePassing&) = delete;

  // Uniform messages, no variable fixed.
  void reset();
  // Computes factor-to-variable messages from the current variable-to-factor ones, then the reverse. Returns the
  // largest change of a log-message mu; +inf if a state became impossible.
  double step();
  // The messages of a variable become the atom at this state and stay so.
  void fix(int variable, int state);
  // Fills in the belief of a variable. If no state is left, returns false and fills in zeros.
  bool belief(int variable, std::span<double> probabilities) const;
  // -inf if some variable has no state left.
  [[nodiscard]] double bethe_log_z();
  [[nodiscard]] int num_states(int variable) const { return graph_->num_states(variable); }

  // Counts all factors that have a scope.
  [[nodiscard]] std::int64_t num_factors() const { return static_cast<std::int64_t>(factors_.size()); }
  [[nodiscard]] std::int64_t num_messages() const { return static_cast<std::int64_t>(edges_.size()); }
  [[nodiscard]] std::int64_t num_entries() const { return num_entries_; }

 private:
  // A pair of a factor and a variable of its scope. It knows the place of its two messages.
  struct Edge {
    int variable;
    int factor;
    int num_states;
    std::int64_t offset;  // in the arrays of messages
  };
  struct FactorEdges {
    std::span<const double> table;
    int first;  // edges first..last-1, in scope order
    int last;
    int num_free;  // variables that are not fixed
  };
  void compute_factor(const FactorEdges& factor);
  double accept(const Edge& edge);
  void update_variable(int variable);

  const FactorGraph* graph_;
  double damping_;
  double log_constant_ = 0.0;
  std::int64_t num_entries_ = 0;
  std::vector<Edge> edges_;  // grouped by factor
  std::vector<FactorEdges> factors_;
  std::vector<std::vector<int>> edges_of_;  // by variable
  std::vector<bool> is_fixed_;              // by variable
  // All arrays are indexed by Edge::offset. Messages are normalised to a maximum of 0, unless they are -inf throughout.
  std::vector<double> to_variable_;      // mu
  std::vector<double> to_factor_;        // nu
  std::vector<double> new_to_variable_;  // mu of the current step, before normalisation and damping
  std::vector<const double*> incoming_;  // by edge: into to_factor_ ...
  std::vector<double*> outgoing_;        // ... and new_to_variable_
  std::vector<int> dims_;                // by edge
  FactorMessages factor_messages_;
  std::vector<double> sum_;
};

}  // namespace treesample
