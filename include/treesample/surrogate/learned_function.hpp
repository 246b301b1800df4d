// A function learned from a few of its values: main effects, pairs, and larger terms if the data support them.
//
// The terms are chosen by their evidence (surrogate/term_regression.hpp). Values far below the best ones count little,
// because it is enough to know that they are small. Impossible states count as if they were somewhat worse than
// anything else.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "treesample/math/random.hpp"
#include "treesample/stop.hpp"

namespace treesample {

// A table over some of the variables; the learned function is the constant and the sum of all terms.
struct LearnedTerm {
  std::vector<int> scope;          // positions in the scope of the function, ascending
  std::vector<double> log_values;  // row-major, last variable fastest
  double strength = 0.0;           // standard deviation of the values
};

struct LearnedTerms {
  double constant = 0.0;
  std::vector<LearnedTerm> terms = {};
};

class LearnedFunction {
 public:
  explicit LearnedFunction(std::vector<int> num_states);
  ~LearnedFunction();
  LearnedFunction(LearnedFunction&& other) noexcept;
  LearnedFunction& operator=(LearnedFunction&& other) noexcept;

  // Adds a value at new states. `log_density` is that of the whole configuration; it determines the weight of the
  // value.
  void add(std::span<const int> states, double log_value, double log_density);
  [[nodiscard]] std::int64_t num_values() const;

  // Fits again, beginning with the terms of the last fit. Does nothing if no value is possible.
  void fit(const ShouldStop& should_stop = {});
  // Keeps only these terms and fits their coefficients again.
  void keep(const std::vector<std::size_t>& terms);
  [[nodiscard]] const LearnedTerms& learned() const;
  // A sample from the posterior given the values, in place of its mean.
  [[nodiscard]] LearnedTerms draw(Random& random) const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace treesample
