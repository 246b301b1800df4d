#include "families/random_graph.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <utility>

#include "treesample/error.hpp"
#include "treesample/math/random.hpp"

namespace treesample {
namespace {

// Takes some seconds. If the edge probability suits the size, one of the first few graphs is accepted, whatever the
// size.
constexpr std::int64_t kMaxPairsDrawn = 200'000'000;

std::vector<int> intersection(const std::vector<int>& a, const std::vector<int>& b) {
  std::vector<int> both;
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(both));
  return both;
}

// Bron and Kerbosch 1973 without a pivot: it visits every clique once, maximal or not. A pivot saves visits only if
// cliques are large, and a large clique ends the search here.
struct CliqueFinder {
  const NodeSets& neighbours;
  int max_clique;
  bool every_clique;
  NodeSets found = {};

  // `later` and `earlier`: the nodes joined to all of `clique` that come after its last node, and before it. Returns
  // false if the clique is too large.
  bool extend(const std::vector<int>& clique, const std::vector<int>& later, std::vector<int> earlier) {
    const int size = static_cast<int>(clique.size());
    if (size > max_clique) return false;
    if (every_clique ? size >= 2 : later.empty() && earlier.empty()) found.push_back(clique);
    for (auto node = later.begin(); node != later.end(); ++node) {
      std::vector<int> larger = clique;
      larger.push_back(*node);
      if (!extend(larger, intersection({node + 1, later.end()}, neighbours[*node]),
                  intersection(earlier, neighbours[*node]))) {
        return false;
      }
      earlier.insert(std::upper_bound(earlier.begin(), earlier.end(), *node), *node);
    }
    return true;
  }
};

}  // namespace

NodeSets draw_erdos_renyi(int num_nodes, double edge_probability, Random& random) {
  NodeSets neighbours(num_nodes);
  for (int i = 0; i < num_nodes; ++i) {
    for (int j = i + 1; j < num_nodes; ++j) {
      if (random.uniform() >= edge_probability) continue;
      neighbours[i].push_back(j);
      neighbours[j].push_back(i);
    }
  }
  return neighbours;  // sorted: i grows, and so does j for each i
}

bool is_connected(const NodeSets& neighbours) {
  std::vector<bool> is_reached(neighbours.size(), false);
  std::vector<int> reached = {0};
  is_reached[0] = true;
  for (std::size_t next = 0; next < reached.size(); ++next) {
    for (const int node : neighbours[reached[next]]) {
      if (!is_reached[node]) reached.push_back(node);
      is_reached[node] = true;
    }
  }
  return reached.size() == neighbours.size();
}

std::optional<NodeSets> find_cliques(const NodeSets& neighbours, int max_clique, bool every_clique) {
  CliqueFinder finder{neighbours, max_clique, every_clique};
  // The top level of the recursion. It does not intersect the set of all nodes for each node.
  for (int node = 0; node < static_cast<int>(neighbours.size()); ++node) {
    const std::vector<int>& near = neighbours[node];
    const auto middle = std::lower_bound(near.begin(), near.end(), node);
    if (!finder.extend({node}, {middle, near.end()}, {near.begin(), middle})) return {};
  }
  return std::move(finder.found);
}

NodeSets draw_cliques(const CliqueGraphOptions& options, Random& random) {
  const std::int64_t num_pairs = std::int64_t{options.num_nodes} * (options.num_nodes - 1) / 2;
  const std::int64_t num_attempts =
      std::clamp<std::int64_t>(kMaxPairsDrawn / std::max<std::int64_t>(num_pairs, 1), 1, options.max_attempts);
  std::int64_t num_disconnected = 0;
  for (std::int64_t attempt = 0; attempt < num_attempts; ++attempt) {
    const NodeSets neighbours = draw_erdos_renyi(options.num_nodes, options.edge_probability, random);
    if (!is_connected(neighbours)) {
      ++num_disconnected;
      continue;
    }
    std::optional<NodeSets> cliques = find_cliques(neighbours, options.max_clique, options.every_clique);
    if (cliques) return *std::move(cliques);
  }
  const std::int64_t num_too_large = num_attempts - num_disconnected;
  throw Error(ErrorCode::kArgument,
              fmt::format("{}: {} random graphs of {} nodes with edge_probability = {:.6g} were rejected: {} not "
                          "connected, {} with a clique above max_clique = {}; {}",
                          options.function, num_attempts, options.num_nodes, options.edge_probability, num_disconnected,
                          num_too_large, options.max_clique,
                          num_disconnected > num_too_large ? "raise edge_probability"
                                                           : "lower edge_probability or raise max_clique"));
}

}  // namespace treesample
