#include "tree/tree_watch.hpp"

#include <algorithm>

#include "tree/values.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/tree/evaluated_mass.hpp"

namespace treesample {
namespace {

constexpr int kMostBetweenLooks = 256;  // traversals
constexpr int kLooksBetweenReports = 16;

}  // namespace

TreeWatch::TreeWatch(const TreeSearchCall& call, const TreeStore& store, const Budget& budget)
    : store_(store),
      budget_(budget),
      graph_(call.graph),
      reports_bounds_(call.options.reports_bounds),
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

void TreeWatch::tell() {
  if (reports_bounds_ && num_traversals_ >= next_bound_) {
    log_lower_ = std::max(log_lower_,
                          log_evaluated_mass(store_, graph_, [this] { return watch_.reason_to_stop().has_value(); }));
    next_bound_ = 4 * num_traversals_;
  }
  watch_.tell({.phase = "tree search",
               .spent = budget_.spent(),
               .log_z = {.lower = log_lower_},
               .estimate = root_log_value(store_),
               .num_nodes = store_.num_nodes()});
}

}  // namespace treesample
