#include "count/soft_table.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "math/compensated_sum.hpp"
#include "model/table_index.hpp"

namespace treesample {
namespace {

// The table without position i, if its entries other than -inf do not depend on it.
bool drop_position(SoftValues& values, std::size_t position) {
  const std::size_t stride = stride_at(values.num_states, position);
  const auto num_states = static_cast<std::size_t>(values.num_states[position]);
  std::vector<double> smaller;
  smaller.reserve(values.log_values.size() / num_states);
  for (std::size_t block = 0; block < values.log_values.size(); block += stride * num_states) {
    for (std::size_t j = block; j < block + stride; ++j) {
      double common = kNegInf;
      for (std::size_t i = j; i < j + stride * num_states; i += stride) {
        const double value = values.log_values[i];
        if (value == kNegInf) continue;
        if (common != kNegInf && common != value) return false;
        common = value;
      }
      smaller.push_back(common);
    }
  }
  values.log_values = std::move(smaller);
  values.scope.erase(values.scope.begin() + static_cast<std::ptrdiff_t>(position));
  values.num_states.erase(values.num_states.begin() + static_cast<std::ptrdiff_t>(position));
  return true;
}

constexpr std::uint64_t kMapBytes = 96;  // of an entry of a map, without its key

}  // namespace

void drop_irrelevant(SoftValues& values) {
  for (std::size_t i = values.scope.size(); i-- > 0;) drop_position(values, i);
}

SoftTable::SoftTable(SoftValues values, double log_max)
    : scope_(std::move(values.scope)), num_states_(std::move(values.num_states)) {
  std::unordered_map<double, std::uint32_t> numbers;
  entries_.reserve(values.log_values.size());
  for (const double value : values.log_values) {
    if (value == kNegInf) {
      entries_.push_back(0);
      continue;
    }
    const auto [place, is_new] = numbers.emplace(value, static_cast<std::uint32_t>(weights_.size() + 1));
    if (is_new) {
      const double relative = value - log_max;
      weights_.push_back(
          CountNumber::of_log(relative, kEpsilon * (1.0 + std::abs(value) + std::abs(log_max) + std::abs(relative))));
    }
    entries_.push_back(place->second);
  }
  for (const int count : num_states_) num_bits_ += count;
  if (num_bits_ <= kFewBits) by_few_bits_.assign(std::size_t{1} << num_bits_, 0);
  fixed_bytes_ = entries_.capacity() * sizeof(std::uint32_t) + weights_.capacity() * sizeof(CountNumber) +
                 by_few_bits_.capacity() * sizeof(std::uint32_t) + sizeof(SoftTable);
}

void SoftTable::visit_live(const LiveStates& live, std::vector<std::uint32_t>& residue) const {
  residue.assign(1, 0);  // holds offsets first and entries in the end
  std::vector<std::uint32_t> longer;
  for (std::size_t i = 0; i < scope_.size(); ++i) {
    longer.clear();
    for (const std::uint32_t offset : residue) {
      for (int state = 0; state < num_states_[i]; ++state) {
        if (!live.is_live(scope_[i], state)) continue;
        longer.push_back(offset * static_cast<std::uint32_t>(num_states_[i]) + static_cast<std::uint32_t>(state));
      }
    }
    residue.swap(longer);
  }
  for (std::uint32_t& entry : residue) entry = entries_[entry];
}

const SoftTable::Status& SoftTable::status(const LiveStates& live) {
  if (num_bits_ <= kWordBits) {
    std::uint64_t bits = 0;
    for (std::size_t i = 0; i < scope_.size(); ++i) {
      bits = bits << num_states_[i] | live.words[live.first_word[scope_[i]]];
    }
    return known_or_new(num_bits_ <= kFewBits ? by_few_bits_[bits] : by_word_[bits], live);
  }
  key_.clear();
  for (const int v : scope_) {
    const std::uint32_t first = live.first_word[v], last = live.first_word[v + 1];
    key_.append(reinterpret_cast<const char*>(&live.words[first]), sizeof(std::uint64_t) * (last - first));
  }
  return known_or_new(by_words_[key_], live);
}

const SoftTable::Status& SoftTable::known_or_new(std::uint32_t& number, const LiveStates& live) {
  if (number == 0) {
    statuses_.push_back(find_status(live));
    number = static_cast<std::uint32_t>(statuses_.size());
    if (num_bits_ > kFewBits) key_bytes_ += kMapBytes + key_.size();
  }
  return statuses_[number - 1];
}

SoftTable::Status SoftTable::find_status(const LiveStates& live) {
  visit_live(live, residue_);
  std::uint32_t common = 0;
  Status status{.is_settled = true};
  for (const std::uint32_t entry : residue_) {
    if (entry == 0 || entry == common) continue;
    if (common != 0) status.is_settled = false;
    common = entry;
  }
  if (status.is_settled) {
    if (common != 0) status.weight = weights_[common - 1];
    return status;
  }
  std::string content(reinterpret_cast<const char*>(residue_.data()), residue_.size() * sizeof(std::uint32_t));
  const std::uint64_t bytes = content.size() + kMapBytes;
  const auto [place, is_new] = residues_.emplace(std::move(content), static_cast<std::uint32_t>(residues_.size()));
  if (is_new) residue_bytes_ += bytes;
  status.residue = place->second;
  return status;
}

void SoftTable::forget() {
  std::fill(by_few_bits_.begin(), by_few_bits_.end(), 0);
  by_word_.clear();
  by_words_.clear();
  statuses_.clear();
  statuses_.shrink_to_fit();
  key_bytes_ = 0;
}

}  // namespace treesample
