#include "tree/new_nodes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "tree/tree_number.hpp"
#include "tree/values.hpp"
#include "treesample/error.hpp"

namespace treesample {

NewNodes::NewNodes(TreeStore& store, const LeafValue& q_phi, Choices& choices, TieRule ties)
    : store_(store), q_phi_(q_phi), choices_(choices), has_random_ties_(ties == TieRule::kRandom) {
  if (store.has_q_phi()) return;
  // All new nodes of a level are alike.
  for (int n = 0; n < store.space().num_levels(); ++n) initialise(n, store.blank(n), {}, {});
}

void NewNodes::initialise(int level, const Node& node, std::span<const int> x, std::optional<double> expected) {
  const Level& facts = store_.space().levels[level];
  std::vector<double> q(static_cast<std::size_t>(node.num_states()), facts.log_states_below);
  if (store_.has_q_phi()) {
    if (expected) {
      q_phi_.q_values_given(level, x, *expected, q);
    } else {
      q_phi_.q_values(level, x, 1, q);
    }
    for (const double value : q) {
      if (!(value <= kMostTreeLog)) {
        throw Error(
            ErrorCode::kNumeric,
            fmt::format(
                "search: the leaf value of variable {} is {:g}, allowed are numbers up to {:g} and -inf; either "
                "the factors are too large, or what values the leaves is wrong",
                facts.variable, value, kMostTreeLog));
      }
    }
    std::copy(q.begin(), q.end(), node.q_phi());
  }
  set_q(node, q);
  choices_.choose(level, node);
}

}  // namespace treesample
