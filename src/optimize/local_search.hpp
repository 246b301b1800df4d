// Good configurations at once: a local search over very large neighbourhoods, with restarts, crossing and kicks.
//
// Several walkers, each with a configuration of its own. A step solves a large random part of the model exactly, given
// the states of the rest (optimize/conditioned_elimination.hpp). What is left out is chosen in four ways: at random;
// what is eliminated last; what is far from a random variable; what two good configurations agree on, which crosses
// them. Parts begin small and cheap and grow while nothing improves. Then the walker is kicked: it takes a step with
// noise on all values, and begins with small parts again. It keeps the result unless that is worse than what it had
// before the kick; after many kicks in vain it begins elsewhere. Walkers work in rounds of equal work and share their
// best configurations in between, so that the result is the same for any number of threads.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "treesample/model/approximation.hpp"
#include "treesample/model/factor_graph.hpp"
#include "treesample/stop.hpp"

namespace treesample {

class LocalSearch {
 public:
  struct Options {
    std::uint64_t seed = 0;
    int threads = 1;
    std::size_t bytes = std::size_t{1} << 30;  // for messages
    ShouldStop should_stop = {};               // ends making an order with Error (kInterrupted)
  };
  // For a model of tables, which must outlive the object. Looks for a first configuration for up to a number of
  // decisions, unless one is given.
  LocalSearch(const FactorGraph& graph, const Options& options, const std::vector<Assignment>& first,
              const ShouldStop& should_stop);
  ~LocalSearch();
  LocalSearch(const LocalSearch&) = delete;
  LocalSearch& operator=(const LocalSearch&) = delete;

  // A configuration that was found elsewhere; one of density 0 is ignored.
  void offer(const Assignment& x);
  // Works for so many bucket entries more; ends earlier when it is asked to, or when there is nothing left to find.
  void run(double num_entries, const ShouldStop& should_stop);

  // No states where no possible configuration is known.
  [[nodiscard]] const Configuration& best() const;
  // One elimination covered the whole model: nothing is better but by rounding.
  [[nodiscard]] bool is_whole() const;
  // Entries since the best configuration was found, and in all.
  [[nodiscard]] double entries_in_vain() const;
  [[nodiscard]] double num_entries() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace treesample
