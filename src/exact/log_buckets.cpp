#include "exact/log_buckets.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "model/table_index.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample {

namespace {

// The largest entry of each row.
void max_rows(std::span<const double> block, std::size_t row_size, double* out) {
  for (std::size_t first = 0; first < block.size(); first += row_size) {
    double largest = block[first];
    for (std::size_t a = 1; a < row_size; ++a) largest = std::max(largest, block[first + a]);
    *out++ = largest;
  }
}

}  // namespace

LogBuckets::LogBuckets(const FactorGraph& graph, const EliminationPlan& plan)
    : graph_(graph), buckets_(plan.order.size()) {
  BucketTree tree(graph, plan);
  for (const int v : plan.order) {
    BucketTree::Bucket& found = tree.buckets[v];
    buckets_[v].scope = found.scope_ending_with(v);
    buckets_[v].factors = std::move(found.factors);
    buckets_[v].children = std::move(found.children);
  }
  constants_ = std::move(tree.constants);
}

std::vector<TableView> LogBuckets::inputs(int v, const Input& left_out) const {
  std::vector<TableView> tables;
  for (const int m : buckets_[v].factors) {
    if (m != left_out.factor) tables.push_back({graph_.factor(m).scope(), graph_.factor(m).log_values().data()});
  }
  for (const int c : buckets_[v].children) {
    if (c != left_out.child) tables.push_back({buckets_[c].separator(), buckets_[c].message.data()});
  }
  return tables;
}

std::vector<TableView> LogBuckets::scaled_inputs(int v) const {
  std::vector<TableView> tables = inputs(v);
  for (std::size_t i = 0; i < buckets_[v].factors.size(); ++i) {
    tables[i].shift = *graph_.factor(buckets_[v].factors[i]).log_max();
  }
  return tables;
}

void sum_out_last(TableProduct& product, int num_states, double weight, double* out,
                  const std::function<void(std::size_t)>& look) {
  BlockWalk& walk = product.walk();
  std::vector<double> block(walk.block_size());
  const auto row_size = static_cast<std::size_t>(num_states);
  do {
    if (look) look(block.size());
    product.fill(0.0, block);
    double* const first = out + walk.first_entry() / row_size;
    if (weight > 0.0) {
      log_sum_rows(block, num_states, weight, first);
      continue;
    }
    max_rows(block, row_size, first);
  } while (walk.next());
}

void add_row(const FactorGraph& graph, const TableView& table, int v, std::span<const int> x,
             std::span<double> values) {
  const TableRow row = table_row(graph, table.scope, v, x);
  for (std::size_t a = 0; a < values.size(); ++a) values[a] += table.values[row.first + a * row.stride] - table.shift;
}

double largest_magnitude(std::span<const double> values) {
  double largest = 0.0;
  for (const double value : values) {
    if (value != kNegInf) largest = std::max(largest, std::abs(value));
  }
  return largest;
}

}  // namespace treesample
