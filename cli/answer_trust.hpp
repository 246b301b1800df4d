// How far an answer can be trusted, in words: what was evaluated, and where no error is known.
#pragma once

#include "answer.hpp"

namespace treesample::cli {

// Of a search with programs that is not exact: what share of Z was evaluated, by the best estimate of log Z that there
// is, in the place of P_X's own opinion; and that the marginals are P_X's.
void judge_program_answer(Answer& answer);

// Importance sampling from a P_X that hardly leaves what was evaluated cannot show what is missing.
void judge_importance(Answer& answer);

// The lines of the summary.
void print_importance(const Answer& answer);
void print_evaluated(const Answer& answer);

}  // namespace treesample::cli
