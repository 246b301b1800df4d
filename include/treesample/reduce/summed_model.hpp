// A model without its barren variables: those that can be summed out without affecting the rest.
//
// A variable v is barren if it occurs in one factor only, and its sum does not depend on the factor's other variables:
//
//   log sum over x_v of exp f(x_v, x_parents) = c      for all x_parents.
//
// Summing it out turns the factor into the constant c, and the parents may become barren in turn. If the factor makes
// some x_parents impossible, whatever x_v is, v stays. In a Bayesian network these are the unobserved variables without
// observed descendants. Their conditional distributions are known exactly, p(x_v | x_parents) = exp(f - c). So a
// configuration of the smaller model is completed by drawing the barren variables, last removed first, and
//
//   P(x) = P_left(x_left) * product over v of p(x_v | x_parents),         Z = Z_left.
//
// Weights, bounds of log Z and divergences of samplers are those of the smaller model. But marginals of barren
// variables with several parents need the joint distribution of these, and completing the most probable configuration
// of the smaller model does not give the most probable one. If elimination of the whole model is cheap, it can answer
// more.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "treesample/model/approximation.hpp"
#include "treesample/model/factor_graph.hpp"

namespace treesample {

class SummedModel {
 public:
  // Takes time linear in the table entries of the factors that could be removed. Functions stay, and so do their
  // variables.
  explicit SummedModel(const FactorGraph& graph);

  [[nodiscard]] const FactorGraph& graph() const { return graph_; }  // over the remaining variables
  // Variable of the smaller model -> original variable, ascending.
  [[nodiscard]] const std::vector<int>& variable_of() const { return variable_of_; }
  [[nodiscard]] int num_summed_out() const { return static_cast<int>(barren_.size()); }
  // Sums count as constant if they are so up to rounding. log Z of the smaller model differs from the original one by
  // at most this, which includes the rounding of the sums.
  [[nodiscard]] double log_slack() const { return log_slack_; }

  // A configuration of the original model with the states of the remaining variables, and -1 elsewhere.
  [[nodiscard]] Assignment spread(std::span<const int> left) const;
  // Draws the barren variables of x given the others. Returns the log-probability of the drawn states.
  double draw(std::span<int> x, Random& random) const;
  // Sets each barren variable of x to its most probable state given its parents.
  void choose_best(std::span<int> x) const;
  // The log-probability of the barren variables of x given the others.
  [[nodiscard]] double log_prob(std::span<const int> x) const;
  // The states of the remaining variables.
  [[nodiscard]] Assignment left(std::span<const int> x) const;
  // Marginals of all variables, from those of the remaining ones. A barren variable with one parent has the marginal
  // sum over x_parent of P(x_parent) p(x_v | x_parent). Those with several parents have none here, because their
  // marginals do not follow from those of single variables.
  [[nodiscard]] Marginals marginals(const Marginals& left) const;

 private:
  struct Barren {
    int variable = 0;
    int factor = -1;  // index in original_; -1 if the variable has no factor, and is uniform
    std::size_t stride = 1;
    double log_sum = 0.0;  // of each row of the factor, up to rounding
    // For a variable with many states: the sums of the probabilities of states 0..s, row by row, so that drawing reads
    // only a few numbers.
    std::vector<double> cumulative = {};
  };
  void remove_barren(std::vector<char>& is_left);
  // The position of state 0 of the row p(x_v | x_parents) among the entries of the factor.
  [[nodiscard]] std::size_t first_entry(const Barren& barren, std::span<const int> x) const;
  [[nodiscard]] bool is_wide(const Barren& barren) const;
  [[nodiscard]] std::vector<double> cumulative_rows(const Barren& barren) const;
  double draw_wide(const Barren& barren, std::span<int> x, Random& random) const;
  void check_left(const char* function, std::span<const int> x) const;
  // log p(x_v | x_parents) for all states of v.
  [[nodiscard]] std::span<const double> conditional(const Barren& barren, std::span<const int> x,
                                                    std::vector<double>& buffer) const;

  FactorGraph original_, graph_;
  std::vector<int> variable_of_;
  std::vector<Barren> barren_;  // in the order of removal: parents of a variable remain, or are removed later
  double log_constant_ = 0.0, log_slack_ = 0.0;
};

// An approximation of the smaller model, completed by the barren variables.
class CompletedApproximation final : public Approximation {
 public:
  CompletedApproximation(std::shared_ptr<const SummedModel> model, std::shared_ptr<const Approximation> left);
  [[nodiscard]] Assignment sample(Random& random) const override;
  [[nodiscard]] double log_prob(std::span<const int> x) const override;
  [[nodiscard]] ExploredTree explored_tree(std::size_t max_nodes) const override;

 private:
  std::shared_ptr<const SummedModel> model_;
  std::shared_ptr<const Approximation> left_;
};

}  // namespace treesample
