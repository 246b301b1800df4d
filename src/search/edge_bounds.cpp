#include "search/edge_bounds.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "math/compensated_sum.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample {
namespace {

constexpr double kMostError = 0.5;  // beyond which a backup says nothing
// Masses and gaps this close, relatively, count as equal: rounding alone decides which is larger, and a constant added
// to a factor must not.
constexpr double kTie = 1e-9;

double finite_magnitude(double value) { return std::isfinite(value) ? std::abs(value) : 0.0; }

}  // namespace

EdgeBounds::EdgeBounds(const SearchSpace& space, bool has_free_estimates)
    : has_free_estimates_(has_free_estimates), rounding_(space.levels.size()) {
  std::size_t most_states = 1;
  for (int n = 0; n < space.num_levels(); ++n) {
    const Level& level = space.levels[n];
    rounding_[n].num_terms = static_cast<double>(level.num_states) + static_cast<double>(level.children.size()) + 8.0;
    rounding_[n].num_factors = static_cast<double>(level.factors.size());
    rounding_[n].update();
    most_states = std::max<std::size_t>(most_states, level.num_states);
  }
  values_.resize(most_states);
  aligned_.resize(most_states);
  is_open_.resize(most_states);
}

// A sum of m numbers is off by at most m 2^-53 times the sum of their magnitudes, and this is a relative error of the
// exponential. The sum of the magnitudes is |R| plus twice the smaller one of the sums of the positive and of the
// negative numbers, hence at most |R| plus twice the smaller one of what these two can reach.
void EdgeBounds::Rounding::update() {
  error = kEpsilon *
          (num_terms + num_factors + (num_factors + 1.0) * (most_reward + 2.0 * (cancelling + cancelling_functions)));
  if (error < kMostError) outward = Outward(error);
}

void EdgeBounds::see_factors(const FactorGraph& graph, const SearchSpace& space) {
  for (int n = 0; n < space.num_levels(); ++n) {
    double positive = 0.0;
    double negative = 0.0;
    for (const int m : space.levels[n].factors) {
      if (!graph.factor(m).is_table()) continue;
      double largest = 0.0;
      double smallest = 0.0;
      for (const double value : graph.factor(m).log_values()) {
        largest = std::max(largest, value);
        if (value != kNegInf) smallest = std::min(smallest, value);
      }
      positive += largest;
      negative -= smallest;
    }
    rounding_[n].cancelling = std::min(positive, negative);
    rounding_[n].update();
  }
}

// Rewards that are not kept as exponentials have this error in their own bounds, see exp_reward.
void EdgeBounds::see_rewards(int level, std::span<const double> rewards, std::span<const double> magnitudes) {
  Rounding& here = rounding_[level];
  for (std::size_t a = 0; a < rewards.size(); ++a) {
    if (rewards[a] == kNegInf) continue;
    const double size = std::abs(rewards[a]);
    const double cancelling = 0.5 * (magnitudes[a] - size);
    const bool is_larger = size > here.most_reward && size <= Expansion::kMostReward;
    if (!is_larger && !(cancelling > here.cancelling_functions)) continue;
    if (is_larger) here.most_reward = size;
    here.cancelling_functions = std::max(here.cancelling_functions, cancelling);
    here.update();
  }
}

void EdgeBounds::see_rewards(const EdgeBounds& other) {
  for (std::size_t n = 0; n < rounding_.size(); ++n) {
    rounding_[n].most_reward = std::max(rounding_[n].most_reward, other.rounding_[n].most_reward);
    rounding_[n].cancelling_functions =
        std::max(rounding_[n].cancelling_functions, other.rounding_[n].cancelling_functions);
    rounding_[n].update();
  }
}

std::vector<double> EdgeBounds::reward_rounding() const {
  std::vector<double> result;
  for (const Rounding& here : rounding_) {
    result.push_back(2.0 * kEpsilon * (here.num_factors + 1.0) * (here.cancelling + here.cancelling_functions));
  }
  return result;
}

BoundValues EdgeBounds::exp_reward(double factor) const {
  if (factor >= 0.0) return BoundValues(factor);
  const double reward = reward_of_factor(factor);
  const Rounding& here = rounding_[level_];
  const double cancelling = here.cancelling + here.cancelling_functions;
  const double error = kEpsilon * (here.num_factors + 1.0) * (1.0 + std::abs(reward) + 2.0 * cancelling);
  return BoundValues::of_logs(reward - error, reward + error, reward);
}

void EdgeBounds::gather(const BoundStore& store, int level, const BoundNode& node) {
  const Expansion expansion = store.expansion(level, node);
  const std::span<const int> children = store.children(level);
  level_ = level;
  num_states_ = store.num_states(level);
  is_complete_ = true;
  num_open_ = 0;
  last_open_ = -1;
  if (children.size() != 1) {
    for (int a = 0; a < num_states_; ++a) gather_edge(store, expansion, children, a);
    return;
  }
  const int child_level = children[0];
  for (int a = 0; a < num_states_; ++a) {
    const double factor = expansion.factors()[a];
    if (!(factor > 0.0)) [[unlikely]] {
      gather_edge(store, expansion, children, a);
      continue;
    }
    const BoundNode& child = store.node(child_level, *expansion.links(a));
    values_[a] = child.is_dead() ? BoundValues() : child.times_factor(factor);
    set_open(a, child.is_open() && !child.is_dead());
    is_complete_ = is_complete_ && (child.is_complete || child.is_dead());
  }
}

// The same for any number of children and any reward.
void EdgeBounds::gather_edge(const BoundStore& store, const Expansion& expansion, std::span<const int> children,
                             int action) {
  const double factor = expansion.factors()[action];
  const NodeIndex* const links = expansion.links(action);
  BoundValues product = exp_reward(factor);
  bool is_complete = true;
  bool is_open = false;
  bool is_dead = factor == 0.0;
  for (std::size_t j = 0; j < children.size() && !is_dead; ++j) {
    const BoundNode& child = store.node(children[j], links[j]);
    is_dead = child.is_dead();
    if (!is_dead) product *= child;
    is_complete = is_complete && child.is_complete;
    is_open = is_open || child.is_open();
  }
  values_[action] = is_dead ? BoundValues() : product;
  set_open(action, is_open && !is_dead);
  is_complete_ = is_complete_ && (is_complete || is_dead);
}

void EdgeBounds::back_up(BoundNode& node) {
  int first = 0;  // the first that is not dead: dead ones may have other units
  while (first < num_states_ - 1 && values_[first].is_dead()) ++first;
  bool is_aligned = true;
  for (int a = first + 1; a < num_states_; ++a) {
    is_aligned = is_aligned && (values_[a].has_units_of(values_[first]) || values_[a].is_dead());
  }
  summands_ = values_.data();
  if (!is_aligned) [[unlikely]] {
    std::copy_n(values_.begin(), num_states_, aligned_.begin());
    BoundValues::align({aligned_.data(), static_cast<std::size_t>(num_states_)});
    summands_ = aligned_.data();
  }
  BoundValues sum = summands_[first];
  for (int a = first + 1; a < num_states_; ++a) sum.add(summands_[a]);
  // Where factors of 1e14 nats cancel, the sum says nothing and the node keeps its bounds, unless all its edges are
  // dead.
  const Rounding& rounding = rounding_[level_];
  if (rounding.error < kMostError || sum.is_dead()) [[likely]] {
    node.tighten(sum, rounding.outward, has_free_estimates_);
  }
  // Written only if it changes: the next read of the word with the flags would have to wait for the store.
  if (node.is_complete != is_complete_) node.is_complete = is_complete_;
}

bool EdgeBounds::back_up_pair(const BoundStore& store, int level, BoundNode& node) {
  const std::span<const int> children = store.children(level);
  if (store.num_states(level) != 2 || children.size() != 1) return false;
  const Expansion expansion = store.expansion(level, node);
  const double* const factors = expansion.factors();
  if (!(factors[0] > 0.0 && factors[1] > 0.0)) [[unlikely]]
    return false;
  const BoundNode& first = store.node(children[0], *expansion.links(0));
  const BoundNode& second = store.node(children[0], *expansion.links(1));
  const Rounding& rounding = rounding_[level];
  const bool is_common =
      !first.is_dead() && !second.is_dead() && first.has_units_of(second) && rounding.error < kMostError;
  if (!is_common) [[unlikely]]
    return false;
  BoundValues sum = first.times_factor(factors[0]);
  sum.add(second.times_factor(factors[1]));
  level_ = level;
  num_states_ = 2;
  num_open_ = 0;
  last_open_ = -1;
  set_open(0, first.is_open());
  set_open(1, second.is_open());
  is_complete_ = first.is_complete && second.is_complete;
  values_[0].set_product(first, factors[0]);
  values_[1].set_product(second, factors[1]);
  summands_ = values_.data();
  node.tighten(sum, rounding.outward, has_free_estimates_);
  if (node.is_complete != is_complete_) node.is_complete = is_complete_;
  return true;
}

// Which edge is wider is hard to predict: conditional moves of integers instead of branches.
int EdgeBounds::widest() const {
  int chosen = -1;
  auto most = std::bit_cast<std::int64_t>(-1.0);  // the mass to exceed
  for (int a = 0; a < num_states_; ++a) {
    const double mass = std::max(0.0, summands_[a].unresolved_mass());
    const auto least = std::bit_cast<std::int64_t>(mass * (1.0 + kTie));
    const int is_wider = static_cast<int>(is_open_[a]) & static_cast<int>(mass > std::bit_cast<double>(most));
    chosen = is_wider != 0 ? a : chosen;
    most = is_wider != 0 ? least : most;
  }
  return chosen;
}

ComponentRule::ComponentRule(const SearchSpace& space, bool has_upper)
    : num_below_(space.levels.size(), 1), has_upper_(has_upper) {
  for (int n = space.num_levels() - 1; n >= 0; --n) {
    if (space.levels[n].parent >= 0) num_below_[space.levels[n].parent] += num_below_[n];
  }
}

int ComponentRule::choose(const BoundStore& store, std::span<const int> levels, const NodeIndex* links) const {
  int chosen = -1;
  double widest = 0.0;
  for (std::size_t j = 0; j < levels.size(); ++j) {
    const BoundNode& node = store.node(levels[j], links[j]);
    if (!node.is_open()) continue;
    const double gap = has_upper_ ? node.log_upper_gap() : node.log_estimate_gap();
    const bool is_tie =
        chosen >= 0 && (gap == widest || (std::isfinite(widest) && std::abs(gap - widest) <= kTie * widest));
    if (chosen < 0 || (gap > widest && !is_tie) || (is_tie && num_below_[levels[j]] < num_below_[levels[chosen]])) {
      chosen = static_cast<int>(j);
      widest = gap;
    }
  }
  return chosen;
}

LogBounds root_bounds(const BoundStore& store) {
  const SearchSpace& space = store.space();
  if (space.log_constant == kNegInf) return {kNegInf, kNegInf};
  CompensatedSum lower, upper;
  lower.add(space.log_constant);
  upper.add(space.log_constant);
  double error = space.log_constant_error;
  bool has_upper = true;
  for (std::size_t r = 0; r < space.roots.size(); ++r) {
    const BoundNode& root = store.node(space.roots[r], store.root_links()[r]);
    if (root.is_dead()) return {kNegInf, kNegInf};
    const LogBounds values{root.log_lower(), root.log_upper()};
    lower.add(values.lower);
    has_upper = has_upper && values.upper < kInf;
    if (has_upper) upper.add(values.upper);
    // The errors of the logarithms, see WideNumber.
    error += 2.0 * kEpsilon * (1.0 + finite_magnitude(values.lower) + finite_magnitude(values.upper));
  }
  return {LogBounds::around(lower.value(), error + lower.rounding()).lower,
          has_upper ? LogBounds::around(upper.value(), error + upper.rounding()).upper : kInf};
}

double root_estimate(const BoundStore& store) {
  const SearchSpace& space = store.space();
  double sum = space.log_constant;
  for (std::size_t r = 0; r < space.roots.size() && sum != kNegInf; ++r) {
    const BoundNode& root = store.node(space.roots[r], store.root_links()[r]);
    if (root.is_dead()) return kNegInf;  // even if another root has inf
    sum += root.log_estimate();
  }
  return sum;
}

bool has_no_lower(const BoundStore& store) {
  const SearchSpace& space = store.space();
  for (std::size_t r = 0; r < space.roots.size(); ++r) {
    if (store.node(space.roots[r], store.root_links()[r]).has_no_lower()) return true;
  }
  return space.log_constant == kNegInf;
}

bool is_solved(const BoundStore& store) {
  const SearchSpace& space = store.space();
  bool is_solved = true;
  for (std::size_t r = 0; r < space.roots.size(); ++r) {
    const BoundNode& root = store.node(space.roots[r], store.root_links()[r]);
    if (root.is_dead()) return true;
    is_solved = is_solved && root.is_complete;
  }
  return is_solved;
}

}  // namespace treesample
