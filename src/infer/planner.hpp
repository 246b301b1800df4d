// The choice of a method, and of everything else that a request leaves open.
#pragma once

#include "infer/run.hpp"
#include "treesample/infer/plan.hpp"
#include "treesample/model/factor_graph.hpp"

namespace treesample {

// For the reduced model. With `is_simplified`, barren variables may be summed out too. Sets a time limit where the user
// named none and only a search can answer. Throws OptionError for options that exclude each other or mean nothing here.
// `spent` is a part of the budget that is gone.
Plan make_plan(const FactorGraph& graph, const InferRequest& request, bool has_programs, bool is_simplified, Run& run,
               const Spending& spent = {});

// True if the method for a model of tables works on these, and not only on samples: elimination, counting, or the
// search with bounds. The tables decide only between these, so that the request tells.
bool reasons_about_tables(const InferRequest& request);

// The plan that replaces elimination where it was chosen by a prediction and takes too long.
void plan_search_instead(Plan& plan, const FactorGraph& graph);

}  // namespace treesample
