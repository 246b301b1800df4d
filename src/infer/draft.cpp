#include "infer/draft.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "infer/policy.hpp"
#include "infer/run.hpp"
#include "math/cut_interval.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/search/first_bounds.hpp"
#include "treesample/text.hpp"

namespace treesample {

namespace {

// Of a probability, rounded up.
std::string error_text(double error) { return error < 1.0 ? tolerance_text(error, 2) : "1"; }

}  // namespace

void Draft::set_log_z(double estimate, const LogBounds& bounds) {
  check_bounds(bounds);
  lower = bounds.lower;
  if (bounds.upper < HUGE_VAL) upper = bounds.upper;
  is_exact = bounds.is_exact();
  log_z = bounds.clamp(estimate);
}

const char* Answer::log_z_kind() const {
  if (!log_z) return "";
  if (is_exact) return "exact";
  return *log_z == lower.value_or(kNegInf) ? "lower bound" : "estimate";
}

std::optional<double> Answer::evidence_probability() const {
  if (!is_evidence_probability || !log_z) return {};
  const double probability = std::min(1.0, std::exp(*log_z));
  const bool is_lower_bound = !is_exact && log_z == lower;
  return is_lower_bound ? probability * (1.0 - 0x1.0p-50) : probability;
}

void Draft::add_first_bounds(const FactorGraph& graph) {
  const bool has_both = lower.value_or(kNegInf) != kNegInf && upper;
  if (!log_z || is_exact || has_both) return;
  const LogBounds first = first_bounds(graph, best);
  const LogBounds bounds{std::max(lower.value_or(kNegInf), first.lower),
                         std::min(upper.value_or(HUGE_VAL), first.upper)};
  if (bounds.lower != kNegInf || bounds.upper < HUGE_VAL) set_log_z(*log_z, bounds);
}

void Draft::widen(double log_error) {
  if (bounded_importance) bounded_importance->interval = bounded_importance->interval.widened(log_error);
  if (sampled_interval) sampled_interval->log_z = sampled_interval->log_z.widened(log_error);
  if (log_error != 0.0 && (lower || upper)) {
    const LogBounds bounds{lower.value_or(kNegInf), upper.value_or(HUGE_VAL)};
    const LogBounds widened = bounds.widened(log_error);
    if (lower) lower = widened.lower;
    if (upper) upper = widened.upper;
    if (log_z) set_log_z(*log_z == bounds.lower ? widened.lower : *log_z, widened);
  }
  doubt_what_was_exact(log_error);
}

// Probabilities and samples are those of the model that was solved, in which each density is off by a factor of at most
// exp(log_error): a probability, a quotient of two sums, is off by twice that.
void Draft::doubt_what_was_exact(double log_error) {
  if (is_exact) return;
  if (stop == StopReason::kExact) stop = StopReason::kRounding;
  const bool were_exact = marginals_from.starts_with(kExactMarginals);
  if (marginals.empty()) {
    if (were_exact) marginals_from.clear();
    return;
  }
  // Sums that were exact for the solved model have the rounding error of its log Z, too; log_error is in it twice.
  const double width = upper.value_or(HUGE_VAL) - lower.value_or(kNegInf);
  const double more = std::min(1.0, std::expm1(2.0 * (were_exact ? width - log_error : log_error)));
  if (!were_exact && more <= LogBounds::kExact) return;
  if (were_exact && marginal_errors.empty()) marginal_errors.assign(marginals.size(), 0.0);
  for (double& each : marginal_errors) each = std::min(1.0, each + more);
  if (were_exact || marginals_error) marginals_error = std::min(1.0, marginals_error.value_or(0.0) + more);
  const std::string up_to = error_text(more);
  marginals_from = were_exact
                       ? fmt::format("of sums that rounding puts in doubt, errors up to {}{}", up_to,
                                     marginals_from.substr(std::string_view(kExactMarginals).size()))
                       : fmt::format("{}; rounding in the simplified model adds up to {}", marginals_from, up_to);
}

void Draft::take_upper_bound(double log_upper) {
  if (log_z && !is_exact && log_upper < upper.value_or(HUGE_VAL)) {
    set_log_z(*log_z, {lower.value_or(kNegInf), log_upper});
  }
}

void Draft::take_best_as_bound(const FactorGraph& graph, double log_error) {
  if (!best || !log_z || is_exact || best->log_density <= lower.value_or(kNegInf)) return;
  const LogBounds known = LogBounds{first_bounds(graph, best).lower, HUGE_VAL}.widened(log_error);
  if (known.lower > lower.value_or(kNegInf)) set_log_z(*log_z, {known.lower, upper.value_or(HUGE_VAL)});
}

void Draft::cut_intervals() {
  const LogBounds bounds{lower.value_or(kNegInf), upper.value_or(HUGE_VAL)};
  if (bounded_importance) bounded_importance->interval = cut_interval(bounded_importance->interval, bounds);
  if (sampled_interval) sampled_interval->log_z = cut_interval(sampled_interval->log_z, bounds);
}

void Draft::set_exact_marginals(Marginals exact) {
  marginals = std::move(exact);
  marginals_from = kExactMarginals;
  marginals_no_error.clear();
  marginal_errors.assign(marginals.size(), 0.0);
  marginals_error = 0.0;
}

void Draft::set_solved_marginals(Marginals solved, const LogBounds& of_sums, const char* by) {
  set_exact_marginals(std::move(solved));
  if (is_exact && of_sums.is_exact()) return;
  const double width = std::max(upper.value_or(HUGE_VAL) - lower.value_or(kNegInf), of_sums.upper - of_sums.lower);
  marginals_error = std::min(1.0, std::expm1(2.0 * width));
  marginal_errors.assign(marginals.size(), *marginals_error);
  marginals_from =
      fmt::format("by {}, which rounding puts in doubt: errors up to {}", by, error_text(*marginals_error));
}

bool Draft::set_exact_marginals_left(const Marginals& exact) {
  Marginals of_all = marginals;
  of_all.resize(exact.size() + static_cast<std::size_t>(summed->num_summed_out()));
  for (std::size_t i = 0; i < exact.size(); ++i) of_all[summed->variable_of()[i]] = exact[i];
  const std::vector<char> is_right = summed->complete(of_all, true);
  if (std::find(is_right.begin(), is_right.end(), 0) == is_right.end()) {
    set_exact_marginals(std::move(of_all));
    return true;
  }
  if (marginals.empty()) return false;
  marginals = std::move(of_all);
  for (std::size_t v = 0; v < marginal_errors.size(); ++v) {
    if (is_right[v] != 0) marginal_errors[v] = 0.0;
  }
  marginals_from =
      fmt::format("{}; those of barren variables with several parents {}", kExactMarginals, marginals_from);
  return true;
}

void Draft::set_sampled_marginals(BoundedImportance sampled, const std::string& kind) {
  const std::string from = fmt::format("from {}", counted(sampled.num_samples, kind + " sample"));
  marginals = std::move(sampled.marginals);
  marginal_errors = std::move(sampled.marginal_errors);
  if (summed && marginals.size() > summed->variable_of().size()) {
    const std::vector<char> is_right = summed->complete(marginals, false);
    for (std::size_t v = 0; v < marginal_errors.size(); ++v) {
      if (is_right[v] != 0) marginal_errors[v] = 0.0;
    }
  }
  marginals_no_error = std::move(sampled.no_error);
  marginals_error.reset();
  if (marginals_no_error.empty()) {
    marginals_error = sampled.marginals_error;
    marginals_from = fmt::format("{}, standard errors at most {:.2g}", from, sampled.marginals_error);
  } else {
    marginals_from = fmt::format("{}; their error is not known: {}", from, marginals_no_error);
  }
}

void Draft::offer_best(const Configuration& candidate) {
  if (candidate.x.empty() && candidate.log_density == kNegInf) return;
  if (!best || candidate.log_density > best->log_density) best = candidate;
}

void judge_importance(Draft& draft) {
  if (draft.importance && draft.unexplored_mass) distrust_if_blind(*draft.importance, *draft.unexplored_mass);
}

void judge_program_answer(Draft& draft) {
  draft.unexplored_mass.reset();
  if (draft.is_exact) draft.evaluated.reset();
  if (draft.is_exact) return;
  const double lower = draft.lower.value_or(kNegInf);
  if (draft.importance && draft.importance->no_error.empty()) {
    draft.evaluated = {0.0, draft.importance->log_z, "by importance sampling"};
  }
  if (draft.evaluated) draft.evaluated->share = std::exp(std::min(0.0, lower - draft.evaluated->log_z));
  if (draft.marginals.empty() || draft.marginals_error || draft.marginals_from.starts_with(kGuesses)) return;
  if (draft.marginals_no_error.empty()) draft.marginals_no_error = "they are those of P_X, not of the target";
  const bool is_guess = !draft.evaluated || draft.evaluated->share < policy::kMostOfZ;
  draft.marginals_from = fmt::format("{}{}; their error is not known", is_guess ? kGuesses : "", draft.marginals_from);
}

}  // namespace treesample
