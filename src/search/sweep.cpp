// Passes over all nodes of the search with bounds: for values of shared nodes that are out of date, and for learned
// estimates.
#include <algorithm>
#include <type_traits>

#include "search/search_state.hpp"

namespace treesample {

void SearchState::settle() {
  const bool has_shared =
      std::any_of(space_.levels.begin(), space_.levels.end(), [](const Level& level) { return level.is_shared; });
  if (nodes_.calibration().is_on()) {
    recalibrate();
  } else if (has_shared) {
    sweep(nullptr);
  }
}

void SearchState::recalibrate() {
  ++counts_.recalibrations;
  sweep([this](int level) { return nodes_.calibration().value().log_value(level, path_.x); });
}

// The search is over: P_V is uniform below the nodes that were not searched, and this is what they are worth to it.
void SearchState::refit() {
  if (nodes_.calibration().is_on()) sweep([this](int level) { return nodes_.calibration().value().log_elbo(level); });
}

// Backs up all nodes, children before parents. Nodes without edges get leaf_estimate(level) if there is such a
// function, except for collapsed ones, whose values are better.
template <typename LeafEstimate>
bool SearchState::sweep(LeafEstimate leaf_estimate) {
  const double start = watch_.run().seconds();
  StopCheck stop([this] { return watch_.run().is_asked_to_stop(); });
  for (int n = space_.num_levels() - 1; n >= 0; --n) {
    for (NodeIndex i = 0; i < store_->end_index(n); ++i) {
      BoundNode& node = store_->node(n, i);
      if (stop.is_asked(16)) return false;
      if (node.is_given_back || node.is_complete) continue;
      if (node.is_expanded()) {
        back_up({n, i});
      } else if constexpr (!std::is_null_pointer_v<LeafEstimate>) {
        if (!node.was_collapsed) node.set_log_estimate(std::max(leaf_estimate(n), node.log_lower()));
      }
    }
  }
  watch_.note_sweep(watch_.run().seconds() - start);
  return true;
}

template bool SearchState::sweep<std::nullptr_t>(std::nullptr_t);

}  // namespace treesample
