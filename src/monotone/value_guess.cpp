#include "monotone/value_guess.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace treesample {
namespace {

constexpr double kMargin = 0.1;        // the range's ends have the scores -kMargin and kMargin
constexpr double kFirstWeight = 0.1;   // of a level, so that ten of them make up for the initial offset of -1
constexpr double kMostStep = 0.2;      // largest change of a weight
constexpr double kCloseEnough = 0.01;  // difference to a value inside of the range that is accepted
constexpr int kLessonsAgain = 20;      // old answers that are learned again with each new one

std::vector<int> positions(const KnownValues::Bits& bits) {
  std::vector<int> list;
  for (std::size_t i = 0; i < bits.size(); ++i) {
    for (std::uint64_t rest = bits[i]; rest != 0; rest &= rest - 1) {
      list.push_back(static_cast<int>(64 * i) + std::countr_zero(rest));
    }
  }
  return list;
}

}  // namespace

ValueGuess::ValueGuess(int num_bits, std::uint64_t seed)
    : weights_(static_cast<std::size_t>(num_bits), kFirstWeight), random_(seed, "value guess") {}

double ValueGuess::score(const std::vector<int>& bits) const {
  double sum = offset_;
  for (const int bit : bits) sum += weights_[bit];
  return sum;
}

double ValueGuess::share(const KnownValues::Bits& x) const {
  return std::clamp((score(positions(x)) / kMargin + 1.0) / 2.0, 0.0, 1.0);
}

void ValueGuess::learn(const Lesson& lesson) {
  const double now = score(lesson.bits);
  double off = lesson.target - now;
  if (lesson.target >= kMargin) off = std::max(off, 0.0);
  if (lesson.target <= -kMargin) off = std::min(off, 0.0);
  if (std::abs(lesson.target) < kMargin && std::abs(off) < kCloseEnough) return;
  const double step = std::clamp(off / static_cast<double>(lesson.bits.size() + 1), -kMostStep, kMostStep);
  for (const int bit : lesson.bits) weights_[bit] = std::max(0.0, weights_[bit] + step);
  offset_ += step;
}

void ValueGuess::add(const KnownValues::Bits& x, double share) {
  lessons_.push_back({positions(x), kMargin * (2.0 * std::clamp(share, 0.0, 1.0) - 1.0)});
  learn(lessons_.back());
  for (int i = 0; i < kLessonsAgain; ++i) learn(lessons_[random_.below(lessons_.size())]);
}

}  // namespace treesample
