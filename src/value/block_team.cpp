#include "value/block_team.hpp"

#include <algorithm>
#include <utility>

#include "model/block_parts.hpp"
#include "treesample/error.hpp"

namespace treesample {
namespace {

using Fold = BlockTeam::Fold;
using Target = BlockTeam::Target;

constexpr std::size_t kLeastParts = 2, kMostRanges = 16;  // of each thread
constexpr std::size_t kMostGrain = 4;                     // blocks

void add(const BlockWalk& walk, Fold fold, std::size_t offset, const Target& target, std::span<const double> block) {
  if (fold == Fold::kSum) {
    walk.accumulate_at(offset, target.id, block, target.values);
  } else {
    walk.accumulate_max_at(offset, target.id, block, target.values);
  }
}

// By the outer variables that all targets have.
BlockParts parts_of(const BlockWalk& walk, std::span<const Target> targets) {
  BlockParts parts;
  for (std::size_t place = walk.outer_scope().size(); place-- > 0;) {
    parts.add_axis(static_cast<std::size_t>(walk.graph().num_states(walk.outer_scope()[place])),
                   std::all_of(targets.begin(), targets.end(),
                               [&](const Target& target) { return walk.has_outer(target.id, place); }));
  }
  return parts;
}

}  // namespace

bool BlockTeam::is_ended(std::size_t num_entries) {
  const auto num_steps = static_cast<std::int64_t>(4 * num_entries + 64);
  stop_.go_on("WeightedMiniBucket", num_steps);
  return settle_.is_asked(num_steps);
}

bool BlockTeam::share(std::size_t count, std::size_t grain, std::size_t num_entries, const ThreadTeam::Work& work) {
  bool is_settled = false;
  const auto asked = [&] { return is_settled = is_ended(grain * num_entries); };
  try {
    team_->run(count, grain, work, asked);
  } catch (const Error&) {
    if (!is_settled) throw;
  }
  return !is_settled;
}

void BlockWave::add(int piece, std::size_t piece_entries) {
  const bool is_small = piece_entries < BlockTeam::kLeastShared;
  (is_small ? small : large).push_back(piece);
  if (is_small) num_small_entries += piece_entries;
  num_entries += piece_entries;
}

void BlockTeam::tell(TellShare progress, double num_entries) {
  progress_ = std::move(progress);
  num_entries_ = num_entries;
  num_done_ = 0.0;
}

BlockTeam BlockTeam::unended() const {
  BlockTeam team;
  team.team_ = team_;
  return team;
}

std::size_t BlockTeam::grain(std::size_t num_blocks) const {
  return std::clamp<std::size_t>(num_blocks / (kMostGrain * static_cast<std::size_t>(num_threads())), 1, kMostGrain);
}

bool BlockTeam::run_wave(const BlockWave& wave, const std::function<bool(BlockTeam& team, int piece)>& work) {
  num_done_ += static_cast<double>(wave.num_entries);
  if (progress_) progress_(std::min(1.0, (num_done_ - static_cast<double>(wave.num_entries)) / num_entries_));
  const auto all = [&](const std::vector<int>& pieces) {
    return std::all_of(pieces.begin(), pieces.end(), [&](int piece) { return work(*this, piece); });
  };
  if (num_threads() == 1 || wave.num_small_entries < kLeastShared) return all(wave.small) && all(wave.large);
  alone_.resize(static_cast<std::size_t>(num_threads()));
  const auto go = [&](std::size_t first, std::size_t last, int thread) {
    for (std::size_t i = first; i < last; ++i) work(alone_[static_cast<std::size_t>(thread)], wave.small[i]);
  };
  const std::size_t mean = wave.num_small_entries / wave.small.size();
  return share(wave.small.size(), std::max<std::size_t>(1, kRange / (mean + 1)), 8 * mean, go) && all(wave.large);
}

bool BlockTeam::for_each(BlockWalk& walk, std::size_t cost, const Work& work) {
  if (!is_shared(walk)) {
    do {
      if (is_ended(cost * walk.block_size())) return false;
      work(walk, 0);
    } while (walk.next());
    return true;
  }
  std::vector<std::optional<BlockWalk>> walks(static_cast<std::size_t>(num_threads()));
  const auto go = [&](std::size_t first, std::size_t last, int thread) {
    std::optional<BlockWalk>& own = walks[static_cast<std::size_t>(thread)];
    if (!own) own.emplace(walk);
    own->seek(first);
    for (std::size_t block = first; block < last; ++block, own->next()) work(*own, thread);
  };
  return share(walk.num_blocks(), grain(walk.num_blocks()), cost * walk.block_size(), go);
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
  if (is_shared(walk)) {
    return parts_of(walk, targets).size() >= kLeastParts * static_cast<std::size_t>(num_threads())
               ? fold_parts(walk, cost, make, fold, targets)
               : fold_slabs(walk, cost, make, fold, targets);
  }
  slab_.resize(std::max(slab_.size(), walk.block_size()));
  const std::span<double> block(slab_.data(), walk.block_size());
  do {
    if (is_ended(cost * walk.block_size())) return false;
    make(walk, block, 0);
    for (const Target& target : targets) add(walk, fold, walk.offset(target.id), target, block);
  } while (walk.next());
  return true;
}

bool BlockTeam::fold_parts(BlockWalk& walk, std::size_t cost, const Make& make, Fold fold,
                           std::span<const Target> targets) {
  const BlockParts parts = parts_of(walk, targets);
  struct Own {
    BlockWalk walk;
    std::vector<double> block;
  };
  std::vector<std::optional<Own>> owns(static_cast<std::size_t>(num_threads()));
  const auto go = [&](std::size_t first, std::size_t last, int thread) {
    std::optional<Own>& own = owns[static_cast<std::size_t>(thread)];
    if (!own) own.emplace(walk, std::vector<double>(walk.block_size()));
    for (std::size_t part = first; part < last; ++part) {
      for (std::size_t i = 0; i < parts.num_blocks(); ++i) {
        own->walk.seek(parts.block(part, i));
        make(own->walk, own->block, thread);
        for (const Target& target : targets) add(walk, fold, own->walk.offset(target.id), target, own->block);
      }
    }
  };
  const std::size_t grain = parts.size() / (kMostRanges * static_cast<std::size_t>(num_threads())) + 1;
  return share(parts.size(), grain, cost * walk.block_size() * parts.num_blocks(), go);
}

bool BlockTeam::fold_slabs(BlockWalk& walk, std::size_t cost, const Make& make, Fold fold,
                           std::span<const Target> targets) {
  const std::size_t size = walk.block_size();
  const std::size_t most = std::max<std::size_t>(1, kSlabEntries * static_cast<std::size_t>(num_threads()) / size);
  slab_.resize(std::max(slab_.size(), most * size));
  std::vector<std::optional<BlockWalk>> walks(static_cast<std::size_t>(num_threads()));
  for (std::size_t begin = 0; begin < walk.num_blocks(); begin += most) {
    const std::size_t count = std::min(most, walk.num_blocks() - begin);
    const auto make_blocks = [&](std::size_t first, std::size_t last, int thread) {
      std::optional<BlockWalk>& own = walks[static_cast<std::size_t>(thread)];
      if (!own) own.emplace(walk);
      own->seek(begin + first);
      for (std::size_t b = first; b < last; ++b, own->next()) make(*own, {slab_.data() + b * size, size}, thread);
    };
    if (!share(count, grain(count), cost * size, make_blocks)) return false;
    make_groups(walk, begin, count, targets);
    const auto add_blocks = [&](std::size_t first, std::size_t last, int) {
      for (std::size_t g = first; g < last; ++g) {
        for (std::size_t i = groups_[g].first; i < groups_[g].last; ++i) {
          const std::span<const double> block(slab_.data() + order_[i].block * size, size);
          add(walk, fold, order_[i].offset, targets[groups_[g].target], block);
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
  if (num_threads() > 1 && count * cost >= 4 * kLeastShared) {
    return share(count, kRange, cost, [&](std::size_t first, std::size_t last, int) { work(first, last); });
  }
  for (std::size_t first = 0; first < count; first += kRange) {
    const std::size_t last = std::min(count, first + kRange);
    if (is_ended(cost * (last - first))) return false;
    work(first, last);
  }
  return true;
}

bool BlockTeam::fill(std::span<double> values, double value) {
  return for_ranges(values.size(), 1, [&](std::size_t first, std::size_t last) {
    std::fill_n(values.data() + first, last - first, value);
  });
}

}  // namespace treesample
