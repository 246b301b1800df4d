// The methods of `infer` for factors that cost, see infer/call_methods.hpp.
#pragma once

#include "infer/phase_verbs.hpp"

namespace treesample {

PhaseVerb learn_functions, search_boxes;
// The same as the first where the domain can be enumerated.
PhaseVerb learn_black_box;
// True if functions should be learned; `why` gives the reason.
bool is_worth_learning(const FactorGraph& graph, std::int64_t calls, std::string& why);
// True if all functions are declared monotone and box_search can take the model. `why` gives the reason, also for false
// where at least one is declared monotone.
bool is_worth_boxes(const FactorGraph& graph, std::string& why);

}  // namespace treesample
