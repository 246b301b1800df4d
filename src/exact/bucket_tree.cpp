#include "exact/bucket_tree.hpp"

#include <algorithm>
#include <utility>

#include "treesample/space/order.hpp"

namespace treesample {

BucketTree::BucketTree(const FactorGraph& graph, const EliminationPlan& plan)
    : buckets(plan.order.size()), time(plan.order.size()) {
  auto separator_of = plan.separators.empty() ? separators(adjacency_of(graph), plan.order) : plan.separators;
  for (std::size_t t = 0; t < plan.order.size(); ++t) {
    const int v = plan.order[t];
    time[v] = static_cast<int>(t);
    buckets[v].separator = std::move(separator_of[v]);
    if (!buckets[v].separator.empty()) buckets[buckets[v].separator.front()].children.push_back(v);
  }
  for (int m = 0; m < graph.num_factors(); ++m) {
    const std::vector<int>& scope = graph.factor(m).scope();
    if (scope.empty()) {
      constants.push_back(m);
      continue;
    }
    const int first = *std::min_element(scope.begin(), scope.end(), [&](int a, int b) { return time[a] < time[b]; });
    buckets[first].factors.push_back(m);
  }
}

}  // namespace treesample
