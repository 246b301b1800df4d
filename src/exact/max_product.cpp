#include "treesample/exact/max_product.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>
#include <vector>

#include "math/compensated_sum.hpp"
#include "model/dense_table.hpp"
#include "model/table_index.hpp"
#include "treesample/error.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/space/order.hpp"

namespace treesample {
namespace {

constexpr const char* kFunction = "most_probable";
constexpr double kUnit = kEpsilon / 2.0;  // of one operation, relative to its result
constexpr double kLargestSum = 1e307;     // further up sums of factors might overflow

// The largest finite magnitude in a table; -inf stays -inf without any rounding.
double largest_magnitude(std::span<const double> values) {
  double largest = 0.0;
  for (const double value : values) {
    if (value != kNegInf) largest = std::max(largest, std::abs(value));
  }
  return largest;
}

// The largest entry of each row of num_states.
void max_rows(std::span<const double> block, std::size_t num_states, double* out) {
  for (std::size_t first = 0; first < block.size(); first += num_states) {
    double largest = block[first];
    for (std::size_t a = 1; a < num_states; ++a) largest = std::max(largest, block[first + a]);
    *out++ = largest;
  }
}

class MaxProduct {
 public:
  MaxProduct(const FactorGraph& graph, const Observer& observer, EliminationCost cost)
      : graph_(graph), observer_(observer), cost_(std::move(cost)), buckets_(cost_.order.size()) {
    build_buckets();
  }

  // False when no configuration is possible.
  bool eliminate_all() {
    double num_done = 0.0;
    for (const int v : cost_.order) {
      if (log_max_.value() == kNegInf) return false;
      if (observer_.progress) {
        observer_.progress({.phase = "most probable configuration", .share_done = num_done / cost_.num_entries});
      }
      if (observer_.should_stop && observer_.should_stop()) {
        throw Error(ErrorCode::kInterrupted, "most_probable: asked to end");
      }
      eliminate(v);
      num_done += static_cast<double>(num_table_entries(graph_, buckets_[v].scope));
    }
    return log_max_.value() != kNegInf;
  }

  [[nodiscard]] MostProbable result() const {
    Configuration best;
    best.x = decode();
    best.log_density = graph_.log_density(best.x);
    CompensatedSum density;
    for (int m = 0; m < graph_.num_factors(); ++m) density.add(graph_.log_value(m, best.x));
    // Errors count twice, for the rounding of what is computed from them; those of the input are in error() alone.
    const double upper = log_max_.value() + 2.0 * (error_ + input_error_ + log_max_.rounding());
    const double difference = std::max(0.0, upper - density.value());
    const double gap = difference + 2.0 * density.error() + kEpsilon * (difference + std::abs(upper));
    return {std::move(best), std::nextafter(upper, HUGE_VAL), gap};
  }

 private:
  struct Bucket {
    std::vector<int> scope;     // the last removed variable first, v itself last
    std::vector<int> factors;   // that belong to v: the first of their scope to be removed
    std::vector<int> children;  // the variables whose messages go to v
    std::vector<double> message;

    [[nodiscard]] std::span<const int> separator() const { return {scope.data(), scope.size() - 1}; }
  };

  void build_buckets() {
    const auto sep = separators(adjacency_of(graph_), cost_.order);
    std::vector<int> time(buckets_.size());
    for (std::size_t t = 0; t < cost_.order.size(); ++t) {
      const int v = cost_.order[t];
      time[v] = static_cast<int>(t);
      buckets_[v].scope.assign(sep[v].rbegin(), sep[v].rend());
      buckets_[v].scope.push_back(v);
      if (!sep[v].empty()) buckets_[sep[v].front()].children.push_back(v);
    }
    for (int m = 0; m < graph_.num_factors(); ++m) {
      const std::vector<int>& scope = graph_.factor(m).scope();
      const std::vector<double>& values = graph_.factor(m).log_values();
      input_error_ += kEpsilon * (1.0 + largest_magnitude(values));
      if (scope.empty()) {
        log_max_.add(values.front());
        continue;
      }
      const int first = *std::min_element(scope.begin(), scope.end(), [&](int a, int b) { return time[a] < time[b]; });
      buckets_[first].factors.push_back(m);
    }
  }

  template <typename Visit>
  void for_each_input(const Bucket& bucket, Visit visit) const {
    for (const int m : bucket.factors) visit(TableView{graph_.factor(m).scope(), graph_.factor(m).log_values().data()});
    for (const int c : bucket.children) visit(TableView{buckets_[c].separator(), buckets_[c].message.data()});
  }

  void eliminate(int v) {
    Bucket& bucket = buckets_[v];
    std::vector<TableView> inputs;
    double magnitude = 0.0;
    for_each_input(bucket, [&](const TableView& table) {
      inputs.push_back(table);
      magnitude += largest_magnitude({table.values, num_table_entries(graph_, table.scope)});
    });
    if (!(magnitude < kLargestSum)) {
      throw Error(ErrorCode::kNumeric,
                  fmt::format("{}: the factors of variable {} add up to {:.3g}, allowed is less than {:.3g}", kFunction,
                              v, magnitude, kLargestSum));
    }
    error_ += static_cast<double>(inputs.size() + 3) * kUnit * magnitude;
    bucket.message.resize(num_table_entries(graph_, bucket.separator()));
    const auto num_states = static_cast<std::size_t>(graph_.num_states(v));
    TableProduct product(graph_, bucket.scope, inputs);
    BlockWalk& walk = product.walk();
    std::vector<double> block(walk.block_size());
    do {
      product.fill(0.0, block);
      max_rows(block, num_states, bucket.message.data() + walk.first_entry() / num_states);
    } while (walk.next());
    const double shift = *std::max_element(bucket.message.begin(), bucket.message.end());
    log_max_.add(shift);
    if (shift == kNegInf) return;
    for (double& value : bucket.message) value -= shift;
  }

  [[nodiscard]] Assignment decode() const {
    Assignment x(buckets_.size(), 0);
    std::vector<double> values;
    for (auto v = cost_.order.rbegin(); v != cost_.order.rend(); ++v) {
      values.assign(static_cast<std::size_t>(graph_.num_states(*v)), 0.0);
      for_each_input(buckets_[*v], [&](const TableView& table) {
        const TableRow row = table_row(graph_, table.scope, *v, x);
        for (std::size_t a = 0; a < values.size(); ++a) values[a] += table.values[row.first + a * row.stride];
      });
      x[*v] = static_cast<int>(std::max_element(values.begin(), values.end()) - values.begin());
    }
    return x;
  }

  const FactorGraph& graph_;
  const Observer& observer_;
  EliminationCost cost_;
  std::vector<Bucket> buckets_;  // by variable
  CompensatedSum log_max_;       // of the s_v and of the constants so far
  double error_ = 0.0;           // of the arithmetic
  double input_error_ = 0.0;     // of the log-values
};

}  // namespace

std::optional<MostProbable> most_probable(const FactorGraph& graph, const Limits& limits,
                                          const EliminationOptions& options, const Observer& observer) {
  limits.validate();
  for (int m = 0; m < graph.num_factors(); ++m) {
    check_argument(graph.factor(m).is_table(), kFunction,
                   fmt::format("factor {} is a function, max-product needs tables", m));
  }
  EliminationOptions kept = options;
  kept.keep_messages = true;
  EliminationCost cost = elimination_cost(graph, kept, observer.should_stop);
  if (cost.bytes > static_cast<double>(limits.bytes)) {
    throw Error(ErrorCode::kResource,
                fmt::format("{}: max-product needs {:.4g} bytes for its tables (width {}), allowed are {} bytes",
                            kFunction, cost.bytes, cost.width, limits.bytes));
  }
  MaxProduct pass(graph, observer, std::move(cost));
  if (!pass.eliminate_all()) return std::nullopt;
  return pass.result();
}

}  // namespace treesample
