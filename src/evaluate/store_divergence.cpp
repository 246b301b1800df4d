#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "evaluate/off_store_energy.hpp"
#include "treesample/error.hpp"
#include "treesample/evaluate/divergence.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/store/passes.hpp"

namespace treesample {
namespace {

// A possible edge keeps at least this probability, however deep it is, so that an impossible factor below it makes the
// energy -inf.
constexpr double kLeastReach = std::numeric_limits<double>::min();

// Sums energy and entropy, parents before children. The context of a node is the same for all edges that lead to it.
class MomentPass {
 public:
  // `off_store` is null for a complete store, because no probability leaves it.
  MomentPass(const StoreView& view, OffStoreEnergy* off_store)
      : space_(view.space()),
        has_values_(view.has_values()),
        off_store_(off_store),
        contexts_(space_,
                  off_store != nullptr ? off_store->contexts() : std::vector<std::vector<int>>(space_.levels.size())),
        pass_(view, StoreView::Read::kRewards),
        energy_(space_.log_constant) {
    for (std::size_t r = 0; r < space_.roots.size(); ++r) {
      const int root = space_.roots[r];
      make_room(root);
      if (view.root(r) != kNoNode) {
        pass_.arrive(root, view.root(r), 1.0);
      } else {
        leave_store(root, 1.0, off_store_->at_root(root));
      }
    }
    const auto visit = [&](int level, std::uint32_t position, double reach, const NodeEdges& edges) {
      pass_node(level, position, reach, edges);
      return true;
    };
    pass_.run(visit, [&](int level) {
      contexts_.forget(level);
      return true;
    });
  }
  [[nodiscard]] double energy() const { return energy_; }
  [[nodiscard]] double entropy() const { return entropy_; }

 private:
  void make_room(int level) { contexts_.make_room(level, pass_.nodes().size(level)); }

  void pass_node(int level, std::uint32_t position, double reach, const NodeEdges& edges) {
    const std::vector<int>& children = space_.levels[level].children;
    if (level != last_level_) {
      last_level_ = level;
      for (const int child : children) make_room(child);
    }
    bool has_rows = false;
    const auto rows = [&]() -> const OffStoreEnergy& {
      if (!has_rows) off_store_->compute_rows(level, contexts_.at(level, position));
      has_rows = true;
      return *off_store_;
    };
    for (int a = 0; a < space_.levels[level].num_states; ++a) {
      const double log_probability = edges.log_probability(a, has_values_);
      if (log_probability == kNegInf) continue;
      const double mass = std::max(reach * edges.probability(a), kLeastReach);
      entropy_ -= mass * log_probability;
      energy_ += mass * (edges.is_evaluated[a] != 0 ? edges.rewards[a] : rows().own(a));
      for (std::size_t j = 0; j < children.size(); ++j) {
        const NodeIndex link = edges.children[static_cast<std::size_t>(a) * children.size() + j];
        if (link == kNoNode) {
          leave_store(children[j], mass, rows().below(j, a));
        } else if (pass_.arrive(children[j], link, mass)) {
          contexts_.derive(children[j], contexts_.at(level, position), a,
                           contexts_.at(children[j], pass_.nodes().position(link)));
        }
      }
    }
  }

  // Below the store, the level and all its descendants are uniform.
  void leave_store(int level, double mass, double mean_energy) {
    energy_ += mass * mean_energy;
    entropy_ += mass * (std::log(space_.levels[level].num_states) + space_.levels[level].log_states_below);
  }

  const SearchSpace& space_;
  const bool has_values_;
  OffStoreEnergy* off_store_;
  NodeContexts contexts_;
  ReachPass pass_;
  int last_level_ = -1;
  double energy_ = 0.0;
  double entropy_ = 0.0;
};

}  // namespace

std::optional<Divergence> store_divergence(const FactorGraph& graph, const StoreApproximation& approximation,
                                           std::int64_t max_function_entries) {
  const SearchSpace& space = approximation.space();
  check_space("store_divergence", graph, space);
  check_argument(approximation.log_value() != kNegInf, "store_divergence",
                 "no configuration has positive probability (Z = 0)");
  if (!approximation.has_exact_marginals()) return std::nullopt;
  Divergence result;
  result.is_exact = true;
  std::unique_ptr<OffStoreEnergy> off_store;
  if (!approximation.view().is_whole()) {
    auto means = factor_means(graph, space, max_function_entries, result.spent.factor_evaluations);
    if (!means) return std::nullopt;
    off_store = std::make_unique<OffStoreEnergy>(space, std::move(*means));
  }
  const MomentPass pass(approximation.view(), off_store.get());
  result.energy = pass.energy();
  result.entropy = pass.entropy();
  result.delta_kl = -result.energy - result.entropy;
  return result;
}

}  // namespace treesample
