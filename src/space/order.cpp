#include "treesample/space/order.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <numeric>
#include <queue>
#include <tuple>
#include <utility>

#include "treesample/error.hpp"
#include "treesample/math/random.hpp"
#include "treesample/space/varied_order.hpp"

namespace treesample {
namespace {

// Calls visit(x) for every x in both sorted lists. A short list is looked up in a long one: otherwise a hub with
// thousands of neighbours would make each of its edges expensive.
template <typename Visit>
void for_each_common(const std::vector<int>& a, const std::vector<int>& b, Visit visit) {
  const std::vector<int>& small = a.size() < b.size() ? a : b;
  const std::vector<int>& large = a.size() < b.size() ? b : a;
  constexpr std::size_t kLookUpRatio = 16;
  auto position = large.begin();
  for (const int x : small) {
    if (large.size() > kLookUpRatio * small.size()) {
      position = std::lower_bound(position, large.end(), x);
    } else {
      while (position != large.end() && *position < x) ++position;
    }
    if (position == large.end()) return;
    if (*position == x) visit(x);
  }
}

constexpr const char* kEliminationOrder = "elimination_order";

void insert_sorted(std::vector<int>& list, int x) { list.insert(std::lower_bound(list.begin(), list.end(), x), x); }
void erase_sorted(std::vector<int>& list, int x) { list.erase(std::lower_bound(list.begin(), list.end(), x)); }

// The graph that remains while variables are eliminated, with the score of each variable:
//   min-width  its number of neighbours,
//   min-fill   the number of pairs of its neighbours that are not neighbours themselves, each with the product of
//              their weights; it is updated edge by edge instead of being counted again.
class EliminationGraph {
 public:
  EliminationGraph(const Adjacency& adjacency, OrderKind kind, std::vector<int> weights, StopCheck& stop)
      : neighbours_(adjacency),
        num_gone_(adjacency.size(), 0),
        is_gone_(adjacency.size(), 0),
        counts_fill_(kind == OrderKind::kMinFill),
        weights_(std::move(weights)),
        fill_(adjacency.size(), 0),
        weight_around_(adjacency.size(), 0),
        stop_(stop) {
    if (!counts_fill_) return;
    if (weights_.empty()) weights_.assign(adjacency.size(), 1);
    for (std::size_t v = 0; v < neighbours_.size(); ++v) {
      const auto degree = static_cast<std::int64_t>(neighbours_[v].size());
      std::int64_t squares = 0;
      for (const int u : neighbours_[v]) {
        weight_around_[v] += weights_[u];
        squares += pair_weight(u, u);
        // The triangle {u, v, x} is met once for each of its edges; each time, it is the pair (u, v) of x that is
        // joined.
        if (u < static_cast<int>(v)) continue;
        stop_.go_on(kEliminationOrder, degree);
        for_each_common(neighbours_[v], neighbours_[u],
                        [&](int x) { fill_[x] -= pair_weight(u, static_cast<int>(v)); });
      }
      fill_[v] += (weight_around_[v] * weight_around_[v] - squares) / 2;
    }
  }

  [[nodiscard]] std::int64_t score(int v) const {
    return counts_fill_ ? fill_[v] : static_cast<std::int64_t>(neighbours_[v].size()) - num_gone_[v];
  }

  [[nodiscard]] std::span<const int> neighbours(int v) { return list(v); }

  // Joins all neighbours of v and removes v; appends the variables whose score may have changed (some more than once).
  void eliminate(int v, std::vector<int>& changed) {
    const std::vector<int> clique = std::move(list(v));
    is_gone_[v] = 1;
    for (const int u : clique) {
      if (neighbours_[u].size() > kHub) {
        ++num_gone_[u];
      } else {
        erase_sorted(neighbours_[u], v);
      }
    }
    changed.insert(changed.end(), clique.begin(), clique.end());
    if (counts_fill_) {
      const bool is_clique = fill_[v] == 0;
      for (const int u : clique) {
        weight_around_[u] -= weights_[v];
        // The pairs (v, x) of u disappear. Those with x outside of the clique were not joined.
        std::int64_t inside = weight_around_[v] - weights_[u];
        if (!is_clique) {
          inside = 0;
          for_each_common(list(u), clique, [&](int x) { inside += weights_[x]; });
        }
        fill_[u] -= weights_[v] * (weight_around_[u] - inside);
      }
      if (is_clique) return;
    }
    std::vector<int> missing;
    for (const int u : clique) {
      missing.clear();
      const std::vector<int>& of_u = list(u);
      std::set_difference(std::upper_bound(clique.begin(), clique.end(), u), clique.end(), of_u.begin(), of_u.end(),
                          std::back_inserter(missing));
      for (const int w : missing) join(u, w, changed);
    }
  }

 private:
  void join(int u, int w, std::vector<int>& changed) {
    stop_.go_on(kEliminationOrder, static_cast<std::int64_t>(neighbours_[u].size()));
    if (counts_fill_) {
      std::int64_t common = 0;
      for_each_common(list(u), list(w), [&](int x) {
        fill_[x] -= pair_weight(u, w);
        changed.push_back(x);
        common += weights_[x];
      });
      fill_[u] += weights_[w] * (weight_around_[u] - common);
      fill_[w] += weights_[u] * (weight_around_[w] - common);
      weight_around_[u] += weights_[w];
      weight_around_[w] += weights_[u];
    }
    insert_sorted(list(u), w);
    insert_sorted(list(w), u);
  }

  [[nodiscard]] std::int64_t pair_weight(int u, int w) const {
    return static_cast<std::int64_t>(weights_[u]) * weights_[w];
  }

  // A hub forgets removed neighbours only when its list is read: moving it for each of them would take quadratic time.
  static constexpr std::size_t kHub = 1024;
  std::vector<int>& list(int v) {
    std::vector<int>& found = neighbours_[v];
    if (num_gone_[v] > 0) std::erase_if(found, [&](int u) { return is_gone_[u] != 0; });
    num_gone_[v] = 0;
    return found;
  }

  Adjacency neighbours_;
  std::vector<int> num_gone_;  // of each list
  std::vector<char> is_gone_;
  bool counts_fill_;
  std::vector<int> weights_;
  std::vector<std::int64_t> fill_;
  std::vector<std::int64_t> weight_around_;  // of the neighbours
  StopCheck& stop_;
};

}  // namespace

Adjacency adjacency_of(const FactorGraph& graph) {
  Adjacency neighbours(static_cast<std::size_t>(graph.num_variables()));
  for (const Factor& factor : graph.factors()) {
    for (const int v : factor.scope()) {
      for (const int u : factor.scope()) {
        if (u != v) neighbours[v].push_back(u);
      }
    }
  }
  for (std::vector<int>& list : neighbours) {
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
  }
  return neighbours;
}

std::vector<int> degree_order(const FactorGraph& graph) {
  std::vector<int> by_degree(static_cast<std::size_t>(graph.num_factors()));
  std::iota(by_degree.begin(), by_degree.end(), 0);
  std::stable_sort(by_degree.begin(), by_degree.end(),
                   [&](int a, int b) { return graph.factor(a).scope().size() > graph.factor(b).scope().size(); });
  std::vector<int> order;
  std::vector<bool> is_placed(static_cast<std::size_t>(graph.num_variables()), false);
  const auto place = [&](int v) {
    if (!is_placed[v]) order.push_back(v);
    is_placed[v] = true;
  };
  for (const int m : by_degree) std::for_each(graph.factor(m).scope().begin(), graph.factor(m).scope().end(), place);
  for (int v = 0; v < graph.num_variables(); ++v) place(v);
  return order;
}

// Noise finds orders that random ties alone do not. On a pedigree model, the best of 400 orders with noise had messages
// of 2^30.5 entries; the best of 60 with random ties had 2^35.7.
OrderVariation varied_order(int restart, std::span<const double> log2_num_states) {
  constexpr double kNoise[] = {0.0, 0.3, 0.6, 0.3, 0.6, 1.0};
  OrderVariation variation;
  variation.noise = kNoise[restart % 6];
  // Edges between variables with many states count more, if the numbers of states differ.
  const bool is_weighted = restart % 6 == 3 || restart % 6 == 4;
  for (const double log2_states : log2_num_states) {
    if (is_weighted) variation.weights.push_back(std::clamp(static_cast<int>(std::lround(8.0 * log2_states)), 1, 1024));
  }
  return variation;
}

OrderVariation varied_order(int restart, const FactorGraph& graph) {
  std::vector<double> log2_num_states;
  for (int v = 0; v < graph.num_variables(); ++v) log2_num_states.push_back(std::log2(graph.num_states(v)));
  return varied_order(restart, log2_num_states);
}

std::vector<int> elimination_order(const Adjacency& adjacency, OrderKind kind, Random& ties,
                                   const EliminationWatch& watch, const OrderVariation& variation) {
  check_argument(kind == OrderKind::kMinFill || kind == OrderKind::kMinWidth, kEliminationOrder,
                 "kind is not a greedy one, allowed are min-fill and min-width");
  const int num_variables = static_cast<int>(adjacency.size());
  // A random rank, drawn once, decides among equally good variables.
  const std::vector<int> rank = ties.permutation(num_variables);
  StopCheck stop(watch.should_stop);
  EliminationGraph graph(adjacency, kind, variation.weights, stop);

  using Entry = std::tuple<double, int, int, std::int64_t>;  // score with noise, rank, variable, score
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
  std::vector<std::int64_t> queued_score(adjacency.size(), -1);
  const auto enqueue = [&](int v) {
    const std::int64_t score = graph.score(v);
    if (score == queued_score[v]) return;
    queued_score[v] = score;
    const double factor = variation.noise == 0.0 ? 1.0 : 1.0 + variation.noise * ties.uniform();
    queue.emplace(static_cast<double>(score) * factor, rank[v], v, score);
  };
  for (int v = 0; v < num_variables; ++v) enqueue(v);

  std::vector<int> order;
  std::vector<bool> is_removed(adjacency.size(), false);
  std::vector<int> changed;
  while (!queue.empty()) {
    const auto [unused_number, unused_rank, v, score] = queue.top();
    queue.pop();
    if (is_removed[v] || score != queued_score[v]) continue;  // a later entry of v holds its score
    if (watch.goes_on && !watch.goes_on(v, graph.neighbours(v))) break;
    stop.go_on(kEliminationOrder);
    is_removed[v] = true;
    order.push_back(v);
    changed.clear();
    graph.eliminate(v, changed);
    for (const int u : changed) enqueue(u);
  }
  return order;
}

std::vector<std::vector<int>> separators(const Adjacency& adjacency, std::span<const int> elimination_order,
                                         const ShouldStop& should_stop) {
  const int num_variables = static_cast<int>(adjacency.size());
  check_range("separators", "length of the order", static_cast<std::int64_t>(elimination_order.size()), num_variables,
              num_variables);
  std::vector<int> time(adjacency.size(), -1);
  for (int t = 0; t < num_variables; ++t) {
    const int v = elimination_order[t];
    if (v < 0 || v >= num_variables) {
      check_range("separators", fmt::format("variable at position {} of the order", t), v, 0, num_variables - 1);
    }
    if (time[v] >= 0) throw_argument("separators", fmt::format("variable {} is twice in the order", v));
    time[v] = t;
  }
  // When v is removed, its clique is handed to that variable of its separator that is removed first. So the later
  // neighbours of a variable are its own ones and those of the separators that it was handed.
  std::vector<std::vector<int>> result(adjacency.size());
  std::vector<std::vector<int>> handed_by(adjacency.size());
  std::vector<int> seen_at(adjacency.size(), -1);
  StopCheck stop(should_stop);
  for (int t = 0; t < num_variables; ++t) {
    const int v = elimination_order[t];
    std::vector<int>& separator = result[v];
    const auto collect = [&](int u) {
      if (time[u] <= t || seen_at[u] == t) return;
      seen_at[u] = t;
      separator.push_back(u);
    };
    std::for_each(adjacency[v].begin(), adjacency[v].end(), collect);
    for (const int giver : handed_by[v]) {
      stop.go_on("separators", static_cast<std::int64_t>(result[giver].size()));
      std::for_each(result[giver].begin(), result[giver].end(), collect);
    }
    stop.go_on("separators", static_cast<std::int64_t>(8 * separator.size()));
    std::sort(separator.begin(), separator.end(), [&](int a, int b) { return time[a] < time[b]; });
    if (!separator.empty()) handed_by[separator.front()].push_back(v);
  }
  return result;
}

}  // namespace treesample
