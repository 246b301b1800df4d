#include "treesample/model/explored_tree.hpp"

namespace treesample {

void ExploredTree::rename(const std::function<std::pair<int, int>(int, int)>& to_outer) {
  for (Node& node : nodes) {
    const int variable = node.variable;
    if (variable < 0) continue;
    for (Edge& edge : node.edges) {
      const auto [outer, state] = to_outer(variable, edge.state);
      node.variable = outer;
      edge.state = state;
    }
  }
}

}  // namespace treesample
