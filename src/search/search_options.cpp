#include "treesample/error.hpp"
#include "treesample/search/tree_sample.hpp"

namespace treesample {

void SearchOptions::validate() const {
  check_range("SearchOptions", "observer_interval", observer_interval, 0, 1 << 30);
  check_at_least("SearchOptions", "c", c, 0.0);
  check_at_least("SearchOptions", "epsilon", epsilon, 0.0);
}

}  // namespace treesample
