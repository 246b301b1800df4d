#include "treesample/exact/max_product.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "exact/best_of_slice.hpp"
#include "exact/log_buckets.hpp"
#include "exact/slice_tasks.hpp"
#include "exact/slices.hpp"
#include "math/compensated_sum.hpp"
#include "model/dense_table.hpp"
#include "treesample/error.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample {
namespace {

constexpr const char* kMaxProduct = "most_probable";
constexpr double kUnit = kEpsilon / 2.0;  // rounding error of one operation, relative to its result
constexpr double kLargestSum = 1e307;     // sums of larger factors might overflow

// The largest finite magnitude in a table; sums with -inf have no rounding errors.
// x with a bound on how much better another configuration can be, if none is above `upper`.
MostProbable certified(const FactorGraph& graph, Assignment x, double upper) {
  Configuration best;
  best.x = std::move(x);
  best.log_density = graph.log_density(best.x);
  CompensatedSum density;
  for (int m = 0; m < graph.num_factors(); ++m) density.add(graph.log_value(m, best.x));
  const double difference = std::max(0.0, upper - density.value());
  const double gap = difference + 2.0 * density.error() + kEpsilon * (difference + std::abs(upper));
  return {std::move(best), std::nextafter(upper, HUGE_VAL), gap};
}

// The place of this slice among all slices, for the share that is done.
struct Part {
  double first = 0.0, count = 1.0;
};

class MaxProduct {
 public:
  MaxProduct(const FactorGraph& graph, const Observer& observer, const EliminationPlan& plan, double num_entries,
             Part part)
      : graph_(graph),
        observer_(observer),
        order_(plan.order),
        num_entries_(num_entries),
        part_(part),
        buckets_(graph, plan) {
    for (int m = 0; m < graph_.num_factors(); ++m) {
      input_error_ += kEpsilon * (1.0 + largest_magnitude(graph_.factor(m).log_values()));
    }
    for (const int m : buckets_.constants()) log_max_.add(graph_.factor(m).log_values().front());
  }

  // Returns false when no configuration is possible.
  bool eliminate_all() {
    double num_done = 0.0;
    for (const int v : order_) {
      if (log_max_.value() == kNegInf) return false;
      if (observer_.progress) {
        // A slice may turn out to have fewer entries than planned, never more.
        const double share = (part_.first + std::min(1.0, num_done / num_entries_)) / part_.count;
        observer_.progress({.phase = "most probable configuration", .share_done = share});
      }
      if (observer_.should_stop && observer_.should_stop()) {
        throw Error(ErrorCode::kInterrupted, "most_probable: asked to end");
      }
      eliminate(v);
      num_done += static_cast<double>(buckets_.num_entries(v));
    }
    return log_max_.value() != kNegInf;
  }

  // No configuration is above this. The errors count twice, to cover the rounding of this sum. log_max_ counts only its
  // rounding(), because the errors of the log-values are in input_error_.
  [[nodiscard]] double upper() const { return log_max_.value() + 2.0 * (error_ + input_error_ + log_max_.rounding()); }
  [[nodiscard]] Assignment decode() const {
    Assignment x(order_.size(), 0);
    std::vector<double> values;
    for (auto v = order_.rbegin(); v != order_.rend(); ++v) {
      values.assign(static_cast<std::size_t>(graph_.num_states(*v)), 0.0);
      for (const TableView& table : buckets_.inputs(*v)) add_row(graph_, table, *v, x, values);
      x[*v] = static_cast<int>(std::max_element(values.begin(), values.end()) - values.begin());
    }
    return x;
  }

 private:
  void eliminate(int v) {
    LogBucket& bucket = buckets_[v];
    const std::vector<TableView> inputs = buckets_.inputs(v);
    double magnitude = 0.0;
    for (const TableView& table : inputs) {
      magnitude += largest_magnitude({table.values, num_table_entries(graph_, table.scope)});
    }
    if (!(magnitude < kLargestSum)) {
      throw Error(ErrorCode::kNumeric,
                  fmt::format("{}: the factors of variable {} add up to {:.3g}, allowed is less than {:.3g}",
                              kMaxProduct, v, magnitude, kLargestSum));
    }
    error_ += static_cast<double>(inputs.size() + 3) * kUnit * magnitude;
    bucket.message.resize(num_table_entries(graph_, bucket.separator()));
    TableProduct product(graph_, bucket.scope, inputs);
    sum_out_last(product, graph_.num_states(v), 0.0, bucket.message.data());
    const double shift = *std::max_element(bucket.message.begin(), bucket.message.end());
    log_max_.add(shift);
    if (shift == kNegInf) return;
    for (double& value : bucket.message) value -= shift;
  }

  const FactorGraph& graph_;
  const Observer& observer_;
  std::vector<int> order_;
  double num_entries_;  // of all buckets
  Part part_;
  LogBuckets buckets_;
  CompensatedSum log_max_;    // of the s_v and of the constants so far
  double error_ = 0.0;        // of the arithmetic
  double input_error_ = 0.0;  // of the log-values
};

}  // namespace

// Most impossible slices are recognised by their zeros and cost nothing.
std::optional<BestOfSlice> best_of_slice(const FactorGraph& graph, const EliminationPlan& plan, std::size_t index,
                                         const Observer& observer) {
  const SlicedModel slice = cut_slice(graph, slice_states(graph, plan, index), plan.order);
  if (slice.is_impossible) return std::nullopt;
  MaxProduct pass(slice.model.graph, observer, {.order = slice.order}, plan.num_entries / plan.num_slices,
                  {static_cast<double>(index), plan.num_slices});
  if (!pass.eliminate_all()) return std::nullopt;
  const double error = slice.log_error + kEpsilon * (1.0 + std::abs(pass.upper()));
  Assignment x = slice.model.lift(pass.decode());
  const double log_density = graph.log_density(x);
  return BestOfSlice{{std::move(x), log_density}, pass.upper() + 2.0 * error};
}

namespace {

class BestOfAll {
 public:
  void add(BestOfSlice found) {
    upper_ = std::max(upper_, found.log_upper);
    const bool is_better = !best_ || found.configuration.log_density > best_->log_density;
    if (is_better) best_ = std::move(found.configuration);
  }
  std::optional<MostProbable> certified_best(const FactorGraph& graph) {
    if (!best_) return std::nullopt;
    return certified(graph, std::move(best_->x), upper_);
  }

 private:
  std::optional<Configuration> best_;
  double upper_ = kNegInf;
};

std::optional<MostProbable> best_slice(const FactorGraph& graph, const EliminationPlan& plan,
                                       const Observer& observer) {
  BestOfAll best;
  for (std::size_t i = 0; i < static_cast<std::size_t>(plan.num_slices); ++i) {
    if (auto found = best_of_slice(graph, plan, i, observer)) best.add(*std::move(found));
  }
  return best.certified_best(graph);
}

std::optional<MostProbable> best_slice_elsewhere(const FactorGraph& graph, const EliminationPlan& plan, double bytes,
                                                 const Observer& observer, Executor& executor) {
  BestOfAll best;
  std::vector<std::uint64_t> all(static_cast<std::size_t>(plan.num_slices));
  std::iota(all.begin(), all.end(), std::uint64_t{0});
  EntryWatch watch(observer, plan.num_entries);
  SliceTasks(executor, graph, plan, bytes)
      .run(kSliceBest, all, watch, {}, [&](std::uint64_t, std::span<const double> values) {
        if (values[0] == 0.0) return;
        best.add({{Assignment(values.begin() + 3, values.end()), values[2]}, values[1]});
      });
  return best.certified_best(graph);
}

}  // namespace

std::optional<MostProbable> most_probable(const FactorGraph& graph, const Limits& limits, const EliminationPlan& plan,
                                          const Observer& observer, Executor* executor) {
  limits.validate();
  for (int m = 0; m < graph.num_factors(); ++m) {
    check_argument(graph.factor(m).is_table(), kMaxProduct,
                   fmt::format("factor {} is a function, max-product needs tables", m));
  }
  if (plan.sample_bytes > static_cast<double>(limits.bytes)) {
    throw Error(ErrorCode::kResource,
                fmt::format("{}: max-product needs {:.4g} bytes for its tables (width {}), allowed are {} bytes",
                            kMaxProduct, plan.sample_bytes, plan.width, limits.bytes));
  }
  if (plan.num_slices > 1.0) {
    return executor == nullptr
               ? best_slice(graph, plan, observer)
               : best_slice_elsewhere(graph, plan, static_cast<double>(limits.bytes), observer, *executor);
  }
  MaxProduct pass(graph, observer, plan, plan.num_entries, {});
  if (!pass.eliminate_all()) return std::nullopt;
  return certified(graph, pass.decode(), pass.upper());
}

std::optional<MostProbable> most_probable(const FactorGraph& graph, const Limits& limits,
                                          const EliminationOptions& options, const Observer& observer) {
  EliminationOptions wanted = options;
  wanted.goal = EliminationGoal::kSamples;
  wanted.most_bytes = HUGE_VAL;
  EliminationPlan plan = plan_elimination(graph, wanted, observer.should_stop);
  wanted.most_bytes = static_cast<double>(limits.bytes);
  if (options.may_slice && plan.sample_bytes > wanted.most_bytes) {
    EliminationPlan sliced = plan_slices(graph, plan, wanted, observer.should_stop);
    if (sliced.is_possible()) plan = std::move(sliced);
  }
  return most_probable(graph, limits, plan, observer);
}

}  // namespace treesample
