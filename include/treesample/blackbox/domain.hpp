// What a black box is a function of, and the values that are known of it.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace treesample {

// Discrete variables. A variable with levels is ordered: each of its states stands for a number, and states whose
// numbers are close tend to have similar values. A variable without levels is categorical.
struct Domain {
  static constexpr int kMostVariables = 10'000, kMostStates = 100'000;

  std::vector<int> num_states;
  std::vector<std::vector<double>> levels = {};  // empty, or an entry for each variable: empty, or one number per state

  [[nodiscard]] int width() const { return static_cast<int>(num_states.size()); }
  [[nodiscard]] bool is_ordered(int variable) const {
    return !levels.empty() && !levels[static_cast<std::size_t>(variable)].empty();
  }
  // The number of configurations; +inf where that is beyond all doubles.
  [[nodiscard]] double num_configurations() const;

  // Throws Error (kArgument) naming the variable: it has no state, too many states, or levels that are not finite, not
  // different, or not as many as its states.
  void validate() const;
  // Throws Error (kArgument) unless x is a configuration of this domain.
  void check(std::span<const int> x) const;
};

// Configurations and their log values, in the order in which they were told. The same configuration may be there more
// than once: a noisy black box gives a different value each time. Evaluations that failed are not among them.
struct ToldValues {
  int width = 0;
  std::vector<int> states = {};     // row-major, `width` states for each value
  std::vector<double> values = {};  // finite or -inf
  // What the known tables of the model add to the log density at the same configurations: a surrogate should be good
  // where the sum is large. Empty: nothing. Otherwise as many as values, finite or -inf.
  std::vector<double> known = {};

  [[nodiscard]] std::size_t size() const { return values.size(); }
  [[nodiscard]] std::span<const int> row(std::size_t i) const {
    return {states.data() + i * static_cast<std::size_t>(width), static_cast<std::size_t>(width)};
  }
  [[nodiscard]] double log_density(std::size_t i) const { return known.empty() ? values[i] : values[i] + known[i]; }

  // Throws Error (kArgument) unless x is a configuration of the domain, and (kNumeric) where the value is NaN or +inf.
  void add(const Domain& domain, std::span<const int> x, double value);
  // Throws Error (kArgument) unless the numbers of entries fit together and all configurations are in the domain, and
  // (kNumeric) where a value is NaN or +inf.
  void validate(const Domain& domain) const;
};

}  // namespace treesample
