#include "treesample/value/function_value.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "treesample/error.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/model/log_value.hpp"

namespace treesample {

FunctionValue::FunctionValue(ValueFunction function, const SearchSpace& space)
    : LeafValue(space), function_(std::move(function)) {
  check_argument(function_ != nullptr, "FunctionValue", "there is no function (null)");
  const bool is_path = space.roots.size() <= 1 && std::all_of(space.levels.begin(), space.levels.end(),
                                                              [](const Level& l) { return l.children.size() <= 1; });
  check_argument(is_path, "FunctionValue", "a value function values whole prefixes: use the space tree or graph");
}

void FunctionValue::q_values(int level, std::span<const int> prefixes, int count, std::span<double> q) const {
  check_range("FunctionValue::q_values", "level", level, 0, space().num_levels() - 1);
  const Level& here = space().levels[level];
  const std::size_t size = static_cast<std::size_t>(std::max(count, 0)) * static_cast<std::size_t>(here.num_states);
  check_argument(q.size() >= size, "FunctionValue::q_values", "there are fewer Q-values than the rows asked for");
  function_(here.variable, prefixes, count, q.first(size));
  const auto is_allowed = [](double value) { return std::abs(value) <= kLargestMagnitude || value == kNegInf; };
  const auto bad = std::find_if_not(q.begin(), q.begin() + static_cast<std::ptrdiff_t>(size), is_allowed);
  if (bad == q.begin() + static_cast<std::ptrdiff_t>(size)) return;
  throw Error(
      ErrorCode::kNumeric,
      fmt::format("the value function returned {} for variable {} in state {}, allowed are numbers from {} to "
                  "{} and -inf",
                  *bad, here.variable, (bad - q.begin()) % here.num_states, -kLargestMagnitude, kLargestMagnitude));
}

void FunctionValue::log_values(int level, int variable, std::span<int> x, std::span<double> values) const {
  const auto width = space().levels.size();
  const auto num_states = static_cast<std::size_t>(space().levels[level].num_states);
  std::vector<int> prefixes;
  prefixes.reserve(values.size() * width);
  for (std::size_t a = 0; a < values.size(); ++a) {
    x[variable] = static_cast<int>(a);
    prefixes.insert(prefixes.end(), x.begin(), x.end());
  }
  std::vector<double> q(values.size() * num_states);
  q_values(level, prefixes, static_cast<int>(values.size()), q);
  for (std::size_t a = 0; a < values.size(); ++a) {
    values[a] = log_sum_exp(std::span<const double>(q).subspan(a * num_states, num_states));
  }
}

}  // namespace treesample
