// How the factors of one variable rate its states.
#pragma once

#include <span>
#include <vector>

#include "treesample/model/factor_graph.hpp"
#include "treesample/reduce/propagator.hpp"
#include "treesample/stop.hpp"

namespace treesample {

class LocalScores {
 public:
  // For a model of tables, which must outlive the object.
  explicit LocalScores(const FactorGraph& graph);

  // scores[i] = the sum over the factors m of v of the log of the sum of exp psi_m(x), over the x within the domains
  // that have x_v = states[i]. A factor with too many such x is left out.
  void within_domains(const Propagator& domains, int variable, std::span<const int> states, std::span<double> scores);

  // Changes one variable at a time to its best state given all others, except where `is_kept`, until no change raises
  // the density, or `should_stop`. The density of x must be positive.
  void climb(std::span<int> x, const std::vector<char>& is_kept, const ShouldStop& should_stop) const;

  [[nodiscard]] const std::vector<int>& factors_of(int variable) const { return factors_of_[variable]; }

 private:
  void add_factor(const Propagator& domains, int factor, int variable, std::span<const int> states,
                  std::span<double> scores);
  bool improve(std::span<int> x, int variable) const;

  const FactorGraph& graph_;
  std::vector<std::vector<int>> factors_of_;
  std::vector<std::vector<std::size_t>> strides_;  // per factor and scope variable
  std::vector<std::size_t> offsets_;               // scratch: of the states of the other variables of a factor
  std::vector<double> entries_;                    // scratch
};

}  // namespace treesample
