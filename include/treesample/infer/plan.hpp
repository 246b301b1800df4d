// What `infer` is going to do, and why: made before anything is run, and to be shown if one wants.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "treesample/exact/elimination.hpp"
#include "treesample/infer/options.hpp"
#include "treesample/model/factor_graph.hpp"

namespace treesample {

// Part of the work, and when it is over at the latest; infinite where there is no time limit.
struct PlannedPhase {
  std::string what;
  double until_seconds = 0.0;
};

struct Plan {
  Method method = Method::kTreeSample;
  SelectRule select = SelectRule::kQUct;  // of the method kTreeSample
  InferRequest request = {};              // with everything decided that had been left open
  std::vector<std::string> reasons = {};  // of the choice
  std::vector<std::string> remarks = {};  // on options that change, or are ignored
  std::vector<PlannedPhase> phases = {};
  std::optional<EliminationCost> elimination = {};  // what it would take, where that was looked for

  // For people: a few lines.
  [[nodiscard]] std::string text() const;

  // What only the methods need.
  std::optional<EliminationOptions> elimination_options = {};  // with the order that was found
  bool eliminates_first = false;   // log Z by elimination, with these options, before a search for the rest
  bool is_open = false;            // the method was chosen here: another one may take its place
  bool sums_out = false;           // barren variables, before elimination or a search with bounds
  bool has_programs = false;       // factors are paid for
  bool counts_first = false;       // many zeros: counting has a part of the time before the search
  std::int64_t method_budget = 0;  // of request.limits.budget: samples of the answer may have a part of it
  std::int64_t min_samples = 0;    // of methods that draw, where nobody named a budget
};

}  // namespace treesample
