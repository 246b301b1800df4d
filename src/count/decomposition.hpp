// A tree decomposition as a guide: variables near the middle of the tree are decided first.
//
// The bags {v} and sep(v) of an elimination order form a tree (sep(v) is in the bag of its first variable to be
// removed). Its root is a bag whose removal leaves no part with more than half of the bags. The depth of a variable is
// that of the highest bag that contains it. Depth is usually the distance from the root, so that each part depends on
// one bag only. If it is much less work, every part has a middle bag of its own as its root instead, so that decisions
// by depth halve all parts.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "treesample/space/order.hpp"
#include "treesample/stop.hpp"

namespace treesample {

struct DecompositionGuide {
  int width = 0;               // the largest separator
  std::vector<double> depths;  // by variable: 0 at the root, 1 for the deepest
  std::vector<int> order;      // of elimination: the first variable is removed first
};

// An annealing that was asked to stop.
struct StartedAnnealing;

// The best of some min-fill orders and, where elimination would be long, of one that is annealed from it. `scopes` has
// the sets of variables that depend on each other. `should_stop` ends it with Error (kInterrupted), even during the
// first order; if `started` is given, the next call with the same arguments goes on with an annealing that had begun.
DecompositionGuide make_guide(const Adjacency& adjacency, const std::vector<std::vector<int>>& scopes, int restarts,
                              std::uint64_t seed, const ShouldStop& should_stop,
                              std::shared_ptr<StartedAnnealing>* started = nullptr);

}  // namespace treesample
