#include "infer/knowledge.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "treesample/exact/max_product.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/text.hpp"

namespace treesample {
namespace {

// Of a probability, rounded up.
std::string error_text(double error) { return error < 1.0 ? tolerance_text(error, 2) : "1"; }

// Of a probability whose logarithm is off by at most this.
double error_of(double log_error) { return std::min(1.0, std::expm1(log_error)); }

// The gap of an optimal configuration: 1e-9, or 64 units in the last place of a larger log density, which cannot be
// told more precisely than that. Where these are more than a millionth of a nat, configurations that differ may look
// alike, and none is called optimal.
double tolerance(double log_density) {
  return std::clamp(64.0 * 0x1.0p-52 * std::abs(log_density), MostProbable::kTolerance, 1e-6);
}

}  // namespace

// ---- The best configuration ----------------------------------------------------------------------------------------

KnownBest::KnownBest(const Answer& answer) {
  is_given_up_ = !answer.is_best_optimal;
  if (answer.best && answer.best_gap) prove(*answer.best, *answer.best_gap);
  if (answer.best) offer(*answer.best);
}

void KnownBest::Candidate::take(const Candidate& other) {
  if (!x || other.x->log_density > x->log_density) {
    *this = other;
  } else if (other.x->log_density == x->log_density && other.x->x == x->x) {
    rounding = std::min(rounding, other.rounding);
    gap = std::min(gap, other.gap);
  } else if (other.x->log_density == x->log_density && other.gap < gap) {
    *this = other;
  }
}

void KnownBest::offer(const Configuration& x, double rounding) {
  if (x.x.empty() && x.log_density == kNegInf) return;
  best_.take({x, rounding, HUGE_VAL});
}

void KnownBest::prove(const Configuration& x, double gap) {
  if (!std::isfinite(x.log_density)) return offer(x);
  best_.take({x, HUGE_VAL, gap});
  if (gap <= tolerance(x.log_density)) optimal_.take({x, HUGE_VAL, gap});
  // The difference of two such sums keeps its digits where densities are large.
  if (bound_ && (x.log_density - *bound_) + (gap - bound_gap_) >= 0.0) return;
  bound_ = x.log_density;
  bound_gap_ = gap;
}

void KnownBest::doubt() {
  const std::optional<Configuration> seeming = best();
  *this = {};
  is_given_up_ = true;
  if (seeming) offer(*seeming);
}

std::optional<double> KnownBest::gap() const {
  if (!bound_) return {};
  const Candidate& chosen = optimal_.x ? optimal_ : best_;
  const double by_bound = std::max(0.0, (*bound_ - chosen.x->log_density) + bound_gap_) + chosen.rounding;
  const double gap = std::min(chosen.gap, by_bound);
  return gap < HUGE_VAL ? std::optional(gap) : std::nullopt;
}

std::optional<bool> KnownBest::is_optimal() const {
  if (const std::optional<double> known = gap()) {
    const Candidate& chosen = optimal_.x ? optimal_ : best_;
    return *known <= tolerance(chosen.x->log_density);
  }
  return is_given_up_ ? std::nullopt : std::optional(false);
}

void KnownBest::fill(Answer& answer) const {
  answer.best = best();
  answer.best_gap = gap();
  answer.is_best_optimal = is_optimal();
}

// ---- log Z ---------------------------------------------------------------------------------------------------------

void Knowledge::bound(const LogBounds& log_z) {
  bounds_ &= log_z;
  is_bounded_ = true;
}

void Knowledge::estimate(double log_z, Trust trust) {
  if (estimate_ && (trust < trust_ || (trust == trust_ && log_z <= *estimate_))) return;
  estimate_ = log_z;
  trust_ = trust;
}

std::optional<double> Knowledge::log_z() const {
  if (estimate_) return bounds_.clamp(*estimate_);
  const bool is_known = bounds_.lower != kNegInf || bounds_.upper == kNegInf;
  return is_known ? std::optional(bounds_.lower) : std::nullopt;
}

// ---- Marginals -----------------------------------------------------------------------------------------------------

void Knowledge::offer_solved(Marginals values, double width_of_sums, const std::string& by) {
  if (solved_ && solved_->width <= width_of_sums) return;
  solved_ = {std::move(values), width_of_sums, 0.0, by};
}

void Knowledge::offer(MarginalStatement marginals) {
  if (other_) {
    const bool is_better = marginals.trust != other_->trust ? marginals.trust > other_->trust
                                                            : marginals.largest_error < other_->largest_error;
    if (!is_better) return;
  }
  other_ = std::move(marginals);
}

bool Knowledge::has_marginals() const {
  if (other_) return true;
  return solved_ && std::none_of(solved_->values.begin(), solved_->values.end(),
                                 [](const std::vector<double>& states) { return states.empty(); });
}

void Knowledge::widen(double log_error) {
  bounds_ = bounds_.widened(log_error);
  if (solved_) solved_->log_error += log_error;
  other_log_error_ += log_error;
}

void Knowledge::doubt(const std::string& why) {
  estimate_ = log_z();
  trust_ = Trust::kGuess;
  bounds_ = {};
  is_bounded_ = false;
  if (solved_) other_ = {.values = std::move(solved_->values), .from = "by " + solved_->by};
  solved_.reset();
  if (other_) other_ = {.values = std::move(other_->values), .from = other_->from, .why_no_error = why};
  if (other_) other_->is_called_a_guess = true;
  best.doubt();
}

void Knowledge::judge_guesses(bool has_little) {
  if (!other_ || other_->trust != Trust::kGuess || other_->is_called_a_guess) return;
  if (other_->why_no_error.empty()) other_->why_no_error = "they are those of P_X, not of the target";
  other_->is_called_a_guess = has_little;
}

// ---- What follows --------------------------------------------------------------------------------------------------

// The sums bound log Z by themselves, so that a model that was changed by log_error widens them by twice that.
bool Knowledge::is_solved_exact() const {
  return is_exact() && solved_->width + 2.0 * solved_->log_error <= LogBounds::kExact;
}

// A probability is a quotient of two sums.
double Knowledge::solved_error() const { return error_of(2.0 * (solved_->width + solved_->log_error)); }

// Densities of the model that was solved are off by factors of at most exp(other_log_error_).
void Knowledge::fill_other(Answer& answer) const {
  const MarginalStatement& known = *other_;
  answer.marginals = known.values;
  answer.marginal_errors = known.errors;
  std::string& text = answer.marginals_from;
  text = known.is_called_a_guess ? "guesses, " + known.from : known.from;
  const double more = error_of(2.0 * other_log_error_);
  const bool has_more = more > LogBounds::kExact;
  if (known.trust == Trust::kGuess) {
    answer.marginals_no_error = known.why_no_error;
    if (!known.why_no_error.empty()) text += "; their error is not known: " + known.why_no_error;
  } else {
    answer.marginals_error = has_more ? std::min(1.0, known.largest_error + more) : known.largest_error;
    text += known.trust == Trust::kSampled ? fmt::format(", standard errors at most {:.2g}", known.largest_error)
                                           : fmt::format(", certified to {}", tolerance_text(known.largest_error, 2));
  }
  if (!has_more) return;
  for (double& error : answer.marginal_errors) error = std::min(1.0, error + more);
  text += fmt::format("; rounding in the simplified model adds up to {}", error_text(more));
}

// They take the place of others.
void Knowledge::fill_solved(Answer& answer) const {
  const double error = is_solved_exact() ? 0.0 : solved_error();
  const std::string text = is_solved_exact() ? "exact"
                                             : fmt::format("by {}, which rounding puts in doubt: errors up to {}",
                                                           solved_->by, error_text(error));
  answer.marginals.resize(solved_->values.size());
  bool is_whole = true;
  for (std::size_t v = 0; v < solved_->values.size(); ++v) {
    is_whole = is_whole && !solved_->values[v].empty();
    if (solved_->values[v].empty()) continue;
    answer.marginals[v] = solved_->values[v];
    if (!answer.marginal_errors.empty()) answer.marginal_errors[v] = error;
  }
  if (!is_whole) {
    answer.marginals_from = fmt::format("{}; those of barren variables {}", text, answer.marginals_from);
    return;
  }
  answer.marginals_from = text;
  answer.marginals_error = error;
  answer.marginal_errors.assign(answer.marginals.size(), error);
  answer.marginals_no_error.clear();
}

void Knowledge::fill_stop(Answer& answer) const {
  if (answer.error) return;
  if (is_exact()) answer.stop = StopReason::kExact;
  if (!is_exact() && answer.stop == StopReason::kExact) answer.stop = StopReason::kRounding;
}

void Knowledge::fill(Answer& answer) const {
  answer.log_z = log_z();
  answer.is_exact = is_exact();
  answer.lower.reset();
  answer.upper.reset();
  if (bounds_.lower != kNegInf || (is_bounded_ && answer.log_z)) answer.lower = bounds_.lower;
  if (bounds_.upper < HUGE_VAL) answer.upper = bounds_.upper;
  best.fill(answer);
  if (other_) fill_other(answer);
  if (solved_ && has_marginals()) fill_solved(answer);
  for (std::vector<double>& states : answer.marginals) {
    for (double& p : states) p = std::min(p, 1.0);  // a quotient of sums is above 1 by rounding alone
  }
  fill_stop(answer);
}

}  // namespace treesample
