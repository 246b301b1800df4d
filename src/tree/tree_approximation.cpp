#include "treesample/tree/tree_approximation.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>

#include "tree/tree_store.hpp"
#include "tree/values.hpp"
#include "treesample/error.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample {
namespace {

class TreeView final : public StoreView {
 public:
  TreeView(std::shared_ptr<const TreeStore> store, std::shared_ptr<const LeafValue> q_phi)
      : store_(std::move(store)), q_phi_(std::move(q_phi)) {}

  [[nodiscard]] const SearchSpace& space() const override { return store_->space(); }
  [[nodiscard]] NodeIndex root(std::size_t) const override { return store_->root(); }
  [[nodiscard]] NodeIndex end_index(int) const override { return store_->end_index(); }
  [[nodiscard]] bool is_tree() const override { return true; }
  [[nodiscard]] bool has_values() const override { return false; }
  [[nodiscard]] bool is_whole() const override { return is_solved(*store_); }
  [[nodiscard]] const LeafValue* below(int) const override { return q_phi_.get(); }

  bool read(int level, NodeIndex index, Read what, NodeEdges& edges) const override {
    const Node node = store_->node(level, index);
    const bool has_child = level + 1 < space().num_levels();
    edges.resize(static_cast<std::size_t>(node.num_states()), has_child ? 1 : 0);
    for (int a = 0; a < node.num_states() && has_child; ++a) edges.children[a] = node.link(a);
    if (what == Read::kChildren) return true;
    node.copy_weights(edges.weights);
    edges.total = node.sum();
    if (what == Read::kWeights) return true;
    for (int a = 0; a < node.num_states(); ++a) {
      edges.is_evaluated[a] = node.is_expanded(a) ? 1 : 0;
      edges.rewards[a] = node.is_expanded(a) ? edge_reward(*store_, level, node, a) : kNegInf;
      if (what == Read::kAll) edges.values[a] = node.q(a);
    }
    return true;
  }
  [[nodiscard]] std::uint64_t num_nodes() const override { return store_->num_nodes(); }
  void read_facts(int level, NodeIndex index, std::vector<EdgeFacts>& facts) const override {
    const Node node = store_->node(level, index);
    facts.assign(static_cast<std::size_t>(node.num_states()), {});
    for (int a = 0; a < node.num_states(); ++a) facts[static_cast<std::size_t>(a)].visits = node.visits(a);
  }

 private:
  std::shared_ptr<const TreeStore> store_;
  std::shared_ptr<const LeafValue> q_phi_;
};

// The node that a sample reaches from a node of this level by an action; kNoNode if it is not in the store.
NodeIndex child_of(const TreeStore& store, int level, NodeIndex index, int action) {
  const bool has_child = index != kNoNode && level + 1 < store.space().num_levels();
  return has_child ? store.node(level, index).link(action) : kNoNode;
}

}  // namespace

TreeApproximation::TreeApproximation(std::shared_ptr<const TreeStore> store, std::shared_ptr<const LeafValue> q_phi)
    : StoreApproximation(std::make_shared<TreeView>(store, q_phi), root_log_value(*store), is_solved(*store)),
      store_(std::move(store)),
      q_phi_(std::move(q_phi)) {}

TreeApproximation::SampleBatch TreeApproximation::sample_batch(int count, Random& random) const {
  check_range("sample_batch", "count", count, 0, INT32_MAX);
  check_argument(log_z() != kNegInf, "sample_batch", "no configuration has positive probability (Z = 0)");
  const int row_size = space().num_levels();
  SampleBatch batch = {std::vector<int>(static_cast<std::size_t>(count) * row_size, -1), std::vector<double>(count)};
  std::vector<NodeIndex> at(count, store_->root());
  std::vector<int> prefixes;  // of the samples that have left the store
  std::vector<double> q, on_store;
  for (int n = 0; n < space().num_levels(); ++n) {
    const Level& level = space().levels[n];
    on_store.resize(level.num_states);
    prefixes.clear();
    for (int i = 0; i < count; ++i) {
      const auto row = batch.states.begin() + static_cast<std::ptrdiff_t>(i) * row_size;
      if (at[i] == kNoNode) prefixes.insert(prefixes.end(), row, row + row_size);
    }
    const int num_off_store = static_cast<int>(prefixes.size()) / row_size;
    q.resize(static_cast<std::size_t>(num_off_store) * level.num_states);
    if (num_off_store > 0) q_phi_->q_values(n, prefixes, num_off_store, q);
    double* next_q = q.data();
    for (int i = 0; i < count; ++i) {
      std::span<double> weights = on_store;
      if (at[i] != kNoNode) {
        store_->node(n, at[i]).copy_weights(on_store);
      } else {
        weights = {next_q, static_cast<std::size_t>(level.num_states)};
        softmax(weights, weights);
        next_q += level.num_states;
      }
      const int state = random.categorical(weights);
      batch.states[static_cast<std::size_t>(i) * row_size + level.variable] = state;
      batch.log_probs[i] += std::log(weights[state] / std::accumulate(weights.begin(), weights.end(), 0.0));
      at[i] = child_of(*store_, n, at[i], state);
    }
  }
  return batch;
}

void TreeApproximation::visit_path(std::span<const int> x, const PathVisitor& visit) const {
  check_assignment("visit_path", space(), x);
  NodeEdges edges;
  NodeIndex index = store_->root();
  for (int n = 0; n < space().num_levels() && index != kNoNode; ++n) {
    view().read(n, index, StoreView::Read::kAll, edges);
    const auto is_true = [](char flag) { return flag != 0; };
    if (std::any_of(edges.is_evaluated.begin(), edges.is_evaluated.end(), is_true)) visit(n, edges.values);
    index = child_of(*store_, n, index, x[space().levels[n].variable]);
  }
}

}  // namespace treesample
