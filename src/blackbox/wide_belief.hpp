// P_X over a domain that cannot be enumerated, and draws from it for proposals and errors.
//
// What is believed is summed by elimination as far as it is a sum of tables (LearnedTarget::summable); configurations
// whose beliefs were computed are cut out of it (surrogate/learned_approximation.hpp), so that P_X has
//
//   the true value where it was told,
//   the belief of all surrogates where it was computed,
//   exp(sum of tables + c) elsewhere,
//
// and is normalised exactly. What surrogates other than sums of tables believe is learned by such a sum as well, from
// their beliefs at draws, which are free (correct). The constant c makes the mass of the last part that of the beliefs:
//
//   exp(c) = E_t[exp(belief - sum of tables)]        t: draws from the tables, outside the other two parts
#pragma once

#include <memory>
#include <vector>

#include "blackbox/learned_target.hpp"
#include "blackbox/surrogate_pool.hpp"
#include "surrogate/difference_estimate.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/surrogate/learned_approximation.hpp"

namespace treesample {

class WideBelief {
 public:
  static constexpr double kMostEntries = 2e6;  // bucket entries of an elimination

  // `known`: what was told. `pool` takes beliefs of draws from the tables; its best `most` are used. The tables are
  // corrected by the beliefs at `num_draws` draws.
  WideBelief(const LearnedTarget& target, const std::vector<Configuration>& known, SurrogatePool& pool,
             std::size_t most, int num_draws, std::uint64_t seed, Random& random);

  // P_X, and the same outside what was told.
  [[nodiscard]] std::shared_ptr<const LearnedApproximation> all() const;
  [[nodiscard]] const std::shared_ptr<const LearnedApproximation>& elsewhere() const { return elsewhere_; }
  [[nodiscard]] const FactorGraph& tables() const { return tables_; }
  [[nodiscard]] const std::vector<Configuration>& known() const { return known_; }
  [[nodiscard]] const std::vector<Configuration>& computed() const { return computed_; }

 private:
  void correct(const LearnedTarget& target, SurrogatePool& pool, int num_draws, Random& random);
  [[nodiscard]] double calibrate(const LearnedTarget& target, SurrogatePool& pool, Random& random);
  [[nodiscard]] std::vector<Configuration> without_known() const;

  FactorGraph graph_, tables_;
  std::vector<Configuration> known_, computed_;
  std::shared_ptr<const LearnedApproximation> elsewhere_;
};

// The mixture from which errors are sampled: what is believed, its square root and the uniform distribution over what
// the tables of the model allow, all outside what was told.
class WideMixture {
 public:
  WideMixture(const WideBelief& belief, const FactorGraph& tables_of_model, std::uint64_t seed);

  [[nodiscard]] bool has_any() const { return uniform_->log_value() != kNegInf; }
  [[nodiscard]] double log_mass() const { return parts_.front()->log_value(); }
  // Pre: has_any().
  [[nodiscard]] Assignment draw(Random& random) const;
  // 1 / q(x) and exp(belief(x)) / q(x).
  [[nodiscard]] TargetSample weigh(const Assignment& x) const;
  [[nodiscard]] double log_belief(const Assignment& x) const;

 private:
  std::vector<std::shared_ptr<const LearnedApproximation>> parts_;  // the belief, its square root
  std::shared_ptr<const LearnedApproximation> uniform_;
};

// Tables with all log values multiplied by `power`; -inf stays.
FactorGraph tempered(const FactorGraph& tables, double power);
// The log of the sum of their densities.
double log_mass(const std::vector<Configuration>& part);
// The mean standard deviation of the guesses, by mass. Guesses err together, so that it is that of their sum as well.
double mean_sd(const LearnedTarget& target, const LearnedApproximation& elsewhere, std::uint64_t seed);
Elimination eliminate_tables(const FactorGraph& tables, std::uint64_t seed);

}  // namespace treesample
