#include "tree/tree_watch.hpp"

#include <algorithm>
#include <cmath>

#include "math/compensated_sum.hpp"
#include "tree/tree_rounding.hpp"
#include "tree/values.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/tree/evaluated_mass.hpp"

namespace treesample {
namespace {

constexpr int kMostBetweenLooks = 256;  // traversals
constexpr int kLooksBetweenReports = 16;

}  // namespace

TreeWatch::TreeWatch(const TreeSearchCall& call, const TreeStore& store, const EdgeRewards& rewards)
    : store_(store),
      rewards_(rewards),
      graph_(call.graph),
      num_levels_(store.space().levels.size()),
      sums_leaves_(call.options.reports_bounds),
      most_bytes_(call.limits.bytes),
      looks_(call.graph.has_only_tables() ? kMostBetweenLooks : 1),
      observer_interval_(call.options.observer_interval),
      watch_(call.limits, call.observer) {}

bool TreeWatch::look() {
  looks_.looked(watch_.seconds());
  const bool is_due = observer_interval_ > 0 ? is_report_due() : ++num_looks_ % kLooksBetweenReports == 0;
  if (watch_.is_told() && is_due) tell();
  const std::optional<StopReason> reason = watch_.reason_to_stop();
  reason_ = reason.value_or(reason_);
  return reason.has_value();
}

void TreeWatch::begin() {
  const double log_constant = store_.space().log_constant;
  if (!sums_leaves_ || store_.root() == kNoNode || log_constant == kNegInf) return;
  leaves_.add_log(log_evaluated_mass(store_, graph_) - log_constant);
}

// A certified lower bound of log Z. Where all factors are tables its rounding is bounded once: a bound for a smaller
// sum holds for a larger one.
double TreeWatch::log_lower() {
  const double log_sum = leaves_.log() + store_.space().log_constant;
  if (log_sum == kNegInf) return kNegInf;
  if (!rounding_ || !graph_.has_only_tables()) {
    rounding_ = tree_rounding(graph_, store_.space(), rewards_.magnitudes(), log_sum);
  }
  const double of_logarithms = kEpsilon * (8.0 + 4.0 * (std::abs(leaves_.log()) + std::abs(log_sum)));
  log_lower_ = std::max(log_lower_, std::nextafter(log_sum - *rounding_ - of_logarithms, -HUGE_VAL));
  return log_lower_;
}

void TreeWatch::tell() {
  watch_.tell({.phase = "tree search",
               .spent = rewards_.budget().spent(),
               .log_z = {.lower = sums_leaves_ ? log_lower() : kNegInf},
               .estimate = root_log_value(store_),
               .num_nodes = store_.num_nodes()});
}

}  // namespace treesample
