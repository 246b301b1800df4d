#include "treesample/exact/derivatives.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "exact/bucket_tree.hpp"
#include "model/dense_table.hpp"
#include "treesample/error.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample {
namespace {

constexpr const char* kFunction = "table_derivatives";

class Passes {
 public:
  Passes(const FactorGraph& graph, std::vector<int> order, const Observer& observer)
      : graph_(graph), order_(std::move(order)), observer_(observer), buckets_(order_.size()) {
    BucketTree tree(graph_, order_);
    for (const int v : order_) {
      BucketTree::Bucket& found = tree.buckets[v];
      buckets_[v].scope = found.scope_ending_with(v);
      buckets_[v].factors = std::move(found.factors);
      buckets_[v].children = std::move(found.children);
    }
  }

  TableDerivatives run() {
    TableDerivatives result;
    for (const Factor& factor : graph_.factors()) {
      if (factor.scope().empty()) log_constant_ += factor.log_values().front();
    }
    double log_z = log_constant_;
    for (const int v : order_) {
      check_going_on();
      Bucket& bucket = buckets_[v];
      bucket.message = summed(bucket, bucket.separator(), {});
      if (bucket.separator().empty()) log_z += bucket.message.front();
    }
    result.log_z = log_z;
    for (int m = 0; m < graph_.num_factors(); ++m) {
      result.log_derivatives.emplace_back(graph_.factor(m).log_values().size(), kNegInf);
    }
    for (auto v = order_.rbegin(); v != order_.rend(); ++v) down(*v, result);
    add_constants(result);
    return result;
  }

 private:
  struct Bucket {
    std::vector<int> scope;                // from the last removed variable to the first, then v
    std::vector<int> factors;              // of v: those whose first variable to be removed is v
    std::vector<int> children;             // the variables whose messages go to v
    std::vector<double> message, outside;  // over the separator

    [[nodiscard]] std::span<const int> separator() const { return {scope.data(), scope.size() - 1}; }
  };

  void check_going_on() const {
    if (observer_.progress) observer_.progress({.phase = "derivatives"});
    if (observer_.should_stop && observer_.should_stop()) {
      throw Error(ErrorCode::kInterrupted, fmt::format("{}: asked to end", kFunction));
    }
  }

  // An input of a bucket: the message of a child, or a factor. Two factors may share their values.
  struct Input {
    int child = -1, factor = -1;
  };
  // The log of the sum over all variables but `kept` of the bucket's product, without the input `left_out`.
  [[nodiscard]] std::vector<double> summed(const Bucket& bucket, std::span<const int> kept, Input left_out) const {
    std::vector<TableView> inputs;
    for (const int m : bucket.factors) {
      if (m != left_out.factor) inputs.push_back({graph_.factor(m).scope(), graph_.factor(m).log_values().data()});
    }
    for (const int c : bucket.children) {
      if (c != left_out.child) inputs.push_back({buckets_[c].separator(), buckets_[c].message.data()});
    }
    if (!bucket.outside.empty()) inputs.push_back({bucket.separator(), bucket.outside.data()});
    const std::size_t size = num_table_entries(graph_, kept);
    std::vector<double> largest(size, kNegInf), sums(size, 0.0);
    TableProduct product(graph_, bucket.scope, inputs);
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
    Bucket& bucket = buckets_[v];
    if (bucket.separator().empty()) bucket.outside = {outside_of_root(v)};
    for (const int c : bucket.children) {
      buckets_[c].outside = summed(bucket, buckets_[c].separator(), {.child = c});
    }
    for (const int m : bucket.factors) {
      result.log_derivatives[m] = summed(bucket, graph_.factor(m).scope(), {.factor = m});
    }
  }

  // The product of the constants and of all other connected components.
  [[nodiscard]] double outside_of_root(int v) const {
    double sum = log_constant_;
    for (const int u : order_) {
      if (u != v && buckets_[u].separator().empty()) sum += buckets_[u].message.front();
    }
    return sum;
  }

  void add_constants(TableDerivatives& result) const {
    for (int m = 0; m < graph_.num_factors(); ++m) {
      if (!graph_.factor(m).scope().empty()) continue;
      double sum = 0.0;
      for (int other = 0; other < graph_.num_factors(); ++other) {
        if (other != m && graph_.factor(other).scope().empty()) sum += graph_.factor(other).log_values().front();
      }
      for (const int u : order_) {
        if (buckets_[u].separator().empty()) sum += buckets_[u].message.front();
      }
      result.log_derivatives[m] = {sum};
    }
  }

  const FactorGraph& graph_;
  const std::vector<int> order_;
  const Observer& observer_;
  std::vector<Bucket> buckets_;  // by variable
  double log_constant_ = 0.0;
};

}  // namespace

TableDerivatives table_derivatives(const FactorGraph& graph, const Evidence& evidence, const Limits& limits,
                                   const EliminationOptions& options, const Observer& observer) {
  limits.validate();
  for (int m = 0; m < graph.num_factors(); ++m) {
    check_argument(graph.factor(m).is_table(), kFunction, fmt::format("factor {} is a function", m));
  }
  const EliminationCost cost = elimination_cost(graph, options, observer.should_stop);
  constexpr double kTables = 2.0;  // for the messages up and down
  if (kTables * cost.bytes > static_cast<double>(limits.bytes)) {
    throw Error(ErrorCode::kResource, fmt::format("{}: {:.4g} bytes are needed for messages (width {}), allowed are {}",
                                                  kFunction, kTables * cost.bytes, cost.width, limits.bytes));
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
  TableDerivatives result = Passes(observed, cost.order, observer).run();
  result.log_derivatives.resize(static_cast<std::size_t>(graph.num_factors()));
  return result;
}

}  // namespace treesample
