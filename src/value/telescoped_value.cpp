#include "treesample/value/telescoped_value.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include "treesample/error.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/space/reward.hpp"

namespace treesample {
namespace {

// Moves one row so that its log sum exp is `value`; one that is impossible stays so.
void move_to(std::span<double> q, double value) {
  const double now = log_sum_exp(q);
  for (double& entry : q) entry = now == kNegInf || value == kNegInf ? kNegInf : entry - now + value;
}

double root_value_of(const LeafValue& value, const SearchSpace& space) {
  const Assignment nothing(space.levels.size(), -1);
  std::vector<double> q(static_cast<std::size_t>(space.levels[0].num_states));
  value.q_values(0, nothing, 1, q);
  return log_sum_exp(q);
}

// log of gamma(x) / q(x) of one sample, paid level by level; none when the budget ends or a function fails.
std::optional<double> sampled_weight(const SearchSpace& space, const LeafValue& of, Reward& reward, Budget& budget,
                                     Random& random) {
  Assignment x(space.levels.size(), -1);
  double log_weight = -of.sample_below(0, x, random);
  for (int n = 0; n < space.num_levels() && log_weight != kNegInf; ++n) {
    if (!budget.allows(reward.price(n))) return {};
    const std::optional<double> paid = reward.try_evaluate(n, x, budget);
    if (!paid) return {};
    log_weight += *paid;
  }
  return log_weight;
}

}  // namespace

TelescopedValue::TelescopedValue(const SearchSpace& space, std::shared_ptr<const LeafValue> of, double root_value)
    : LeafValue(space), of_(std::move(of)), root_value_(root_value) {
  check_argument(of_ != nullptr && of_->fits(space), "TelescopedValue", "the leaf value was made for another space");
  check_argument(space.kind == SpaceKind::kTree, "TelescopedValue",
                 "what an edge promises belongs to one path: use the space tree");
  check_argument(is_log_value(root_value), "TelescopedValue", "the value of the root is NaN or +inf");
}

void TelescopedValue::q_values(int level, std::span<const int> prefixes, int count, std::span<double> q) const {
  of_->q_values(level, prefixes, count, q);
  if (level != 0) return;
  const auto num_states = static_cast<std::size_t>(space().levels[0].num_states);
  for (std::size_t r = 0; r < static_cast<std::size_t>(count); ++r) {
    move_to(q.subspan(r * num_states, num_states), root_value_);
  }
}

void TelescopedValue::q_values_given(int level, std::span<const int> prefix, double expected,
                                     std::span<double> q) const {
  of_->q_values(level, prefix, 1, q);
  move_to(q, expected);
}

double TelescopedValue::sample_below(int level, std::span<int> x, Random& random) const {
  return of_->sample_below(level, x, random);
}

double TelescopedValue::log_prob_below(int level, std::span<const int> x) const {
  return of_->log_prob_below(level, x);
}

void TelescopedValue::probabilities(int level, std::span<const int> x, std::span<double> probs) const {
  of_->probabilities(level, x, probs);
}

void RootSamplesOptions::validate() const {
  check_range("RootSamplesOptions", "count", count, 0, 1 << 20);
  check_argument(share >= 0.0 && share <= 1.0, "RootSamplesOptions", "share must lie between 0 and 1");
}

Telescoped telescope(const FactorGraph& graph, const SearchSpace& space, std::shared_ptr<const LeafValue> of,
                     const Budget& budget, const RootSamplesOptions& options, std::uint64_t seed) {
  options.validate();
  check_space("telescope", graph, space);
  Telescoped result;
  check_argument(of != nullptr && space.num_levels() > 0, "telescope", "there is no leaf value or no variable");
  const auto limit = static_cast<std::int64_t>(std::min(options.share * static_cast<double>(budget.limit()), 9e18));
  Budget own(limit, budget.unit());
  Reward reward(graph, space);
  Random random(seed, "root samples");
  std::vector<double> weights;
  while (static_cast<int>(weights.size()) < options.count) {
    const std::optional<double> weight = sampled_weight(space, *of, reward, own, random);
    if (!weight) break;
    weights.push_back(*weight);
  }
  result.spent = own.spent();
  result.num_samples = static_cast<int>(weights.size());
  const double total = weights.empty() ? kNegInf : log_sum_exp(weights);
  if (!weights.empty()) {
    const double mean = std::accumulate(weights.begin(), weights.end(), 0.0) / static_cast<double>(weights.size());
    result.sampled_kl = mean == kNegInf ? HUGE_VAL : total - std::log(static_cast<double>(weights.size())) - mean;
  }
  // Where no sample was possible the leaf value's own is as good as any.
  result.root_value =
      total == kNegInf ? root_value_of(*of, space) : total - std::log(static_cast<double>(weights.size()));
  result.value = std::make_shared<TelescopedValue>(space, std::move(of), result.root_value);
  return result;
}

}  // namespace treesample
