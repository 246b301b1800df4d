// Connected Erdos-Renyi graphs with small cliques, on which both families of factor graphs are built.
#pragma once

#include <optional>
#include <vector>

namespace treesample {

class Random;

using NodeSets = std::vector<std::vector<int>>;

struct CliqueGraphOptions {
  const char* function = "";  // for error messages
  int num_nodes = 1;
  double edge_probability = 0.0;
  int max_clique = 4;
  bool every_clique = false;  // all cliques of two or more nodes instead of the maximal ones
  int max_attempts = 1000;
};

// Draws graphs until one is connected and has no clique above max_clique. Returns its cliques, each in ascending order,
// in lexicographic order. Throws kArgument if max_attempts graphs were rejected; large graphs get fewer attempts, so
// that a hopeless request ends within seconds.
NodeSets draw_cliques(const CliqueGraphOptions& options, Random& random);

// Sorted neighbours per node; each pair is joined with the given probability.
NodeSets draw_erdos_renyi(int num_nodes, double edge_probability, Random& random);
bool is_connected(const NodeSets& neighbours);
// None if there is a clique with more than max_clique nodes.
std::optional<NodeSets> find_cliques(const NodeSets& neighbours, int max_clique, bool every_clique);

}  // namespace treesample
