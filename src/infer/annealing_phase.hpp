// How infer uses annealing (evaluate/annealed_importance.hpp): after a search that is not solved, where few of its
// weighted samples would count.
#pragma once

#include <optional>
#include <string>

#include "infer/methods.hpp"
#include "treesample/search/search_approximation.hpp"

namespace treesample {

struct AnnealingTask {
  const Task& task;
  const FactorGraph& graph;          // that was searched
  const SearchApproximation& upper;  // P_U of that search
  double log_slack = 0.0;            // log Z of the whole model differs by at most this
};

// What annealed chains tell of the graph, in the form of samples: the lower end of the interval is from chains to the
// model, the upper end, +inf where there is none, from chains back from exact samples.
struct AnnealedPhase {
  BoundedImportance samples;
  double confidence_left = 0.0;  // of the interval by other samples, so that all together are wrong as rarely as asked
  std::string text;              // what was done

  // States what was done; marginals and the best last state where the graph is that of the draft.
  void state(Draft& draft, bool is_whole) const;
  // Adds what other samples tell. The interval becomes that of both, with the confidence that was asked for. The
  // estimate is that of the samples of which more count, moved into the interval.
  [[nodiscard]] BoundedImportance joined(BoundedImportance others, double confidence) const;
};

// Nothing where weighted samples are good enough, as a few of them show that are used for nothing else, and where there
// is no time limit that would leave time for it.
// The chains and the samples after them share the time of the clock.
std::optional<AnnealedPhase> anneal_if_worth_it(const AnnealingTask& asked, const PhaseClock& clock);

}  // namespace treesample
