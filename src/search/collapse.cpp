#include "search/collapse.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "search/edge_bounds.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample {
namespace {

constexpr double kCompleteShare = 1e-3;

// Turns the logarithms of the edges' values into shares of the node's mass; infinite ones share it evenly.
void share_mass(std::vector<double>& log_values) {
  if (std::find(log_values.begin(), log_values.end(), kInf) != log_values.end()) {
    for (double& value : log_values) value = value == kInf ? 0.0 : kNegInf;
  }
  softmax(log_values, log_values);
}

}  // namespace

double open_part(const BoundNode& node) { return -std::expm1(-node.log_upper_gap()); }

std::vector<std::vector<float>> masses(const BoundStore& store) {
  const SearchSpace& space = store.space();
  std::vector<std::vector<float>> mass(space.levels.size());
  for (int n = 0; n < space.num_levels(); ++n) mass[n].assign(store.end_index(n), 0.0F);
  for (std::size_t r = 0; r < space.roots.size(); ++r) mass[space.roots[r]][store.root_links()[r]] = 1.0F;
  EdgeBounds edges(space);
  std::vector<double> probs;
  for (int n = 0; n < space.num_levels(); ++n) {
    const std::vector<int>& children = space.levels[n].children;
    for (NodeIndex i = 0; i < store.end_index(n); ++i) {
      const BoundNode& node = store.node(n, i);
      if (node.is_given_back || !node.is_expanded()) continue;
      edges.gather(store, n, node);
      probs.resize(edges.num_states());
      const bool is_bounded = node.log_upper() < kInf;
      for (int a = 0; a < edges.num_states(); ++a) {
        probs[a] = is_bounded ? edges.values(a).log_upper() : edges.values(a).log_estimate();
      }
      share_mass(probs);
      const Expansion expansion = store.expansion(n, node);
      for (int a = 0; a < edges.num_states(); ++a) {
        if (probs[a] == 0.0) continue;
        for (std::size_t j = 0; j < children.size(); ++j) {
          mass[children[j]][expansion.links(a)[j]] += static_cast<float>(mass[n][i] * probs[a]);
        }
      }
    }
  }
  return mass;
}

void collapse_least(BoundStore& store, double share, std::span<const BoundStore::Extent> kept) {
  const SearchSpace& space = store.space();
  std::vector<std::vector<float>> mass = masses(store);
  std::vector<float> all;
  for (int n = 0; n < space.num_levels(); ++n) {
    for (NodeIndex i = 0; i < store.end_index(n); ++i) {
      const BoundNode& node = store.node(n, i);
      if (node.is_given_back || !node.is_expanded()) continue;
      mass[n][i] *= static_cast<float>(node.is_complete ? kCompleteShare : open_part(node));
      all.push_back(mass[n][i]);
    }
  }
  if (all.empty()) return;
  const auto cut = all.begin() + static_cast<std::ptrdiff_t>(share * static_cast<double>(all.size() - 1));
  std::nth_element(all.begin(), cut, all.end());
  std::vector<std::vector<bool>> is_marked(space.levels.size());
  for (int n = 0; n < space.num_levels(); ++n) {
    is_marked[n].resize(mass[n].size());
    const std::size_t first = kept.empty() ? 0 : kept[n].nodes;
    for (std::size_t i = first; i < mass[n].size(); ++i) is_marked[n][i] = mass[n][i] <= *cut;
    mass[n] = {};
  }
  // The roots stay, because every answer starts from them.
  for (std::size_t r = 0; r < space.roots.size(); ++r) is_marked[space.roots[r]][store.root_links()[r]] = false;
  store.collapse(is_marked, kept);
}

}  // namespace treesample
