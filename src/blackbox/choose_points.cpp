#include "blackbox/choose_points.hpp"

#include <algorithm>
#include <numeric>

#include "treesample/math/log_domain.hpp"

namespace treesample {

std::vector<std::size_t> choose_points(const ToldValues& told, std::size_t most) {
  std::vector<std::size_t> order(told.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (order.size() <= most) return order;
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return told.log_density(a) > told.log_density(b); });
  const std::size_t best = most - most / 2;
  const double step = static_cast<double>(order.size() - best) / static_cast<double>(most - best);
  std::sort(order.begin() + static_cast<std::ptrdiff_t>(best), order.end());
  for (std::size_t i = 0; best + i < most; ++i) {
    order[best + i] = order[best + static_cast<std::size_t>(step * static_cast<double>(i))];
  }
  order.resize(most);
  std::sort(order.begin(), order.end());
  return order;
}

ToldValues finite_values(const ToldValues& told) {
  ToldValues finite{.width = told.width};
  for (std::size_t i = 0; i < told.size(); ++i) {
    if (told.values[i] == kNegInf) continue;
    const auto row = told.row(i);
    finite.states.insert(finite.states.end(), row.begin(), row.end());
    finite.values.push_back(told.values[i]);
    if (!told.known.empty()) finite.known.push_back(told.known[i]);
  }
  return finite;
}

}  // namespace treesample
