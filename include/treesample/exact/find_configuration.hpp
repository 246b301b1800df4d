// One configuration of positive density, or the proof that there is none.
//
// Where most configurations are impossible a sampler may never meet a possible one. Here a depth-first search decides
// x_v = s or x_v != s, propagates the zeros after each decision (reduce/propagator.hpp) and backtracks when a domain
// becomes empty:
//
//   variable   with the smallest (states left) / (weight); a factor's weight grows with every
//              contradiction it shows, and the variable of the last contradiction goes first
//   state      by preference; without one, the largest
//                sum over factors m of v of log sum over x of exp psi_m(x),  x_v = s, x within the domains
//              which is what the factors of v say about it
//   restarts   after ever more contradictions, keeping the weights; the search always terminates
//
// Variables that no zero concerns come last. The result is then improved one variable at a time, so
// that it is a local maximum of the density.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "treesample/model/approximation.hpp"
#include "treesample/model/factor_graph.hpp"
#include "treesample/reduce/evidence.hpp"
#include "treesample/reduce/propagator.hpp"
#include "treesample/stop.hpp"

namespace treesample {

// Fills in scores[i]: how good it seems to put the variable in states[i], in nats; -inf is the last choice. Fixed
// variables are known from the domains; after a contradiction a variable may be decided before others that come earlier
// in the order.
using StatePreference =
    std::function<void(const Propagator& domains, int variable, std::span<const int> states, std::span<double> scores)>;

struct FindOptions {
  Evidence given = {};              // variables whose states are prescribed
  std::vector<int> order = {};      // decide these first, in this order, where they are open; empty: only by weight
  StatePreference preference = {};  // empty: what the factors around the variable say
  // A state is drawn with probability proportional to exp(score / temperature): repeats with other seeds
  // find other configurations. 0 takes the best.
  double temperature = 0.0;
  bool is_improved = true;  // by changes of one variable at a time; given variables stay
  std::uint64_t seed = 0;
  std::int64_t max_decisions = std::numeric_limits<std::int64_t>::max();
  ShouldStop should_stop = {};  // ends with kStopped
};

enum class FindOutcome {
  kFound,
  kImpossible,  // no configuration of positive density agrees with the given states
  kStopped,     // by a limit
};

struct FindResult {
  FindOutcome outcome = FindOutcome::kStopped;
  Configuration configuration;  // when found
  std::int64_t num_decisions = 0;
  std::int64_t num_contradictions = 0;
};

// Keeps the tables and the weights between calls: a second call on the same model is quicker.
class ConfigurationFinder {
 public:
  // Throws Error (kArgument) when a factor is a function. The graph must outlive the finder.
  explicit ConfigurationFinder(const FactorGraph& graph);
  ~ConfigurationFinder();
  ConfigurationFinder(ConfigurationFinder&&) noexcept;
  ConfigurationFinder& operator=(ConfigurationFinder&&) noexcept;

  // The same options after the same earlier calls give the same result. Throws Error (kArgument) for bad `given`,
  // `order` or temperature.
  FindResult find(const FindOptions& options = {});

 private:
  class Search;
  std::unique_ptr<Search> search_;
};

FindResult find_configuration(const FactorGraph& graph, const FindOptions& options = {});

}  // namespace treesample
