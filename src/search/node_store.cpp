#include "search/node_store.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "treesample/error.hpp"

namespace treesample {
namespace {

// What the nodes of a level have beside links, visits and weights.
struct Extras {
  bool logs, hints, priors, factors, room_for_factors;
};

BlockLayout make_layout(const SearchSpace& space, int n, const Extras& has) {
  const Level& level = space.levels[n];
  // 4 bytes per link, 4 for visits and 8 for each of at most four numbers per edge.
  if (level.num_states * (4.0 * static_cast<double>(level.children.size()) + 40.0) > 4e9) {
    throw Error(ErrorCode::kResource,
                fmt::format("search: variable {} with {} states and {} components below is too much", level.variable,
                            level.num_states, level.children.size()));
  }
  const auto k = static_cast<std::uint32_t>(level.num_states);
  BlockLayout layout(level.num_states, static_cast<int>(level.children.size()), has.logs, has.hints);
  layout.has_factors = has.factors;
  layout.has_stamps = level.is_shared || has_shared_children(space, n);
  layout.prior = layout.factors + (has.room_for_factors ? 8 * k : 0);
  layout.stamps = layout.prior + (has.priors ? 8 * k : 0);
  layout.size = layout.stamps + (layout.has_stamps ? 8 : 0);
  return layout;
}

struct Common {
  int num_states = 0;  // 0: they differ
  bool is_binary = true;
  bool is_tree = false;  // one level below the other, no node with two parents
};
Common what_levels_have_in_common(const SearchSpace& space) {
  Common common{.num_states = space.num_levels() == 0 ? 0 : space.levels[0].num_states,
                .is_tree = space.roots.size() == 1};
  for (const Level& level : space.levels) {
    if (level.num_states != common.num_states) common.num_states = 0;
    common.is_binary = common.is_binary && level.num_states <= 2;
    common.is_tree = common.is_tree && level.children.size() <= 1 && !level.is_shared;
  }
  return common;
}

}  // namespace

bool has_shared_children(const SearchSpace& space, int level) {
  const std::vector<int>& children = space.levels[level].children;
  return std::any_of(children.begin(), children.end(), [&](int child) { return space.levels[child].is_shared; });
}

NodeStore::NodeStore(std::shared_ptr<const SearchSpace> space, bool has_prior, const std::vector<bool>& has_factors)
    : space_(std::move(space)),
      has_prior_(has_prior),
      levels_(space_->levels.size()),
      contexts_(space_->levels.size()) {
  const Common common = what_levels_have_in_common(*space_);
  common_num_states_ = common.num_states;
  is_one_array_ = common.is_tree && common.num_states > 0;
  const bool has_hints = is_one_array_ && common.num_states == 2;
  // Elsewhere traversals are too short for large pages to be worth clearing.
  for (std::size_t i = 0; i < (is_one_array_ ? 1 : levels_.size()); ++i) arrays_.emplace_back(has_hints);
  const bool has_any_factors =
      has_factors.empty() || std::find(has_factors.begin(), has_factors.end(), true) != has_factors.end();
  Extras extras{
      .logs = !common.is_binary, .hints = has_hints, .priors = has_prior, .factors = true, .room_for_factors = true};
  for (int n = 0; n < space_->num_levels(); ++n) {
    LevelStore& store = levels_[n];
    extras.factors = has_factors.empty() || has_factors[n];
    extras.room_for_factors = is_one_array_ ? has_any_factors : extras.factors;
    store.layout = make_layout(*space_, n, extras);
    store.prior_value = space_->levels[n].log_states_below + std::log(space_->levels[n].num_states);
    store.scaled_prior_value = ScaledValue::of_log(store.prior_value);
    store.blank.reset(static_cast<std::byte*>(std::calloc(1, store.layout.size)));
    if (!store.blank) throw Error(ErrorCode::kResource, "search: no memory left for nodes");
    const auto num_states = static_cast<std::size_t>(store.layout.num_states);
    std::fill_n(blank(n).links(0), num_states * static_cast<std::size_t>(store.layout.links_per_edge), kNoNode);
    for (int a = 0; extras.hints && a < 2; ++a) blank(n).set_hints(a, {});
  }
  root_links_.assign(space_->roots.size(), kNoNode);
}

void NodeStore::grow(int level) {
  NodeArray& array = arrays_[array_of(level)];
  // Growing moves pages instead of bytes once an array is large; by an eighth it then wastes little.
  constexpr std::uint32_t kSmall = 4096;
  const std::size_t size = levels_[level].layout.size;
  const std::uint64_t more = array.capacity < kSmall ? array.capacity : array.capacity / 8;
  const std::uint64_t capacity = std::max<std::uint64_t>(8, array.capacity + more);
  if (capacity >= kNoNode) throw Error(ErrorCode::kResource, "search: too many nodes for 32 bits");
  const std::size_t bytes_before = array.memory.num_bytes();
  array.memory.grow(capacity * size);
  held_bytes_ += array.memory.num_bytes() - bytes_before;
  array.capacity = static_cast<std::uint32_t>(std::min<std::size_t>(array.memory.num_bytes() / size, kNoNode - 1));
  for (LevelStore& store : is_one_array_ ? std::span(levels_) : std::span(&levels_[level], 1)) {
    store.blocks = array.memory.begin();
  }
}

NodeIndex NodeStore::create(int level) {
  NodeArray& array = arrays_[array_of(level)];
  if (array.count == array.capacity) grow(level);
  const LevelStore& store = levels_[level];
  const NodeIndex index = array.count++;
  node(level, index).copy_from(blank(level));
  // The place of the next one: stores to a line that has to come from memory would hold up those of the backup.
  __builtin_prefetch(store.blocks + std::size_t{array.count} * store.layout.size, 1);
  return index;
}

NodeIndex& NodeStore::find_or_insert(int level, std::span<const int> x) {
  ContextTable& table = contexts_[level];
  if (table.is_blank()) table = ContextTable(*space_, level);  // not before: contexts can be large, and levels many
  const std::size_t bytes_before = table.num_bytes();
  NodeIndex& node = table.find_or_insert(x);
  held_bytes_ += table.num_bytes() - bytes_before;
  return node;
}

std::uint64_t NodeStore::num_nodes() const {
  std::uint64_t total = 0;
  for (const NodeArray& array : arrays_) total += array.count;
  return total;
}

std::size_t NodeStore::used_bytes() const {
  std::size_t total = 0;
  for (std::size_t i = 0; i < arrays_.size(); ++i) total += std::size_t{arrays_[i].count} * levels_[i].layout.size;
  for (const ContextTable& table : contexts_) total += table.num_bytes();
  return total;
}

}  // namespace treesample
