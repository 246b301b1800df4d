#include <cmath>
#include <cstddef>
#include <numeric>

#include "search/node_store.hpp"
#include "search/nodes_by_level.hpp"
#include "search/q_uct.hpp"
#include "search/soft_bellman.hpp"
#include "treesample/error.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/search/approximation.hpp"

namespace treesample {
namespace {

// For each level: the node that the variables assigned so far lead to, kNoNode off the store.
class Walk {
 public:
  explicit Walk(const NodeStore& store) : store_(store), nodes_(store.space().levels.size(), kNoNode) {
    for (std::size_t r = 0; r < store.space().roots.size(); ++r) nodes_[store.space().roots[r]] = store.root_links()[r];
  }
  [[nodiscard]] bool is_on_store(int level) const { return nodes_[level] != kNoNode; }
  [[nodiscard]] Node node(int level) const { return store_.node(level, nodes_[level]); }
  void take(int level, int action) {
    if (!is_on_store(level)) return;
    const std::vector<int>& children = store_.space().levels[level].children;
    const NodeIndex* const links = node(level).links(action);
    for (std::size_t j = 0; j < children.size(); ++j) nodes_[children[j]] = links[j];
  }

 private:
  const NodeStore& store_;
  std::vector<NodeIndex> nodes_;
};

}  // namespace

SearchApproximation::SearchApproximation(std::shared_ptr<const NodeStore> store,
                                         std::shared_ptr<const ValueFunction> prior)
    : store_(std::move(store)), prior_(std::move(prior)) {
  log_z_ = root_log_value(*store_);
  is_exact_ = store_->space().log_constant == kNegInf ||
              is_complete(*store_, store_->space().roots, store_->root_links().data());
}

// Algorithm 1: softmax of Q where the prefix is in the store, softmax of Q_phi where it is not.
Assignment SearchApproximation::sample(Random& random) const {
  check_argument(log_z_ != kNegInf, "sample", "no configuration has positive probability (Z = 0)");
  const SearchSpace& space = store_->space();
  Assignment x(space.levels.size(), -1);
  Walk walk(*store_);
  std::vector<double> q;
  for (int n = 0; n < space.num_levels(); ++n) {
    const Level& level = space.levels[n];
    int& state = x[level.variable];
    q.resize(level.num_states);
    if (walk.is_on_store(n)) {
      walk.node(n).copy_weights(q);
    } else {
      prior_->q_values(n, x, 1, q);
      softmax(q, q);
    }
    state = random.categorical(q);
    walk.take(n, state);
  }
  return x;
}

SearchApproximation::SampleBatch SearchApproximation::sample_batch(int count, Random& random) const {
  check_range("sample_batch", "count", count, 0, INT32_MAX);
  check_argument(log_z_ != kNegInf, "sample_batch", "no configuration has positive probability (Z = 0)");
  const SearchSpace& space = store_->space();
  const int row_size = space.num_levels();
  SampleBatch batch = {std::vector<int>(static_cast<std::size_t>(count) * row_size, -1), std::vector<double>(count)};
  std::vector<Walk> walks(count, Walk(*store_));
  std::vector<int> prefixes;  // of the samples that are off the store
  std::vector<double> q, on_store;
  for (int n = 0; n < space.num_levels(); ++n) {
    const Level& level = space.levels[n];
    on_store.resize(level.num_states);
    prefixes.clear();
    for (int i = 0; i < count; ++i) {
      const auto row = batch.states.begin() + static_cast<std::ptrdiff_t>(i) * row_size;
      if (!walks[i].is_on_store(n)) prefixes.insert(prefixes.end(), row, row + row_size);
    }
    const int num_off_store = static_cast<int>(prefixes.size()) / row_size;
    q.resize(static_cast<std::size_t>(num_off_store) * level.num_states);
    if (num_off_store > 0) prior_->q_values(n, prefixes, num_off_store, q);
    double* next_q = q.data();
    for (int i = 0; i < count; ++i) {
      std::span<double> weights;
      if (walks[i].is_on_store(n)) {
        walks[i].node(n).copy_weights(on_store);
        weights = on_store;
      } else {
        weights = {next_q, static_cast<std::size_t>(level.num_states)};
        softmax(weights, weights);
        next_q += level.num_states;
      }
      const int state = random.categorical(weights);
      batch.states[static_cast<std::size_t>(i) * row_size + level.variable] = state;
      batch.log_probs[i] += std::log(weights[state] / std::accumulate(weights.begin(), weights.end(), 0.0));
      walks[i].take(n, state);
    }
  }
  return batch;
}

double SearchApproximation::log_prob(std::span<const int> x) const {
  const SearchSpace& space = store_->space();
  check_assignment("log_prob", space, x);
  if (log_z_ == kNegInf) return kNegInf;
  Assignment prefix(x.size(), -1);  // what Q_phi may see: the variables before this one
  Walk walk(*store_);
  std::vector<double> q;
  double sum = 0.0;
  for (int n = 0; n < space.num_levels() && sum != kNegInf; ++n) {
    const Level& level = space.levels[n];
    const int state = x[level.variable];
    if (walk.is_on_store(n)) {
      const Node node = walk.node(n);
      const double weight = node.weight(state);
      sum += weight > 0.0 ? std::log(weight / node.sum()) : kNegInf;
    } else {
      q.resize(level.num_states);
      prior_->q_values(n, prefix, 1, q);
      sum += q[state] - log_sum_exp(q);
    }
    prefix[level.variable] = state;
    walk.take(n, state);
  }
  return sum;
}

void SearchApproximation::visit_path(std::span<const int> x, const PathVisitor& visit) const {
  const SearchSpace& space = store_->space();
  check_assignment("visit_path", space, x);
  Walk walk(*store_);
  std::vector<double> q;
  for (int n = 0; n < space.num_levels(); ++n) {
    if (!walk.is_on_store(n)) continue;
    const Node node = walk.node(n);
    const Level& level = space.levels[n];
    const int state = x[level.variable];
    bool is_evaluated = false;
    q.resize(level.num_states);
    for (int a = 0; a < level.num_states; ++a) {
      is_evaluated = is_evaluated || node.is_expanded(a);
      q[a] = node.q(a);
    }
    if (is_evaluated) visit(n, q);
    walk.take(n, state);
  }
}

bool SearchApproximation::has_exact_marginals() const { return is_exact_ || prior_->is_uniform(); }

// Parents before children: reach[i] is the probability that a sample comes through node i, and
// off_store[n] that it comes to level n outside of the store, where every state is equally likely.
Marginals SearchApproximation::marginals() const {
  check_argument(has_exact_marginals(), "marginals", "the prior is not uniform: use sampled_marginals");
  check_argument(log_z_ != kNegInf, "marginals", "no configuration has positive probability (Z = 0)");
  const SearchSpace& space = store_->space();
  const NodesByLevel nodes(*store_);
  Marginals marginals(space.levels.size());
  std::vector<std::vector<double>> reach(space.levels.size());
  std::vector<double> off_store(space.levels.size(), 0.0);
  for (int n = 0; n < space.num_levels(); ++n) reach[n].resize(nodes.size(n));
  const auto arrive = [&](int level, NodeIndex index, double probability) {
    (index == kNoNode ? off_store[level] : reach[level][nodes.position(index)]) += probability;
  };
  for (std::size_t r = 0; r < space.roots.size(); ++r) arrive(space.roots[r], store_->root_links()[r], 1.0);
  for (int n = 0; n < space.num_levels(); ++n) {
    const Level& level = space.levels[n];
    std::vector<double>& marginal = marginals[level.variable];
    marginal.assign(level.num_states, off_store[n] / level.num_states);
    for (const int child : level.children) off_store[child] += off_store[n];
    for (std::uint32_t i = 0; i < nodes.size(n); ++i) {
      const Node node = nodes.node(n, i);
      if (reach[n][i] == 0.0) continue;
      const double sum = node.sum();
      for (int a = 0; a < level.num_states; ++a) {
        const double probability = reach[n][i] * node.weight(a) / sum;
        marginal[a] += probability;
        for (std::size_t j = 0; j < level.children.size(); ++j) {
          arrive(level.children[j], node.links(a)[j], probability);
        }
      }
    }
    reach[n] = {};
  }
  return marginals;
}

// Children before parents: explored[i] is the probability of staying on evaluated edges from node i on.
double SearchApproximation::unexplored_mass() const {
  const SearchSpace& space = store_->space();
  if (is_exact_) return 0.0;
  const NodesByLevel nodes(*store_);
  std::vector<std::vector<double>> explored(space.levels.size());
  const auto all_explored = [&](std::span<const int> levels, const NodeIndex* links) {
    double product = 1.0;
    for (std::size_t j = 0; j < levels.size(); ++j) {
      product *= links[j] == kNoNode ? 0.0 : explored[levels[j]][nodes.position(links[j])];
    }
    return product;
  };
  for (int n = space.num_levels() - 1; n >= 0; --n) {
    explored[n].assign(nodes.size(n), 0.0);
    for (std::uint32_t i = 0; i < nodes.size(n); ++i) {
      const Node node = nodes.node(n, i);
      const double sum = node.sum();
      for (int a = 0; a < node.num_states(); ++a) {
        if (!node.is_expanded(a) || node.weight(a) == 0.0) continue;
        explored[n][i] += node.weight(a) / sum * all_explored(space.levels[n].children, node.links(a));
      }
    }
  }
  return 1.0 - all_explored(space.roots, store_->root_links().data());
}

// The same recursion as the soft-Bellman one with max in place of log-sum-exp, over evaluated edges.
std::optional<Configuration> SearchApproximation::best() const {
  const SearchSpace& space = store_->space();
  const NodesByLevel nodes(*store_);
  std::vector<std::vector<double>> best_value(space.levels.size());
  std::vector<std::vector<int>> best_action(space.levels.size());
  for (int n = space.num_levels() - 1; n >= 0; --n) {
    const Level& level = space.levels[n];
    best_value[n].assign(nodes.size(n), kNegInf);
    best_action[n].assign(nodes.size(n), 0);
    for (std::uint32_t i = 0; i < nodes.size(n); ++i) {
      const Node node = nodes.node(n, i);
      for (int a = 0; a < level.num_states; ++a) {
        double value = node.is_expanded(a) ? edge_reward(*store_, n, node, a) : kNegInf;
        for (std::size_t j = 0; j < level.children.size() && value != kNegInf; ++j) {
          const NodeIndex link = node.links(a)[j];
          value += link == kNoNode ? kNegInf : best_value[level.children[j]][nodes.position(link)];
        }
        if (is_higher(value, best_value[n][i])) {
          best_value[n][i] = value;
          best_action[n][i] = a;
        }
      }
    }
  }
  Configuration result{Assignment(space.levels.size(), 0), space.log_constant};
  for (std::size_t r = 0; r < space.roots.size(); ++r) {
    const NodeIndex link = store_->root_links()[r];
    result.log_density += link == kNoNode ? kNegInf : best_value[space.roots[r]][nodes.position(link)];
  }
  if (result.log_density == kNegInf) return std::nullopt;
  std::vector<NodeIndex> at(space.levels.size(), kNoNode);
  for (std::size_t r = 0; r < space.roots.size(); ++r) at[space.roots[r]] = store_->root_links()[r];
  for (int n = 0; n < space.num_levels(); ++n) {
    const int action = best_action[n][nodes.position(at[n])];
    result.x[space.levels[n].variable] = action;
    const std::vector<int>& children = space.levels[n].children;
    for (std::size_t j = 0; j < children.size(); ++j) at[children[j]] = store_->node(n, at[n]).links(action)[j];
  }
  return result;
}

}  // namespace treesample
