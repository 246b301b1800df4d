#include "exact/bucket_moments.hpp"

#include <algorithm>
#include <atomic>
#include <numeric>
#include <optional>

#include "math/lane_sum.hpp"
#include "treesample/stop.hpp"

namespace treesample {
namespace {

// Fewer entries are not shared between threads. Parts per thread that make about equal shares.
constexpr std::size_t kLeastShared = std::size_t{1} << 14, kPartsPerThread = 2;

}  // namespace

BucketMoments::BucketMoments(LinearBucket& product, std::span<const double> ratio, SeparatorSums& sums,
                             ThreadTeam& team)
    : product_(product), ratio_(ratio), sums_(sums), team_(team) {
  for (const ScopeGroup& group : sums.groups()) places_.push_back(product.add_place(group.scope));
  block_sums_.resize(product.num_states() * product.num_blocks());
}

BlockParts BucketMoments::parts(std::span<const std::size_t> groups) const {
  BlockParts parts;
  for (std::size_t axis = product_.num_outer(); axis-- > 0;) {
    bool is_common = true;
    for (const std::size_t g : groups) is_common = is_common && product_.has_outer(places_[g], axis);
    parts.add_axis(product_.outer_states(axis), is_common);
  }
  return parts;
}

std::vector<double> BucketMoments::add_all(EntryWatch& watch) {
  std::vector<std::size_t> groups(places_.size());
  std::iota(groups.begin(), groups.end(), 0);
  for (const std::size_t g : groups) {
    team_.run(sums_.of_group(g).size(), kLeastShared, [&](std::size_t first, std::size_t last, int /*worker*/) {
      std::fill_n(sums_.of_group(g).data() + first, last - first, 0.0);
    });
  }
  const bool is_shared = team_.size() > 1 && block_sums_.size() * product_.block_size() >= kLeastShared;
  const std::size_t enough = is_shared ? kPartsPerThread * static_cast<std::size_t>(team_.size()) : 0;
  if (groups.size() <= 1 || parts(groups).size() * product_.num_states() >= enough) {
    add(groups, watch);
  } else {
    for (const std::size_t g : groups) add({&g, 1}, watch);
  }
  std::vector<double> marginal(product_.num_states());
  for (std::size_t state = 0; state < marginal.size(); ++state) {
    const auto first = block_sums_.begin() + static_cast<std::ptrdiff_t>(state * product_.num_blocks());
    marginal[state] = std::accumulate(first, first + static_cast<std::ptrdiff_t>(product_.num_blocks()), 0.0);
  }
  return marginal;
}

void BucketMoments::add(std::span<const std::size_t> groups, EntryWatch& watch) {
  const BlockParts parts = this->parts(groups);
  const std::size_t num_pieces = product_.num_states() * parts.size();
  const std::size_t piece_entries = parts.num_blocks() * product_.block_size();
  struct Own {
    LinearBucket::Cursor cursor;
    std::vector<double> block;
  };
  std::vector<std::optional<Own>> owns(static_cast<std::size_t>(team_.size()));
  const std::size_t num_entries = num_pieces * piece_entries;
  std::atomic<bool> is_stopped = false;
  std::size_t num_done = 0;  // estimated by the calling thread, the only one that reports progress
  StopCheck stop([&] { return watch.is_asked_to_stop(static_cast<double>(num_done)); });
  const auto add_piece = [&](std::size_t piece, Own& own, bool is_caller) {
    const std::size_t state = piece / parts.size();
    for (std::size_t i = 0; i < parts.num_blocks() && !is_stopped; ++i) {
      own.cursor.move_to(parts.block(piece % parts.size(), i));
      if (is_caller) {
        num_done = std::min(num_entries, num_done + product_.block_size() * static_cast<std::size_t>(team_.size()));
        if (stop.is_asked(static_cast<std::int64_t>(8 * product_.block_size()))) is_stopped = true;
      }
      own.cursor.multiply(state, ratio_.data() + own.cursor.first_entry(), own.block.data());
      block_sums_[state * product_.num_blocks() + own.cursor.block()] = lane_sum(own.block);
      for (const std::size_t g : groups) {
        own.cursor.accumulate(places_[g], state, own.block.data(), sums_.of_group(g).data());
      }
    }
  };
  const auto add_pieces = [&](std::size_t first, std::size_t last, int worker) {
    std::optional<Own>& own = owns[static_cast<std::size_t>(worker)];
    if (!own) own.emplace(LinearBucket::Cursor(product_, 0), std::vector<double>(product_.block_size()));
    for (std::size_t piece = first; piece < last; ++piece) add_piece(piece, *own, worker == 0);
  };
  const bool is_shared = num_pieces * piece_entries >= kLeastShared;
  const std::size_t grain = is_shared ? std::max<std::size_t>(1, kLeastShared / 4 / piece_entries) : num_pieces;
  team_.run(num_pieces, grain, add_pieces);
  if (is_stopped) throw Error(ErrorCode::kInterrupted, "Elimination::marginals: asked to end");
}

}  // namespace treesample
