#include "model/dense_table.hpp"

#include <algorithm>

#include "math/dispatched.hpp"
#include "math/vector_kernels.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/math/vector_math.hpp"

namespace treesample {
namespace {

// A block of this size, together with one index list, fits into the first-level cache.
constexpr std::size_t kMaxBlockEntries = 2048;
// Tables larger than this get a pass of their own.
constexpr std::size_t kMaxGroupEntries = 4096;

TS_DISPATCHED void add_same(double* to, std::size_t size, const double* from, double shift) {
  for (std::size_t i = 0; i < size; ++i) to[i] += from[i] - shift;
}
TS_DISPATCHED void add_constant(double* to, std::size_t size, double value) {
  for (std::size_t i = 0; i < size; ++i) to[i] += value;
}
TS_DISPATCHED void add_listed(double* to, std::size_t size, const double* from, const std::uint32_t* index,
                              double shift) {
  for (std::size_t i = 0; i < size; ++i) to[i] += from[index[i]] - shift;
}

using Shape = TablePlace::Shape;

struct Operand {
  const double* values;
  const std::uint32_t* index;
  Shape shape;
  double shift;
};

template <Shape kShape>
TS_INLINE double entry(const double* values, const std::uint32_t* index, std::size_t i) {
  if constexpr (kShape == Shape::kGeneral) return values[index[i]];
  return kShape == Shape::kSame ? values[i] : *values;
}
template <Shape kA, Shape kB>
TS_INLINE void set_entries(double* to, std::size_t size, double constant, const Operand& one, const Operand& other) {
  const double *const a = one.values, *const b = other.values;
  const std::uint32_t *const a_index = one.index, *const b_index = other.index;
  const double a_shift = one.shift, b_shift = other.shift;
  TS_INDEPENDENT_ROUNDS
  for (std::size_t i = 0; i < size; ++i) {
    to[i] = (constant + (entry<kA>(a, a_index, i) - a_shift)) + (entry<kB>(b, b_index, i) - b_shift);
  }
}
template <Shape kA>
TS_INLINE void set_by_other(double* to, std::size_t size, double constant, const Operand& one, const Operand& other) {
  if (other.shape == Shape::kSame) return set_entries<kA, Shape::kSame>(to, size, constant, one, other);
  if (other.shape == Shape::kConstant) return set_entries<kA, Shape::kConstant>(to, size, constant, one, other);
  set_entries<kA, Shape::kGeneral>(to, size, constant, one, other);
}
TS_DISPATCHED void set_sum_of(double* to, std::size_t size, double constant, const Operand& one, const Operand& other) {
  if (one.shape == Shape::kSame) return set_by_other<Shape::kSame>(to, size, constant, one, other);
  if (one.shape == Shape::kConstant) return set_by_other<Shape::kConstant>(to, size, constant, one, other);
  set_by_other<Shape::kGeneral>(to, size, constant, one, other);
}

// Computes only half of the exponentials: that of the larger entry is 1.
TS_DISPATCHED void log_sum_pairs(const double* block, std::size_t num_rows, double scale, double weight, double* out) {
  for (std::size_t r = 0; r < num_rows; ++r) {
    const double first = block[2 * r] * scale, second = block[2 * r + 1] * scale;
    const double larger = first < second ? second : first, smaller = first < second ? first : second;
    const double ratio = larger == kNegInf ? 0.0 : smaller - larger;
    const double log_sum = weight * (larger + log_one(exp_one(ratio) + 1.0));
    out[r] = larger == kNegInf ? kNegInf : log_sum;
  }
}

}  // namespace

std::size_t num_table_entries(const FactorGraph& graph, std::span<const int> scope) {
  std::size_t entries = 1;
  for (const int v : scope) entries *= static_cast<std::size_t>(graph.num_states(v));
  return entries;
}

BlockWalk::BlockWalk(const FactorGraph& graph, std::span<const int> scope)
    : graph_(graph), scope_(scope.begin(), scope.end()), num_outer_(scope.size()) {
  while (num_outer_ > 0) {
    const std::size_t larger = block_size_ * static_cast<std::size_t>(graph.num_states(scope[num_outer_ - 1]));
    // The last variable is always an inner one, so that a block consists of whole rows.
    if (larger > kMaxBlockEntries && num_outer_ < scope.size()) break;
    block_size_ = larger;
    --num_outer_;
  }
  outer_states_.assign(num_outer_, 0);
  num_blocks_ = num_table_entries(graph, scope.first(num_outer_));
}

int BlockWalk::add_table(std::span<const int> table_scope) {
  tables_.push_back({table_place(graph_, scope_, num_outer_, strides_in(graph_, table_scope, scope_))});
  return static_cast<int>(tables_.size()) - 1;
}

bool BlockWalk::next() {
  first_entry_ += block_size_;
  for (std::size_t axis = num_outer_; axis-- > 0;) {
    const int num_states = graph_.num_states(scope_[axis]);
    const bool carries = ++outer_states_[axis] == num_states;
    if (carries) outer_states_[axis] = 0;
    for (Table& table : tables_) {
      const std::size_t stride = table.place.outer_strides[axis];
      table.offset = carries ? table.offset - stride * static_cast<std::size_t>(num_states - 1) : table.offset + stride;
    }
    if (!carries) return true;
  }
  first_entry_ = 0;
  return false;
}

void BlockWalk::seek(std::size_t block) {
  first_entry_ = block * block_size_;
  for (Table& table : tables_) table.offset = 0;
  for (std::size_t axis = num_outer_; axis-- > 0;) {
    const auto num_states = static_cast<std::size_t>(graph_.num_states(scope_[axis]));
    const std::size_t state = block % num_states;
    block /= num_states;
    outer_states_[axis] = static_cast<int>(state);
    for (Table& table : tables_) table.offset += state * table.place.outer_strides[axis];
  }
}

void BlockWalk::move_to(std::size_t block) {
  const std::size_t now = first_entry_ / block_size_;
  if (block == now + 1) {
    next();
  } else if (block != now) {
    seek(block);
  }
}

std::size_t BlockWalk::inner_size(int id) const {
  const TablePlace& place = tables_[id].place;
  if (place.shape == TablePlace::Shape::kGeneral) return place.inner_index.back() + std::size_t{1};
  return place.shape == TablePlace::Shape::kSame ? block_size_ : 1;
}

void BlockWalk::set_sum(double constant, const Term& one, const Term& other, std::span<double> block) const {
  const auto operand = [&](const Term& term) -> Operand {
    const Table& table = tables_[term.id];
    return {term.values + table.offset, table.place.inner_index.data(), table.place.shape, term.shift};
  };
  set_sum_of(block.data(), block_size_, constant, operand(one), operand(other));
}

void BlockWalk::add_at(std::size_t offset, int id, const double* values, std::span<double> block, double shift) const {
  const Table& table = tables_[id];
  const double* const from = values + offset;
  if (table.place.shape == TablePlace::Shape::kSame) {
    add_same(block.data(), block_size_, from, shift);
  } else if (table.place.shape == TablePlace::Shape::kConstant) {
    add_constant(block.data(), block_size_, *from - shift);
  } else {
    add_listed(block.data(), block_size_, from, table.place.inner_index.data(), shift);
  }
}

void BlockWalk::multiply(int id, const double* values, std::span<double> block) const {
  const Table& table = tables_[id];
  const double* const from = values + table.offset;
  if (table.place.shape == TablePlace::Shape::kSame) {
    for (std::size_t i = 0; i < block_size_; ++i) block[i] *= from[i];
  } else if (table.place.shape == TablePlace::Shape::kConstant) {
    for (std::size_t i = 0; i < block_size_; ++i) block[i] *= *from;
  } else {
    for (std::size_t i = 0; i < block_size_; ++i) block[i] *= from[table.place.inner_index[i]];
  }
}

void BlockWalk::accumulate_at(std::size_t offset, int id, std::span<const double> block, double* values) const {
  const Table& table = tables_[id];
  double* to = values + offset;
  const double* from = block.data();
  if (table.place.shape == TablePlace::Shape::kSame) {
    for (std::size_t i = 0; i < block_size_; ++i) to[i] += from[i];
  } else if (table.place.shape == TablePlace::Shape::kConstant) {
    double sum = 0.0;
    for (std::size_t i = 0; i < block_size_; ++i) sum += from[i];
    *to += sum;
  } else {
    const std::uint32_t* index = table.place.inner_index.data();
    for (std::size_t i = 0; i < block_size_; ++i) to[index[i]] += from[i];
  }
}

void BlockWalk::accumulate_max_at(std::size_t offset, int id, std::span<const double> block, double* values) const {
  const Table& table = tables_[id];
  double* to = values + offset;
  const double* from = block.data();
  if (table.place.shape == TablePlace::Shape::kSame) {
    for (std::size_t i = 0; i < block_size_; ++i) to[i] = std::max(to[i], from[i]);
  } else if (table.place.shape == TablePlace::Shape::kConstant) {
    for (std::size_t i = 0; i < block_size_; ++i) *to = std::max(*to, from[i]);
  } else {
    const std::uint32_t* index = table.place.inner_index.data();
    for (std::size_t i = 0; i < block_size_; ++i) to[index[i]] = std::max(to[index[i]], from[i]);
  }
}

void add_sums(const FactorGraph& graph, std::span<const int> scope, const double* values, std::span<const int> part,
              double* sums) {
  BlockWalk walk(graph, scope);
  const int id = walk.add_table(part);
  do {
    walk.accumulate(id, {values + walk.first_entry(), walk.block_size()}, sums);
  } while (walk.next());
}

std::vector<ScopeGroup> group_scopes(const FactorGraph& graph, std::span<const int> scope,
                                     const std::vector<std::span<const int>>& subsets) {
  // Subsets as sorted positions in the scope; in lexicographic order neighbours share variables.
  std::vector<std::pair<std::vector<std::size_t>, int>> sorted;
  for (std::size_t s = 0; s < subsets.size(); ++s) {
    std::vector<std::size_t> positions;
    for (const int v : subsets[s]) {
      positions.push_back(static_cast<std::size_t>(std::find(scope.begin(), scope.end(), v) - scope.begin()));
    }
    std::sort(positions.begin(), positions.end());
    sorted.emplace_back(std::move(positions), static_cast<int>(s));
  }
  std::sort(sorted.begin(), sorted.end());

  std::vector<ScopeGroup> groups;
  std::vector<bool> is_in_group(scope.size(), false);
  std::size_t group_entries = kMaxGroupEntries + 1;  // nothing fits, so the first subset opens a group
  for (const auto& [positions, member] : sorted) {
    std::size_t entries = group_entries;
    for (const std::size_t p : positions) {
      if (!is_in_group[p]) entries *= static_cast<std::size_t>(graph.num_states(scope[p]));
      if (entries > kMaxGroupEntries) break;
    }
    if (entries > kMaxGroupEntries) {
      groups.emplace_back();
      std::fill(is_in_group.begin(), is_in_group.end(), false);
      entries = num_table_entries(graph, subsets[member]);
    }
    for (const std::size_t p : positions) is_in_group[p] = true;
    group_entries = entries;
    groups.back().members.push_back(member);
    groups.back().scope.clear();
    for (std::size_t p = 0; p < scope.size(); ++p) {
      if (is_in_group[p]) groups.back().scope.push_back(scope[p]);
    }
  }
  return groups;
}

TableProduct::TableProduct(const FactorGraph& graph, std::span<const int> scope, const std::vector<TableView>& tables)
    : walk_(graph, scope) {
  std::vector<std::span<const int>> subsets;
  subsets.reserve(tables.size());
  for (const TableView& table : tables) subsets.push_back(table.scope);
  for (const ScopeGroup& group : group_scopes(graph, scope, subsets)) {
    if (group.members.size() == 1) {
      const TableView& table = tables[group.members.front()];
      terms_.push_back({walk_.add_table(table.scope), table.values, table.shift});
      continue;
    }
    std::vector<double>& sum = combined_.emplace_back(num_table_entries(graph, group.scope), 0.0);
    BlockWalk walk(graph, group.scope);
    for (const int member : group.members) walk.add_table(tables[member].scope);
    do {
      const std::span<double> block(sum.data() + walk.first_entry(), walk.block_size());
      int id = 0;
      for (const int member : group.members) walk.add(id++, tables[member].values, block, tables[member].shift);
    } while (walk.next());
    terms_.push_back({walk_.add_table(group.scope), sum.data()});
  }
}

void TableProduct::fill(const BlockWalk& walk, double constant, std::span<double> block) const {
  std::size_t num_added = 0;
  if (terms_.size() >= 2) {
    walk.set_sum(constant, terms_[0], terms_[1], block);
    num_added = 2;
  } else {
    std::fill(block.begin(), block.end(), constant);
  }
  for (const BlockWalk::Term& term : std::span(terms_).subspan(num_added)) {
    walk.add(term.id, term.values, block, term.shift);
  }
}

void log_sum_rows(std::span<double> block, int num_states, double weight, double* out) {
  const auto row_size = static_cast<std::size_t>(num_states);
  const std::size_t num_rows = block.size() / row_size;
  const double scale = 1.0 / weight;
  if (num_states == 2) {
    log_sum_pairs(block.data(), num_rows, scale, weight, out);
    return;
  }
  for (std::size_t r = 0; r < num_rows; ++r) {
    double* const row = block.data() + r * row_size;
    double largest = kNegInf;
    for (std::size_t a = 0; a < row_size; ++a) {
      row[a] *= scale;
      largest = std::max(largest, row[a]);
    }
    out[r] = largest;
    const double reference = largest == kNegInf ? 0.0 : largest;
    for (std::size_t a = 0; a < row_size; ++a) row[a] -= reference;
  }
  exp_each(block);
  for (std::size_t r = 0; r < num_rows; ++r) {
    double sum = 0.0;
    for (std::size_t a = 0; a < row_size; ++a) sum += block[r * row_size + a];
    block[r] = sum;  // rows up to r were read already
  }
  log_each(block.first(num_rows));
  for (std::size_t r = 0; r < num_rows; ++r) out[r] = out[r] == kNegInf ? kNegInf : weight * (out[r] + block[r]);
}

}  // namespace treesample
