#include "exact/kept_program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "exact/kept_kernels.hpp"
#include "exact/linear_error.hpp"
#include "model/dense_table.hpp"
#include "treesample/error.hpp"
#include "treesample/exact/elimination.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample {
namespace {

constexpr std::size_t kCacheBytes = 1U << 19;     // for the numbers that depend on the case
constexpr std::size_t kMostLaneBytes = 1U << 23;  // with the fewest lanes; beyond that one case at a time is better
constexpr int kMostLanes = 64, kFewestLanes = 8;

}  // namespace

KeptProgram::KeptProgram(const FactorGraph& graph, const KeptOptions& options) {
  ModelPart whole;
  if (!options.part) {
    whole.variables.resize(static_cast<std::size_t>(graph.num_variables()));
    std::iota(whole.variables.begin(), whole.variables.end(), 0);
    whole.factors.resize(static_cast<std::size_t>(graph.num_factors()));
    std::iota(whole.factors.begin(), whole.factors.end(), 0);
  }
  const ModelPart& part = options.part ? *options.part : whole;
  check_range(kKeptElimination, "lanes", options.lanes, 0, 1024);
  num_lanes = options.lanes == 0 ? kMostLanes : options.lanes;
  add_variables(graph, options, part);
  std::vector<char> is_parameter(static_cast<std::size_t>(graph.num_factors()), 0);
  for (const int m : options.parameters) {
    check_range(kKeptElimination, "factor", m, 0, graph.num_factors() - 1);
    is_parameter[m] = 1;
  }
  leaf_of_factor.assign(is_parameter.size(), -1);
  for (const int m : part.factors) add_factor(graph, m, is_parameter[m] != 0);
  weights_of.assign(static_cast<std::size_t>(graph.num_variables()), -1);
  for (const int v : options.weighted) {
    check_range(kKeptElimination, "variable", v, 0, graph.num_variables() - 1);
    check_argument(local_of_[v] >= 0 && weights_of[v] < 0, kKeptElimination,
                   "a weighted variable is observed or given twice");
    weights_of[v] = add_weights({local_of_[v]});
  }
  for (const std::vector<int>& asked : options.asked) {
    std::vector<int> scope;
    for (const int v : asked) {
      check_range(kKeptElimination, "variable", v, 0, graph.num_variables() - 1);
      check_argument(local_of_[v] >= 0 && std::find(scope.begin(), scope.end(), local_of_[v]) == scope.end(),
                     kKeptElimination, "a variable that is asked for is observed or given twice");
      scope.push_back(local_of_[v]);
    }
    const bool has_weights = asked.size() == 1 && weights_of[asked.front()] >= 0;
    asked_tables.push_back(has_weights ? weights_of[asked.front()] : add_weights(scope));
    tables[asked_tables.back()].is_wanted = true;
  }
  find_order(graph, options);
  sort_scopes(graph, options);
  add_buckets();
  choose_lanes(options);
  for (std::size_t b = 0; b < buckets.size(); ++b) make_operands(buckets[b], order[b]);
  place_numbers();
  const double bytes = 8.0 * static_cast<double>(num_values + num_adjoints);
  if (bytes > options.most_bytes) {
    throw Error(ErrorCode::kResource, fmt::format("{}: its tables take {:.3g} bytes, allowed are {:.3g}",
                                                  kKeptElimination, bytes, options.most_bytes));
  }
}

void KeptProgram::add_variables(const FactorGraph& graph, const KeptOptions& options, const ModelPart& part) {
  observed = options.observed;
  observed_at.assign(static_cast<std::size_t>(graph.num_variables()), -1);
  for (std::size_t i = 0; i < observed.size(); ++i) {
    check_range(kKeptElimination, "variable", observed[i], 0, graph.num_variables() - 1);
    check_argument(observed_at[observed[i]] < 0, kKeptElimination, "a variable is observed twice");
    observed_at[observed[i]] = static_cast<int>(i);
  }
  local_of_.assign(observed_at.size(), -1);
  for (const int v : part.variables) {
    if (observed_at[v] >= 0) continue;
    local_of_[v] = shape.add_variable(graph.num_states(v));
    variable_of.push_back(v);
  }
  log_constant = part.log_constant;
  log_constant_error = part.log_slack;
}

int KeptProgram::add_table(std::vector<int> scope, bool by_lane, bool is_wanted) {
  tables.push_back({.scope = std::move(scope), .by_lane = by_lane, .is_wanted = is_wanted});
  return static_cast<int>(tables.size()) - 1;
}

int KeptProgram::add_weights(std::vector<int> scope) { return add_table(std::move(scope), true, false); }

void KeptProgram::add_factor(const FactorGraph& graph, int m, bool is_parameter) {
  const Factor& factor = graph.factor(m);
  check_argument(factor.is_table(), kKeptElimination, fmt::format("factor {} is a function, allowed are tables", m));
  Leaf leaf{.factor = m};
  std::vector<int> scope;
  std::size_t stride = factor.log_values().size();
  for (const int v : factor.scope()) {
    stride /= static_cast<std::size_t>(graph.num_states(v));
    if (observed_at[v] >= 0) {
      leaf.cuts.emplace_back(observed_at[v], stride);
    } else {
      TS_ASSERT(local_of_[v] >= 0);
      scope.push_back(local_of_[v]);
    }
  }
  check_argument(leaf.cuts.empty() || !is_parameter, kKeptElimination,
                 fmt::format("factor {} has observed variables", m));
  leaf.table = add_table(std::move(scope), !leaf.cuts.empty(), is_parameter);
  leaf_of_factor[m] = static_cast<int>(leaves.size());
  leaves.push_back(std::move(leaf));
}

// By the scopes alone.
void KeptProgram::find_order(const FactorGraph& graph, const KeptOptions& options) {
  FactorGraph scopes = shape;
  const auto nothing = [](std::span<const int>) { return 0.0; };
  std::vector<char> has_table(static_cast<std::size_t>(shape.num_variables()), 0);
  for (const Table& table : tables) {
    for (const int v : table.scope) has_table[v] = 1;
    if (table.scope.size() > 1) scopes.add_factor(Factor::function(table.scope, nothing));
  }
  // A variable without tables is a number of states.
  for (int v = 0; v < shape.num_variables(); ++v) {
    if (has_table[v] == 0) log_constant += std::log(shape.num_states(v));
  }
  EliminationOptions search;
  search.goal = EliminationGoal::kMarginals;
  search.order_work = options.order_work;
  search.seed = options.seed;
  search.most_entries = options.most_entries;
  EliminationPlan plan;
  if (options.order.empty()) {
    plan = plan_elimination(scopes, search);
  } else {
    std::vector<int> known;
    std::vector<char> is_known(has_table.size(), 0);
    for (const int v : options.order) {
      check_range(kKeptElimination, "variable", v, 0, graph.num_variables() - 1);
      if (local_of_[v] < 0 || is_known[local_of_[v]] != 0) continue;
      is_known[local_of_[v]] = 1;
      known.push_back(local_of_[v]);
    }
    for (std::size_t v = 0; v < is_known.size(); ++v) {
      if (is_known[v] == 0) known.push_back(static_cast<int>(v));
    }
    plan = plan_in_order(scopes, std::move(known));
  }
  if (!plan.is_possible() || plan.num_entries > options.most_entries) {
    throw Error(ErrorCode::kResource, fmt::format("{}: elimination takes more than {:.3g} table entries",
                                                  kKeptElimination, options.most_entries));
  }
  num_entries = plan.num_entries;
  order = plan.order;
  std::erase_if(order, [&](int v) { return has_table[v] == 0; });
  time_.assign(has_table.size(), -1);
  for (std::size_t t = 0; t < order.size(); ++t) {
    time_[order[t]] = static_cast<int>(t);
    Bucket& bucket = buckets.emplace_back();
    bucket.message = add_table(plan.separators[order[t]], false, false);
  }
}

std::size_t KeptProgram::size_of(const std::vector<int>& scope) const { return num_table_entries(shape, scope); }

// The variables of tables, and the entries of factors, in the order of removal.
void KeptProgram::sort_scopes(const FactorGraph& graph, const KeptOptions& options) {
  const auto is_before = [&](int a, int b) { return time_[a] < time_[b]; };
  for (Table& table : tables) {
    std::sort(table.scope.begin(), table.scope.end(), is_before);
    table.size = size_of(table.scope);
  }
  for (std::size_t i = 0; i < options.asked.size(); ++i) {
    std::vector<int> scope;
    for (const int v : options.asked[i]) scope.push_back(local_of_[v]);
    asked_places.push_back(places_of(shape, strides_in(shape, tables[asked_tables[i]].scope, scope), scope));
  }
  for (Leaf& leaf : leaves) {
    const Factor& factor = graph.factor(leaf.factor);
    const std::vector<int>& scope = tables[leaf.table].scope;
    std::vector<std::size_t> strides;
    for (const int v : scope) {
      std::size_t stride = factor.log_values().size();
      for (const int u : factor.scope()) {
        stride /= static_cast<std::size_t>(graph.num_states(u));
        if (u == variable_of[v]) break;
      }
      strides.push_back(stride);
    }
    leaf.places = places_of(shape, strides, scope);
  }
}

// The inputs of each bucket, and what depends on the case or is wanted.
void KeptProgram::add_buckets() {
  const int num_leaves = static_cast<int>(tables.size() - buckets.size());
  for (int t = 0; t < num_leaves; ++t) {
    if (tables[t].scope.empty()) {
      roots.push_back(t);
    } else {
      buckets[time_[tables[t].scope.front()]].inputs.push_back(t);
    }
  }
  for (std::size_t b = 0; b < buckets.size(); ++b) {
    Bucket& bucket = buckets[b];
    Table& message = tables[bucket.message];
    bucket.num_states = static_cast<std::size_t>(shape.num_states(order[b]));
    for (const int input : bucket.inputs) {
      message.by_lane = message.by_lane || tables[input].by_lane;
      message.is_wanted = message.is_wanted || tables[input].is_wanted;
    }
    const auto num_terms = static_cast<double>(bucket.inputs.size() + bucket.num_states);
    rounding += kEpsilon / 2.0 * num_terms * LinearError::kSlack;
    if (message.scope.empty()) {
      roots.push_back(bucket.message);
    } else {
      buckets[time_[message.scope.front()]].inputs.push_back(bucket.message);
    }
  }
}

// As many as let the numbers of all cases stay in the cache; one where even a few would take much memory.
void KeptProgram::choose_lanes(const KeptOptions& options) {
  if (options.lanes == 0) {
    std::size_t by_lane = 0;
    for (const Table& table : tables) by_lane += table.by_lane ? 2 * sizeof(double) * table.size : 0;
    num_lanes = kMostLanes;
    while (num_lanes > kFewestLanes && by_lane * static_cast<std::size_t>(num_lanes) > kCacheBytes) num_lanes /= 2;
    if (by_lane * static_cast<std::size_t>(num_lanes) > kMostLaneBytes) num_lanes = 1;
  }
  if (num_lanes > 1) return;
  for (Table& table : tables) table.by_lane = false;
}

}  // namespace treesample
