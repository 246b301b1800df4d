// Hyperparameters by grid search on problems that no experiment uses (paper, appendix "Hyperparameter
// optimization": the value with the lowest mean delta-KL, per family and method; here also per reading).
//
//   c             0.1, 0.2, 0.3, 0.5, 1, 2, 3, 5, 10         tree, graph, andor; elbo also 30, 100, 300
//   t             0.25, 0.5, 0.75, 1                         SMC, in the best reading with each scheme
//   num_sweeps    1, 2, 5, 10, 20, 50                        Gibbs
//   num_messages  1, 2, 3, 5, 10                             BP
#pragma once

#include "paper_setup.hpp"
#include "run_instances.hpp"

namespace treesample::experiments {

struct TuneOptions {
  std::int64_t budget = 10'000;
  std::uint64_t seed = 0;
  int num_instances = 30;  // per problem
  std::vector<Problem> problems = paper_problems();
  std::vector<std::string> methods = {};  // words of methods; empty: all
};

// The text of a hyperparameters file, with the mean delta-KL of each choice as a comment. None if it was interrupted.
// Finished instances are stored in `file`.
std::optional<std::string> tune(const TuneOptions& options, const std::filesystem::path& file,
                                const RunControl& control);

// The grid of a method; all fields except the tuned one are as in untuned_setting. Of equally good values the first one
// is taken: c = 1 comes first, because a search that is exact for every c should not end up with an odd value.
std::vector<MethodSetting> tuning_grid(const Problem& problem, Contender method);

}  // namespace treesample::experiments
