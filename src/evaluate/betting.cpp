#include "evaluate/betting.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

namespace treesample {
namespace {

constexpr double kMostStaked = 0.75;                       // c
constexpr std::int64_t kMostBets = std::int64_t{1} << 16;  // about: what is looked through at each step of a bisection
constexpr int kBisections = 48;

}  // namespace

BettingInterval::BettingInterval(double confidence) : log_threshold_(std::log(2.0 / (1.0 - confidence))) {}

void BettingInterval::add(double z, double expected) {
  z = std::clamp(z, 0.0, 1.0);
  ++count_;
  const auto learn = [&](double number) {
    weight_ += 1.0;
    const double difference = number - mean_;
    mean_ += difference / weight_;
    squares_ += difference * (number - mean_);
  };
  if (count_ <= kPilot) {
    learn(z);
    if (count_ < kPilot) return;
    batch_size_ = std::max<std::int64_t>(1, static_cast<std::int64_t>(std::min(expected / kMostBets, 1e9)));
    squares_ /= static_cast<double>(batch_size_);  // the variance of the mean of a batch
    return;
  }
  batch_sum_ += z;
  if (++in_batch_ < batch_size_) return;
  const double mean = batch_sum_ / static_cast<double>(batch_size_);
  in_batch_ = 0;
  batch_sum_ = 0.0;
  if (std::ssize(bets_) >= 4 * kMostBets) return;  // far more came than were expected: the rest is not bet on
  place(mean, expected);
  learn(mean);
}

void BettingInterval::place(double mean, double expected) {
  const double variance = squares_ / std::max(1.0, weight_ - 1.0);
  const double num_bets =
      std::max(expected / static_cast<double>(batch_size_), static_cast<double>(bets_.size()) + 1.0);
  const auto size = [&](double of_variance) { return std::sqrt(2.0 * log_threshold_ / (of_variance * num_bets)); };
  const double unseen = 0.25 / (weight_ * static_cast<double>(batch_size_));
  bets_.push_back({mean, size(variance), size(variance + unseen)});
}

namespace {

// A product of numbers above 0 that may become very small, and large again.
class Capital {
 public:
  void multiply(double factor) {
    product_ *= factor;
    if (product_ < kStep) {
      product_ /= kStep;
      ++num_steps_;
    } else if (num_steps_ > 0 && product_ >= 1.0) {
      product_ *= kStep;
      --num_steps_;
    }
  }
  [[nodiscard]] double value() const { return num_steps_ == 0 ? product_ : 0.0; }  // what is that small counts nothing

 private:
  static constexpr double kStep = 1e-100;
  double product_ = 1.0;
  std::int64_t num_steps_ = 0;
};

}  // namespace

bool BettingInterval::is_rejected(double m, bool is_above) const {
  const double most = kMostStaked / (is_above ? m : 1.0 - m);
  const double wanted = 2.0 * std::exp(log_threshold_);  // each half began with 1
  Capital bold, careful;
  for (const Bet& bet : bets_) {
    const double difference = is_above ? bet.mean - m : m - bet.mean;
    bold.multiply(1.0 + std::min(bet.bold, most) * difference);
    careful.multiply(1.0 + std::min(bet.careful, most) * difference);
    if (bold.value() + careful.value() >= wanted) return true;
  }
  return false;
}

MeanLimits BettingInterval::limits() const {
  MeanLimits limits;
  if (bets_.empty()) return limits;
  // Bisection on a logarithmic scale, from the side of what is rejected; what is not decided stays inside.
  constexpr double kLeast = 1e-300;
  const auto bisect = [&](double rejected, double kept, bool is_above) {
    for (int i = 0; i < kBisections; ++i) {
      const double middle = std::sqrt(rejected * kept);
      (is_rejected(middle, is_above) ? rejected : kept) = middle;
    }
    return rejected;
  };
  const double centre = std::clamp(mean_, kLeast, 1.0 - 0x1.0p-52);
  if (is_rejected(kLeast, true)) limits.lower = bisect(kLeast, centre, true);
  const double almost_one = 1.0 - 0x1.0p-52;
  if (is_rejected(almost_one, false)) limits.upper = bisect(almost_one, centre, false);
  if (limits.lower > limits.upper) std::swap(limits.lower, limits.upper);  // every mean was rejected at some time
  return limits;
}

}  // namespace treesample
