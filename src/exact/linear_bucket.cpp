#include "exact/linear_bucket.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "math/dispatched.hpp"
#include "model/dense_table.hpp"

namespace treesample {
namespace {

// Two blocks and the lists of places of a few tables stay in the first-level cache.
constexpr std::size_t kMostBlockEntries = 1024;

template <bool kIsListed>
inline double entry(const BlockOperand& operand, std::size_t i) {
  if constexpr (kIsListed) return operand.values[operand.index[i]];
  return operand.values[i];
}

// out (+)= constant * a
template <bool kIsFirst, bool kA>
inline void add_one(double* out, std::size_t size, double constant, const BlockOperand& a) {
  for (std::size_t i = 0; i < size; ++i) {
    const double term = constant * entry<kA>(a, i);
    out[i] = kIsFirst ? term : out[i] + term;
  }
}
// out (+)= constant * a * b
template <bool kIsFirst, bool kA, bool kB>
inline void add_two(double* out, std::size_t size, double constant, const BlockOperand& a, const BlockOperand& b) {
  for (std::size_t i = 0; i < size; ++i) {
    const double term = constant * entry<kA>(a, i) * entry<kB>(b, i);
    out[i] = kIsFirst ? term : out[i] + term;
  }
}
template <bool kIsFirst>
inline void add(double* out, std::size_t size, double constant, const BlockOperand* operands, std::size_t count) {
  if (count == 0) {
    for (std::size_t i = 0; i < size; ++i) out[i] = kIsFirst ? constant : out[i] + constant;
  } else if (count == 1) {
    operands[0].index != nullptr ? add_one<kIsFirst, true>(out, size, constant, operands[0])
                                 : add_one<kIsFirst, false>(out, size, constant, operands[0]);
  } else {
    const bool a = operands[0].index != nullptr, b = operands[1].index != nullptr;
    if (a && b) add_two<kIsFirst, true, true>(out, size, constant, operands[0], operands[1]);
    if (a && !b) add_two<kIsFirst, true, false>(out, size, constant, operands[0], operands[1]);
    if (!a && b) add_two<kIsFirst, false, true>(out, size, constant, operands[0], operands[1]);
    if (!a && !b) add_two<kIsFirst, false, false>(out, size, constant, operands[0], operands[1]);
  }
}

// out (+)= constant times the product of the operands, which are overwritten. More than two go by way of the buffer.
TS_DISPATCHED void add_product(double* out, std::size_t size, double constant, BlockOperand* operands,
                               std::size_t count, double* buffer, bool is_first) {
  if (count > 2) {
    add<true>(buffer, size, 1.0, operands, 2);
    for (std::size_t t = 2; t + 1 < count; ++t) {
      const BlockOperand product[] = {{buffer, nullptr}, operands[t]};
      add<true>(buffer, size, 1.0, product, 2);
    }
    operands[0] = {buffer, nullptr};
    operands[1] = operands[count - 1];
    count = 2;
  }
  if (is_first) {
    add<true>(out, size, constant, operands, count);
  } else {
    add<false>(out, size, constant, operands, count);
  }
}

// Numbers >= 0 are in the order of their bits, whose largest and least vectorise.
TS_DISPATCHED void extent_of(double* block, std::size_t size, std::uint64_t* largest, std::uint64_t* least_but_one) {
  std::uint64_t most = *largest, fewest = *least_but_one;
  for (std::size_t i = 0; i < size; ++i) {
    const double value = block[i];
    const auto bits = std::bit_cast<std::uint64_t>(value);
    most = std::max(most, bits);
    fewest = std::min(fewest, bits - 1);  // 0 becomes the largest of all
    block[i] = value < LinearError::kTiny ? 0.0 : value;
  }
  *largest = most;
  *least_but_one = fewest;
}

}  // namespace

void Extent::include(std::span<double> block) {
  std::uint64_t largest_bits = 0, least_but_one = ~std::uint64_t{0};
  extent_of(block.data(), block.size(), &largest_bits, &least_but_one);
  Extent of_block;
  of_block.largest = std::bit_cast<double>(largest_bits);
  if (least_but_one != ~std::uint64_t{0}) of_block.least = std::bit_cast<double>(least_but_one + 1);
  of_block.is_lossy = of_block.least < LinearError::kTiny;
  include(of_block);
}

void Extent::include(const Extent& other) {
  largest = std::max(largest, other.largest);
  least = std::min(least, std::max(other.least, LinearError::kTiny));
  is_lossy = is_lossy || other.is_lossy;
}

LinearBucket::LinearBucket(const FactorGraph& graph, int v, std::span<const int> separator,
                           const std::vector<const LinearTable*>& tables)
    : graph_(graph),
      v_(v),
      separator_(separator.begin(), separator.end()),
      num_outer_(separator.size()),
      num_states_(static_cast<std::size_t>(graph.num_states(v))) {
  while (num_outer_ > 0) {
    const std::size_t larger = block_size_ * static_cast<std::size_t>(graph.num_states(separator_[num_outer_ - 1]));
    if (larger > kMostBlockEntries && num_outer_ < separator_.size()) break;
    block_size_ = larger;
    --num_outer_;
  }
  for (std::size_t i = 0; i < num_outer_; ++i) num_blocks_ *= static_cast<std::size_t>(graph.num_states(separator_[i]));

  std::vector<int> scope = {v};
  scope.insert(scope.end(), separator_.begin(), separator_.end());
  std::vector<std::span<const int>> subsets;
  subsets.reserve(tables.size());
  for (const LinearTable* table : tables) subsets.emplace_back(table->scope);
  for (const ScopeGroup& group : group_scopes(graph, scope, subsets)) {
    if (group.members.size() == 1) {
      const LinearTable& table = *tables[group.members.front()];
      add_place(table.scope);
      values_.push_back(table.values.data());
      continue;
    }
    std::vector<double>& product = combined_.emplace_back(num_table_entries(graph, group.scope), 1.0);
    BlockWalk walk(graph, group.scope);
    for (const int member : group.members) walk.add_table(tables[member]->scope);
    do {
      const std::span<double> block(product.data() + walk.first_entry(), walk.block_size());
      int id = 0;
      for (const int member : group.members) walk.multiply(id++, tables[member]->values.data(), block);
    } while (walk.next());
    add_place(group.scope);
    values_.push_back(product.data());
  }
}

int LinearBucket::add_place(std::span<const int> scope) {
  std::vector<int> all = {v_};
  all.insert(all.end(), separator_.begin(), separator_.end());
  const std::vector<std::size_t> strides = strides_in(graph_, scope, all);
  places_.push_back({table_place(graph_, separator_, num_outer_, std::span(strides).subspan(1)), strides.front()});
  return static_cast<int>(places_.size()) - 1;
}

LinearBucket::Cursor::Cursor(const LinearBucket& bucket, std::size_t block)
    : bucket_(&bucket),
      states_(bucket.num_outer_),
      offsets_(bucket.places_.size()),
      buffer_(bucket.values_.size() >= 2 ? bucket.block_size_ : 0) {
  seek(block);
}

void LinearBucket::Cursor::seek(std::size_t block) {
  block_ = block;
  std::fill(offsets_.begin(), offsets_.end(), 0);
  for (std::size_t axis = bucket_->num_outer_; axis-- > 0;) {
    const std::size_t num_states = bucket_->outer_states(axis);
    states_[axis] = block % num_states;
    block /= num_states;
    for (std::size_t p = 0; p < offsets_.size(); ++p) {
      offsets_[p] += states_[axis] * bucket_->places_[p].table.outer_strides[axis];
    }
  }
}

void LinearBucket::Cursor::move_to(std::size_t block) {
  if (block == block_ + 1) {
    next();
  } else if (block != block_) {
    seek(block);
  }
}

void LinearBucket::Cursor::next() {
  ++block_;
  for (std::size_t axis = bucket_->num_outer_; axis-- > 0;) {
    const std::size_t num_states = bucket_->outer_states(axis);
    const bool carries = ++states_[axis] == num_states;
    if (carries) states_[axis] = 0;
    for (std::size_t p = 0; p < offsets_.size(); ++p) {
      const std::size_t stride = bucket_->places_[p].table.outer_strides[axis];
      offsets_[p] = carries ? offsets_[p] - stride * (num_states - 1) : offsets_[p] + stride;
    }
    if (!carries) return;
  }
}

// Of this state of v; returns the product of those that are constant in the block.
double LinearBucket::Cursor::gather_operands(std::size_t state) {
  operands_.clear();
  double constant = 1.0;
  for (std::size_t t = 0; t < bucket_->values_.size(); ++t) {
    const Place& place = bucket_->places_[t];
    const double* const values = bucket_->values_[t] + offsets_[t] + state * place.state_stride;
    if (place.table.shape == TablePlace::Shape::kConstant) {
      constant *= *values;
    } else {
      const bool is_same = place.table.shape == TablePlace::Shape::kSame;
      operands_.push_back({values, is_same ? nullptr : place.table.inner_index.data()});
    }
  }
  return constant;
}

void LinearBucket::Cursor::sum(double* out) {
  const std::size_t size = bucket_->block_size_;
  bool is_first = true;
  for (std::size_t state = 0; state < bucket_->num_states_; ++state) {
    const double constant = gather_operands(state);
    if (constant == 0.0) continue;
    add_product(out, size, constant, operands_.data(), operands_.size(), buffer_.data(), is_first);
    is_first = false;
  }
  if (is_first) std::fill_n(out, size, 0.0);
}

void LinearBucket::Cursor::multiply(std::size_t state, const double* ratio, double* out) {
  const double constant = gather_operands(state);
  operands_.push_back({ratio, nullptr});
  add_product(out, bucket_->block_size_, constant, operands_.data(), operands_.size(), buffer_.data(), true);
}

void LinearBucket::Cursor::accumulate(int place, std::size_t state, const double* block, double* table) const {
  const Place& at = bucket_->places_[place];
  double* const to = table + offsets_[place] + state * at.state_stride;
  const std::size_t size = bucket_->block_size_;
  if (at.table.shape == TablePlace::Shape::kSame) {
    for (std::size_t i = 0; i < size; ++i) to[i] += block[i];
  } else if (at.table.shape == TablePlace::Shape::kConstant) {
    double sum = 0.0;
    for (std::size_t i = 0; i < size; ++i) sum += block[i];
    *to += sum;
  } else {
    const std::uint32_t* const index = at.table.inner_index.data();
    for (std::size_t i = 0; i < size; ++i) to[index[i]] += block[i];
  }
}

}  // namespace treesample
