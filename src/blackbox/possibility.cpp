#include "blackbox/possibility.hpp"

#include <algorithm>
#include <cmath>

#include "treesample/math/log_domain.hpp"

namespace treesample {
namespace {

constexpr int kMostPoints = 1200;
constexpr int kIterations = 30;
constexpr double kMostSlope = 12.0, kPriorOfSlope = 0.02;

double log_logistic(double z) { return z < 0.0 ? z - std::log1p(std::exp(z)) : -std::log1p(std::exp(-z)); }

}  // namespace

double Possibility::log_chance(double prediction) const {
  return log_logistic(intercept_ + slope_ * std::clamp(prediction, -3.0, 3.0));
}

void Possibility::fit(const ToldValues& told, std::span<const int> failed, const ShouldStop& should_stop) {
  ToldValues labels{.width = told.width, .states = told.states};
  double possible = 0.0;
  for (const double value : told.values) {
    labels.values.push_back(value == kNegInf ? -1.0 : 1.0);
    possible += value == kNegInf ? 0.0 : 1.0;
  }
  labels.states.insert(labels.states.end(), failed.begin(), failed.end());
  labels.values.resize(labels.states.size() / static_cast<std::size_t>(std::max(1, told.width)), -1.0);
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
  std::vector<double> predictions, is_possible;
  const std::vector<std::optional<double>> held_out = process_->held_out();
  for (std::size_t i = 0; i < held_out.size(); ++i) {
    if (!held_out[i]) continue;
    predictions.push_back(std::clamp(*held_out[i], -3.0, 3.0));
    is_possible.push_back(labels.values[i] > 0.0 ? 1.0 : 0.0);
  }
  // Logistic regression by Newton's method; half a success and half a failure beside what was seen.
  intercept_ = std::log((possible + 0.5) / (count - possible + 0.5));
  slope_ = 0.0;
  for (int i = 0; i < kIterations; ++i) {
    double g0 = 0.0, g1 = -kPriorOfSlope * slope_, h00 = 1e-6, h01 = 0.0, h11 = kPriorOfSlope;
    for (std::size_t k = 0; k < predictions.size(); ++k) {
      const double p = std::exp(log_chance(predictions[k])), w = p * (1.0 - p), off = is_possible[k] - p;
      g0 += off;
      g1 += off * predictions[k];
      h00 += w;
      h01 += w * predictions[k];
      h11 += w * predictions[k] * predictions[k];
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

void Possibility::add_log(std::span<const int> rows, std::span<double> out) const {
  if (!process_) return;
  std::vector<Prediction> predicted(out.size());
  process_->predict(rows, predicted);
  for (std::size_t i = 0; i < out.size(); ++i) out[i] += log_chance(predicted[i].mean);
}

void Possibility::add_log_neighbours(std::span<const int> x, std::span<double> out) const {
  if (!process_) return;
  std::vector<double> predicted(out.size());
  process_->predict_neighbours(x, predicted);
  for (std::size_t i = 0; i < out.size(); ++i) out[i] += log_chance(predicted[i]);
}

void Possibility::add_log_all(std::span<double> out) const {
  if (!process_) return;
  std::vector<double> predicted(out.size());
  process_->predict_all(predicted);
  for (std::size_t i = 0; i < out.size(); ++i) out[i] += log_chance(predicted[i]);
}

}  // namespace treesample
