#include "treesample/infer/black_box_answer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "infer/methods.hpp"
#include "treesample/text.hpp"

namespace treesample {
namespace {

void add_errors(Answer& answer, const SampledErrors& errors) {
  answer.log_z = errors.log_z;
  answer.importance = ImportanceEstimate{.log_z = errors.log_z,
                                         .std_error = errors.std_error,
                                         .no_error = errors.no_error,
                                         .ess = errors.ess,
                                         .num_samples = static_cast<int>(errors.num_samples)};
  answer.marginals = errors.marginals;
  answer.marginals_from =
      fmt::format("of P_X, corrected by {} with true values", counted(errors.num_samples, "sample"));
  if (!errors.no_error.empty()) {
    answer.marginals_no_error = errors.no_error;
    answer.marginals_from =
        fmt::format("{}{}; their error is not known: {}", kGuesses, answer.marginals_from, errors.no_error);
    return;
  }
  answer.sampled_interval = {errors.interval, errors.confidence};
  answer.marginal_errors = errors.marginal_errors;
  answer.marginals_error = *std::max_element(errors.marginal_errors.begin(), errors.marginal_errors.end());
  answer.marginals_from += fmt::format(", standard errors at most {:.2g}", *answer.marginals_error);
}

}  // namespace

Answer as_answer(const BlackBox& box, const BlackBoxAnswer& found) {
  Answer answer;
  answer.method = fmt::format("learned from {}", counted(box.num_told(), "value"));
  answer.plan.method = Method::kLearned;
  answer.plan.remarks = found.remarks;
  answer.is_exact = found.is_exact && found.log_bounds.is_exact();
  answer.stop = answer.is_exact ? StopReason::kExact : StopReason::kBudget;
  answer.spent.calls = box.num_told();
  answer.best = found.best;
  answer.log_z = found.log_z;
  if (std::isfinite(found.log_bounds.lower)) answer.lower = found.log_bounds.lower;
  if (found.log_bounds.upper < HUGE_VAL) answer.upper = found.log_bounds.upper;
  if (std::isfinite(found.log_z)) answer.approximation = found.approximation;
  answer.marginals = found.marginals;
  if (answer.is_exact) {
    answer.marginals_from = kExactMarginals;
    answer.marginal_errors.assign(found.marginals.size(), 0.0);
    answer.marginals_error = 0.0;
    answer.best_gap = 2.0 * found.best_error;
    answer.is_best_optimal = found.best.has_value();
  } else if (found.errors) {
    add_errors(answer, *found.errors);
  } else {
    answer.marginals_no_error = "no samples were asked for errors";
    answer.marginals_from = fmt::format("{}of P_X; their error is not known: {}", kGuesses, answer.marginals_no_error);
  }
  return answer;
}

}  // namespace treesample
