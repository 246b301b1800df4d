#include "treesample/calls/black_box_answer.hpp"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "calls/sampled_statements.hpp"
#include "infer/knowledge.hpp"
#include "treesample/text.hpp"

namespace treesample {
namespace {

// With errors where configurations were asked for them.
MarginalStatement marginals_in(const BlackBoxAnswer& found) {
  if (!found.errors) {
    return {.values = found.marginals,
            .from = "of P_X",
            .why_no_error = "no samples were asked for errors",
            .is_called_a_guess = true};
  }
  return marginals_of(*found.errors);
}

}  // namespace

Answer as_answer(const BlackBox& box, const BlackBoxAnswer& found) {
  Knowledge known;
  known.bound({found.log_lower, found.log_upper});
  if (found.best) known.best.offer(*found.best, found.best_error);
  if (found.best && found.is_exact) known.best.prove(*found.best, 2.0 * found.best_error);
  Answer answer;
  answer.method = fmt::format("learned from {}", counted(box.num_told(), "value"));
  answer.plan.method = Method::kLearned;
  answer.plan.remarks = found.remarks;
  answer.spent.calls = box.num_told();
  if (std::isfinite(found.log_z)) answer.approximation = found.approximation;
  const bool has_errors = found.errors && found.errors->no_error.empty();
  if (found.errors && !known.is_exact()) {
    answer.importance = importance_of(*found.errors);
    if (has_errors) answer.sampled_interval = {found.errors->interval, found.errors->confidence};
  }
  known.estimate(found.errors ? found.errors->log_z : found.log_z, has_errors ? Trust::kSampled : Trust::kGuess);
  if (known.is_exact()) {
    known.offer_solved(found.marginals, 0.0, "evaluation");
  } else {
    known.offer(marginals_in(found));
  }
  known.fill(answer);
  return answer;
}

}  // namespace treesample
