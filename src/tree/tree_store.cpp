#include "tree/tree_store.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "treesample/error.hpp"

namespace treesample {
namespace {

// The numbers that the nodes of a level have besides links, visits and weights.
struct Extras {
  bool logs, hints, q_phi, factors, room_for_factors;
};

BlockLayout make_layout(const Level& level, const Extras& has) {
  // 4 bytes per link, 4 for visits and 8 for each of at most four numbers per edge.
  if (level.num_states * 44.0 > 4e9) {
    throw Error(ErrorCode::kResource,
                fmt::format("search: variable {} with {} states is too much", level.variable, level.num_states));
  }
  const auto k = static_cast<std::uint32_t>(level.num_states);
  BlockLayout layout(level.num_states, has.logs, has.hints);
  layout.has_factors = has.factors;
  layout.q_phi = layout.factors + (has.room_for_factors ? 8 * k : 0);
  layout.size = layout.q_phi + (has.q_phi ? 8 * k : 0);
  return layout;
}

// The number of states that all levels have; 0 if they differ.
int common_states(const SearchSpace& space) {
  const int first = space.levels.empty() ? 0 : space.levels[0].num_states;
  const auto has_as_many = [&](const Level& level) { return level.num_states == first; };
  return std::all_of(space.levels.begin(), space.levels.end(), has_as_many) ? first : 0;
}

}  // namespace

// If variables have more states, traversals are too short to make up for the clearing of large pages.
TreeStore::TreeStore(std::shared_ptr<const SearchSpace> space, bool has_q_phi, const std::vector<bool>& has_factors)
    : space_(std::move(space)),
      has_q_phi_(has_q_phi),
      levels_(space_->levels.size()),
      common_num_states_(common_states(*space_)),
      memory_(common_num_states_ == 2) {
  const bool is_binary = std::all_of(space_->levels.begin(), space_->levels.end(),
                                     [](const Level& level) { return level.num_states <= 2; });
  const bool has_any_factors =
      has_factors.empty() || std::find(has_factors.begin(), has_factors.end(), true) != has_factors.end();
  std::uint32_t most_units = 0;
  for (int n = 0; n < space_->num_levels(); ++n) {
    LevelStore& store = levels_[n];
    const bool keeps_factors = has_factors.empty() || has_factors[n];
    store.layout =
        make_layout(space_->levels[n], {.logs = !is_binary,
                                        .hints = common_num_states_ == 2,
                                        .q_phi = has_q_phi,
                                        .factors = keeps_factors,
                                        .room_for_factors = common_num_states_ > 0 ? has_any_factors : keeps_factors});
    if (common_num_states_ > 0) unit_bytes_ = store.layout.size;
    store.num_units = static_cast<std::uint32_t>(store.layout.size / unit_bytes_);
    most_units = std::max(most_units, store.num_units);
    store.uniform_value = space_->levels[n].log_states_below + std::log(space_->levels[n].num_states);
    const std::int32_t unit = tree_unit_of(store.uniform_value);
    store.uniform_number = {std::exp(TreeNumber::log_in_unit(store.uniform_value, unit)), unit};
    store.blank.resize(store.layout.size);
    for (int a = 0; a < store.layout.num_states; ++a) blank(n).link(a) = kNoNode;
    for (int a = 0; common_num_states_ == 2 && a < 2; ++a) blank(n).set_hints(a, {});
  }
  most_per_traversal_ = kMostPerTraversal * most_units;
}

void TreeStore::grow() {
  // Once the array is large, growing moves pages instead of bytes; growing by an eighth then wastes little.
  constexpr std::size_t kSmallBytes = std::size_t{256} << 10;
  const std::size_t held = memory_.num_bytes();
  const std::size_t needed = (std::size_t{num_units_} + most_per_traversal_) * unit_bytes_;
  const std::size_t bytes = std::max({std::size_t{512}, needed, held + (held < kSmallBytes ? held : held / 8)});
  if (bytes / unit_bytes_ >= kNoNode) throw Error(ErrorCode::kResource, "search: too many nodes for 32 bits");
  memory_.grow(bytes);
  capacity_ = static_cast<std::uint32_t>(std::min<std::size_t>(memory_.num_bytes() / unit_bytes_, kNoNode - 1));
  blocks_ = memory_.begin();
}

NodeIndex TreeStore::create(int level) {
  const LevelStore& store = levels_[level];
  if (num_units_ + store.num_units > capacity_) [[unlikely]]
    grow();
  const NodeIndex index = num_units_;
  num_units_ += store.num_units;
  ++num_nodes_;
  node(level, index).copy_from(blank(level));
  // Prefetches the place of the next node: if that cache line had to come from memory, its stores would delay those of
  // the backup.
  __builtin_prefetch(block(num_units_), 1);
  return index;
}

}  // namespace treesample
