#include "exact/linear_bucket.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "math/dispatched.hpp"
#include "model/dense_table.hpp"
#include "treesample/error.hpp"

namespace treesample {
namespace {

// A table with at most this many entries in a block is spread out over it, if the next block needs the same entries.
constexpr std::size_t kFewEntries = 16;

using Shape = BlockOperand::Shape;

// Entry 2 j + k of a block.
template <Shape kShape>
TS_INLINE double entry(const double* values, const std::uint32_t* index, std::size_t j, std::size_t k) {
  if constexpr (kShape == Shape::kListed) return values[index[2 * j + k]];
  if constexpr (kShape == Shape::kTwice) return values[j];
  return values[2 * j + k];
}

template <bool kIsFirst>
TS_INLINE double sum_with(double so_far, double term) {
  return kIsFirst ? term : so_far + term;
}

// out (+)= constant * a, times b where there is one. An operand may be `out` itself. With an operand of kTwice the loop
// takes two entries at a time, so that their common factor is loaded once.
template <bool kIsFirst, Shape kA, bool kHasB, Shape kB>
TS_INLINE void add_entries(double* out, std::size_t size, double constant, const BlockOperand& first,
                           const BlockOperand& second) {
  const double *const a = first.values, *const b = second.values;
  const std::uint32_t *const a_index = first.index, *const b_index = second.index;
  if constexpr (kA == Shape::kTwice || (kHasB && kB == Shape::kTwice)) {
    TS_INDEPENDENT_ROUNDS
    for (std::size_t j = 0; j < size / 2; ++j) {
      const double even = constant * entry<kA>(a, a_index, j, 0), odd = constant * entry<kA>(a, a_index, j, 1);
      out[2 * j] = sum_with<kIsFirst>(out[2 * j], kHasB ? even * entry<kB>(b, b_index, j, 0) : even);
      out[2 * j + 1] = sum_with<kIsFirst>(out[2 * j + 1], kHasB ? odd * entry<kB>(b, b_index, j, 1) : odd);
    }
  } else {
    TS_INDEPENDENT_ROUNDS
    for (std::size_t i = 0; i < size; ++i) {
      const double with_a = constant * entry<kA>(a, a_index, 0, i);
      out[i] = sum_with<kIsFirst>(out[i], kHasB ? with_a * entry<kB>(b, b_index, 0, i) : with_a);
    }
  }
}
template <bool kIsFirst, Shape kA>
TS_INLINE void add_to_a(double* out, std::size_t size, double constant, const BlockOperand* operands,
                        std::size_t count) {
  const BlockOperand& a = operands[0];
  if (count == 1) return add_entries<kIsFirst, kA, false, Shape::kConsecutive>(out, size, constant, a, a);
  const BlockOperand& b = operands[1];
  if (b.shape == Shape::kConsecutive) {
    add_entries<kIsFirst, kA, true, Shape::kConsecutive>(out, size, constant, a, b);
  } else if (b.shape == Shape::kTwice) {
    add_entries<kIsFirst, kA, true, Shape::kTwice>(out, size, constant, a, b);
  } else {
    add_entries<kIsFirst, kA, true, Shape::kListed>(out, size, constant, a, b);
  }
}
template <bool kIsFirst>
TS_INLINE void add(double* out, std::size_t size, double constant, const BlockOperand* operands, std::size_t count) {
  if (count == 0) {
    for (std::size_t i = 0; i < size; ++i) out[i] = kIsFirst ? constant : out[i] + constant;
  } else if (operands[0].shape == Shape::kConsecutive) {
    add_to_a<kIsFirst, Shape::kConsecutive>(out, size, constant, operands, count);
  } else if (operands[0].shape == Shape::kTwice) {
    add_to_a<kIsFirst, Shape::kTwice>(out, size, constant, operands, count);
  } else {
    add_to_a<kIsFirst, Shape::kListed>(out, size, constant, operands, count);
  }
}

// out (+)= constant times the product of the operands, which are overwritten. More than two operands use the buffer.
TS_DISPATCHED void add_product(double* out, std::size_t size, double constant, BlockOperand* operands,
                               std::size_t count, double* buffer, bool is_first) {
  if (count > 2) {
    add<true>(buffer, size, 1.0, operands, 2);
    for (std::size_t t = 2; t + 1 < count; ++t) {
      const BlockOperand product[] = {{buffer}, operands[t]};
      add<true>(buffer, size, 1.0, product, 2);
    }
    operands[0] = {buffer};
    operands[1] = operands[count - 1];
    count = 2;
  }
  if (is_first) {
    add<true>(out, size, constant, operands, count);
  } else {
    add<false>(out, size, constant, operands, count);
  }
}

TS_DISPATCHED void add_each(double* to, std::size_t size, const double* from) {
  for (std::size_t i = 0; i < size; ++i) to[i] += from[i];
}
// The same bits as one addition after the other.
TS_DISPATCHED void add_pairs(double* to, std::size_t size, const double* from) {
  for (std::size_t j = 0; j < size; ++j) to[j] = (to[j] + from[2 * j]) + from[2 * j + 1];
}

// The bits of numbers >= 0 have the same order as the numbers, and integer minima and maxima vectorise.
TS_DISPATCHED void extent_of(double* block, std::size_t size, std::uint64_t* largest, std::uint64_t* least_but_one) {
  std::uint64_t most = *largest, fewest = *least_but_one;
  for (std::size_t i = 0; i < size; ++i) {
    const double value = block[i];
    const auto bits = std::bit_cast<std::uint64_t>(value);
    most = std::max(most, bits);
    fewest = std::min(fewest, bits - 1);  // 0 wraps around to the largest number, so that it never is the least
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
  is_partial = is_partial || other.is_partial;
}

LinearBucket::LinearBucket(const FactorGraph& graph, int v, std::span<const int> separator,
                           const std::vector<const LinearTable*>& tables, std::size_t num_inner,
                           const LinearBucket* below, double* message_below)
    : graph_(graph),
      v_(v),
      separator_(separator.begin(), separator.end()),
      num_outer_(separator.size() - num_inner),
      num_states_(static_cast<std::size_t>(graph.num_states(v))),
      block_size_(num_table_entries(graph, separator.last(num_inner))),
      num_blocks_(num_table_entries(graph, separator.first(num_outer_))),
      below_(below),
      message_below_(message_below) {
  std::vector<int> scope = {v};
  scope.insert(scope.end(), separator_.begin(), separator_.end());
  std::vector<std::span<const int>> subsets;
  subsets.reserve(tables.size());
  for (const LinearTable* table : tables) subsets.emplace_back(table->scope);
  if (below != nullptr) subsets.emplace_back(below->separator_);
  for (const ScopeGroup& group : group_scopes(graph, scope, subsets)) {
    if (group.members.front() == std::ssize(tables)) {  // the message below, which is too large for a group
      TS_ASSERT(group.members.size() == 1);
      place_below_ = values_.size();
      add_place(below->separator_);
      values_.push_back(nullptr);
      continue;
    }
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
  Place& place = places_.emplace_back();
  place.table = table_place(graph_, separator_, num_outer_, std::span(strides).subspan(1));
  place.state_stride = strides.front();
  if (place.table.shape == TablePlace::Shape::kGeneral) {
    const std::vector<std::uint32_t>& index = place.table.inner_index;
    place.is_small = index.back() < kFewEntries && (num_outer_ == 0 || place.table.outer_strides[num_outer_ - 1] == 0);
    place.shape = Shape::kTwice;
    for (std::size_t i = 0; i < index.size() && place.shape == Shape::kTwice; ++i) {
      if (index[i] != i / 2) place.shape = Shape::kListed;
    }
  }
  return static_cast<int>(places_.size()) - 1;
}

LinearBucket::Cursor::Cursor(const LinearBucket& bucket, std::size_t block)
    : bucket_(&bucket),
      states_(bucket.num_outer_),
      offsets_(bucket.places_.size()),
      buffer_(bucket.values_.size() >= 2 ? bucket.block_size_ : 0) {
  if (bucket.below_ != nullptr) {
    below_.assign(bucket.num_states_, Cursor(*bucket.below_, 0));
    if (bucket.message_below_ == nullptr) block_below_.resize(bucket.below_->block_size_);
  }
  seek(block);
}

void LinearBucket::Cursor::add_extents_below(std::span<Extent> extents) const {
  for (const Cursor& cursor : below_) {
    extents.front().include(cursor.extent_);
    cursor.add_extents_below(extents.subspan(1));
  }
}

const double* LinearBucket::Cursor::block_below(std::size_t state) {
  const std::size_t place = bucket_->place_below_, size = bucket_->below_->block_size_;
  const std::size_t first = offsets_[place] + state * bucket_->places_[place].state_stride;
  double* const out = bucket_->message_below_ == nullptr ? block_below_.data() : bucket_->message_below_ + first;
  Cursor& cursor = below_[state];
  cursor.move_to(first / size);
  cursor.sum(out);
  cursor.extent_.include({out, size});
  return out;
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

// A table with few entries in the block, spread out to all entries of the block: most later blocks need the same ones.
const double* LinearBucket::Cursor::spread(std::size_t table, std::size_t state, const double* values) {
  if (spreads_.empty()) spreads_.resize(bucket_->values_.size() * bucket_->num_states_);
  Spread& spread = spreads_[table * bucket_->num_states_ + state];
  if (spread.values != values) {
    const std::vector<std::uint32_t>& index = bucket_->places_[table].table.inner_index;
    spread.values = values;
    spread.block.resize(index.size());
    for (std::size_t i = 0; i < index.size(); ++i) spread.block[i] = values[index[i]];
  }
  return spread.block.data();
}

// Collects the operands for this state of v and returns the product of the tables that are constant in the block.
double LinearBucket::Cursor::gather_operands(std::size_t state) {
  operands_.clear();
  double constant = 1.0;
  for (std::size_t t = 0; t < bucket_->values_.size(); ++t) {
    const Place& place = bucket_->places_[t];
    const bool is_below = bucket_->values_[t] == nullptr;
    const double* const values = is_below ? nullptr : bucket_->values_[t] + offsets_[t] + state * place.state_stride;
    if (!is_below && place.table.shape == TablePlace::Shape::kConstant) {
      constant *= *values;
    } else {
      if (!is_below && place.shape == Shape::kListed && place.is_small) {
        operands_.push_back({spread(t, state, values)});
      } else {
        operands_.push_back({values, place.table.inner_index.data(), place.shape});
      }
    }
  }
  if (bucket_->below_ == nullptr) return constant;
  // A message that is multiplied by 0 need not be computed, unless it is stored. The 0 may be what is left of a small
  // number, so that the error depends on the largest entry, computed or not.
  if (constant == 0.0 && bucket_->message_below_ == nullptr) {
    below_[state].extent_.is_partial = true;
    return constant;
  }
  for (BlockOperand& operand : operands_) {
    if (operand.values == nullptr) operand.values = block_below(state);
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
  operands_.push_back({ratio});
  add_product(out, bucket_->block_size_, constant, operands_.data(), operands_.size(), buffer_.data(), true);
}

void LinearBucket::Cursor::accumulate(int place, std::size_t state, const double* block, double* table) const {
  const Place& at = bucket_->places_[place];
  double* const to = table + offsets_[place] + state * at.state_stride;
  const std::size_t size = bucket_->block_size_;
  if (at.table.shape == TablePlace::Shape::kSame) {
    add_each(to, size, block);
  } else if (at.shape == Shape::kTwice) {
    add_pairs(to, size / 2, block);
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
