#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "evaluate/off_store_energy.hpp"
#include "search/node_store.hpp"
#include "search/nodes_by_level.hpp"
#include "search/soft_bellman.hpp"
#include "treesample/error.hpp"
#include "treesample/evaluate/divergence.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample {
namespace {

// A possible edge keeps some probability, however deep: an impossible factor below it must be seen.
constexpr double kLeastReach = std::numeric_limits<double>::min();

// Parents before children, as in SearchApproximation::marginals. A node's context is known from any of
// the edges that lead to it.
class StorePass {
 public:
  // `off_store` is null for a complete store, where no mass leaves it.
  StorePass(const NodeStore& store, OffStoreEnergy* off_store)
      : store_(store),
        nodes_(store),
        space_(store.space()),
        off_store_(off_store),
        reach_(space_.levels.size()),
        contexts_(space_.levels.size()),
        energy_(space_.log_constant) {}

  void run() {
    for (const int root : space_.roots) make_room(root);
    for (std::size_t r = 0; r < space_.roots.size(); ++r) {
      const int root = space_.roots[r];
      const NodeIndex link = store_.root_links()[r];
      if (link != kNoNode) {
        reach_[root][nodes_.position(link)] = 1.0;
      } else {
        leave_store(root, 1.0, off_store_->at_root(root));
      }
    }
    for (int n = 0; n < space_.num_levels(); ++n) {
      for (const int child : space_.levels[n].children) make_room(child);
      for (std::uint32_t i = 0; i < nodes_.size(n); ++i) {
        if (reach_[n][i] > 0.0) pass_node(n, i);
      }
      reach_[n] = {};
      contexts_[n] = {};
    }
  }
  [[nodiscard]] double energy() const { return energy_; }
  [[nodiscard]] double entropy() const { return entropy_; }

 private:
  [[nodiscard]] std::size_t context_size(int level) const {
    return off_store_ == nullptr ? 0 : off_store_->context(level).size();
  }
  [[nodiscard]] int* context(int level, std::uint32_t position) {
    return contexts_[level].data() + context_size(level) * position;
  }
  void make_room(int level) {
    reach_[level].assign(nodes_.size(level), 0.0);
    contexts_[level].resize(context_size(level) * nodes_.size(level));
  }

  void pass_node(int level, std::uint32_t position) {
    const Node node = nodes_.node(level, position);
    const double reach = reach_[level][position];
    const double sum = node.sum();
    bool has_rows = false;
    const auto rows = [&]() -> const OffStoreEnergy& {
      if (!has_rows) off_store_->compute_rows(level, context(level, position));
      has_rows = true;
      return *off_store_;
    };
    const std::vector<int>& children = space_.levels[level].children;
    for (int a = 0; a < node.num_states(); ++a) {
      const double probability = node.weight(a) / sum;
      if (!(probability > 0.0)) continue;
      const double mass = std::max(reach * probability, kLeastReach);
      entropy_ -= mass * std::log(probability);
      energy_ += mass * (node.is_expanded(a) ? edge_reward(store_, level, node, a) : rows().own(a));
      for (std::size_t j = 0; j < children.size(); ++j) {
        const NodeIndex link = node.links(a)[j];
        if (link == kNoNode) {
          leave_store(children[j], mass, rows().below(j, a));
          continue;
        }
        const std::uint32_t child = nodes_.position(link);
        double& child_reach = reach_[children[j]][child];
        if (child_reach == 0.0 && off_store_ != nullptr) {
          off_store_->child_context(children[j], context(level, position), a, context(children[j], child));
        }
        child_reach += mass;
      }
    }
  }

  // The level and everything below it are uniform from here on.
  void leave_store(int level, double mass, double mean_energy) {
    energy_ += mass * mean_energy;
    entropy_ += mass * (std::log(space_.levels[level].num_states) + space_.levels[level].log_states_below);
  }

  const NodeStore& store_;
  NodesByLevel nodes_;
  const SearchSpace& space_;
  OffStoreEnergy* off_store_;
  std::vector<std::vector<double>> reach_;
  std::vector<std::vector<int>> contexts_;  // per level: one after the other, by node
  double energy_ = 0.0;
  double entropy_ = 0.0;
};

}  // namespace

std::optional<Divergence> store_divergence(const FactorGraph& graph, const SearchApproximation& approximation,
                                           std::int64_t max_function_entries) {
  const NodeStore& store = approximation.store();
  check_space("store_divergence", graph, store.space());
  check_argument(approximation.log_z() != kNegInf, "store_divergence",
                 "no configuration has positive probability (Z = 0)");
  if (!approximation.has_exact_marginals()) return std::nullopt;
  Divergence result;
  result.is_exact = true;
  std::unique_ptr<OffStoreEnergy> off_store;
  if (!approximation.is_exact()) {
    auto means = factor_means(graph, store.space(), max_function_entries, result.spent.factor_evaluations);
    if (!means) return std::nullopt;
    off_store = std::make_unique<OffStoreEnergy>(store.space(), std::move(*means));
  }
  StorePass pass(store, off_store.get());
  pass.run();
  result.energy = pass.energy();
  result.entropy = pass.entropy();
  result.delta_kl = -result.energy - result.entropy;
  return result;
}

}  // namespace treesample
