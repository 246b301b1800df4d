#include "formula/integer_counts.hpp"

namespace treesample {

void IntegerCounts::begin_sum() { frames_.emplace_back(); }

void IntegerCounts::open_branch(const SplitTrace& split) {
  Integer& branch = frames_.back().branch;
  branch = Integer(1);
  std::uint64_t num_doubled = 0;
  for (std::size_t first = 0; first < split.free.size();) {  // all live states of each free variable
    std::size_t last = first + 1;
    while (last < split.free.size() && split.free[last].first == split.free[first].first) ++last;
    if (!weights_.empty()) {
      Integer sum;
      for (std::size_t i = first; i < last; ++i) sum += weights_[split.free[i].first][split.free[i].second];
      branch *= sum;
    } else if (last - first == 2) {
      ++num_doubled;
    } else {
      branch *= Integer(static_cast<std::int64_t>(last - first));
    }
    first = last;
  }
  branch.shift(num_doubled);
  if (weights_.empty()) return;
  for (const auto& [variable, state] : split.fixed) branch *= weights_[variable][state];
}

void IntegerCounts::multiply(std::uint32_t sum) { frames_.back().branch *= sums_[sum]; }

void IntegerCounts::multiply(const ExactCounts& other, std::uint32_t sum) {
  frames_.back().branch *= static_cast<const IntegerCounts&>(other).sums_[sum];
}

void IntegerCounts::close_branch(bool is_zero) {
  if (!is_zero) frames_.back().sum += frames_.back().branch;
}

std::uint32_t IntegerCounts::end_sum() {
  const std::uint32_t number = keep(std::move(frames_.back().sum));
  frames_.pop_back();
  return number;
}

std::uint32_t IntegerCounts::keep(Integer sum) {
  auto number = static_cast<std::uint32_t>(sums_.size());
  if (free_.empty()) {
    sums_.emplace_back();
  } else {
    number = free_.back();
    free_.pop_back();
  }
  sums_[number] = std::move(sum);
  sum_bytes_ += sums_[number].bytes();
  return number;
}

void IntegerCounts::forget(std::uint32_t sum) {
  sum_bytes_ -= sums_[sum].bytes();
  sums_[sum] = Integer();
  free_.push_back(sum);
}

std::unique_ptr<ExactCounts> IntegerCounts::make_empty() const { return std::make_unique<IntegerCounts>(weights_); }

std::uint32_t IntegerCounts::take_from(ExactCounts& other, std::uint32_t sum) {
  auto& from = static_cast<IntegerCounts&>(other);
  from.sum_bytes_ -= from.sums_[sum].bytes();
  return keep(std::exchange(from.sums_[sum], Integer()));
}

std::uint64_t IntegerCounts::bytes() const {
  return sum_bytes_ + sums_.capacity() * sizeof(Integer) + free_.capacity() * sizeof(std::uint32_t);
}

}  // namespace treesample
