#include "search/edge_bounds.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "math/dispatched.hpp"
#include "math/vector_kernels.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kEpsilon = 0x1.0p-52;
constexpr int kLanes = 4;
// Masses and gaps this close, relatively, are equal: which one is larger is then a matter of rounding, and a constant
// added to a factor must not decide it.
constexpr double kTie = 1e-9;

// Per lane: weights[a] = exp(values[a] - largest), log_sum = largest + log sum_a weights[a]. An infinite
// largest value is the sum, and the weights mean nothing then.
TS_DISPATCHED void log_sum_lanes(const double* __restrict values, std::size_t count, double* __restrict weights,
                                 double* __restrict largest, double* __restrict log_sum) {
  double most[kLanes], shift[kLanes], sum[kLanes];
  for (int i = 0; i < kLanes; ++i) most[i] = values[i];
  for (std::size_t a = 1; a < count; ++a) {
    for (int i = 0; i < kLanes; ++i) {
      most[i] = values[a * kLanes + i] > most[i] ? values[a * kLanes + i] : most[i];
    }
  }
  for (int i = 0; i < kLanes; ++i) {
    shift[i] = most[i] > -1e300 ? most[i] : 0.0;
    shift[i] = shift[i] < 1e300 ? shift[i] : 0.0;
    sum[i] = 0.0;
  }
  for (std::size_t a = 0; a < count; ++a) {
    for (int i = 0; i < kLanes; ++i) {
      weights[a * kLanes + i] = exp_one(values[a * kLanes + i] - shift[i]);
      sum[i] += weights[a * kLanes + i];
    }
  }
  for (int i = 0; i < kLanes; ++i) {
    const double log = log_one(sum[i]);
    largest[i] = most[i];
    log_sum[i] = most[i] > -1e300 && most[i] < 1e300 ? most[i] + log : most[i];
  }
}

double finite_magnitude(double value) { return std::isfinite(value) ? std::abs(value) : 0.0; }

}  // namespace

EdgeBounds::EdgeBounds(const SearchSpace& space, bool has_free_estimates) : has_free_estimates_(has_free_estimates) {
  std::size_t most_states = 1;
  for (const Level& level : space.levels) most_states = std::max<std::size_t>(most_states, level.num_states);
  values_.resize(most_states);
  weights_.resize(most_states);
  is_complete_.resize(most_states);
  is_open_.resize(most_states);
}

void EdgeBounds::gather(const BoundStore& store, int level, const BoundNode& node) {
  const Expansion expansion = store.expansion(level, node);
  const std::vector<int>& children = store.space().levels[level].children;
  num_states_ = store.space().levels[level].num_states;
  num_terms_ = 1 + static_cast<int>(children.size());
  for (int a = 0; a < num_states_; ++a) {
    Edge& edge = values_[a];
    const double reward = expansion.rewards()[a];
    if (!expansion.is_evaluated(a)) {
      edge = {{kNegInf, kInf, reward, 0.0}};
      is_complete_[a] = 0;
      is_open_[a] = 1;
      continue;
    }
    edge = {{reward, reward, reward, finite_magnitude(reward)}};
    bool is_complete = true;
    bool is_open = false;
    bool is_dead = reward == kNegInf;
    const NodeIndex* const links = expansion.links(a);
    for (std::size_t j = 0; j < children.size() && !is_dead; ++j) {
      const BoundNode& child = store.node(children[j], links[j]);
      edge[kLower] += child.lower;
      edge[kUpper] += child.upper;
      edge[kEstimate] += child.estimate;
      edge[kMagnitude] += finite_magnitude(child.lower) + finite_magnitude(child.upper);
      is_complete = is_complete && child.is_complete;
      is_open = is_open || !(child.is_complete || child.is_pending);
      is_dead = child.upper == kNegInf;
    }
    if (is_dead) edge = {{kNegInf, kNegInf, kNegInf, 0.0}};
    is_complete_[a] = is_dead || is_complete ? 1 : 0;
    is_open_[a] = is_open && !is_dead ? 1 : 0;
  }
}

void EdgeBounds::back_up(BoundNode& node) {
  log_sum_lanes(values_.front().lanes, num_states_, weights_.front().lanes, largest_.lanes, log_sum_.lanes);
  // An exponential, a logarithm and the sums of K edges of `num_terms_` terms.
  const double rounding = kEpsilon * (num_states_ + num_terms_ + 10) * (1.0 + largest_[kMagnitude]);
  node.lower = std::max(node.lower, log_sum_[kLower] - rounding);
  node.upper = std::min(node.upper, log_sum_[kUpper] + rounding);
  node.estimate = std::max(log_sum_[kEstimate], node.lower);
  if (!has_free_estimates_) node.estimate = std::min(node.estimate, std::max(node.lower, node.upper));
  node.is_complete =
      std::find(is_complete_.begin(), is_complete_.begin() + num_states_, 0) == is_complete_.begin() + num_states_;
}

int EdgeBounds::widest() const {
  const double lower_scale = largest_[kLower] == kNegInf ? 0.0 : std::exp(largest_[kLower] - largest_[kUpper]);
  int chosen = -1;
  double most = 0.0;
  for (int a = 0; a < num_states_; ++a) {
    if (!is_open_[a]) continue;
    const double mass = weights_[a][kUpper] - lower_scale * weights_[a][kLower];
    if (chosen < 0 || mass > most * (1.0 + kTie)) {
      most = mass;
      chosen = a;
    }
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
    if (node.is_complete || node.is_pending) continue;
    const double gap = (has_upper_ ? node.upper : node.estimate) - node.lower;
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
  LogBounds bounds{space.log_constant, space.log_constant};
  double magnitude = std::abs(space.log_constant);
  for (std::size_t r = 0; r < space.roots.size(); ++r) {
    const BoundNode& root = store.node(space.roots[r], store.root_links()[r]);
    if (root.upper == kNegInf) return {kNegInf, kNegInf};
    bounds.lower += root.lower;
    bounds.upper += root.upper;
    magnitude += finite_magnitude(root.lower) + finite_magnitude(root.upper);
  }
  const double rounding = kEpsilon * static_cast<double>(space.roots.size() + 1) * magnitude;
  return {bounds.lower - rounding, bounds.upper + rounding};
}

double root_estimate(const BoundStore& store) {
  const SearchSpace& space = store.space();
  double sum = space.log_constant;
  for (std::size_t r = 0; r < space.roots.size() && sum != kNegInf; ++r) {
    sum += store.node(space.roots[r], store.root_links()[r]).estimate;
  }
  return sum;
}

bool is_solved(const BoundStore& store) {
  const SearchSpace& space = store.space();
  bool is_solved = true;
  for (std::size_t r = 0; r < space.roots.size(); ++r) {
    const BoundNode& root = store.node(space.roots[r], store.root_links()[r]);
    if (root.upper == kNegInf) return true;
    is_solved = is_solved && root.is_complete;
  }
  return is_solved;
}

}  // namespace treesample
