// The buckets of an elimination in the log domain, for sums, maxima and derivatives alike: which tables meet in the
// bucket of each variable, and the message that leaves it.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "exact/bucket_tree.hpp"
#include "model/dense_table.hpp"
#include "treesample/model/factor_graph.hpp"

namespace treesample {

struct LogBucket {
  std::vector<int> scope;       // from the last removed variable to the first, then that of the bucket
  std::vector<int> factors;     // those whose first variable to be removed is that of the bucket
  std::vector<int> children;    // the variables whose messages go to the bucket
  std::vector<double> message;  // over the separator

  // With the variable that is removed next in the last place, the message and the bucket that receives it run over
  // memory in the same order.
  [[nodiscard]] std::span<const int> separator() const { return {scope.data(), scope.size() - 1}; }
};

class LogBuckets {
 public:
  // The graph must outlive the buckets.
  LogBuckets(const FactorGraph& graph, const EliminationPlan& plan);

  [[nodiscard]] LogBucket& operator[](int v) { return buckets_[v]; }
  [[nodiscard]] const LogBucket& operator[](int v) const { return buckets_[v]; }
  [[nodiscard]] const std::vector<int>& constants() const { return constants_; }  // factors without variables
  [[nodiscard]] std::size_t num_entries(int v) const { return num_table_entries(graph_, buckets_[v].scope); }

  // The factors of the bucket, then the messages of its children, without one of them where that is asked for.
  struct Input {
    int child = -1, factor = -1;
  };
  [[nodiscard]] std::vector<TableView> inputs(int v, const Input& left_out) const;
  [[nodiscard]] std::vector<TableView> inputs(int v) const { return inputs(v, {}); }
  // The same with the largest entry of each factor taken off.
  [[nodiscard]] std::vector<TableView> scaled_inputs(int v) const;

 private:
  const FactorGraph& graph_;
  std::vector<LogBucket> buckets_;  // by variable
  std::vector<int> constants_;
};

// For each row of the product, over the last variable of its scope: log (sum of exp(entry / weight)) * weight, or the
// maximum for weight 0. `look` is called before each block with its size.
void sum_out_last(TableProduct& product, int num_states, double weight, double* out,
                  const std::function<void(std::size_t)>& look = {});
// Adds the entries of the table for each state of v, where x has the states of its other variables.
void add_row(const FactorGraph& graph, const TableView& table, int v, std::span<const int> x, std::span<double> values);

// The largest |value| but for -inf: what the rounding of a maximum of sums depends on.
double largest_magnitude(std::span<const double> values);

}  // namespace treesample
