#include "model/dense_table.hpp"

#include <algorithm>

#include "treesample/error.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/math/vector_math.hpp"

namespace treesample {
namespace {

// A block, with one index list beside it, stays in the first-level cache.
constexpr std::size_t kMaxBlockEntries = 2048;
// Larger tables get a pass of their own.
constexpr std::size_t kMaxGroupEntries = 4096;

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
    // The last variable is always inside, so that a block consists of whole rows.
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

void BlockWalk::add(int id, const double* values, std::span<double> block, double shift) const {
  const Table& table = tables_[id];
  const double* from = values + table.offset;
  const std::size_t size = block_size_;
  double* to = block.data();
  if (table.place.shape == TablePlace::Shape::kSame) {
    for (std::size_t i = 0; i < size; ++i) to[i] += from[i] - shift;
  } else if (table.place.shape == TablePlace::Shape::kConstant) {
    const double value = *from - shift;
    for (std::size_t i = 0; i < size; ++i) to[i] += value;
  } else {
    const std::uint32_t* index = table.place.inner_index.data();
    for (std::size_t i = 0; i < size; ++i) to[i] += from[index[i]] - shift;
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
  std::size_t group_entries = kMaxGroupEntries + 1;  // nothing fits: the first subset opens a group
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
  std::fill(block.begin(), block.end(), constant);
  for (const Term& term : terms_) walk.add(term.id, term.values, block, term.shift);
}

void log_sum_rows(std::span<double> block, int num_states, double weight, double* out) {
  const auto row_size = static_cast<std::size_t>(num_states);
  const std::size_t num_rows = block.size() / row_size;
  const double scale = 1.0 / weight;
  if (num_states == 2) {
    // Half of the exponentials: the larger entry's is 1.
    for (std::size_t r = 0; r < num_rows; ++r) {
      const double larger = std::max(block[2 * r] * scale, block[2 * r + 1] * scale);
      const double smaller = std::min(block[2 * r] * scale, block[2 * r + 1] * scale);
      out[r] = larger;
      block[r] = larger == kNegInf ? 0.0 : smaller - larger;
    }
    exp_each(block.first(num_rows));
    for (std::size_t r = 0; r < num_rows; ++r) block[r] += 1.0;
  } else {
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
      block[r] = sum;  // the rows before r are done
    }
  }
  log_each(block.first(num_rows));
  for (std::size_t r = 0; r < num_rows; ++r) out[r] = out[r] == kNegInf ? kNegInf : weight * (out[r] + block[r]);
}

}  // namespace treesample
