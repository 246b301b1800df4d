// The learned model of a target: its tables unchanged, and its functions as they have been learned so far.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "space/configuration_queue.hpp"
#include "treesample/exact/elimination.hpp"
#include "treesample/model/factor_graph.hpp"
#include "treesample/surrogate/learned_function.hpp"

namespace treesample {

// Limits of the elimination of a learned model.
struct LearnedModelLimits {
  double max_entries = 0.0;  // limit for the buckets
  double max_bytes = 0.0;
  std::uint64_t seed = 0;  // seed of the order
  int threads = 1;
};

class LearnedModel {
 public:
  // Keeps a reference to the graph. Throws kArgument if its tables alone exceed the limits.
  LearnedModel(const FactorGraph& graph, const std::vector<int>& functions, const LearnedModelLimits& limits);

  // True if the tables are within the limits.
  static bool can_hold(const FactorGraph& graph, const LearnedModelLimits& limits);

  // Adds the values of one configuration.
  void add(const AskedConfiguration& asked);
  // Fits again to all values that were added.
  void learn(const ShouldStop& should_stop);

  // The learned model as tables, with all log-values multiplied by `scale` and -inf unchanged. At scale 0 all
  // configurations that the tables allow are equal.
  [[nodiscard]] FactorGraph graph(double scale) const { return make_graph(scale, {}); }
  // The same with functions drawn from their posterior given the values.
  [[nodiscard]] FactorGraph draw(double scale, Random& random) const;
  // Over all functions: the number of terms of 1 variable, of 2, ...
  [[nodiscard]] std::vector<int> num_terms() const;

 private:
  struct Function {
    int factor = 0;
    LearnedFunction learned;
    // True for a function with few states: it is a table of its own, with the true values where it was evaluated.
    bool is_table = false;
    std::unordered_map<std::string, double> known = {};  // by states
  };
  using AllTerms = std::vector<LearnedTerms>;  // by function

  [[nodiscard]] FactorGraph make_graph(double scale, const AllTerms& drawn) const;
  void add_terms(FactorGraph& graph, const Function& function, const LearnedTerms& terms, double scale) const;
  [[nodiscard]] std::vector<double> whole_table(const Function& function, const LearnedTerms& terms) const;
  [[nodiscard]] std::vector<int> variables_of(const Function& function, const LearnedTerm& term) const;
  [[nodiscard]] bool is_cheap(const FactorGraph& graph) const;
  void keep_strongest();

  const FactorGraph& target_;
  LearnedModelLimits limits_;
  std::vector<Function> functions_;
};

// Elimination with the limits of a learned model.
Elimination eliminate(const FactorGraph& graph, const LearnedModelLimits& limits);

// The tables of a model, without its functions.
FactorGraph tables_alone(const FactorGraph& graph, double scale);

}  // namespace treesample
