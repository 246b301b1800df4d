#include "value/block_fold.hpp"

#include <utility>

namespace treesample {

BlockFold::BlockFold(const BlockWalk& walk, std::vector<Target> targets)
    : targets_(std::move(targets)), num_copies_(targets_.size(), 1) {
  for (std::size_t place = walk.outer_scope().size(); place-- > 0;) {
    Axis& axis = axes_.emplace_back();
    axis.num_states = static_cast<std::size_t>(walk.graph().num_states(walk.outer_scope()[place]));
    for (const Target& target : targets_) axis.is_in.push_back(walk.has_outer(target.id, place));
  }
  const std::size_t num_entries = walk.num_blocks() * walk.block_size();
  if (num_entries >= kLeastDivided) divide(num_entries, kMostParts);
  for (const Axis& axis : axes_) parts_.add_axis(axis.num_states, axis.divides);
}

// Divides by one variable after the other. Each time it takes the variable that needs the fewest entries for copies
// and, among equals, the slowest one, so that the blocks of a part lie side by side.
void BlockFold::divide(std::size_t num_entries, std::size_t most_parts) {
  std::size_t num_copied = 0;
  for (std::size_t num_parts = 1; num_parts < most_parts;) {
    Axis* best = nullptr;
    std::size_t least = 0;
    for (auto axis = axes_.rbegin(); axis != axes_.rend(); ++axis) {
      if (axis->divides) continue;
      std::size_t more = 0;
      for (std::size_t t = 0; t < targets_.size(); ++t) {
        if (!axis->is_in[t]) more += this->num_entries(t) * (axis->num_states - (num_copies_[t] > 1 ? 1 : 0));
      }
      if (best != nullptr && more >= least) continue;
      best = &*axis;
      least = more;
    }
    if (best == nullptr || num_copied + least > num_entries / kCopyShare) return;
    best->divides = true;
    num_copied += least;
    num_parts *= best->num_states;
    for (std::size_t t = 0; t < targets_.size(); ++t) {
      if (!best->is_in[t]) num_copies_[t] *= best->num_states;
    }
  }
}

double* BlockFold::entries(std::size_t target, const BlockWalk& walk, const Place& place, double* values) const {
  std::size_t part = place.part, copy = 0, step = 1;
  for (const Axis& axis : axes_) {
    if (!axis.divides) continue;
    if (!axis.is_in[target]) {
      copy += part % axis.num_states * step;
      step *= axis.num_states;
    }
    part /= axis.num_states;
  }
  return values + copy * targets_[target].num_entries + walk.offset(targets_[target].id);
}

bool BlockFold::is_first(std::size_t target, const Place& place) const {
  std::size_t i = place.i;
  for (const Axis& axis : axes_) {
    if (axis.divides) continue;
    if (!axis.is_in[target] && i % axis.num_states != 0) return false;
    i /= axis.num_states;
  }
  return true;
}

}  // namespace treesample
