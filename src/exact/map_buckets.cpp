#include "exact/map_buckets.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <numeric>
#include <set>
#include <utility>

#include "exact/log_buckets.hpp"
#include "model/dense_table.hpp"
#include "model/table_index.hpp"
#include "treesample/error.hpp"
#include "treesample/exact/elimination.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/math/random.hpp"
#include "treesample/space/order.hpp"

namespace treesample {
namespace {

constexpr double kEps = std::numeric_limits<double>::epsilon();
constexpr const char* kMapBuckets = "map_search";

double log2_entries(const FactorGraph& graph, const std::vector<int>& scope) {
  double sum = 0.0;
  for (const int v : scope) sum += std::log2(graph.num_states(v));
  return sum;
}

std::vector<int> without(std::vector<int> scope, int v) {
  scope.erase(std::find(scope.begin(), scope.end(), v));
  return scope;
}

std::vector<int> sorted(std::vector<int> scope) {
  std::sort(scope.begin(), scope.end());
  return scope;
}

// The graph between the variables of M after all others are eliminated.
Adjacency map_graph(const Adjacency& adjacency, const std::vector<int>& others, const std::vector<int>& map,
                    const ShouldStop& should_stop) {
  std::vector<int> place(adjacency.size(), -1);
  for (std::size_t i = 0; i < map.size(); ++i) place[map[i]] = static_cast<int>(i);
  std::vector<int> order = others;
  order.insert(order.end(), map.begin(), map.end());
  const auto sep = separators(adjacency, order, should_stop);
  std::vector<std::set<int>> linked(map.size());
  StopCheck stop(should_stop);
  const auto link = [&](int a, int b) {
    stop.go_on(kMapBuckets, 16);
    if (place[a] >= 0 && place[b] >= 0 && a != b) linked[place[a]].insert(place[b]);
  };
  for (const int v : map) {
    for (const int u : adjacency[v]) link(v, u);
  }
  for (const int v : others) {
    // Other separators are handed on until they meet M.
    if (sep[v].empty() || place[sep[v].front()] < 0) continue;
    for (const int a : sep[v]) {
      for (const int b : sep[v]) link(a, b);
    }
  }
  Adjacency left(map.size());
  for (std::size_t i = 0; i < map.size(); ++i) left[i].assign(linked[i].begin(), linked[i].end());
  return left;
}

}  // namespace

std::vector<int> map_order(const FactorGraph& graph, const std::vector<char>& is_map, std::uint64_t seed,
                           const ShouldStop& should_stop) {
  constexpr int kOrders = 4;
  const Adjacency adjacency = adjacency_of(graph);
  Random ties(seed, "map order");
  std::vector<int> best;
  double least = HUGE_VAL;
  const auto try_order = [&] {
    std::vector<int> others, map;
    const EliminationWatch watch{.should_stop = should_stop};
    for (const int v : elimination_order(adjacency, OrderKind::kMinFill, ties, watch)) {
      (is_map[v] != 0 ? map : others).push_back(v);
    }
    if (!others.empty() && !map.empty()) {
      const Adjacency left = map_graph(adjacency, others, map, should_stop);
      std::vector<int> ordered;
      for (const int place : elimination_order(left, OrderKind::kMinFill, ties, watch)) ordered.push_back(map[place]);
      map = std::move(ordered);
    }
    others.insert(others.end(), map.begin(), map.end());
    const double cost = plan_in_order(graph, others, {}, should_stop).num_entries;
    if (cost >= least && !best.empty()) return;
    least = cost;
    best = std::move(others);
  };
  try_order();
  for (int i = 1; i < kOrders && !(should_stop && should_stop()); ++i) {
    try {
      try_order();
    } catch (const Error& error) {
      if (error.code() != ErrorCode::kInterrupted) throw;
      break;  // the orders so far suffice
    }
  }
  return best;
}

// First fit, the largest scopes first.
std::vector<MapBuckets::Cluster> MapBuckets::clusters_of(const FactorGraph& graph,
                                                         const std::vector<std::vector<int>>& sorted_scopes,
                                                         double max_entries, StopCheck& stop) {
  std::vector<int> by_size(sorted_scopes.size());
  std::iota(by_size.begin(), by_size.end(), 0);
  std::stable_sort(by_size.begin(), by_size.end(), [&](int a, int b) {
    return log2_entries(graph, sorted_scopes[a]) > log2_entries(graph, sorted_scopes[b]);
  });
  std::vector<Cluster> clusters;
  std::vector<int> joined;
  for (const int i : by_size) {
    const std::vector<int>& scope = sorted_scopes[i];
    const auto takes = [&](const Cluster& cluster) {
      joined.clear();
      std::set_union(cluster.scope.begin(), cluster.scope.end(), scope.begin(), scope.end(),
                     std::back_inserter(joined));
      stop.go_on(kMapBuckets, static_cast<std::int64_t>(8 * joined.size()));
      return joined.size() == cluster.scope.size() || log2_entries(graph, joined) <= std::log2(max_entries);
    };
    const auto found = std::find_if(clusters.begin(), clusters.end(), takes);
    if (found == clusters.end()) {
      clusters.push_back({scope, {i}});
      continue;
    }
    found->scope = joined;
    found->members.push_back(i);
  }
  return clusters;
}

bool MapBuckets::fits(const FactorGraph& graph, const std::vector<int>& order, double max_entries, double bytes,
                      const ShouldStop& should_stop) {
  std::vector<int> time(order.size());
  for (std::size_t t = 0; t < order.size(); ++t) time[order[t]] = static_cast<int>(t);
  std::vector<std::vector<std::vector<int>>> buckets(order.size());
  const auto place = [&](std::vector<int> scope) {
    if (scope.empty()) return;
    const int first = *std::min_element(scope.begin(), scope.end(), [&](int a, int b) { return time[a] < time[b]; });
    buckets[first].push_back(std::move(scope));
  };
  for (const Factor& factor : graph.factors()) place(sorted(factor.scope()));
  constexpr std::int64_t kStepsPerBucket = 100;
  StopCheck stop(should_stop);
  for (const int v : order) {
    stop.go_on(kMapBuckets, kStepsPerBucket);
    for (Cluster& cluster : clusters_of(graph, buckets[v], max_entries, stop)) {
      std::vector<int> scope = without(std::move(cluster.scope), v);
      bytes -= sizeof(double) * std::exp2(std::min(log2_entries(graph, scope), 1000.0));
      if (bytes < 0.0) return false;
      place(std::move(scope));
    }
  }
  return true;
}

MapBuckets::MapBuckets(const FactorGraph& graph, std::vector<int> order, const std::vector<char>& is_map,
                       double max_entries, const ShouldStop& should_stop)
    : graph_(graph), time_(order.size()), buckets_(order.size()) {
  for (std::size_t t = 0; t < order.size(); ++t) time_[order[t]] = static_cast<int>(t);
  for (const Factor& factor : graph.factors()) {
    error_ += 2.0 * kEps * (1.0 + largest_magnitude(factor.log_values()));
    if (factor.scope().empty()) {
      constant_ += factor.log_values().front();
      error_ += kEps * std::abs(constant_ == kNegInf ? 0.0 : constant_);
      continue;
    }
    const std::vector<int>& scope = factor.scope();
    const int first = *std::min_element(scope.begin(), scope.end(), [&](int a, int b) { return time_[a] < time_[b]; });
    buckets_[first].inputs.push_back(static_cast<int>(tables_.size()));
    tables_.push_back({scope, {}, factor.log_values().data()});
  }
  for (const int v : order) {
    if (should_stop && should_stop()) throw Error(ErrorCode::kInterrupted, "map_search: asked to end");
    eliminate(v, is_map[v] != 0, max_entries, should_stop);
  }
  for (auto v = order.rbegin(); v != order.rend() && is_map[*v] != 0; ++v) {
    levels_.push_back(*v);
    level_error_ += kEps * static_cast<double>(buckets_[*v].inputs.size() + buckets_[*v].outputs.size() + 1);
  }
  error_ *= 2.0;  // covers terms of second order
}

// The largest entry of the product of these tables, for each state of the last variable of the scope.
std::vector<double> MapBuckets::largest_by_state(const std::vector<int>& scope, const std::vector<int>& members,
                                                 const ShouldStop& should_stop) const {
  std::vector<TableView> inputs;
  for (const int i : members) inputs.push_back({tables_[i].scope, tables_[i].values});
  TableProduct product(graph_, scope, inputs);
  BlockWalk& walk = product.walk();
  const std::vector<int> own = {scope.back()};
  const int id = walk.add_table(own);
  std::vector<double> block(walk.block_size());
  std::vector<double> largest(static_cast<std::size_t>(graph_.num_states(scope.back())), kNegInf);
  StopCheck stop(should_stop);
  do {
    stop.go_on(kMapBuckets, static_cast<std::int64_t>(4 * block.size()));
    product.fill(0.0, block);
    walk.accumulate_max(id, block, largest.data());
  } while (walk.next());
  return largest;
}

// The message over the scope without v, its last variable: the maximum for weight 0, otherwise the weighted sum.
std::vector<double> MapBuckets::message(const std::vector<int>& scope, const std::vector<int>& members,
                                        const std::vector<double>& shift, double weight,
                                        const ShouldStop& should_stop) const {
  const std::vector<int> own = {scope.back()};
  std::vector<TableView> inputs;
  for (const int i : members) inputs.push_back({tables_[i].scope, tables_[i].values});
  if (!shift.empty()) inputs.push_back({own, shift.data()});
  std::vector<double> result(num_table_entries(graph_, {scope.data(), scope.size() - 1}));
  TableProduct product(graph_, scope, inputs);
  StopCheck stop(should_stop);
  sum_out_last(product, graph_.num_states(scope.back()), weight, result.data(),
               [&](std::size_t size) { stop.go_on(kMapBuckets, static_cast<std::int64_t>(4 * size)); });
  return result;
}

void MapBuckets::send(std::vector<int> scope, std::vector<double> values, Bucket& from) {
  from.outputs.push_back(static_cast<int>(tables_.size()));
  if (scope.empty()) {
    constant_ += values.front();
    error_ += kEps * std::abs(constant_ == kNegInf ? 0.0 : constant_);
  } else {
    const int first = *std::min_element(scope.begin(), scope.end(), [&](int a, int b) { return time_[a] < time_[b]; });
    buckets_[first].inputs.push_back(static_cast<int>(tables_.size()));
  }
  tables_.push_back({std::move(scope), std::move(values), nullptr});
  tables_.back().values = tables_.back().own.data();
}

void MapBuckets::eliminate(int v, bool is_max, double max_entries, const ShouldStop& should_stop) {
  std::vector<std::vector<int>> scopes;
  double magnitude = 0.0;
  for (const int i : buckets_[v].inputs) {
    scopes.push_back(sorted(tables_[i].scope));
    magnitude += largest_magnitude({tables_[i].values, num_table_entries(graph_, tables_[i].scope)});
  }
  if (!(magnitude < 1e300)) {
    throw Error(ErrorCode::kNumeric, "map_search: the factors are so large that their sums would overflow");
  }
  const auto num_states = static_cast<std::size_t>(graph_.num_states(v));
  StopCheck stop(should_stop);
  std::vector<Cluster> clusters = clusters_of(graph_, scopes, max_entries, stop);
  if (clusters.empty()) clusters.push_back({{v}, {}});  // a variable without factors
  const auto num_clusters = clusters.size();
  if (num_clusters > 1) is_exact_ = false;
  if (num_clusters > 1 && !is_max) has_exact_sums_ = false;
  for (Cluster& cluster : clusters) {
    for (int& member : cluster.members) member = buckets_[v].inputs[member];
    // The variable eliminated next is in the last place, behind it v.
    std::sort(cluster.scope.begin(), cluster.scope.end(), [&](int a, int b) { return time_[a] > time_[b]; });
  }
  std::vector<std::vector<double>> shifts(num_clusters);
  if (num_clusters > 1) {
    std::vector<double> mean(num_states, 0.0);
    for (std::size_t c = 0; c < num_clusters; ++c) {
      shifts[c] = largest_by_state(clusters[c].scope, clusters[c].members, should_stop);
      for (std::size_t s = 0; s < num_states; ++s) mean[s] += shifts[c][s] / static_cast<double>(num_clusters);
    }
    // A state that one cluster excludes is excluded from all of them.
    for (std::vector<double>& shift : shifts) {
      for (std::size_t s = 0; s < num_states; ++s) shift[s] = mean[s] == kNegInf ? kNegInf : mean[s] - shift[s];
    }
  }
  const double num_terms = static_cast<double>(buckets_[v].inputs.size() + 4 * num_clusters + num_states) + 16.0;
  // Once for the tables, and once for the level of the search, which subtracts the outputs and adds the inputs.
  error_ += 2.0 * num_terms * kEps * (1.0 + 2.0 * magnitude);
  const double weight = is_max ? 0.0 : 1.0 / static_cast<double>(num_clusters);
  for (std::size_t c = 0; c < num_clusters; ++c) {
    std::vector<double> values = message(clusters[c].scope, clusters[c].members, shifts[c], weight, should_stop);
    clusters[c].scope.pop_back();
    send(std::move(clusters[c].scope), std::move(values), buckets_[v]);
  }
}

double MapBuckets::value(const Table& table, std::span<const int> x) const {
  return table.values[table_index(graph_, table.scope, x)];
}

void MapBuckets::children(int level, std::span<const int> x, double parent, std::span<double> values) const {
  const int v = levels_[level];
  const Bucket& bucket = buckets_[v];
  for (const int i : bucket.outputs) parent -= value(tables_[i], x);
  std::fill(values.begin(), values.end(), parent);
  for (const int i : bucket.inputs) {
    const Table& table = tables_[i];
    add_row(graph_, {table.scope, table.values}, v, x, values);
  }
}

}  // namespace treesample
