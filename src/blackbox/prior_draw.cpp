#include "blackbox/prior_draw.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace treesample {
namespace {

constexpr int kParts = 64;        // M
constexpr double kMostCuts = 50;  // of the levels of a variable

double sign_of(std::uint64_t code) {
  code ^= code >> 33;
  code *= 0xff51afd7ed558ccdULL;
  code ^= code >> 33;
  code *= 0xc4ceb9fe1a85ec53ULL;
  return (code >> 63) != 0 ? 1.0 : -1.0;
}

}  // namespace

PriorDraw::PriorDraw(const MixedKernel& kernel, std::vector<int> num_states, Random& random)
    : num_states_(std::move(num_states)) {
  for (const int k : num_states_) {
    first_.push_back(num_places_);
    num_places_ += static_cast<std::size_t>(k);
  }
  constant_ = std::sqrt(MixedKernel::kConstant) * random.normal();
  pair_scale_ = std::sqrt(kernel.s2() / (2.0 * kParts));
  sign_scale_ = std::sqrt(kernel.s3() / kParts);
  own_ = main_effects(kernel, 1, random);
  for (double& effect : own_) effect *= std::sqrt(kernel.s1());
  left_ = main_effects(kernel, kParts, random);
  right_ = main_effects(kernel, kParts, random);
  add_codes(kernel, random);
}

PriorDraw::Effects PriorDraw::main_effects(const MixedKernel& kernel, int count, Random& random) const {
  Effects effects;
  for (int m = 0; m < count; ++m) {
    for (std::size_t v = 0; v < num_states_.size(); ++v) {
      const auto variable = static_cast<int>(v);
      const Eigen::MatrixXd& features = kernel.features(variable);
      const auto k = static_cast<std::size_t>(num_states_[v]);
      const double scale = std::sqrt(kernel.u(variable));
      if (features.size() > 0) {
        const double line = std::sqrt(0.5) * scale * random.normal(), bend = std::sqrt(0.5) * scale * random.normal();
        for (Eigen::Index a = 0; a < features.rows(); ++a)
          effects.push_back(line * features(a, 1) + bend * features(a, 2));
        continue;
      }
      // Normal numbers minus their mean have the covariance [a = b] - 1 / K.
      double mean = 0.0;
      for (std::size_t a = 0; a < k; ++a) mean += effects.emplace_back(random.normal()) / static_cast<double>(k);
      const double own = k > 1 ? scale * std::sqrt(static_cast<double>(k) / static_cast<double>(k - 1)) : 0.0;
      for (std::size_t a = effects.size() - k; a < effects.size(); ++a) effects[a] = own * (effects[a] - mean);
    }
  }
  return effects;
}

void PriorDraw::add_codes(const MixedKernel& kernel, Random& random) {
  for (int m = 0; m < kParts; ++m) {
    for (std::size_t v = 0; v < num_states_.size(); ++v) {
      const auto variable = static_cast<int>(v);
      const Eigen::MatrixXd& features = kernel.features(variable);
      const double w = kernel.w(variable);
      const std::uint64_t base = v == 0 ? random.bits() : 0;  // so that S_m is random where all variables are left out
      if (features.size() == 0) {
        const bool is_in = random.uniform() >= std::exp(-w);
        for (int a = 0; a < num_states_[v]; ++a) codes_.push_back(base + (is_in ? random.bits() : 0));
        continue;
      }
      std::vector<double> cuts;
      const double rate = std::min(kernel.power() == 1.0 ? w : std::sqrt(w), kMostCuts);
      for (double at = -std::log1p(-random.uniform()); at < rate; at -= std::log1p(-random.uniform()))
        cuts.push_back(at / rate);
      std::vector<std::uint64_t> of_range(cuts.size() + 1);
      for (std::uint64_t& code : of_range) code = base + random.bits();
      for (Eigen::Index a = 0; a < features.rows(); ++a) {
        const auto range = std::lower_bound(cuts.begin(), cuts.end(), features(a, 0)) - cuts.begin();
        codes_.push_back(of_range[static_cast<std::size_t>(range)]);
      }
    }
  }
}

double PriorDraw::at(std::span<const int> x) const {
  double sum = constant_;
  for (std::size_t v = 0; v < x.size(); ++v) sum += own_[place(x, v)];
  for (std::size_t m = 0; m < kParts; ++m) {
    double left = 0.0, right = 0.0;
    std::uint64_t code = 0;
    for (std::size_t v = 0; v < x.size(); ++v) {
      const std::size_t at = m * num_places_ + place(x, v);
      left += left_[at];
      right += right_[at];
      code += codes_[at];
    }
    sum += pair_scale_ * left * right + sign_scale_ * sign_of(code);
  }
  return sum;
}

void PriorDraw::add_neighbours(std::span<const int> x, std::span<double> out) const {
  double constant = constant_;
  for (std::size_t v = 0; v < x.size(); ++v) constant += own_[place(x, v)];
  for (std::size_t v = 0; v < x.size(); ++v) {
    for (std::size_t at = first_[v]; at < first_[v] + static_cast<std::size_t>(num_states_[v]); ++at)
      out[at] += constant + own_[at] - own_[place(x, v)];
  }
  for (std::size_t m = 0; m < kParts; ++m) {
    const std::size_t base = m * num_places_;
    double left = 0.0, right = 0.0;
    std::uint64_t code = 0;
    for (std::size_t v = 0; v < x.size(); ++v) {
      left += left_[base + place(x, v)];
      right += right_[base + place(x, v)];
      code += codes_[base + place(x, v)];
    }
    for (std::size_t v = 0; v < x.size(); ++v) {
      const std::size_t here = base + place(x, v);
      for (std::size_t at = first_[v]; at < first_[v] + static_cast<std::size_t>(num_states_[v]); ++at) {
        const std::size_t to = base + at;
        out[at] += pair_scale_ * (left + left_[to] - left_[here]) * (right + right_[to] - right_[here]) +
                   sign_scale_ * sign_of(code + codes_[to] - codes_[here]);
      }
    }
  }
}

}  // namespace treesample
