// Exact log Z of models with many zeros: weighted model counting, with any numbers of states and any weights.
//
// This is a search over partial configurations that uses the zeros in three ways. After each decision they are
// propagated. From each contradiction a clause is learned: a set of states that cannot occur together. And the
// remaining model falls apart into components that share no factor,
//
//   Z(c) = sum over the states s of a variable of c of   w(c, s) prod over the components d of c given s of Z(d),
//
// where w(c, s) has the weights of the variables that became fixed and of the factors that became constant. Z(c)
// depends only on what remains of c, so it is looked up if the same component was met before. docs/methods/zeros.md has
// the derivation, the key of the cache, and the proof that learned clauses and a cache are sound together.
//
// Numbers are never subtracted, and bounds of log Z include all rounding (src/count/count_number.hpp). A search that is
// stopped has bounds too. L comes from solved components and from single configurations of the others. U comes from
// solved components and from sums of weights, or from mini-buckets for the whole model; count() gives these a tenth of
// its time.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <string>

#include "treesample/count/circuit.hpp"
#include "treesample/model/factor_graph.hpp"
#include "treesample/space/limits.hpp"

namespace treesample {

struct CountOptions {
  std::int64_t most_decisions = std::numeric_limits<std::int64_t>::max();
  int order_restarts = 4;  // randomised min-fill orders; the best one gives the decomposition
  std::uint64_t seed = 0;  // for the orders
  bool has_cache = true;
  bool has_learning = true;
  bool has_reductions = true;  // merged states, inlined gates, summed variables: src/count/reduce.hpp
  // The reduced model is eliminated instead of searched if that takes at most this many bucket entries.
  double most_eliminated_entries = 1 << 23;
  // Keeps a circuit if it takes at most a quarter of the memory. The model is then neither reduced nor eliminated: all
  // of it is searched.
  bool keep_circuit = false;

  // Throws Error (kArgument) naming what is out of range.
  void validate() const;
};

// `stop` is kBudget if most_decisions were made. It is also kRounding if the weights are beyond exp(1e9) and nothing
// was searched.
struct CountReport : RunReport {
  std::int64_t num_decisions = 0;     // states that were tried
  std::int64_t num_propagations = 0;  // literals that followed from decisions
  std::int64_t num_conflicts = 0;
  std::int64_t num_learned = 0;     // clauses, including those that were deleted again
  std::int64_t num_components = 0;  // components that were looked up or searched
  std::int64_t num_cache_hits = 0;
  std::int64_t num_evicted = 0;  // components that left the cache for lack of memory
  int num_merged_states = 0;     // states merged by reductions
  int num_inlined = 0;           // variables that others determine
  int num_summed = 0;            // variables summed out by reductions
  bool is_eliminated = false;    // true if the model was eliminated instead of searched
  int num_variables = 0;         // after simplification and reductions
  int num_atoms = 0;             // 0/1 unknowns: one for each variable with two states, K for one with K
  int num_clauses = 0;           // of the zeros
  int num_soft_tables = 0;       // factors over several variables whose values differ where they are not 0
  int width = 0;                 // of the decomposition that guides the order
  double share_done = 0.0;       // finished share of the branches, as if all were equally long: a guess; 1 once solved
  std::uint64_t peak_bytes = 0;

  // The report in one line.
  [[nodiscard]] std::string brief() const;
};

struct CountResult {
  bool is_solved = false;  // true if everything was searched: the bounds of the report then differ only by rounding
  // Answers for the given model, not the reduced one. Null unless keep_circuit was set, the model is possible and
  // solved, and the circuit fits into the memory.
  std::shared_ptr<const Circuit> circuit;
  CountReport report;
};

// A count in slices: each call of run() continues where the last one stopped.
//
//   Counter counter(graph, limits);
//   while (!counter.run({.should_stop = slice_is_over}) && counter.can_go_on()) do_something_else();
//   const CountResult result = counter.result();
//
// The result does not depend on the slices: asking for bounds in between changes nothing.
class Counter {
 public:
  // The graph must outlive it. Of the limits, it uses bytes and threads; `seconds` is only the time for which the
  // search of orders is planned. Throws Error (kArgument) if a factor is a function or an option is out of range.
  explicit Counter(const FactorGraph& graph, const Limits& limits = {}, const CountOptions& options = {});
  Counter(Counter&&) noexcept;
  Counter& operator=(Counter&&) noexcept;
  ~Counter();

  // Counts until everything is counted (then returns true), the observer ends it, or can_go_on() is false. If it was
  // ended during the preparations, the next call repeats them and should have more time.
  bool run(const Observer& observer = {});
  [[nodiscard]] bool is_solved() const;
  // False if the count is solved, if memory or decisions are used up, and if the weights are out of range.
  [[nodiscard]] bool can_go_on() const;
  // The finished share of the branches, as if all were equally long: a guess; 1 once it is solved.
  [[nodiscard]] double share_done() const;
  // The result so far, with certified bounds. Each call takes about the time of 20,000 decisions.
  [[nodiscard]] CountResult result();
  // Improves the upper bound of a count that is not solved, by mini-buckets, until the observer ends it.
  void tighten_upper(const ShouldStop& should_stop = {});

 private:
  class State;
  std::unique_ptr<State> state_;
};

// A Counter that runs once. Of the limits, it uses seconds and bytes; the bytes are for clauses, cache and search
// together. If the observer ends the run, the result has the bounds so far. Throws Error (kArgument) if a factor is a
// function or an option is out of range.
CountResult count(const FactorGraph& graph, const Limits& limits = {}, const CountOptions& options = {},
                  const Observer& observer = {});

}  // namespace treesample
