#include "evaluate/betting.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "treesample/math/log_domain.hpp"

namespace treesample {
namespace {

// c, the largest share of the capital that one number can take. For the gambler who bets against m, a number of 1 is
// the most expensive; in the bold part of the capital it may take nearly all.
constexpr double kMostStaked = 0.75, kMostAgainst = 0.95;
constexpr double kBoldShare = 0.7;      // share of the capital that is bet boldly
constexpr double kBettingRound = 0.01;  // length of a round, as a share of the numbers so far
constexpr int kBisections = 40;

// The marks: 0, and powers of 2^(1/4) up to 1.
constexpr int kMarksPerOctave = 4, kNumMarks = 512 * kMarksPerOctave + 2;

const std::array<double, kNumMarks>& marks() {
  static const std::array<double, kNumMarks> all = [] {
    std::array<double, kNumMarks> made{};
    for (int i = 1; i < kNumMarks; ++i) {
      made[static_cast<std::size_t>(i)] = std::exp2(static_cast<double>(i + 1 - kNumMarks) / kMarksPerOctave);
    }
    return made;
  }();
  return all;
}

// The largest mark that is at most z, but not the last one.
std::size_t mark_below(double z) {
  if (z < marks()[1]) return 0;
  const double guess = kNumMarks - 1 + std::floor(std::log2(z) * kMarksPerOctave);
  auto mark = static_cast<std::size_t>(std::clamp(guess, 1.0, kNumMarks - 2.0));
  if (marks()[mark] > z) --mark;
  return mark;
}

}  // namespace

BettingInterval::BettingInterval(double confidence)
    : log_threshold_(std::log(2.0 / (1.0 - confidence))), bin_of_mark_(kNumMarks, -1) {}

void BettingInterval::add(double z, double expected) {
  z = std::clamp(z, 0.0, 1.0);
  if (count_ >= kPilot) {
    if (count_ >= round_end_) begin_round(expected);
    std::vector<Bin>& bins = rounds_.back().bins;
    const std::size_t mark = mark_below(z);
    int& bin = bin_of_mark_[mark];
    if (bin < 0) {
      bin = static_cast<int>(bins.size());
      bins.push_back({mark});
    }
    bins[static_cast<std::size_t>(bin)].count += 1.0;
    bins[static_cast<std::size_t>(bin)].sum += z;
  }
  ++count_;
  const double difference = z - mean_;
  mean_ += difference / static_cast<double>(count_);
  squares_ += difference * (z - mean_);
}

void BettingInterval::begin_round(double expected) {
  if (!rounds_.empty()) {
    for (const Bin& bin : rounds_.back().bins) bin_of_mark_[bin.mark] = -1;
  }
  const auto count = static_cast<double>(count_);
  const double variance = squares_ / (count - 1.0);
  const auto size = [&](double of_variance) {
    return std::sqrt(2.0 * log_threshold_ / (of_variance * std::max(expected, count + 1.0)));
  };
  rounds_.push_back({size(variance), size(variance + 0.25 / count)});
  round_end_ = count_ + std::max<std::int64_t>(1, static_cast<std::int64_t>(kBettingRound * count));
}

bool BettingInterval::is_rejected(double m, bool is_above) const {
  const double most_careful = kMostStaked / (is_above ? m : 1.0 - m);
  const double most_bold = is_above ? most_careful : kMostAgainst / (1.0 - m);
  double bold = std::log(kBoldShare), careful = std::log1p(-kBoldShare);
  const auto gain = [&](double stake, const Bin& bin) {
    const double low = marks()[bin.mark], high = marks()[bin.mark + 1];
    const auto at = [&](double z) { return std::log1p(stake * (is_above ? z - m : m - z)); };
    const double share = std::clamp((bin.sum - bin.count * low) / (high - low), 0.0, bin.count);
    return (share < bin.count ? (bin.count - share) * at(low) : 0.0) + (share > 0.0 ? share * at(high) : 0.0);
  };
  for (const Round& round : rounds_) {
    for (const Bin& bin : round.bins) {
      bold += gain(std::min(round.bold, most_bold), bin);
      careful += gain(std::min(round.careful, most_careful), bin);
    }
    if (log_add_exp(bold, careful) >= log_threshold_) return true;
  }
  return false;
}

MeanLimits BettingInterval::limits() const {
  MeanLimits limits;
  if (rounds_.empty()) return limits;
  // Bisection on a logarithmic scale. Returns the end that is known to be rejected, so that undecided means stay inside
  // of the interval.
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
