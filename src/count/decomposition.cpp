#include "count/decomposition.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "treesample/math/random.hpp"

namespace treesample {
namespace {

using Separators = std::vector<std::vector<int>>;

// The logarithm of the number of entries that elimination would take, all variables with two states.
double log2_entries(const Separators& separators) {
  double log_sum = 0.0;
  for (const std::vector<int>& separator : separators) {
    const auto size = static_cast<double>(separator.size());
    log_sum = std::max(log_sum, size) + std::log2(1.0 + std::exp2(-std::abs(log_sum - size)));
  }
  return log_sum;
}

// The bag whose removal leaves the smallest largest part. The last variable of the order is the root.
int middle_bag(const std::vector<int>& order, const std::vector<int>& parent) {
  struct Bag {
    int below = 1;  // number of bags, including itself
    int largest_part = 0;
  };
  std::vector<Bag> bags(parent.size());
  for (const int v : order) {
    if (parent[v] < 0) continue;
    Bag& above = bags[parent[v]];
    above.below += bags[v].below;
    above.largest_part = std::max(above.largest_part, bags[v].below);
  }
  int best = order.front();
  for (const int v : order) {
    bags[v].largest_part = std::max(bags[v].largest_part, bags[order.back()].below - bags[v].below);
    if (bags[v].largest_part < bags[best].largest_part) best = v;
  }
  return best;
}

// Depths of the variables of one tree of bags, given by its variables in the order of elimination.
void set_depths(const std::vector<int>& order, const Separators& separators, std::vector<int>& depth) {
  std::vector<int> parent(separators.size(), -1);
  Adjacency tree(separators.size());
  for (const int v : order) {
    if (separators[v].empty()) continue;
    parent[v] = separators[v].front();
    tree[v].push_back(parent[v]);
    tree[parent[v]].push_back(v);
  }
  const int root = middle_bag(order, parent);
  std::vector<std::pair<int, int>> queue{{root, 0}};
  std::vector<char> is_reached(separators.size(), 0);
  is_reached[root] = 1;
  for (std::size_t i = 0; i < queue.size(); ++i) {
    const auto [bag, bag_depth] = queue[i];
    const auto put = [&](int v, int at) {
      if (depth[v] < 0) depth[v] = at;
    };
    put(bag, bag_depth);
    for (const int v : separators[bag]) put(v, bag_depth);
    for (const int next : tree[bag]) {
      if (is_reached[next] != 0) continue;
      is_reached[next] = 1;
      queue.emplace_back(next, bag_depth + 1);
    }
  }
}

}  // namespace

DecompositionGuide make_guide(const Adjacency& adjacency, int restarts, std::uint64_t seed,
                              const ShouldStop& should_stop) {
  DecompositionGuide guide;
  if (adjacency.empty()) return guide;
  std::vector<int> best_order;
  Separators best;
  for (int restart = 0; restart < std::max(restarts, 1); ++restart) {
    if (restart > 0 && should_stop && should_stop()) break;
    Random ties(seed + static_cast<std::uint64_t>(restart), "count order");
    std::vector<int> order =
        elimination_order(adjacency, OrderKind::kMinFill, ties, {.goes_on = {}, .should_stop = should_stop});
    Separators found = separators(adjacency, order, should_stop);
    if (restart > 0 && log2_entries(found) >= log2_entries(best)) continue;
    best_order = std::move(order);
    best = std::move(found);
  }
  for (const auto& separator : best) guide.width = std::max(guide.width, static_cast<int>(separator.size()));

  // The trees one by one: a variable belongs to the tree of the first variable of its separator.
  std::vector<int> tree(best.size(), -1);
  std::vector<std::vector<int>> members;
  for (auto v = best_order.rbegin(); v != best_order.rend(); ++v) {
    if (best[*v].empty()) {
      tree[*v] = static_cast<int>(members.size());
      members.emplace_back();
    } else {
      tree[*v] = tree[best[*v].front()];
    }
  }
  for (const int v : best_order) members[tree[v]].push_back(v);
  std::vector<int> depth(best.size(), -1);
  for (const auto& order : members) set_depths(order, best, depth);
  const int deepest = std::max(1, *std::max_element(depth.begin(), depth.end()));
  for (const int d : depth) guide.depths.push_back(static_cast<double>(d) / deepest);
  guide.order = std::move(best_order);
  return guide;
}

}  // namespace treesample
