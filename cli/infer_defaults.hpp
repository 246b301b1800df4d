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
// Evaluations by programs are what a user pays for: few, or none, are spent unasked.
void set_oracle_defaults(InferOptions& options, const CommandLine& line, bool has_other_limit);

}  // namespace treesample::cli
