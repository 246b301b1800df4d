// What `infer` is going to do, and why. A plan is made before anything is run, and can be shown then.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "treesample/exact/elimination.hpp"
#include "treesample/infer/options.hpp"
#include "treesample/model/factor_graph.hpp"

namespace treesample {

// A part of the work, and the time by which it must be over; infinite where there is no time limit.
struct PlannedPhase {
  std::string what;
  double until_seconds = 0.0;
};

struct Plan {
  Method method = Method::kSearch;
  SelectRule select = SelectRule::kQUct;  // of the tree search and the search
  InferRequest request = {};              // with everything decided that had been left open
  std::vector<std::string> reasons = {};  // of the choice
  std::vector<std::string> remarks = {};  // on options that change, or are ignored
  std::vector<PlannedPhase> phases = {};
  std::optional<EliminationPlan> elimination = {};  // what it would take, where that was looked for

  // For people: a few lines.
  [[nodiscard]] std::string text() const;

  // What only the methods need.
  bool has_elimination = false;   // elimination is carried out, by that plan
  bool eliminates_first = false;  // log Z by elimination, before a search for the rest
  // The plan for the model with its barren variables, where that was looked for and they are summed out before.
  std::optional<EliminationPlan> whole_elimination = {};
  bool is_open = false;            // the method was chosen by the plan: another one may take its place
  bool sums_out = false;           // barren variables, before elimination or a search with bounds
  bool has_programs = false;       // factors are paid for
  bool counts_first = false;       // many zeros: counting has a part of the time before the search
  std::int64_t method_budget = 0;  // the part of request.limits.budget that is not for samples of the answer
  // The calls of the method and of samples together; 0 where the budget is one of cost, so that there are no samples
  // that call; otherwise Limits::kUnlimited.
  std::int64_t call_budget = std::numeric_limits<std::int64_t>::max();
  std::int64_t min_samples = 0;  // for sampling methods, where no budget was given
};

}  // namespace treesample
