#include "exact/slices.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "treesample/math/log_domain.hpp"
#include "treesample/reduce/simplify.hpp"

namespace treesample {

SlicedModel cut_slice(const FactorGraph& graph, const Evidence& fixed, const std::vector<int>& order) {
  SimplifiedModel simplified = simplify(graph, fixed, [] { return true; });
  SlicedModel slice{std::move(simplified.model), {}, simplified.report.log_error, simplified.report.is_impossible};
  if (slice.is_impossible) return slice;
  std::vector<int> place(static_cast<std::size_t>(graph.num_variables()), -1);
  for (std::size_t i = 0; i < slice.model.variable_of.size(); ++i) {
    place[slice.model.variable_of[i]] = static_cast<int>(i);
  }
  for (const int v : order) {
    if (place[v] >= 0) slice.order.push_back(place[v]);
  }
  return slice;
}

Evidence slice_states(const FactorGraph& graph, const EliminationPlan& plan, std::size_t index) {
  Evidence fixed;
  for (const int v : plan.slice_variables) {
    const auto num_states = static_cast<std::size_t>(graph.num_states(v));
    fixed.push_back({v, static_cast<int>(index % num_states)});
    index /= num_states;
  }
  return fixed;
}

Slice run_slice(const FactorGraph& graph, const Evidence& fixed, const std::vector<int>& order,
                const PassOptions& options, EntryWatch& watch) {
  SlicedModel cut = cut_slice(graph, fixed, order);
  Slice slice{std::move(cut.model), std::move(cut.order), nullptr, {kNegInf, kNegInf}, kNegInf};
  if (cut.is_impossible) return slice;
  slice.pass = eliminate(slice.model.graph, {.order = slice.order}, options, watch);
  slice.estimate = slice.pass->log_z();
  slice.log_z = LogBounds::around(slice.estimate, slice.pass->error()).widened(cut.log_error);
  return slice;
}

Slice Slices::run(std::size_t index, const PassOptions& options, EntryWatch& watch) const {
  const double end = watch.num_done() + plan_.num_entries / plan_.num_slices;
  Slice slice = run_slice(graph_, slice_states(graph_, plan_, index), plan_.order, options, watch);
  watch.add(std::max(0.0, end - watch.num_done()));
  return slice;
}

void LogSum::add(const LogBounds& log_value, double estimate) {
  if (log_value.upper == kNegInf) return;
  sum_ = {log_add_exp(sum_.lower, log_value.lower), log_add_exp(sum_.upper, log_value.upper)};
  estimate_ = log_add_exp(estimate_, estimate);
  count_ += 1.0;
  for (const double bound : {sum_.lower, sum_.upper}) {
    if (std::isfinite(bound)) magnitude_ = std::max(magnitude_, std::abs(bound));
  }
}

// Each addition of logarithms is off by a few units in the last place of the result and of 1.
LogBounds LogSum::bounds() const { return sum_.widened(4.0 * kEpsilon * count_ * (1.0 + magnitude_)); }

MarginalSum::MarginalSum(const FactorGraph& graph) {
  for (int v = 0; v < graph.num_variables(); ++v) num_states_.push_back(graph.num_states(v));
  sum_.resize(static_cast<std::size_t>(std::accumulate(num_states_.begin(), num_states_.end(), 0)), 0.0);
}

// Relative to the largest slice so far: log Z comes from other slices, and may differ by more than exponentials allow
// where factors are huge.
void MarginalSum::add(double log_z, std::span<const double> probabilities) {
  if (log_z == kNegInf) return;
  if (log_z > largest_) {
    const double scale = std::exp(largest_ - log_z);
    for (double& p : sum_) p *= scale;
    largest_ = log_z;
  }
  const double share = std::exp(log_z - largest_);
  for (std::size_t i = 0; i < sum_.size(); ++i) sum_[i] += share * probabilities[i];
}

Marginals MarginalSum::marginals() const {
  Marginals result;
  auto first = sum_.begin();
  for (const int num_states : num_states_) {
    std::vector<double>& probs = result.emplace_back(first, first + num_states);
    first += num_states;
    double total = 0.0;
    for (const double p : probs) total += p;
    for (double& p : probs) p /= total;
  }
  return result;
}

std::vector<double> flat(const Marginals& marginals) {
  std::vector<double> all;
  for (const std::vector<double>& probs : marginals) all.insert(all.end(), probs.begin(), probs.end());
  return all;
}

}  // namespace treesample
