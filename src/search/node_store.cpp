#include "search/node_store.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "treesample/error.hpp"

namespace treesample {
namespace {

constexpr std::size_t kLineBytes = 64;

// What the nodes of a level have beside links, visits and weights.
struct Extras {
  bool logs, hints, priors, factors;
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
  layout.prior = layout.factors + (has.factors ? 8 * k : 0);
  layout.stamps = layout.prior + (has.priors ? 8 * k : 0);
  layout.size = layout.stamps + (layout.has_stamps ? 8 : 0);
  return layout;
}

}  // namespace

bool has_shared_children(const SearchSpace& space, int level) {
  const std::vector<int>& children = space.levels[level].children;
  return std::any_of(children.begin(), children.end(), [&](int child) { return space.levels[child].is_shared; });
}

CommonShape common_shape(const SearchSpace& space) {
  CommonShape shape{space.num_levels() == 0 ? 0 : space.levels[0].num_states, space.roots.size() == 1};
  for (const Level& level : space.levels) {
    if (level.num_states != shape.num_states) shape.num_states = 0;
    shape.is_path = shape.is_path && level.children.size() <= 1;
  }
  return shape;
}

NodeStore::NodeStore(std::shared_ptr<const SearchSpace> space, bool has_prior, const std::vector<bool>& has_factors)
    : space_(std::move(space)),
      has_prior_(has_prior),
      levels_(space_->levels.size()),
      contexts_(space_->levels.size()) {
  const CommonShape shape = common_shape(*space_);
  const bool is_binary = std::all_of(space_->levels.begin(), space_->levels.end(),
                                     [](const Level& level) { return level.num_states <= 2; });
  Extras extras{
      .logs = !is_binary, .hints = shape.num_states == 2 && shape.is_path, .priors = has_prior, .factors = true};
  for (int n = 0; n < space_->num_levels(); ++n) {
    LevelStore& store = levels_[n];
    extras.factors = has_factors.empty() || has_factors[n];
    store.layout = make_layout(*space_, n, extras);
    store.prior_value = space_->levels[n].log_states_below + std::log(space_->levels[n].num_states);
    store.scaled_prior_value = ScaledValue::of_log(store.prior_value);
    store.blank.reset(static_cast<std::byte*>(std::calloc(1, store.layout.size)));
    if (!store.blank) throw Error(ErrorCode::kResource, "search: no memory left for nodes");
    const auto num_states = static_cast<std::size_t>(store.layout.num_states);
    std::fill_n(blank(n).links(0), num_states * static_cast<std::size_t>(store.layout.links_per_edge), kNoNode);
    for (int a = 0; extras.hints && a < 2; ++a) blank(n).set_hints(a, {});
    if (space_->levels[n].is_shared) contexts_[n] = ContextTable(*space_, n);
  }
  root_links_.assign(space_->roots.size(), kNoNode);
}

void NodeStore::grow(LevelStore& store) {
  // realloc moves pages instead of bytes once a level is large; growing by an eighth then wastes little.
  constexpr std::uint32_t kSmall = 4096;
  const std::uint64_t more = store.capacity < kSmall ? store.capacity : store.capacity / 8;
  const std::uint64_t capacity = std::max<std::uint64_t>(8, store.capacity + more);
  const std::size_t bytes = capacity * store.layout.size;
  const std::ptrdiff_t offset = store.blocks - store.memory.get();
  auto* const moved =
      capacity < kNoNode ? static_cast<std::byte*>(std::realloc(store.memory.get(), bytes + kLineBytes)) : nullptr;
  if (moved == nullptr) throw Error(ErrorCode::kResource, "search: no memory left for nodes");
  static_cast<void>(store.memory.release());
  store.memory.reset(moved);
  store.blocks = moved + (kLineBytes - reinterpret_cast<std::uintptr_t>(moved) % kLineBytes) % kLineBytes;
  if (store.blocks != moved + offset) {
    std::memmove(store.blocks, moved + offset, std::size_t{store.count} * store.layout.size);
  }
  held_bytes_ += bytes - std::size_t{store.capacity} * store.layout.size;
  store.capacity = static_cast<std::uint32_t>(capacity);
}

NodeIndex NodeStore::create(int level) {
  LevelStore& store = levels_[level];
  if (store.count == store.capacity) grow(store);
  const NodeIndex index = store.count++;
  node(level, index).copy_from(blank(level));
  // The place of the next one: stores to a line that has to come from memory would hold up those of the backup.
  __builtin_prefetch(store.blocks + std::size_t{store.count} * store.layout.size, 1);
  return index;
}

NodeIndex& NodeStore::find_or_insert(int level, std::span<const int> x) {
  ContextTable& table = contexts_[level];
  const std::size_t bytes_before = table.num_bytes();
  NodeIndex& node = table.find_or_insert(x);
  held_bytes_ += table.num_bytes() - bytes_before;
  return node;
}

std::uint64_t NodeStore::num_nodes() const {
  std::uint64_t total = 0;
  for (const LevelStore& level : levels_) total += level.count;
  return total;
}

std::size_t NodeStore::used_bytes() const {
  std::size_t total = 0;
  for (const LevelStore& level : levels_) total += std::size_t{level.count} * level.layout.size;
  for (const ContextTable& table : contexts_) total += table.num_bytes();
  return total;
}

}  // namespace treesample
