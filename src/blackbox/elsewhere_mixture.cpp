#include "blackbox/elsewhere_mixture.hpp"

#include <algorithm>
#include <cmath>

#include "treesample/math/log_domain.hpp"

namespace treesample {

ElsewhereMixture::ElsewhereMixture(std::span<const double> log_weights, std::span<const unsigned char> is_open)
    : log_weights_(log_weights.begin(), log_weights.end()), is_open_(is_open.begin(), is_open.end()) {
  std::vector<double> open;
  for (std::size_t i = 0; i < log_weights_.size(); ++i) {
    if (is_open_[i] != 0) open.push_back(log_weights_[i]);
  }
  num_open_ = open.size();
  log_mass_ = log_sum_exp(open);
  top_ = open.empty() ? 0.0 : *std::max_element(open.begin(), open.end());
  // Where nothing has a positive weight, all draws are uniform.
  const bool has_mass = log_mass_ != kNegInf;
  if (has_mass) {
    parts_.push_back(make(0.6, 1.0));
    parts_.push_back(make(0.3, 0.5));
  }
  parts_.push_back(make(has_mass ? 0.1 : 1.0, 0.0));
}

double ElsewhereMixture::weight(std::size_t place, double power) const {
  if (is_open_[place] == 0) return 0.0;
  return power == 0.0 ? 1.0 : std::exp(power * (log_weights_[place] - top_));
}

ElsewhereMixture::Part ElsewhereMixture::make(double share, double power) const {
  Part part{.share = share, .power = power};
  double sum = 0.0;
  for (std::size_t i = 0; i < log_weights_.size(); ++i) part.sums.push_back(sum += weight(i, power));
  return part;
}

std::size_t ElsewhereMixture::draw(Random& random) const {
  double u = random.uniform();
  std::size_t chosen = 0;
  while (chosen + 1 < parts_.size() && u >= parts_[chosen].share) u -= parts_[chosen++].share;
  const std::vector<double>& sums = parts_[chosen].sums;
  const double at = random.uniform() * sums.back();
  auto place = static_cast<std::size_t>(std::upper_bound(sums.begin(), sums.end() - 1, at) - sums.begin());
  while (is_open_[place] == 0) --place;  // rounding may lead to the end
  return place;
}

double ElsewhereMixture::log_prob(std::size_t place) const {
  double sum = 0.0;
  for (const Part& part : parts_) sum += part.share * weight(place, part.power) / part.sums.back();
  return std::log(sum);
}

}  // namespace treesample
