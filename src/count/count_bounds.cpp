// Bounds of a search that is not finished.
#include <utility>

#include "count/count_search.hpp"

namespace treesample {
namespace {

constexpr std::int64_t kMostWork = 4'000'000;  // atoms visited to find single configurations: some 10 ms

}  // namespace

// The bounds of open components need the trail as it was when these were split off. So the trail is taken back frame by
// frame, and finally replaced by a copy of the original: a search that was asked for bounds continues exactly like one
// that was not.
CountBounds CountSearch::bounds() {
  if (is_solved_) return {result_, result_};
  if (!is_begun_) begin();
  if (is_solved_) return {result_, result_};
  update_memory();
  ComponentStack::Saved components = components_.save();
  ZeroTrail trail = trail_;
  const CountBounds bounds = bounds_of_frames();
  trail_ = std::move(trail);
  components_.restore(std::move(components));
  return bounds;
}

// Adds up, from the last frame to the first: finished branches, the open branch with bounds of its open components, and
// an upper bound of the branches that were not opened.
CountBounds CountSearch::bounds_of_frames() {
  work_left_ = kMostWork;
  CountBounds inner{CountNumber::one(), CountNumber::one()};  // of the component that the branch is searching
  for (std::size_t i = num_frames_; i-- > 0;) {
    const Frame& frame = frames_[i];
    CountBounds bounds{frame.sum, frame.sum};
    if (frame.is_branch_open) {
      const CountBounds branch = bounds_of_branch(frame, inner);
      bounds.lower += branch.lower;
      bounds.upper += branch.upper;
      components_.shrink(frame.first_component);
      trail_.undo(frame.branch_mark);
    }
    if (frame.variable < 0 && frame.next_state == 0) {
      bounds = bounds_of(frame.component);  // nothing was searched yet
    } else if (!frame.has_learned_end) {
      bounds.upper += upper_bound_of_rest(frame);
    }
    trail_.undo(frame.mark);
    bounds.upper = smaller(bounds.upper, components_.upper_bound(frame.component));
    inner = bounds;
  }
  return inner;
}

CountBounds CountSearch::bounds_of_branch(const Frame& frame, const CountBounds& inner) {
  CountBounds branch{frame.branch * inner.lower, frame.branch * inner.upper};
  for (std::size_t c = frame.next_component; c < frame.end_component && !branch.upper.is_zero(); ++c) {
    const CountBounds open = bounds_of(c);
    branch.lower *= open.lower;
    branch.upper *= open.upper;
  }
  return branch;
}

CountNumber CountSearch::upper_bound_of_rest(const Frame& frame) const {
  if (frame.variable < 0) return {};
  const CountVariable& variable = problem_.variables[frame.variable];
  CountNumber rest;
  for (int number = frame.next_state; number < variable.num_states; ++number) {
    const int state = state_of(frame, number);
    if (trail_.is_live(frame.variable, state)) rest += variable.weights[state];
  }
  int last = frame.variable;
  for (const std::uint32_t atom : components_.atoms(frame.component)) {
    const int v = problem_.variable_of_atom[atom];
    if (v == last || v == frame.variable) continue;
    rest *= components_.live_weight(v);
    last = v;
  }
  return rest;
}

CountBounds CountSearch::bounds_of(std::size_t component) {
  const ZeroTrail::Mark mark = trail_.mark();
  const CountNumber upper = components_.upper_bound(component);
  const CountNumber lower = some_configuration(component);
  trail_.undo(mark);
  return {lower, upper};
}

// The weight of one configuration of the component; 0 if none was found in the time allowed.
CountNumber CountSearch::some_configuration(std::size_t component) {
  struct Decision {
    ZeroTrail::Mark mark;
    Literal literal;
    bool is_last;  // true if the opposite was tried already
  };
  std::vector<Decision> decisions;
  const auto size = static_cast<std::int64_t>(components_.atoms(component).size());
  while (work_left_ > 0) {
    work_left_ -= 1 + size;
    const int v = choose_variable(component);
    if (v < 0) {
      const std::size_t num_components = components_.size();
      const CountNumber weight = components_.split(component);
      components_.shrink(num_components);
      return weight;
    }
    int state = 0;
    while (!trail_.is_live(v, state)) ++state;
    decisions.push_back({trail_.mark(), problem_.variables[v].literal(state), false});
    bool is_possible = trail_.decide(decisions.back().literal);
    while (!is_possible) {
      while (!decisions.empty() && decisions.back().is_last) decisions.pop_back();
      work_left_ -= 1 + size;
      if (decisions.empty() || work_left_ <= 0) return {};
      Decision& last = decisions.back();
      trail_.undo(last.mark);
      last.is_last = true;
      is_possible = trail_.decide(opposite(last.literal));
    }
  }
  return {};
}

}  // namespace treesample
