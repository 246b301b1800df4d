#include "evaluate/lower_limit.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "treesample/error.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample {
namespace {

constexpr double kShareOfSuggested = 0.6;  // of the capital; the rest in equal parts
constexpr std::array<double, 4> kConstant = {0.9, 0.4, 0.1, 0.02};
constexpr double kMostOfCapital = 0.95;
constexpr double kLimitRound = 0.02;                         // length of a round, as a share of the numbers so far
constexpr double kFirstVariance = 1.0, kFirstNumbers = 4.0;  // assumed before there are any numbers
constexpr int kLimitBisections = 60;
constexpr double kMargin = 1e-9;  // for the rounding of the capital's logarithm

// log(1 - l + l r) for r = exp(log_ratio).
double log_gain(double stake, double log_ratio) {
  constexpr double kLarge = 600.0;
  return log_ratio > kLarge ? std::log(stake) + log_ratio : std::log1p(stake * std::expm1(log_ratio));
}

}  // namespace

LowerLimit::LowerLimit(double error_probability) : log_threshold_(-std::log(error_probability)), log_unit_(kNegInf) {
  check_argument(error_probability > 0.0 && error_probability < 1.0, "LowerLimit",
                 "error_probability must be between 0 and 1");
}

void LowerLimit::add(double log_number, double expected) {
  if (rounds_.empty() || log_numbers_.size() >= rounds_.back().end) begin_round(expected);
  log_numbers_.push_back(log_number);
  if (log_number == kNegInf) return;
  if (log_number > log_unit_) {
    const double factor = std::exp(log_unit_ - log_number);
    sum_ *= factor;
    squares_ *= factor * factor;
    log_unit_ = log_number;
  }
  const double number = std::exp(log_number - log_unit_);
  sum_ += number;
  squares_ += number * number;
}

void LowerLimit::begin_round(double expected) {
  const auto count = static_cast<double>(log_numbers_.size());
  double variance = count * kFirstVariance;  // relative, times the count
  if (sum_ > 0.0) variance = count * std::max(0.0, count * squares_ / (sum_ * sum_) - 1.0);
  variance = (variance + kFirstNumbers * kFirstVariance) / (count + kFirstNumbers);
  const double stake = std::sqrt(2.0 * log_threshold_ / (variance * std::max(expected, count + 1.0)));
  const auto length = std::max<std::size_t>(1, static_cast<std::size_t>(kLimitRound * count));
  rounds_.push_back({log_numbers_.size() + length, std::min(kMostOfCapital, stake)});
}

bool LowerLimit::is_refuted(double log_mean) const {
  constexpr std::size_t kParts = 1 + kConstant.size();
  std::array<double, kParts> log_capital{};
  log_capital.fill(std::log((1.0 - kShareOfSuggested) / static_cast<double>(kConstant.size())));
  log_capital[0] = std::log(kShareOfSuggested);
  std::size_t i = 0;
  for (const Round& round : rounds_) {
    for (; i < std::min(round.end, log_numbers_.size()); ++i) {
      const double log_ratio = log_numbers_[i] - log_mean;
      log_capital[0] += log_gain(round.stake, log_ratio);
      for (std::size_t p = 1; p < kParts; ++p) log_capital[p] += log_gain(kConstant[p - 1], log_ratio);
    }
    if (log_sum_exp(log_capital) >= log_threshold_ + kMargin) return true;
  }
  return false;
}

double LowerLimit::log_limit() const {
  if (sum_ == 0.0) return kNegInf;
  // Goes from the mean of the numbers downward, in steps that double, to a mean that is refuted; then bisects.
  double kept = log_unit_ + std::log(sum_ / static_cast<double>(log_numbers_.size()));
  if (is_refuted(kept)) return kept;
  constexpr double kFirstStep = 1e-3, kMostNats = 1e4;
  double step = kFirstStep;
  while (!is_refuted(kept - step)) {
    if (step > kMostNats) return kNegInf;
    kept -= step;
    step *= 2.0;
  }
  double refuted = kept - step;
  for (int i = 0; i < kLimitBisections && kept - refuted > 1e-9; ++i) {
    const double middle = 0.5 * (kept + refuted);
    (is_refuted(middle) ? refuted : kept) = middle;
  }
  return refuted;
}

}  // namespace treesample
