#include "infer/draft.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "infer/policy.hpp"
#include "math/cut_interval.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/text.hpp"

namespace treesample {

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

void Draft::set_sampled_marginals(const BoundedImportance& sampled, const std::string& kind) {
  if (sampled.marginals.empty()) return;
  const bool has_error = sampled.no_error.empty();
  known.offer({.values = sampled.marginals,
               .trust = has_error ? Trust::kSampled : Trust::kGuess,
               .errors = sampled.marginal_errors,
               .largest_error = has_error ? sampled.marginals_error : HUGE_VAL,
               .from = fmt::format("from {}", counted(sampled.num_samples, kind + " sample")),
               .why_no_error = sampled.no_error});
}

void Draft::widen(double log_error) {
  known.widen(log_error);
  if (bounded_importance) bounded_importance->interval = bounded_importance->interval.widened(log_error);
  if (sampled_interval) sampled_interval->log_z = sampled_interval->log_z.widened(log_error);
}

void Draft::doubt(const std::string& why) {
  known.doubt(why);
  if (stop == StopReason::kExact) stop = StopReason::kBudget;
  sampled_interval.reset();
  evaluated.reset();
  bounded_importance.reset();
  has_exact_samples = false;
  if (!importance) return;
  importance->no_error = why;
  importance->std_error = HUGE_VAL;
}

// For a model with programs: the share of Z that was evaluated is by the best available estimate of log Z instead of
// P_X's own.
void Draft::judge_programs() {
  if (known.is_exact()) evaluated.reset();
  if (known.is_exact()) return;
  unexplored_mass.reset();
  if (importance && importance->no_error.empty()) evaluated = {0.0, importance->log_z, "by importance sampling"};
  if (evaluated) evaluated->share = std::exp(std::min(0.0, known.bounds().lower - evaluated->log_z));
  known.judge_guesses(!evaluated || evaluated->share < policy::kMostOfZ);
}

// Certified bounds hold with any confidence: intervals by samples are cut off at them. Importance sampling from a P_X
// that hardly leaves the evaluated configurations cannot show what is missing.
Answer Draft::answer(bool has_programs) && {
  const LogBounds& bounds = known.bounds();
  if (bounded_importance) bounded_importance->interval = cut_interval(bounded_importance->interval, bounds);
  if (sampled_interval) sampled_interval->log_z = cut_interval(sampled_interval->log_z, bounds);
  if (importance && unexplored_mass) distrust_if_blind(*importance, *unexplored_mass);
  if (has_programs) judge_programs();
  known.fill(*this);
  return std::move(static_cast<Answer&>(*this));
}

}  // namespace treesample
