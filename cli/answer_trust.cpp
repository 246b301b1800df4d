#include "answer_trust.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "number_text.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample::cli {
namespace {

constexpr double kMostOfZ = 0.5;  // evaluated, below which marginals are guesses

}  // namespace

void Answer::set_sampled_marginals(BoundedImportance sampled, const std::string& kind) {
  const std::string from =
      fmt::format("from {} {} sample{}", sampled.num_samples, kind, sampled.num_samples == 1 ? "" : "s");
  marginals = std::move(sampled.marginals);
  marginal_errors = std::move(sampled.marginal_errors);
  marginals_no_error = std::move(sampled.no_error);
  marginals_error.reset();
  if (marginals_no_error.empty()) {
    marginals_error = sampled.marginals_error;
    marginals_from = fmt::format("{}, standard errors at most {:.2g}", from, sampled.marginals_error);
  } else {
    marginals_from = fmt::format("{}; their error is not known: {}", from, marginals_no_error);
  }
}

void judge_importance(Answer& answer) {
  if (answer.importance && answer.unexplored_mass) distrust_if_blind(*answer.importance, *answer.unexplored_mass);
}

void judge_program_answer(Answer& answer) {
  answer.unexplored_mass.reset();
  if (answer.is_exact) answer.evaluated.reset();
  if (answer.is_exact) return;
  const double lower = answer.lower.value_or(kNegInf);
  if (answer.importance && answer.importance->no_error.empty()) {
    answer.evaluated = {0.0, answer.importance->log_z, "by importance sampling"};
  }
  if (answer.evaluated) answer.evaluated->share = std::exp(std::min(0.0, lower - answer.evaluated->log_z));
  if (answer.marginals.empty() || answer.marginals_error) return;
  if (answer.marginals_no_error.empty()) answer.marginals_no_error = "they are those of P_X, not of the target";
  const bool is_guess = !answer.evaluated || answer.evaluated->share < kMostOfZ;
  answer.marginals_from =
      fmt::format("{}{}; their error is not known", is_guess ? "guesses, " : "", answer.marginals_from);
}

void print_importance(const Answer& answer) {
  if (!answer.importance) return;
  const ImportanceEstimate& estimate = *answer.importance;
  fmt::print("            {} {}by importance sampling: {} sample{}, effective {:.1f}, {} extra evaluations{}\n",
             log_value_text(estimate.log_z),
             estimate.no_error.empty() ? fmt::format("+- {:.4f} ", estimate.std_error) : "", estimate.num_samples,
             estimate.num_samples == 1 ? "" : "s", estimate.ess, estimate.spent.reward_evaluations,
             estimate.no_error.empty() ? "" : fmt::format("; its error is not known: {}", estimate.no_error));
}

void print_evaluated(const Answer& answer) {
  if (!answer.evaluated) return;
  if (answer.evaluated->share == 0.0) {
    fmt::print("evaluated   no complete configuration by the search\n");
    return;
  }
  fmt::print("evaluated   about {:.2g} % of the target's mass, if log Z is {:.4f}, {} (not certified)\n",
             100.0 * answer.evaluated->share, answer.evaluated->log_z, answer.evaluated->log_z_by);
}

}  // namespace treesample::cli
