#include "value/block_team.hpp"

#include <algorithm>
#include <utility>

#include "treesample/error.hpp"

namespace treesample {
namespace {

constexpr std::size_t kMostGrain = 4;  // blocks

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

BlockTeam BlockTeam::unended() const { return team_ == nullptr ? BlockTeam() : BlockTeam(*team_); }

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

bool BlockTeam::fold(BlockWalk& walk, const BlockFold& parts, std::size_t cost, const FoldWork& work) {
  if (!is_shared(walk)) {
    for (BlockFold::Place at; at.part < parts.num_parts(); ++at.part) {
      for (at.i = 0; at.i < parts.num_blocks(); ++at.i) {
        if (is_ended(cost * walk.block_size())) return false;
        walk.move_to(parts.block(at));
        work(walk, at, 0);
      }
    }
    return true;
  }
  std::vector<std::optional<BlockWalk>> walks(static_cast<std::size_t>(num_threads()));
  const auto go = [&](std::size_t first, std::size_t last, int thread) {
    std::optional<BlockWalk>& own = walks[static_cast<std::size_t>(thread)];
    if (!own) own.emplace(walk);
    for (BlockFold::Place at{first, 0}; at.part < last; ++at.part) {
      for (at.i = 0; at.i < parts.num_blocks(); ++at.i) {
        own->move_to(parts.block(at));
        work(*own, at, thread);
      }
    }
  };
  return share(parts.num_parts(), 1, cost * walk.block_size() * parts.num_blocks(), go);
}

bool BlockTeam::add_copies(std::span<const double> copies, std::span<double> to) {
  const std::size_t num_copies = copies.size() / to.size();
  const auto add = [&](std::size_t first, std::size_t last) {
    std::copy_n(copies.data() + first, last - first, to.data() + first);
    for (std::size_t c = 1; c < num_copies; ++c) {
      const double* const from = copies.data() + c * to.size();
      for (std::size_t i = first; i < last; ++i) to[i] += from[i];
    }
  };
  return for_ranges(to.size(), num_copies, add, kRange / 16);
}

bool BlockTeam::for_ranges(std::size_t count, std::size_t cost,
                           const std::function<void(std::size_t, std::size_t)>& work, std::size_t range) {
  if (num_threads() > 1 && count * cost >= 4 * kLeastShared) {
    return share(count, range, cost, [&](std::size_t first, std::size_t last, int) { work(first, last); });
  }
  for (std::size_t first = 0; first < count; first += range) {
    const std::size_t last = std::min(count, first + range);
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
