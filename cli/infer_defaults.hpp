// What `infer` chooses where the command line leaves it open: the method, its bounds and prior, limits.
#pragma once

#include "command.hpp"
#include "infer_methods.hpp"

namespace treesample::cli {

// The mass rule and calibrated values belong together, whichever of them was asked for.
void choose_together(InferOptions& options, const CommandLine& line);
// For the methods auto and treesample. Elimination needs tables; where they are small nothing is faster or more exact.
// Where they are not, mini-buckets guide the search and bound log Z. A user who sets the search up gets what was asked
// for; no option changes the rule or the method without a word (option_uses.hpp).
void choose_method(InferOptions& options, const CommandLine& line, const FactorGraph& graph);
// The search with bounds.
void choose_bounds(InferOptions& options);
// --calls N is --budget N --budget-unit call. Throws Error (kArgument) when either says something else.
void take_calls(InferOptions& options, const CommandLine& line);
// Evaluations by programs are what a user pays for: few, or none, are spent unasked, and the budget counts them. The
// paper's search may walk through any number of levels without factors before it makes the first: it counts rewards.
void set_oracle_defaults(InferOptions& options, const CommandLine& line, bool has_other_limit);
// A budget of calls pays for importance samples too: they get up to half of it, and the method the rest.
void pay_importance(InferOptions& options, const FactorGraph& graph);

}  // namespace treesample::cli
