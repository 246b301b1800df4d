#include "value/block_team.hpp"

#include <algorithm>

#include "treesample/error.hpp"

namespace treesample {

bool BlockTeam::is_ended(std::size_t num_entries) {
  const auto num_steps = static_cast<std::int64_t>(4 * num_entries + 64);
  stop_.go_on("WeightedMiniBucket", num_steps);
  return settle_.is_asked(num_steps);
}

bool BlockTeam::share(std::size_t count, std::size_t grain, std::size_t num_entries, const ThreadTeam::Work& work) {
  bool is_settled = false;
  const auto asked = [&] { return is_settled = is_ended(grain * num_entries); };
  try {
    team_.run(count, grain, work, asked);
  } catch (const Error&) {
    if (!is_settled) throw;
  }
  return !is_settled;
}

bool BlockTeam::for_each(BlockWalk& walk, std::size_t cost, const Work& work) {
  if (!is_shared(walk)) {
    do {
      if (is_ended(cost * walk.block_size())) return false;
      work(walk, 0);
    } while (walk.next());
    return true;
  }
  std::vector<std::optional<BlockWalk>> walks(static_cast<std::size_t>(team_.size()));
  const auto go = [&](std::size_t first, std::size_t last, int thread) {
    std::optional<BlockWalk>& own = walks[static_cast<std::size_t>(thread)];
    if (!own) own.emplace(walk);
    own->seek(first);
    for (std::size_t block = first; block < last; ++block, own->next()) work(*own, thread);
  };
  return share(walk.num_blocks(), 4, cost * walk.block_size(), go);
}

// The blocks of a slab by their place in each target.
void BlockTeam::make_groups(BlockWalk& walk, std::size_t first, std::size_t count, std::span<const Target> targets) {
  order_.clear();
  groups_.clear();
  for (std::size_t t = 0; t < targets.size(); ++t) {
    const auto begin = static_cast<std::ptrdiff_t>(order_.size());
    walk.seek(first);
    for (std::size_t b = 0; b < count; ++b, walk.next()) order_.push_back({walk.offset(targets[t].id), b});
    std::stable_sort(order_.begin() + begin, order_.end(),
                     [](const Place& a, const Place& b) { return a.offset < b.offset; });
    for (auto i = static_cast<std::size_t>(begin); i < order_.size(); ++i) {
      if (i == static_cast<std::size_t>(begin) || order_[i].offset != order_[i - 1].offset)
        groups_.push_back({t, i, i});
      groups_.back().last = i + 1;
    }
  }
}

bool BlockTeam::fold(BlockWalk& walk, std::size_t cost, const Make& make, Fold fold, std::span<const Target> targets) {
  const std::size_t size = walk.block_size();
  const auto add = [&](std::size_t offset, const Target& target, const double* block) {
    if (fold == Fold::kSum) {
      walk.accumulate_at(offset, target.id, {block, size}, target.values);
    } else {
      walk.accumulate_max_at(offset, target.id, {block, size}, target.values);
    }
  };
  if (!is_shared(walk)) {
    slab_.resize(std::max(slab_.size(), size));
    do {
      if (is_ended(cost * size)) return false;
      make(walk, {slab_.data(), size}, 0);
      for (const Target& target : targets) add(walk.offset(target.id), target, slab_.data());
    } while (walk.next());
    return true;
  }
  const std::size_t most = std::max<std::size_t>(1, kSlabEntries / size);
  slab_.resize(std::max(slab_.size(), most * size));
  std::vector<std::optional<BlockWalk>> walks(static_cast<std::size_t>(team_.size()));
  for (std::size_t begin = 0; begin < walk.num_blocks(); begin += most) {
    const std::size_t count = std::min(most, walk.num_blocks() - begin);
    const auto make_blocks = [&](std::size_t first, std::size_t last, int thread) {
      std::optional<BlockWalk>& own = walks[static_cast<std::size_t>(thread)];
      if (!own) own.emplace(walk);
      own->seek(begin + first);
      for (std::size_t b = first; b < last; ++b, own->next()) make(*own, {slab_.data() + b * size, size}, thread);
    };
    if (!share(count, 2, cost * size, make_blocks)) return false;
    make_groups(walk, begin, count, targets);
    const auto add_blocks = [&](std::size_t first, std::size_t last, int) {
      for (std::size_t g = first; g < last; ++g) {
        for (std::size_t i = groups_[g].first; i < groups_[g].last; ++i) {
          add(order_[i].offset, targets[groups_[g].target], slab_.data() + order_[i].block * size);
        }
      }
    };
    if (!share(groups_.size(), 1, size, add_blocks)) return false;
  }
  walk.seek(0);
  return true;
}

bool BlockTeam::for_ranges(std::size_t count, std::size_t cost,
                           const std::function<void(std::size_t, std::size_t)>& work) {
  if (team_.size() > 1 && count * cost >= 4 * kLeastShared) {
    return share(count, kRange, cost, [&](std::size_t first, std::size_t last, int) { work(first, last); });
  }
  for (std::size_t first = 0; first < count; first += kRange) {
    const std::size_t last = std::min(count, first + kRange);
    if (is_ended(cost * (last - first))) return false;
    work(first, last);
  }
  return true;
}

}  // namespace treesample
