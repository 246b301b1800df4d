// What the search with bounds can still pay for.
#include "search/search_state.hpp"

namespace treesample {

// In the unit of calls, a call whose answer is known is free.
bool SearchState::can_expand(int level) {
  if (is_free(level)) return true;
  Spending price = reward_.price(level).times(space_.levels[level].num_states);
  if (budget_.allows(price)) return true;
  if (budget_.unit() != BudgetUnit::kCall) return false;
  price.calls = num_new_calls(level);
  return budget_.allows(price);
}

// Pre: x_ holds the path down to a node of the level.
std::int64_t SearchState::num_new_calls(int level) {
  const Level& here = space_.levels[level];
  std::int64_t count = 0;
  for (int a = 0; a < here.num_states; ++a) {
    x_[here.variable] = a;
    for (const int factor : reward_.functions(level)) {
      const bool is_known = reward_.is_queued(factor) && !budget_.is_new_call(factor, reward_.scope_states(factor, x_));
      if (!is_known) ++count;
    }
  }
  x_[here.variable] = -1;
  return count;
}

}  // namespace treesample
