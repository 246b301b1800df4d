#include "treesample/space/search_space.hpp"
#include "math/compensated_sum.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "math/hash.hpp"
#include "treesample/error.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/math/random.hpp"

namespace treesample {
namespace {

std::vector<int> levels_of_variables(const FactorGraph& graph, std::span<const int> order) {
  check_range("make_search_space", "length of the order", static_cast<std::int64_t>(order.size()),
              graph.num_variables(), graph.num_variables());
  std::vector<int> level_of(order.size(), -1);
  for (std::size_t n = 0; n < order.size(); ++n) {
    check_range("make_search_space", "variable in the order", order[n], 0, graph.num_variables() - 1);
    if (level_of[order[n]] >= 0) {
      throw_argument("make_search_space", fmt::format("variable {} is twice in the order", order[n]));
    }
    level_of[order[n]] = static_cast<int>(n);
  }
  return level_of;
}

constexpr const char* kMakeSearchSpace = "make_search_space";

// A variable is in the contexts of all levels after its own, up to the last level of a neighbour. So the memory of the
// contexts is known before they are made.
void check_contexts(const SearchSpace& space, const Adjacency& adjacency, const std::vector<int>& level_of) {
  std::int64_t num_entries = 0;
  for (int n = 0; n < space.num_levels(); ++n) {
    int last = n;
    for (const int neighbour : adjacency[space.levels[n].variable]) last = std::max(last, level_of[neighbour]);
    num_entries += last - n;
  }
  const std::int64_t num_bytes = num_entries * static_cast<std::int64_t>(sizeof(int));
  if (num_bytes <= kMostContextBytes) return;
  throw Error(ErrorCode::kResource,
              fmt::format("{}: the contexts of a path with this order take {:.1f} GB, allowed are {:.1f} (the space "
                          "andor, or another order, takes less)",
                          kMakeSearchSpace, static_cast<double>(num_bytes) / 1e9,
                          static_cast<double>(kMostContextBytes) / 1e9));
}

// A path. Contexts are made only if they identify nodes. Going back from the last level, the context of n consists of
// the part of the context of n + 1 that comes before n, and the earlier neighbours of n.
void make_path(SearchSpace& space, const Adjacency& adjacency, const std::vector<int>& level_of, StopCheck& stop) {
  const int num_levels = space.num_levels();
  if (space.kind != SpaceKind::kTree) check_contexts(space, adjacency, level_of);
  std::vector<int> context;
  for (int n = num_levels - 1; n >= 0; --n) {
    space.levels[n].parent = n - 1;
    if (n + 1 < num_levels) space.levels[n].children = {n + 1};
    if (space.kind == SpaceKind::kTree) continue;
    stop.go_on(kMakeSearchSpace, static_cast<std::int64_t>(16 * context.size()));
    for (const int neighbour : adjacency[space.levels[n].variable]) context.push_back(level_of[neighbour]);
    std::sort(context.begin(), context.end());
    context.erase(std::unique(context.begin(), context.end()), context.end());
    context.erase(std::lower_bound(context.begin(), context.end(), n), context.end());
    space.levels[n].context = context;
  }
}

// The bucket tree of eliminating from the last level to the first. The separator of a variable is its context, and the
// deepest level in it is its parent.
void make_pseudo_tree(SearchSpace& space, const Adjacency& adjacency, std::span<const int> order,
                      const std::vector<int>& level_of, const ShouldStop& should_stop) {
  const std::vector<int> elimination(order.rbegin(), order.rend());
  const std::vector<std::vector<int>> separator = separators(adjacency, elimination, should_stop);
  StopCheck stop(should_stop);
  for (int n = 0; n < space.num_levels(); ++n) {
    Level& level = space.levels[n];
    stop.go_on(kMakeSearchSpace, static_cast<std::int64_t>(16 * separator[level.variable].size()));
    for (const int v : separator[level.variable]) level.context.push_back(level_of[v]);
    std::sort(level.context.begin(), level.context.end());
    if (level.context.empty()) continue;
    level.parent = level.context.back();
    space.levels[level.parent].children.push_back(n);
  }
}

void summarise(SearchSpace& space) {
  double log_prefixes = 0.0;
  for (Level& level : space.levels) {
    if (space.kind == SpaceKind::kTree) {
      level.log_context_states = log_prefixes;
      log_prefixes += std::log(level.num_states);
    }
    for (const int n : level.context) level.log_context_states += std::log(space.levels[n].num_states);
    level.is_shared = space.kind != SpaceKind::kTree && level.parent >= 0 &&
                      level.context.size() < space.levels[level.parent].context.size() + 1;
  }
  for (int n = space.num_levels() - 1; n >= 0; --n) {
    const Level& level = space.levels[n];
    if (level.parent < 0) continue;
    Level& parent = space.levels[level.parent];
    parent.log_states_below += level.log_states_below + std::log(level.num_states);
  }
}

int automatic_restarts(const FactorGraph& graph, const Adjacency& adjacency) {
  std::size_t work = static_cast<std::size_t>(graph.num_variables()) + 1;
  for (const std::vector<int>& neighbours : adjacency) work += neighbours.size() * neighbours.size();
  return static_cast<int>(std::clamp<std::size_t>(2'000'000 / work, 1, 100));
}

}  // namespace

double SearchSpace::log_exact_cost() const {
  std::vector<double> terms;
  terms.reserve(levels.size());
  for (const Level& level : levels) terms.push_back(level.log_context_states + std::log(level.num_states));
  return log_sum_exp(terms);
}

int SearchSpace::width() const {
  std::size_t width = 0;
  for (std::size_t n = 0; n < levels.size(); ++n) {
    width = std::max(width, kind == SpaceKind::kTree ? n : levels[n].context.size());
  }
  return static_cast<int>(width);
}

SearchSpace make_search_space(const FactorGraph& graph, std::span<const int> order, SpaceKind kind,
                              const ShouldStop& should_stop) {
  const std::vector<int> level_of = levels_of_variables(graph, order);
  SearchSpace space;
  space.kind = kind;
  space.graph_shape = graph.shape();
  space.fingerprint = mixed(space.graph_shape, static_cast<std::uint64_t>(kind));
  for (const int v : order) space.fingerprint = mixed(space.fingerprint, static_cast<std::uint64_t>(v));
  space.levels.resize(order.size());
  for (std::size_t n = 0; n < order.size(); ++n) {
    space.levels[n].variable = order[n];
    space.levels[n].num_states = graph.num_states(order[n]);
  }
  CompensatedSum constant;
  for (int m = 0; m < graph.num_factors(); ++m) {
    const Factor& factor = graph.factor(m);
    int deepest = -1;
    for (const int v : factor.scope()) deepest = std::max(deepest, level_of[v]);
    if (deepest < 0) {
      constant.add(factor.log_values()[0]);
    } else {
      space.levels[deepest].factors.push_back(m);
    }
  }
  space.log_constant = constant.value();
  space.log_constant_error = constant.error();
  const Adjacency adjacency = adjacency_of(graph);
  if (kind == SpaceKind::kAndOr) {
    make_pseudo_tree(space, adjacency, order, level_of, should_stop);
  } else {
    StopCheck stop(should_stop);
    make_path(space, adjacency, level_of, stop);
  }
  for (int n = 0; n < space.num_levels(); ++n) {
    if (space.levels[n].parent < 0) space.roots.push_back(n);
  }
  summarise(space);
  return space;
}

void check_space(const char* function, const FactorGraph& graph, const SearchSpace& space) {
  check_argument(space.graph_shape == graph.shape(), function,
                 "the search space was made for another graph: numbers of states, scopes or constants differ");
}

void check_assignment(const char* function, const SearchSpace& space, std::span<const int> x) {
  check_range(function, "number of states given", static_cast<std::int64_t>(x.size()), space.num_levels(),
              space.num_levels());
  for (const Level& level : space.levels) check_range(function, "state", x[level.variable], 0, level.num_states - 1);
}

SearchSpace without_contexts(const SearchSpace& space) {
  SearchSpace copy;
  copy.kind = space.kind;
  copy.roots = space.roots;
  copy.log_constant = space.log_constant;
  copy.log_constant_error = space.log_constant_error;
  copy.graph_shape = space.graph_shape;
  copy.fingerprint = space.fingerprint;
  copy.levels.reserve(space.levels.size());
  for (const Level& level : space.levels) {
    copy.levels.push_back({.variable = level.variable,
                           .num_states = level.num_states,
                           .parent = level.parent,
                           .children = level.children,
                           .context = {},
                           .factors = level.factors,
                           .log_states_below = level.log_states_below,
                           .log_context_states = level.log_context_states,
                           .is_shared = level.is_shared});
  }
  return copy;
}

std::vector<int> search_order(const FactorGraph& graph, SpaceKind kind, const OrderOptions& options) {
  check_range("search_order", "restarts", options.restarts, 0, 1'000'000);
  if (options.kind == OrderKind::kDegree) return degree_order(graph);
  std::vector<int> best(graph.num_variables());
  std::iota(best.begin(), best.end(), 0);
  if (options.kind == OrderKind::kGiven) return best;
  const Adjacency adjacency = adjacency_of(graph);
  const int restarts = options.restarts > 0 ? options.restarts : automatic_restarts(graph, adjacency);
  Random ties(options.seed, "order");
  double best_cost = std::numeric_limits<double>::infinity();
  for (int run = 0; run < restarts; ++run) {
    const auto is_settled = [&] { return run > 0 && options.should_settle && options.should_settle(); };
    if (is_settled()) break;
    if (options.progress) options.progress(static_cast<double>(run) / restarts);
    StopCheck settle(is_settled);
    std::vector<int> order = elimination_order(adjacency, options.kind, ties,
                                               {.goes_on =
                                                    [&](int, std::span<const int> neighbours) {
                                                      const auto size = static_cast<std::int64_t>(neighbours.size());
                                                      return !settle.is_asked(size * size + 1);
                                                    },
                                                .should_stop = options.should_stop});
    if (static_cast<int>(order.size()) < graph.num_variables()) break;
    std::reverse(order.begin(), order.end());
    const double cost = make_search_space(graph, order, kind, options.should_stop).log_exact_cost();
    if (cost < best_cost) {
      best_cost = cost;
      best = std::move(order);
    }
  }
  return best;
}

}  // namespace treesample
