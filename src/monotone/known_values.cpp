#include "monotone/known_values.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "treesample/error.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample {
namespace {

// A simulator's own rounding, relative to its value. Smaller differences are not contradictions.
constexpr double kRelativeNoise = 1e-10;
constexpr std::size_t kWordBits = 64;

bool is_subset(const std::uint64_t* a, const std::uint64_t* b, std::size_t num_words) {
  for (std::size_t i = 0; i < num_words; ++i) {
    if ((a[i] & ~b[i]) != 0) return false;
  }
  return true;
}

void set_bits(KnownValues::Bits& bits, int first, int count) {
  for (int i = first; i < first + count; ++i) bits[i / kWordBits] |= std::uint64_t{1} << (i % kWordBits);
}

void clear_bits(KnownValues::Bits& bits, int first, int count) {
  for (int i = first; i < first + count; ++i) bits[i / kWordBits] &= ~(std::uint64_t{1} << (i % kWordBits));
}

}  // namespace

KnownValues::KnownValues(const FactorGraph& graph, int factor)
    : graph_(&graph), factor_(factor), directions_(graph.factor(factor).directions()) {
  for (const int v : graph.factor(factor).scope()) {
    first_bit_.push_back(num_bits_);
    num_levels_.push_back(graph.num_states(v));
    num_bits_ += graph.num_states(v) - 1;
  }
  num_words_ = std::max<std::size_t>(1, (static_cast<std::size_t>(num_bits_) + kWordBits - 1) / kWordBits);
}

KnownValues::Bits KnownValues::bits(std::span<const int> states) const {
  Bits bits(num_words_, 0);
  for (std::size_t i = 0; i < states.size(); ++i) {
    set_bits(bits, first_bit_[i], level(static_cast<int>(i), states[i]));
  }
  return bits;
}

int KnownValues::find(const Bits& x, bool is_lower) const {
  const Entries& entries = is_lower ? lower_ : upper_;
  int found = -1;
  for (std::size_t i = 0; i < entries.values.size(); ++i) {
    if (found >= 0 &&
        (is_lower ? entries.values[i] <= entries.values[found] : entries.values[i] >= entries.values[found])) {
      continue;
    }
    const std::uint64_t* const bits = &entries.bits[i * num_words_];
    if (is_lower ? is_subset(bits, x.data(), num_words_) : is_subset(x.data(), bits, num_words_)) {
      found = static_cast<int>(i);
    }
  }
  return found;
}

double KnownValues::lower(const Bits& x) const {
  const int found = find(x, true);
  return found < 0 ? kNegInf : lower_.values[found];
}

double KnownValues::upper(const Bits& x) const {
  const int found = find(x, false);
  return found < 0 ? HUGE_VAL : upper_.values[found];
}

std::optional<double> KnownValues::value(const Bits& x) const {
  const double above = upper(x);
  if (above == kNegInf) return above;
  const double below = lower(x);
  if (below < above) return {};
  return above;
}

std::string KnownValues::described(const Answer& answer) const {
  const std::vector<int>& scope = graph_->factor(factor_).scope();
  std::string text = fmt::format("{} at {}", answer.value.log_value, describe_states(*graph_, scope, answer.states));
  if (!answer.value.witness) return text;
  std::vector<std::string> names;
  for (const int place : *answer.value.witness) {
    const std::string& name = graph_->variable(scope[place]).name;
    names.push_back(name.empty() ? fmt::format("x{}", scope[place]) : name);
  }
  return text + fmt::format(" (witness: {})", names.empty() ? "nothing" : fmt::format("{}", fmt::join(names, ", ")));
}

// Compares a lower bound at x with the upper bounds there, or an upper one with the lower bounds.
void KnownValues::check(const Bits& x, bool is_lower, const Answer& answer) {
  const double value = answer.value.log_value;
  const int other = find(x, !is_lower);
  if (other < 0) return;
  const double bound = (is_lower ? upper_ : lower_).values[other];
  const double off = is_lower ? value - bound : bound - value;
  if (!(off > 0.0)) return;
  if (off <= kRelativeNoise * (1.0 + std::abs(value))) {
    noise_ = std::max(noise_, off);
    return;
  }
  const Answer& old = answers_[(is_lower ? upper_ : lower_).answers[other]];
  throw Error(ErrorCode::kArgument, fmt::format("factor {} is not monotone as it is declared: it is {} and {}", factor_,
                                                described(old), described(answer)));
}

void KnownValues::keep(const Bits& x, double value, int answer, bool is_lower) {
  Entries& entries = is_lower ? lower_ : upper_;
  if (is_lower ? lower(x) >= value : upper(x) <= value) return;
  for (std::size_t i = entries.values.size(); i-- > 0;) {
    std::uint64_t* const bits = &entries.bits[i * num_words_];
    const bool follows = is_lower ? entries.values[i] <= value && is_subset(x.data(), bits, num_words_)
                                  : entries.values[i] >= value && is_subset(bits, x.data(), num_words_);
    if (!follows) continue;
    std::copy(entries.bits.end() - static_cast<std::ptrdiff_t>(num_words_), entries.bits.end(), bits);
    entries.bits.resize(entries.bits.size() - num_words_);
    entries.values[i] = entries.values.back();
    entries.values.pop_back();
    entries.answers[i] = entries.answers.back();
    entries.answers.pop_back();
  }
  entries.bits.insert(entries.bits.end(), x.begin(), x.end());
  entries.values.push_back(value);
  entries.answers.push_back(answer);
}

KnownValues::Reach KnownValues::add(std::span<const int> states, const FactorValue& value) {
  Bits low = bits(states), high = low;
  if (value.witness) {
    std::vector<char> is_named(num_levels_.size(), 0);
    for (const int place : *value.witness) {
      check_range("KnownValues", "witness", place, 0, static_cast<std::int64_t>(num_levels_.size()) - 1);
      is_named[place] = 1;
    }
    for (std::size_t i = 0; i < num_levels_.size(); ++i) {
      if (is_named[i] != 0) continue;
      clear_bits(low, first_bit_[i], num_levels_[i] - 1);
      set_bits(high, first_bit_[i], num_levels_[i] - 1);
    }
    has_witnesses_ = true;
  }
  Answer answer{{states.begin(), states.end()}, value};
  check(low, true, answer);
  check(high, false, answer);
  answers_.push_back(std::move(answer));
  const auto index = static_cast<int>(answers_.size()) - 1;
  if (value.log_value != kNegInf) keep(low, value.log_value, index, true);
  keep(high, value.log_value, index, false);
  return {std::move(low), std::move(high)};
}

}  // namespace treesample
