#include "space/monotone_hint.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>

#include "treesample/math/log_domain.hpp"
#include "treesample/model/names.hpp"
#include "treesample/text.hpp"

namespace treesample {
namespace {

constexpr std::size_t kMostValues = 10'000;
constexpr double kMostConfigurations = 1 << 20;

// The covariance of ranks would be no better, because only its sign is used. -inf counts as somewhat less than the
// smallest value.
std::vector<Direction> guessed_directions(std::span<const KnownValue> known) {
  double least = 0.0, most = 0.0;
  for (const KnownValue& value : known) {
    if (value.log_value == kNegInf) continue;
    least = std::min(least, value.log_value);
    most = std::max(most, value.log_value);
  }
  const std::size_t width = known.front().states.size();
  std::vector<double> states(width, 0.0), products(width, 0.0);
  double values = 0.0;
  for (const KnownValue& value : known) {
    const double number = value.log_value == kNegInf ? least - 0.5 * (most - least) - 1.0 : value.log_value;
    values += number;
    for (std::size_t i = 0; i < width; ++i) {
      states[i] += value.states[i];
      products[i] += number * value.states[i];
    }
  }
  std::vector<Direction> directions;
  const auto count = static_cast<double>(known.size());
  for (std::size_t i = 0; i < width; ++i) {
    directions.push_back(products[i] - states[i] * values / count < 0.0 ? Direction::kDecreasing
                                                                        : Direction::kIncreasing);
  }
  return directions;
}

// True if every variable of `a` is at least as far in its direction as that of `b`.
bool exceeds(std::span<const int> a, std::span<const int> b, const std::vector<Direction>& directions) {
  for (std::size_t i = 0; i < a.size(); ++i) {
    if ((a[i] - b[i]) * static_cast<int>(directions[i]) < 0) return false;
  }
  return true;
}

struct Pairs {
  std::int64_t agree = 0, contradict = 0;
};

// Counts pairs of different values, one of which bounds the other.
Pairs count_pairs(std::span<const KnownValue> known, const std::vector<Direction>& directions,
                  std::int64_t most_contradictions) {
  Pairs pairs;
  for (std::size_t i = 0; i < known.size() && pairs.contradict <= most_contradictions; ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const double a = known[i].log_value, b = known[j].log_value;
      if (a == b) continue;
      const std::span<const int> larger = a > b ? known[i].states : known[j].states;
      const std::span<const int> smaller = a > b ? known[j].states : known[i].states;
      if (exceeds(larger, smaller, directions)) {
        ++pairs.agree;
      } else if (exceeds(smaller, larger, directions)) {
        ++pairs.contradict;
      }
    }
  }
  return pairs;
}

// Turns directions around, one after the other, as long as fewer pairs contradict.
std::vector<Direction> improved(std::span<const KnownValue> known, std::vector<Direction> directions) {
  constexpr std::size_t kLookedAt = 300;
  const std::span<const KnownValue> some = known.first(std::min(known.size(), kLookedAt));
  std::int64_t fewest = count_pairs(some, directions, INT64_MAX).contradict;
  for (bool is_better = true; is_better && fewest > 0;) {
    is_better = false;
    for (Direction& direction : directions) {
      const Direction before = direction;
      direction = before == Direction::kIncreasing ? Direction::kDecreasing : Direction::kIncreasing;
      const std::int64_t count = count_pairs(some, directions, fewest).contradict;
      is_better = is_better || count < fewest;
      if (count >= fewest) direction = before;
      fewest = std::min(fewest, count);
    }
  }
  return directions;
}

// A bound of the function at each of its states, the last variable fastest: from the values below it (sign 1) or above
// it (sign -1), passed on from neighbour to neighbour.
std::vector<double> implied(const FactorGraph& graph, const Factor& factor, std::span<const KnownValue> known,
                            const std::vector<Direction>& directions, int sign) {
  const std::vector<int>& scope = factor.scope();
  std::vector<std::size_t> strides(scope.size());
  std::size_t size = 1;
  for (std::size_t i = scope.size(); i-- > 0;) {
    strides[i] = size;
    size *= static_cast<std::size_t>(graph.num_states(scope[i]));
  }
  std::vector<double> bound(size, sign > 0 ? kNegInf : factor.log_max().value_or(HUGE_VAL));
  for (const KnownValue& value : known) {
    std::size_t place = 0;
    for (std::size_t i = 0; i < scope.size(); ++i) place += strides[i] * static_cast<std::size_t>(value.states[i]);
    bound[place] = value.log_value;
  }
  for (std::size_t i = 0; i < scope.size(); ++i) {
    const auto count = static_cast<std::size_t>(graph.num_states(scope[i]));
    const bool is_upwards = (directions[i] == Direction::kIncreasing) == (sign > 0);
    for (std::size_t step = 1; step < count; ++step) {
      const std::size_t state = is_upwards ? step : count - 1 - step;
      const std::size_t before = is_upwards ? state - 1 : state + 1;
      for (std::size_t place = 0; place < size; ++place) {
        if (place / strides[i] % count != state) continue;
        const double other = bound[place - state * strides[i] + before * strides[i]];
        bound[place] = sign > 0 ? std::max(bound[place], other) : std::min(bound[place], other);
      }
    }
  }
  return bound;
}

std::optional<LogBounds> implied_log_z(const FactorGraph& graph, const MonotoneHint& hint,
                                       std::span<const KnownValue> known) {
  if (graph.log_num_configurations() > std::log(kMostConfigurations)) return {};
  std::vector<int> tables;
  for (int m = 0; m < graph.num_factors(); ++m) {
    if (graph.factor(m).is_table()) {
      tables.push_back(m);
    } else if (m != hint.factor) {
      return {};
    }
  }
  const Factor& factor = graph.factor(hint.factor);
  const std::vector<double> lower = implied(graph, factor, known, hint.directions, 1);
  const std::vector<double> upper = implied(graph, factor, known, hint.directions, -1);
  std::vector<double> lower_terms, upper_terms;
  Assignment x(static_cast<std::size_t>(graph.num_variables()), 0);
  do {
    double sum = 0.0;
    for (const int m : tables) sum += graph.log_value(m, x);
    std::size_t place = 0;
    for (const int v : factor.scope()) {
      place = place * static_cast<std::size_t>(graph.num_states(v)) + static_cast<std::size_t>(x[v]);
    }
    if (sum != kNegInf && upper[place] == HUGE_VAL) return {};
    lower_terms.push_back(sum + lower[place]);
    upper_terms.push_back(sum == kNegInf ? kNegInf : sum + upper[place]);
    std::size_t v = x.size();
    while (v > 0 && ++x[v - 1] == graph.num_states(static_cast<int>(v - 1))) x[--v] = 0;
    if (v == 0) break;
  } while (true);
  return LogBounds{log_sum_exp(lower_terms), log_sum_exp(upper_terms)};
}

}  // namespace

std::optional<MonotoneHint> monotone_hint(const FactorGraph& graph, std::span<const KnownValue> known,
                                          std::int64_t fewest_pairs) {
  for (int m = 0; m < graph.num_factors(); ++m) {
    const Factor& factor = graph.factor(m);
    if (factor.is_table() || !factor.directions().empty() || factor.scope().empty()) continue;
    std::vector<KnownValue> own;
    for (const KnownValue& value : known) {
      if (value.factor == m && !value.is_missing) own.push_back(value);
    }
    if (own.size() < 2 || own.size() > kMostValues) continue;
    MonotoneHint hint{m, improved(own, guessed_directions(own)), std::ssize(own), 0, {}};
    const Pairs pairs = count_pairs(own, hint.directions, 0);
    if (pairs.contradict > 0 || pairs.agree < fewest_pairs) continue;
    hint.num_pairs = pairs.agree;
    hint.log_z = implied_log_z(graph, hint, own);
    return hint;
  }
  return {};
}

std::string hint_text(const MonotoneHint& hint, const FactorGraph& graph, const std::string& name) {
  std::vector<std::string> rising, falling;
  for (std::size_t i = 0; i < hint.directions.size(); ++i) {
    (hint.directions[i] == Direction::kIncreasing ? rising : falling)
        .push_back(variable_name(graph, graph.factor(hint.factor).scope()[i]));
  }
  const auto listed = [](const char* verb, const std::vector<std::string>& names) {
    constexpr std::size_t kMost = 6;
    if (names.size() <= kMost) return fmt::format("{} with {}", verb, fmt::join(names, ", "));
    return fmt::format("{} with {}, ... ({} variables)", verb,
                       fmt::join(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(kMost), ", "),
                       names.size());
  };
  std::string text = fmt::format(
      "all {} of {} agree with a monotone function, which {}{}{} ({} of them could have "
      "contradicted)",
      counted(hint.num_values, "value"), name, rising.empty() ? "" : listed("rises", rising),
      rising.empty() || falling.empty() ? "" : " and ", falling.empty() ? "" : listed("falls", falling),
      counted(hint.num_pairs, "pair"));
  if (!hint.log_z) return text + "; if it is monotone, declare it (monotone): certified bounds follow from few calls";
  return text +
         fmt::format("; if it is, declare it (monotone), and these values alone certify log Z in [{:.6g}, {:.6g}]",
                     hint.log_z->lower, hint.log_z->upper);
}

}  // namespace treesample
