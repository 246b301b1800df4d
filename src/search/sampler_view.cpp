#include "search/sampler_view.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "math/compensated_sum.hpp"
#include "search/edge_bounds.hpp"
#include "treesample/error.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample {
namespace {

constexpr const char* kSamplerView = "SearchApproximation";
constexpr double kUnset = std::numeric_limits<double>::quiet_NaN();

}  // namespace

// Computes the values that a sampler attains, children before parents. Leaf values need the states of the path, so the
// pass is depth-first; a shared node is valued once.
class SamplerView::Builder {
 public:
  Builder(SamplerView& target, const std::vector<double>& reward_rounding, const ShouldStop& should_stop)
      : target_(target),
        store_(*target.store_),
        reward_rounding_(reward_rounding),
        rounding_(store_.space().levels.size(), 0.0),
        stop_(should_stop),
        x_(store_.space().levels.size(), -1) {
    for (int n = 0; n < store_.space().num_levels(); ++n) {
      stop_.go_on(kSamplerView, store_.end_index(n));
      target_.values_.emplace_back(store_.end_index(n), kUnset);
    }
  }

  double value(int root, NodeIndex root_index) {
    enter(root, root_index);
    while (!open_.empty()) {
      Frame& frame = open_.back();
      const int level = frame.level;
      const Level& here = store_.space().levels[level];
      if (frame.next_edge == here.num_states * static_cast<std::int64_t>(here.children.size())) {
        leave(here, level, frame.index);
        continue;
      }
      const auto num_children = static_cast<std::int64_t>(here.children.size());
      const int action = static_cast<int>(frame.next_edge / num_children);
      const auto child = static_cast<std::size_t>(frame.next_edge++ % num_children);
      x_[here.variable] = action;
      const NodeIndex link = store_.expansion(level, store_.node(level, frame.index)).links(action)[child];
      if (link != kNoNode) enter(here.children[child], link);
    }
    return target_.values_[root][root_index];
  }

  // A bound on the rounding error along any path that can be drawn, of the sum of rewards and log-probabilities,
  // against the sum of the factors, which are known to one unit in the last place: the largest error of each level,
  // summed over the levels.
  [[nodiscard]] double rounding() const { return std::accumulate(rounding_.begin(), rounding_.end(), 0.0); }

 private:
  void see_rounding(int level, const Expansion& expansion, std::span<const double> edges, double value) {
    constexpr double kNeverDrawn = 800.0;  // nats below the best edge
    if (value == kNegInf) return;
    const Level& here = store_.space().levels[level];
    double largest_reward = 0.0, largest_sum = 0.0;
    for (std::size_t a = 0; a < edges.size(); ++a) {
      if (edges[a] < value - kNeverDrawn) continue;
      const double reward = std::abs(expansion.reward(static_cast<int>(a)));
      double sum = reward;  // of magnitudes
      for (std::size_t j = 0; j < here.children.size(); ++j) {
        sum += std::abs(target_.values_[here.children[j]][expansion.links(static_cast<int>(a))[j]]);
      }
      largest_reward = std::max(largest_reward, reward);
      largest_sum = std::max(largest_sum, sum);
    }
    const auto num_children = static_cast<double>(here.children.size());
    const double terms = here.num_states + num_children + 16.0;
    const double of_reward = static_cast<double>(here.factors.size() + 1) * (1.0 + largest_reward);
    // Children are added up one by one.
    const double of_sum = num_children * largest_sum + 4.0 * std::abs(value);
    rounding_[level] = std::max(rounding_[level], reward_rounding_[level] + kEpsilon * (terms + of_reward + of_sum));
  }

  struct Frame {
    int level = 0;
    NodeIndex index = 0;
    std::int64_t next_edge = 0;  // action times number of children, plus child
  };

  void enter(int level, NodeIndex index) {
    double& known = target_.values_[level][index];
    if (!std::isnan(known)) return;
    stop_.go_on(kSamplerView, 16);
    if (store_.node(level, index).is_expanded()) {
      open_.push_back({level, index});
    } else {
      known = leaf_value(level, index);
    }
  }
  void leave(const Level& here, int level, NodeIndex index) {
    const Expansion expansion = store_.expansion(level, store_.node(level, index));
    edges_.resize(here.num_states);
    for (int a = 0; a < here.num_states; ++a) edges_[a] = target_.edge_value(level, expansion, a);
    const double value = log_sum_exp(edges_);
    target_.values_[level][index] = value;
    see_rounding(level, expansion, edges_, value);
    x_[here.variable] = -1;
    open_.pop_back();
  }
  double leaf_value(int level, NodeIndex index) const {
    const BoundNode& node = store_.node(level, index);
    if (node.is_dead()) return kNegInf;
    const bool is_exact = node.is_complete && !node.was_collapsed;
    switch (target_.kind_) {
      case SamplerKind::kLower:
        if (is_exact) return node.log_lower();
        return target_.leaves_.lower ? target_.leaves_.lower->log_value(level, x_) : kNegInf;
      case SamplerKind::kUpper:
        return node.was_collapsed ? target_.leaves_.upper->log_value(level, x_) : node.log_upper();
      case SamplerKind::kEstimate:
        break;
    }
    return node.log_estimate();
  }

  SamplerView& target_;
  const BoundStore& store_;
  const std::vector<double>& reward_rounding_;
  std::vector<double> rounding_;  // by level
  StopCheck stop_;
  Assignment x_;
  std::vector<Frame> open_;
  std::vector<double> edges_;  // scratch
};

SamplerView::SamplerView(const SearchResult& result, SamplerKind kind, const ShouldStop& should_stop)
    : store_(result.store), leaves_(result.leaves), kind_(kind) {
  Builder builder(*this, result.reward_rounding, should_stop);
  CompensatedSum sum;
  sum.add(space().log_constant);
  for (std::size_t r = 0; r < space().roots.size(); ++r) {
    sum.add(builder.value(space().roots[r], store_->root_links()[r]));
  }
  log_value_ = sum.value();
  const double error = log_value_ == kNegInf ? 0.0
                                             : builder.rounding() + space().log_constant_error + sum.rounding() +
                                                   4.0 * kEpsilon * (1.0 + std::abs(log_value_));
  if (kind == SamplerKind::kUpper) log_value_ += error;
  if (kind == SamplerKind::kLower) log_value_ -= error;
  look_for_leaves();
}

// Follows all edges that are not dead, parents before children.
void SamplerView::look_for_leaves() {
  is_whole_ = has_only_exact_leaves_ = is_solved(*store_);
  if (!is_whole_) return;
  std::vector<std::vector<bool>> is_reached;
  for (int n = 0; n < space().num_levels(); ++n) is_reached.emplace_back(store_->end_index(n));
  const auto arrive = [&](std::span<const int> levels, const NodeIndex* links) {
    for (std::size_t j = 0; j < levels.size(); ++j) {
      if (links[j] == kNoNode || store_->node(levels[j], links[j]).is_dead()) return;
    }
    for (std::size_t j = 0; j < levels.size(); ++j) is_reached[levels[j]][links[j]] = true;
  };
  arrive(space().roots, store_->root_links().data());
  for (int n = 0; n < space().num_levels(); ++n) {
    for (NodeIndex i = 0; i < store_->end_index(n); ++i) {
      if (!is_reached[n][i]) continue;
      const BoundNode& node = store_->node(n, i);
      if (node.is_expanded()) {
        const Expansion expansion = store_->expansion(n, node);
        for (int a = 0; a < store_->num_states(n); ++a) arrive(store_->children(n), expansion.links(a));
      } else {
        is_whole_ = false;
        has_only_exact_leaves_ = has_only_exact_leaves_ && node.is_complete && !node.was_collapsed;
      }
    }
  }
}

double SamplerView::edge_value(int level, const Expansion& expansion, int action) const {
  double sum = expansion.reward(action);
  const std::span<const int> children = store_->children(level);
  for (std::size_t j = 0; j < children.size() && sum != kNegInf; ++j) {
    const double value = values_[children[j]][expansion.links(action)[j]];
    sum = value == kNegInf ? kNegInf : sum + value;
  }
  return sum;
}

bool SamplerView::read(int level, NodeIndex index, Read what, NodeEdges& edges) const {
  const BoundNode& node = store_->node(level, index);
  if (node.is_given_back || !node.is_expanded()) return false;
  const Expansion expansion = store_->expansion(level, node);
  const std::span<const int> children = store_->children(level);
  const int num_states = store_->num_states(level);
  edges.resize(static_cast<std::size_t>(num_states), children.size());
  auto child = edges.children.begin();
  for (int a = 0; a < num_states; ++a) {
    for (std::size_t j = 0; j < children.size(); ++j) *child++ = if_expanded(children[j], expansion.links(a)[j]);
  }
  if (what == Read::kChildren) return true;
  if (!values_.empty()) {
    for (int a = 0; a < num_states; ++a) edges.values[a] = edge_value(level, expansion, a);
    edges.log_total = softmax(edges.values, edges.weights);
  }
  if (what == Read::kWeights) return true;
  for (int a = 0; a < num_states; ++a) {
    edges.rewards[a] = expansion.reward(a);
    edges.is_evaluated[a] = 1;
  }
  return true;
}

void SamplerView::read_facts(int level, NodeIndex index, std::vector<EdgeFacts>& facts) const {
  const Expansion expansion = store_->expansion(level, store_->node(level, index));
  const std::span<const int> children = store_->children(level);
  facts.assign(static_cast<std::size_t>(store_->num_states(level)), {});
  for (int a = 0; a < store_->num_states(level); ++a) {
    EdgeFacts& edge = facts[static_cast<std::size_t>(a)];
    edge.visits = expansion.visits(a);
    edge.bounds = {expansion.reward(a), expansion.reward(a)};
    for (std::size_t j = 0; j < children.size() && edge.bounds.upper != kNegInf; ++j) {
      const BoundNode& child = store_->node(children[j], expansion.links(a)[j]);
      const double lower = child.log_lower();
      edge.bounds.lower = lower == kNegInf ? kNegInf : edge.bounds.lower + lower;
      edge.bounds.upper = child.is_dead() ? kNegInf : edge.bounds.upper + child.log_upper();  // may be infinite
    }
    if (edge.bounds.upper == kNegInf) edge.bounds.lower = kNegInf;
  }
}

// Where U is exact, its sampler draws from the target.
const LeafValue* SamplerView::below(int level) const {
  const bool is_exact = leaves_.upper && leaves_.upper->is_exact(level);
  if (kind_ == SamplerKind::kLower && !is_exact) return leaves_.lower.get();
  if (kind_ == SamplerKind::kEstimate && !is_exact && leaves_.estimate) return leaves_.estimate.get();
  return leaves_.upper.get();
}

}  // namespace treesample
