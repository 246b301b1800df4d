#include "treesample/exact/derivatives.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "exact/log_buckets.hpp"
#include "model/dense_table.hpp"
#include "treesample/error.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample {
namespace {

constexpr const char* kDerivatives = "table_derivatives";

// Of each number the sum of all others; nothing is subtracted.
std::vector<double> sums_of_others(const std::vector<double>& values) {
  std::vector<double> sums(values.size(), 0.0);
  double before = 0.0, after = 0.0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    sums[i] += before;
    before += values[i];
  }
  for (std::size_t i = values.size(); i-- > 0;) {
    sums[i] += after;
    after += values[i];
  }
  return sums;
}

class Passes {
 public:
  Passes(const FactorGraph& graph, const EliminationPlan& plan, const Observer& observer)
      : graph_(graph), order_(plan.order), observer_(observer), buckets_(graph_, plan), outside_(order_.size()) {}

  TableDerivatives run() {
    TableDerivatives result;
    for (const Factor& factor : graph_.factors()) {
      if (factor.scope().empty()) log_constant_ += factor.log_values().front();
    }
    double log_z = log_constant_;
    for (const int v : order_) {
      check_going_on();
      LogBucket& bucket = buckets_[v];
      bucket.message = summed(v, bucket.separator(), {});
      if (bucket.separator().empty()) log_z += bucket.message.front();
    }
    result.log_z = log_z;
    for (int m = 0; m < graph_.num_factors(); ++m) {
      result.log_derivatives.emplace_back(graph_.factor(m).log_values().size(), kNegInf);
    }
    add_roots(result);
    for (auto v = order_.rbegin(); v != order_.rend(); ++v) down(*v, result);
    return result;
  }

 private:
  void check_going_on() const {
    if (observer_.progress) observer_.progress({.phase = "derivatives"});
    if (observer_.should_stop && observer_.should_stop()) {
      throw Error(ErrorCode::kInterrupted, fmt::format("{}: asked to end", kDerivatives));
    }
  }

  // The log of the sum over all variables but `kept` of the bucket's product, without the input `left_out`.
  [[nodiscard]] std::vector<double> summed(int v, std::span<const int> kept, const LogBuckets::Input& left_out) const {
    std::vector<TableView> inputs = buckets_.inputs(v, left_out);
    if (!outside_[v].empty()) inputs.push_back({buckets_[v].separator(), outside_[v].data()});
    const std::size_t size = num_table_entries(graph_, kept);
    std::vector<double> largest(size, kNegInf), sums(size, 0.0);
    TableProduct product(graph_, buckets_[v].scope, inputs);
    BlockWalk& walk = product.walk();
    const int id = walk.add_table(kept);
    std::vector<double> block(walk.block_size());
    do {
      product.fill(0.0, block);
      walk.accumulate_max(id, block, largest.data());
    } while (walk.next());
    // The largest entry of each sum is subtracted, so that nothing overflows.
    std::vector<double> shift(size);
    for (std::size_t i = 0; i < size; ++i) shift[i] = largest[i] == kNegInf ? 0.0 : -largest[i];
    do {
      product.fill(0.0, block);
      walk.add(id, shift.data(), block);
      for (double& value : block) value = std::exp(value);
      walk.accumulate(id, block, sums.data());
    } while (walk.next());
    for (std::size_t i = 0; i < size; ++i) sums[i] = largest[i] == kNegInf ? kNegInf : std::log(sums[i]) + largest[i];
    return sums;
  }

  void down(int v, TableDerivatives& result) {
    check_going_on();
    const LogBucket& bucket = buckets_[v];
    for (const int c : bucket.children) {
      check_going_on();
      outside_[c] = summed(v, buckets_[c].separator(), {.child = c});
    }
    for (const int m : bucket.factors) {
      check_going_on();
      result.log_derivatives[m] = summed(v, graph_.factor(m).scope(), {.factor = m});
    }
  }

  // Of each connected component, and of each constant, everything else.
  void add_roots(TableDerivatives& result) {
    std::vector<double> parts;
    for (const int u : order_) {
      if (buckets_[u].separator().empty()) parts.push_back(buckets_[u].message.front());
    }
    for (const Factor& factor : graph_.factors()) {
      if (factor.scope().empty()) parts.push_back(factor.log_values().front());
    }
    const std::vector<double> others = sums_of_others(parts);
    auto next = others.begin();
    for (const int u : order_) {
      if (buckets_[u].separator().empty()) outside_[u] = {*next++};
    }
    for (int m = 0; m < graph_.num_factors(); ++m) {
      if (graph_.factor(m).scope().empty()) result.log_derivatives[m] = {*next++};
    }
  }

  const FactorGraph& graph_;
  const std::vector<int> order_;
  const Observer& observer_;
  LogBuckets buckets_;
  std::vector<std::vector<double>> outside_;  // by variable: over the separator, what the rest of the model makes of it
  double log_constant_ = 0.0;
};

}  // namespace

TableDerivatives table_derivatives(const FactorGraph& graph, const Evidence& evidence, const Limits& limits,
                                   const EliminationPlan& plan, const Observer& observer) {
  limits.validate();
  for (int m = 0; m < graph.num_factors(); ++m) {
    check_argument(graph.factor(m).is_table(), kDerivatives, fmt::format("factor {} is a function", m));
  }
  constexpr double kTables = 2.0;  // for the messages up and down
  const double bytes = kTables * plan.sample_bytes;
  if (bytes > static_cast<double>(limits.bytes)) {
    throw Error(ErrorCode::kResource, fmt::format("{}: {:.4g} bytes are needed for messages (width {}), allowed are {}",
                                                  kDerivatives, bytes, plan.width, limits.bytes));
  }
  // Evidence is added as tables after those of the model.
  FactorGraph observed = graph;
  const Assignment states = observed_states(graph, evidence);
  for (int v = 0; v < graph.num_variables(); ++v) {
    if (states[v] < 0) continue;
    std::vector<double> table(static_cast<std::size_t>(graph.num_states(v)), kNegInf);
    table[states[v]] = 0.0;
    observed.add_table({v}, std::move(table));
  }
  TableDerivatives result = Passes(observed, plan, observer).run();
  result.log_derivatives.resize(static_cast<std::size_t>(graph.num_factors()));
  return result;
}

TableDerivatives table_derivatives(const FactorGraph& graph, const Evidence& evidence, const Limits& limits,
                                   const EliminationOptions& options, const Observer& observer) {
  return table_derivatives(graph, evidence, limits, plan_elimination(graph, options, observer.should_stop), observer);
}

}  // namespace treesample
