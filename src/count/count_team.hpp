// Searches of one problem by several threads. Each of them counts everything, but begins with other states, and all
// share the counts of components (count/shared_counts.hpp): what one has searched, the others look up. The first that
// is done ends them all. Chance decides who searches what, so that only exact sums are the same for any number of
// threads, and bounds of a search that was stopped are not.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "count/count_search.hpp"
#include "count/shared_counts.hpp"

namespace treesample {

struct TeamLimits {
  std::uint64_t bytes = 0;
  int threads = 0;                   // 0: one per core
  std::int64_t decisions_alone = 0;  // of the first search, before the others begin
};

class CountTeam {
 public:
  // The arguments must outlive it. The problem has no soft tables.
  CountTeam(CountProblem& problem, const DecompositionGuide& guide, const TeamLimits& limits,
            const CountOptions& options, ExactCounts& exact);

  // Searches until everything is searched or should_stop, which is asked by the calling thread, returns true.
  void run(const ShouldStop& should_stop);

  [[nodiscard]] bool is_solved() const { return solver_ >= 0; }
  [[nodiscard]] bool is_out_of_memory() const { return searches_.front()->is_out_of_memory(); }
  // The exact counts of the search that was done first; its exact_result() is one of them.
  [[nodiscard]] const ExactCounts& exact() const;
  [[nodiscard]] std::optional<std::uint32_t> exact_result() const { return searches_[solver_]->exact_result(); }
  // The tightest ones of all searches.
  CountBounds bounds();
  // Of the calling thread's search.
  [[nodiscard]] double share_done() const { return searches_.front()->share_done(); }
  [[nodiscard]] std::int64_t num_components() const { return searches_.front()->num_components(); }
  // Of all searches together.
  void fill(CountReport& report) const;

 private:
  void start_others();

  CountProblem& problem_;
  const DecompositionGuide& guide_;
  const TeamLimits limits_;
  const CountOptions& options_;
  ExactCounts& exact_;
  int num_threads_ = 1;
  std::vector<std::unique_ptr<ExactCounts>> other_exact_;
  std::vector<std::unique_ptr<CountSearch>> searches_;  // the first one is the calling thread's
  std::unique_ptr<SharedCounts> shared_;
  int solver_ = -1;
};

}  // namespace treesample
