// Draws from a mixture over what was not evaluated, and what their true values tell about the error of P_X
// (surrogate/difference_estimate.hpp).
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "blackbox/elsewhere_mixture.hpp"
#include "surrogate/difference_estimate.hpp"
#include "treesample/blackbox/grid_approximation.hpp"

namespace treesample {

class ErrorCheck {
 public:
  // `is_open`: of the configurations that were not evaluated and may be.
  ErrorCheck(const GridApproximation& approximation, double log_known, std::span<const unsigned char> is_open,
             ErrorSettings settings);

  [[nodiscard]] bool has_any() const { return mixture_.has_any(); }
  [[nodiscard]] std::size_t num_draws() const { return places_.size(); }
  // Draws once more; the place may have been drawn before.
  std::size_t draw(Random& random);
  // The draws up to the first one without a true value; none where there are none.
  [[nodiscard]] std::optional<SampledErrors> errors(
      const std::function<std::optional<double>(std::size_t)>& log_density,
      const std::function<Assignment(std::size_t)>& at) const;

 private:
  std::vector<double> log_weights_;
  Marginals marginals_;
  double log_known_;
  ErrorSettings settings_;
  ElsewhereMixture mixture_;
  std::vector<std::size_t> places_;
};

}  // namespace treesample
