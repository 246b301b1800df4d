#include "blackbox/error_check.hpp"

#include <utility>

namespace treesample {

ErrorCheck::ErrorCheck(const GridApproximation& approximation, double log_known, std::span<const unsigned char> is_open,
                       ErrorSettings settings)
    : log_weights_(approximation.log_weights().begin(), approximation.log_weights().end()),
      marginals_(approximation.marginals()),
      log_known_(log_known),
      settings_(std::move(settings)),
      mixture_(log_weights_, is_open) {}

std::size_t ErrorCheck::draw(Random& random) {
  places_.push_back(mixture_.draw(random));
  return places_.back();
}

std::optional<SampledErrors> ErrorCheck::errors(const std::function<std::optional<double>(std::size_t)>& log_density,
                                                const std::function<Assignment(std::size_t)>& at) const {
  std::vector<TargetSample> samples;
  for (const std::size_t place : places_) {
    const std::optional<double> density = log_density(place);
    if (!density) break;  // so that slow ones are not left out
    const double log_q = mixture_.log_prob(place);
    samples.push_back({at(place), *density - log_q, log_weights_[place] - log_q, log_q});
  }
  if (samples.empty()) return {};
  return difference_estimate(log_known_, mixture_.log_mass(), marginals_, samples, settings_);
}

}  // namespace treesample
