#include "blackbox/possibility.hpp"

#include <algorithm>
#include <cmath>

#include "treesample/math/log_domain.hpp"

namespace treesample {
namespace {

constexpr int kMostPoints = 1200;
constexpr int kNewtonSteps = 30;
constexpr double kMostSlope = 12.0, kPriorOfSlope = 0.02;
constexpr double kMostPower = 20.0;
constexpr double kAllowedShare = 0.02;  // of the known mass, that may be believed of what is impossible

double log_logistic(double z) { return z < 0.0 ? z - std::log1p(std::exp(z)) : -std::log1p(std::exp(-z)); }

}  // namespace

double Possibility::log_chance(double prediction) const {
  return power_ * log_logistic(intercept_ + slope_ * std::clamp(prediction, -3.0, 3.0));
}

void Possibility::fit(const ToldValues& told, std::span<const int> failed, std::span<const double> guesses, double unit,
                      const ShouldStop& should_stop) {
  unit_ = unit;
  ToldValues labels{.width = told.width, .states = told.states};
  std::vector<Seen> all;
  double possible = 0.0;
  std::size_t num_impossible = 0;
  for (std::size_t i = 0; i < told.size(); ++i) {
    const bool is_possible = told.values[i] != kNegInf;
    const double known = told.known.empty() ? 0.0 : told.known[i];
    all.push_back({0.0, is_possible, known + (is_possible ? told.values[i] : guesses[num_impossible++])});
    possible += is_possible ? 1.0 : 0.0;
  }
  labels.states.insert(labels.states.end(), failed.begin(), failed.end());
  while (num_impossible < guesses.size()) all.push_back({0.0, false, guesses[num_impossible++]});
  for (const Seen& one : all) labels.values.push_back(one.is_possible ? 1.0 : -1.0);
  const auto count = static_cast<double>(labels.size());
  if (possible == count) {
    process_.reset();
    return;
  }
  if (!process_) {
    process_ = std::make_unique<GaussianProcess>(
        domain_, GaussianProcessOptions{.max_points = kMostPoints, .fit_points = 250, .is_noisy = true});
  }
  process_->fit(labels, should_stop);
  const std::vector<std::optional<double>> held_out = process_->held_out();
  std::vector<Seen> seen;
  for (std::size_t i = 0; i < held_out.size(); ++i) {
    if (held_out[i]) seen.push_back({std::clamp(*held_out[i], -3.0, 3.0), all[i].is_possible, all[i].log_density});
  }
  regress(seen, possible, count);
  sharpen(seen);
}

// Logistic regression by Newton's method; half a success and half a failure beside what was seen.
void Possibility::regress(std::span<const Seen> seen, double num_possible, double count) {
  intercept_ = std::log((num_possible + 0.5) / (count - num_possible + 0.5));
  slope_ = 0.0;
  power_ = 1.0;
  for (int i = 0; i < kNewtonSteps; ++i) {
    double g0 = 0.0, g1 = -kPriorOfSlope * slope_, h00 = 1e-6, h01 = 0.0, h11 = kPriorOfSlope;
    for (const Seen& one : seen) {
      const double p = std::exp(log_chance(one.prediction)), w = p * (1.0 - p);
      const double off = (one.is_possible ? 1.0 : 0.0) - p;
      g0 += off;
      g1 += off * one.prediction;
      h00 += w;
      h01 += w * one.prediction;
      h11 += w * one.prediction * one.prediction;
    }
    g0 += 0.5 - std::exp(log_logistic(intercept_));
    h00 += 0.25;
    const double determinant = std::max(h00 * h11 - h01 * h01, 1e-12);
    const double step0 = (h11 * g0 - h01 * g1) / determinant, step1 = (h00 * g1 - h01 * g0) / determinant;
    intercept_ += std::clamp(step0, -1.0, 1.0);
    slope_ = std::clamp(slope_ + std::clamp(step1, -1.0, 1.0), 0.0, kMostSlope);
    if (std::abs(step0) + std::abs(step1) < 1e-9) break;
  }
}

void Possibility::sharpen(std::span<const Seen> seen) {
  double top = kNegInf;
  for (const Seen& one : seen) top = std::max(top, one.is_possible ? one.log_density : kNegInf);
  const auto is_too_large = [&](double power) {
    double wrong = 0.0, missed = 0.0, all = 0.0;
    for (const Seen& one : seen) {
      const double log_chance = power * log_logistic(intercept_ + slope_ * one.prediction);
      const double relative = (one.log_density - top) / unit_;
      if (!one.is_possible) wrong += std::exp(std::min(relative + log_chance, 300.0));
      if (one.is_possible) missed -= std::exp(relative) * std::expm1(log_chance);
      if (one.is_possible) all += std::exp(relative);
    }
    return wrong > missed + kAllowedShare * all;
  };
  if (top == kNegInf) return;
  while (power_ < kMostPower && is_too_large(power_)) power_ *= 1.2;
}

void Possibility::add_log(std::span<const int> rows, std::span<double> out) const {
  if (!process_) return;
  std::vector<Prediction> predicted(out.size());
  process_->predict(rows, predicted);
  for (std::size_t i = 0; i < out.size(); ++i) out[i] += unit_ * log_chance(predicted[i].mean);
}

void Possibility::add_log_neighbours(std::span<const int> x, std::span<double> out) const {
  if (!process_) return;
  std::vector<double> predicted(out.size());
  process_->predict_neighbours(x, predicted);
  for (std::size_t i = 0; i < out.size(); ++i) out[i] += unit_ * log_chance(predicted[i]);
}

void Possibility::add_log_all(std::span<double> out) const {
  if (!process_) return;
  std::vector<double> predicted(out.size());
  process_->predict_all(predicted);
  for (std::size_t i = 0; i < out.size(); ++i) out[i] += unit_ * log_chance(predicted[i]);
}

}  // namespace treesample
