// How the buckets of a kept elimination are walked, and where their numbers are.
#include <algorithm>
#include <iterator>
#include <utility>

#include "exact/kept_kernels.hpp"
#include "exact/kept_program.hpp"
#include "model/dense_table.hpp"

namespace treesample {
namespace {

constexpr std::size_t kLongestRun = 1024;   // entries of a block: what is read and written stays in the cache
constexpr std::size_t kSmallBucket = 4096;  // entries; all inputs of one are multiplied first
constexpr std::size_t kGroupShare = 8;      // of a bucket: a group has at most this part of its entries ...
constexpr std::size_t kLeastGroup = 1024;   // ... or so many
constexpr std::size_t kNumbersInLine = 8;   // numbers in a cache line

}  // namespace

std::vector<std::uint32_t> places_of(const FactorGraph& shape, const std::vector<std::size_t>& strides,
                                     const std::vector<int>& scope) {
  std::vector<std::uint32_t> places(num_table_entries(shape, scope));
  std::vector<int> states(scope.size(), 0);
  std::size_t at = 0;
  for (std::size_t e = 0; e < places.size(); ++e) {
    places[e] = static_cast<std::uint32_t>(at);
    for (std::size_t i = scope.size(); i-- > 0;) {
      at += strides[i];
      if (++states[i] < shape.num_states(scope[i])) break;
      at -= strides[i] * static_cast<std::size_t>(shape.num_states(scope[i]));
      states[i] = 0;
    }
  }
  return places;
}

void KeptProgram::make_operands(Bucket& bucket, int v) {
  if (tables[bucket.message].by_lane) {
    make_lane_operands(bucket, v);
  } else {
    make_block_operands(bucket, v);
  }
}

std::vector<int> KeptProgram::united(const std::vector<int>& a, const std::vector<int>& b) const {
  std::vector<int> both;
  std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(both),
                 [&](int x, int y) { return time_[x] < time_[y]; });
  return both;
}

// A group of one table that needs no change of its form is that table.
void KeptProgram::add_group(Bucket& bucket, std::vector<int> members, std::vector<int> scope,
                            std::vector<int>& direct) {
  if (members.empty()) return;
  if (members.size() == 1 && tables[members.front()].scope == scope) {
    direct.push_back(members.front());
    return;
  }
  Group group{.members = std::move(members)};
  bool is_wanted = false;
  for (const int member : group.members) {
    group.places.push_back(places_of(shape, strides_in(shape, tables[member].scope, scope), scope));
    is_wanted = is_wanted || tables[member].is_wanted;
  }
  num_scratch = std::max(num_scratch, group.members.size());
  group.table = add_table(std::move(scope), false, is_wanted);
  tables[group.table].size = group.places.front().size();
  direct.push_back(group.table);
  bucket.groups.push_back(std::move(group));
}

// A block is an entry of the message, and a run has the cases. Tables that are the same for all of them are multiplied
// with each other first.
void KeptProgram::make_lane_operands(Bucket& bucket, int v) {
  std::vector<int> direct, shared, scope;
  for (const int input : bucket.inputs) {
    if (tables[input].by_lane) {
      direct.push_back(input);
      continue;
    }
    const std::vector<int> both = united(scope, tables[input].scope);
    if (shared.empty() || size_of(both) <= kLeastGroup) {
      shared.push_back(input);
      scope = both;
    } else {
      direct.push_back(input);
    }
  }
  add_group(bucket, shared, scope, direct);
  bucket.run = static_cast<std::size_t>(num_lanes);
  add_operands(bucket, v, direct, tables[bucket.message].scope.size());
}

// A run has the states of the variables that are removed last.
void KeptProgram::make_block_operands(Bucket& bucket, int v) {
  const std::vector<int> separator = tables[bucket.message].scope;  // groups become tables, too
  std::size_t num_outer = separator.size();
  bucket.run = 1;
  while (num_outer > 0) {
    const auto num_states = static_cast<std::size_t>(shape.num_states(separator[num_outer - 1]));
    if (bucket.run * num_states > kLongestRun && bucket.run > 1) break;
    bucket.run *= num_states;
    --num_outer;
  }
  const std::vector<int> inner(separator.begin() + static_cast<std::ptrdiff_t>(num_outer), separator.end());
  std::vector<int> all = {v};
  all.insert(all.end(), separator.begin(), separator.end());
  const std::size_t num_all = size_of(all);
  std::vector<int> direct;
  if (num_all <= kSmallBucket) {
    add_group(bucket, bucket.inputs, all, direct);
    add_operands(bucket, v, direct, num_outer);
    return;
  }
  std::vector<int> inputs = bucket.inputs, members, scope = inner;
  std::stable_sort(inputs.begin(), inputs.end(), [&](int a, int b) { return tables[a].size < tables[b].size; });
  const std::size_t most = std::max(kLeastGroup, num_all / kGroupShare);
  for (const int input : inputs) {
    const std::vector<int> both = united(scope, tables[input].scope);
    if (size_of(both) <= most) {
      members.push_back(input);
      scope = both;
      continue;
    }
    // A table with some of the inner variables is spread out to all of them, unless these are the slower ones.
    const std::vector<int>& own = tables[input].scope;
    const auto is_own = [&](int u) { return std::find(own.begin(), own.end(), u) != own.end(); };
    const bool is_mixed = !std::is_partitioned(inner.begin(), inner.end(), is_own);
    add_group(bucket, {input}, is_mixed ? united(own, inner) : std::vector<int>(own), direct);
  }
  add_group(bucket, members, scope, direct);
  add_operands(bucket, v, direct, num_outer);
}

// Where the blocks of these tables begin. A table with the inner variables, or the cases, is read in runs.
void KeptProgram::add_operands(Bucket& bucket, int v, const std::vector<int>& direct, std::size_t num_outer) {
  const bool by_lane = tables[bucket.message].by_lane;
  const std::vector<int>& separator = tables[bucket.message].scope;
  const std::vector<int> outer(separator.begin(), separator.begin() + static_cast<std::ptrdiff_t>(num_outer));
  std::vector<int> scope = {v};
  scope.insert(scope.end(), separator.begin(), separator.end());
  bucket.num_blocks = size_of(outer);
  for (const int table : direct) {
    const std::vector<std::size_t> strides = strides_in(shape, tables[table].scope, scope);
    const std::size_t width = lanes_of(tables[table]);
    std::vector<std::size_t> outer_strides;
    for (std::size_t i = 0; i < num_outer; ++i) outer_strides.push_back(strides[i + 1] * width);
    Operand operand{table, places_of(shape, outer_strides, outer), strides.front() * width};
    bool is_run = by_lane && tables[table].by_lane;
    if (!by_lane) {
      const std::vector<int>& own = tables[table].scope;
      is_run = num_outer == separator.size() || std::find(own.begin(), own.end(), separator[num_outer]) != own.end();
      for (std::size_t i = separator.size(); i-- > num_outer && is_run;) {
        if (std::find(own.begin(), own.end(), separator[i]) != own.end()) break;
        operand.repeat *= static_cast<std::size_t>(shape.num_states(separator[i]));
      }
    }
    (is_run ? bucket.runs : bucket.constants).push_back(std::move(operand));
  }
  std::size_t room = scratch_for(bucket.runs.size(), bucket.run);
  for (Operand& operand : bucket.runs) {
    if (operand.repeat == 1) continue;
    operand.scratch = room;
    room += 2 * bucket.run;
  }
  num_scratch = std::max(num_scratch, room);
}

// In whole cache lines.
std::size_t KeptProgram::room_of(const Table& table) const {
  return (table.size * lanes_of(table) + kNumbersInLine - 1) / kNumbersInLine * kNumbersInLine;
}

void KeptProgram::place_numbers() {
  std::vector<char> is_leaf(tables.size(), 1);
  is_message_.assign(tables.size(), 0);
  for (const Bucket& bucket : buckets) {
    is_message_[bucket.message] = 1;
    is_leaf[bucket.message] = 0;
    for (const Group& group : bucket.groups) is_leaf[group.table] = 0;
  }
  for (std::size_t t = 0; t < tables.size(); ++t) {
    Table& table = tables[t];
    table.values = num_values;
    num_values += room_of(table);
    table.extents = num_extents;
    num_extents += lanes_of(table);
    if (!table.is_wanted || is_leaf[t] == 0) continue;
    table.adjoints = num_leaf_adjoints;
    num_leaf_adjoints += room_of(table);
  }
  for (Bucket& bucket : buckets) {
    bucket.exponents = num_exponents;
    num_exponents += lanes_of(tables[bucket.message]);
  }
  place_adjoints();
}

// Derivatives of a message are needed from the bucket above it down to its own, and those of a group within its bucket:
// few are alive at once, and each takes the first place that is free.
void KeptProgram::place_adjoints() {
  struct Used {
    std::size_t begin, end;
    int table;
  };
  std::vector<Used> used;  // by place
  num_adjoints = num_leaf_adjoints;
  const auto take = [&](int t) {
    Table& table = tables[t];
    if (!table.is_wanted) return;
    std::size_t begin = num_leaf_adjoints;
    auto at = used.begin();
    for (; at != used.end() && at->begin < begin + room_of(table); ++at) begin = at->end;
    table.adjoints = begin;
    used.insert(at, {begin, begin + room_of(table), t});
    num_adjoints = std::max(num_adjoints, begin + room_of(table));
  };
  const auto free = [&](int t) { std::erase_if(used, [&](const Used& one) { return one.table == t; }); };
  for (const int root : roots) {
    if (is_message_[root] != 0) take(root);
  }
  for (std::size_t b = buckets.size(); b-- > 0;) {
    const Bucket& bucket = buckets[b];
    if (!tables[bucket.message].is_wanted) continue;
    for (const int input : bucket.inputs) {
      if (is_message_[input] != 0) take(input);
    }
    for (const Group& group : bucket.groups) take(group.table);
    for (const Group& group : bucket.groups) free(group.table);
    free(bucket.message);
  }
}

}  // namespace treesample
