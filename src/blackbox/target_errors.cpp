// What the values told say of the surrogates' predictions.
#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "blackbox/learned_target.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample {
namespace {

constexpr double kSurprise = 2.0;  // nats by which a value is above its prediction
constexpr double kFound = 0.05;    // nats: a function whose values are all foreseen so well was found

}  // namespace

double LearnedTarget::surprise_share() const {
  double most = 0.0;
  for (const Part& part : parts_) {
    const std::vector<std::optional<double>> held_out = part.surrogate->held_out();
    std::vector<double> all, surprising;
    for (std::size_t i = 0; i < std::min(held_out.size(), part.told.size()); ++i) {
      all.push_back(part.told.log_density(i));
      if (held_out[i] && part.told.values[i] - *held_out[i] > kSurprise) surprising.push_back(all.back());
    }
    const double log_all = log_sum_exp(all);
    if (log_all != kNegInf) most = std::max(most, std::exp(log_sum_exp(surprising) - log_all));
  }
  return most;
}

std::vector<Foreseen> LearnedTarget::recently_foreseen(const std::vector<Foreseen>& foreseen) const {
  const auto most = std::min(foreseen.size(), static_cast<std::size_t>(num_told() / 4));
  std::vector<Foreseen> before(foreseen.end() - static_cast<std::ptrdiff_t>(most), foreseen.end());
  if (parts_.size() != 1 || parts_.front().possibility->has_any()) return before;
  const auto& told = parts_.front().told;
  const std::vector<std::optional<double>> held_out = parts_.front().surrogate->held_out();
  std::vector<Foreseen> without;
  for (std::size_t i = std::min(held_out.size(), told.values.size()); i-- > 0 && without.size() < most;) {
    if (!held_out[i] || std::abs(told.values[i] - *held_out[i]) > kFound) return before;
    without.push_back({told.log_density(i) - (told.values[i] - *held_out[i]), told.log_density(i)});
  }
  return without;
}

}  // namespace treesample
