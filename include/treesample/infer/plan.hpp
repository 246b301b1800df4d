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

struct Phase;

// A part of the work, and the time by which it must be over; infinite where there is no time limit.
struct PlannedPhase {
  std::string what;
  double until_seconds = 0.0;
  const Phase* row = nullptr;  // of the table of phases; null for what follows every method
  // When it was run, in seconds from the start; empty before that, and where nothing was left for it to do.
  std::optional<double> began_seconds = {}, ended_seconds = {};
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
  bool is_quick = false;           // elimination takes next to no time, so that its pace says nothing
  bool may_sum_out = false;        // barren variables, where a search takes the place of elimination
  bool counts_first = false;       // many zeros: counting takes turns with the search ...
  double count_share = 0.0;        // ... and has this share of the time, with one thread
  std::int64_t method_budget = 0;  // the part of request.limits.budget that is not for samples of the answer
  // The calls of the method and of samples together; 0 where the budget is one of cost, so that there are no samples
  // that call; otherwise Limits::kUnlimited.
  std::int64_t call_budget = std::numeric_limits<std::int64_t>::max();
  std::int64_t min_samples = 0;  // for sampling methods, where no budget was given
};

}  // namespace treesample
