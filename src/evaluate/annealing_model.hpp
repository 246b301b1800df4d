// Gibbs sweeps of several chains at once, at any temperature, for annealed importance sampling.
//
// The path from a product q of independent variables to the model:
//
//   gamma_b(x) = q(x)^(1 - b) g(x)^b,     0 <= b <= 1,     g = gamma_hat with `log_zero` for each -inf of a table
//
// A sweep at b draws every variable in turn from its conditional under gamma_b. It leaves gamma_b invariant, and its
// reversal is the sweep in the opposite order. Impossible states are only unlikely on the way, so that chains can pass
// through them; what ends in one weighs 0 (evaluate/annealed_importance.hpp).
//
// Eight chains advance together, each in a lane of the same vector instructions. A pair of two-state variables, merged
// from all factors of just these two, is a coupling J s s' of spins -1 and +1, so that the field of a variable is a sum
// of products. All other factors are looked up, lane by lane. Fields are computed anew at each visit: with eight chains
// nearly every variable changes in one of them, and nothing can drift. The density of the new configuration comes for
// free: a factor's value is final once the last of its variables, in the order of the sweep, is drawn.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "treesample/math/random.hpp"
#include "treesample/model/factor_graph.hpp"

namespace treesample {

inline constexpr int kLanes = 8;

// Uniform numbers in [0, 1), one per lane: eight generators xoshiro256+ (Blackman and Vigna) side by side, because the
// numbers would otherwise take as long as all else.
class LaneRandom {
 public:
  explicit LaneRandom(Random& seeds);

 private:
  friend class AnnealingModel;
  std::uint64_t state_[4][kLanes];
};

// Independent variables: log q of each state, variable by variable, normalised.
using BaseLogProbs = std::vector<double>;

// One configuration per lane.
struct LaneStates {
  std::vector<int> x;                // [variable][lane]
  std::vector<double> spin;          // the same as -1 and +1; only of variables with two states
  double log_density[kLanes] = {};   // log g, after a sweep or measure()
  double log_base[kLanes] = {};      // log q
  std::vector<double> scratch = {};  // for variables with more than two states

  void read(int lane, std::span<int> into) const;
};

class AnnealingModel {
 public:
  // Keeps a reference to the graph, which must outlive it. Only for models of tables: Error (kArgument) otherwise.
  AnnealingModel(const FactorGraph& graph, double log_zero);

  [[nodiscard]] const FactorGraph& graph() const { return *graph_; }
  [[nodiscard]] int num_variables() const { return static_cast<int>(variables_.size()); }
  [[nodiscard]] int num_states(int v) const { return variables_[v].num_states; }
  // The position of a variable's first state among those of all variables.
  [[nodiscard]] int first_state(int v) const { return variables_[v].first_state; }
  [[nodiscard]] int num_states_in_all() const { return num_states_in_all_; }
  [[nodiscard]] bool has_zeros() const { return has_zeros_; }

  // The factors with one variable, normalised: the simplest base.
  [[nodiscard]] BaseLogProbs fields() const;

  [[nodiscard]] LaneStates states() const;
  void set(LaneStates& states, std::span<const int> x) const;  // the same configuration in all lanes
  void draw_base(LaneStates& states, const BaseLogProbs& base, LaneRandom& random) const;
  // Sets log_density and log_base.
  void measure(LaneStates& states, const BaseLogProbs& base) const;
  // One sweep at b, and the same as measure(). Where `sums` is not null, the conditional probabilities that were drawn
  // from are added to it, [state of all variables][lane].
  void sweep(LaneStates& states, const BaseLogProbs& base, double b, LaneRandom& random, double* sums = nullptr) const;
  void sweep_back(LaneStates& states, const BaseLogProbs& base, double b, LaneRandom& random) const;

  // By how much rounding may change the logarithm of the mean of weights of chains with this many sweeps: that of the
  // densities, and that of each chance that is drawn with.
  [[nodiscard]] double rounding(double num_sweeps) const;

  // The rest is for the sweeps.
  struct Neighbour {
    int variable = 0;
    double coupling = 0.0;
  };
  // A table that is looked up: entries[sum of the others' states times their strides + a * stride].
  struct Term {
    const double* entries = nullptr;
    std::int64_t stride = 0;
    int first_other = 0, last_other = 0;
  };
  struct Variable {
    int num_states = 0, first_state = 0;
    // Of neighbours_: those before the variable, then those after it.
    int first_below = 0, first_above = 0, last_above = 0;
    // Of terms_: those in which it is the last variable, those in which it is neither, and those in which it is the
    // first.
    int first_lower = 0, first_between = 0, first_upper = 0, last_upper = 0;
  };
  [[nodiscard]] const Variable& variable(int v) const { return variables_[v]; }
  [[nodiscard]] const Neighbour* neighbours() const { return neighbours_.data(); }
  [[nodiscard]] const Term* terms() const { return terms_.data(); }
  [[nodiscard]] const std::pair<int, std::int64_t>* others() const { return others_.data(); }
  [[nodiscard]] const double* unary() const { return unary_.data(); }
  [[nodiscard]] double log_constant() const { return log_constant_; }

 private:
  struct Link {  // while it is made: a neighbour or a term of a variable
    int variable = 0;
    Neighbour neighbour;
  };
  struct Lookup {
    int variable = 0, group = 0;
    Term term;
    std::vector<std::pair<int, std::int64_t>> others;
  };
  void add_factor(const Factor& factor, std::vector<Link>& links, std::vector<Lookup>& lookups);
  void add_pair(const std::vector<int>& scope, std::span<const double> values, std::vector<Link>& links);
  void add_lookups(const std::vector<int>& scope, const double* values, std::vector<Lookup>& lookups) const;
  void lay_out(std::vector<Link> links, std::vector<Lookup> lookups);
  std::span<const double> finite(std::span<const double> values);

  const FactorGraph* graph_;
  double log_zero_;
  std::vector<Variable> variables_;
  std::vector<double> unary_;  // by state of all variables
  std::vector<Neighbour> neighbours_;
  std::vector<Term> terms_;
  std::vector<std::pair<int, std::int64_t>> others_;
  std::vector<std::vector<double>> copies_;  // of tables with -inf
  double log_constant_ = 0.0, magnitude_ = 0.0, chances_ = 0.0;
  int num_states_in_all_ = 0, most_states_ = 2;
  bool has_zeros_ = false;
};

}  // namespace treesample
