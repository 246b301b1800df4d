// Branch and bound with soft consistency: the proof that a configuration is the best one, or bounds of how far it is.
//
//   bound      the bottom of a cost network (optimize/soft_consistency.hpp), raised by sweeps at the root
//   branching  x_v = s, then x_v != s. Variables: fewest states per weight of their functions, where the weight of a
//              function grows with every contradiction that it shows; the variable of the last contradiction first
//   order      hybrid: the open node with the least bound is searched depth first for a number of contradictions; what
//              is then left of it becomes open nodes. The least bound among them holds for all configurations
//   parts      of the open variables that no function joins are solved by themselves (optimize/proof_diver.hpp)
//
// It goes on where it stopped when it is called again. With one thread, and where only its steps are limited, it has
// the same result everywhere. Several threads take open nodes in an order that chance decides: what they prove is the
// same, but of configurations that are equally good they may find different ones.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "treesample/model/approximation.hpp"
#include "treesample/model/factor_graph.hpp"
#include "treesample/stop.hpp"

namespace treesample {

class CostSearch {
 public:
  struct Options {
    std::uint64_t seed = 0;
    double tolerance = 1e-10;                  // in nats: a configuration that is better by less is not looked for
    std::size_t bytes = std::size_t{1} << 30;  // for open nodes; the search is depth first beyond that
    int threads = 1;
    int num_best = 1;             // how many of the best are looked for
    bool goes_by_steps = true;    // where costs come in steps, nothing is looked for that is not a whole step better
    bool splits = true;           // parts are solved by themselves
    ShouldStop should_stop = {};  // ends construction with Error (kInterrupted)
  };
  // A model of tables and one possible configuration of it.
  CostSearch(const FactorGraph& graph, const Configuration& known, const Options& options);
  // Options::num_best and more of them.
  CostSearch(const FactorGraph& graph, const std::vector<Configuration>& known, const Options& options);
  ~CostSearch();
  CostSearch(const CostSearch&) = delete;
  CostSearch& operator=(const CostSearch&) = delete;

  // A better configuration, found elsewhere.
  void offer(const Configuration& better);
  // Until the end, for so many steps more of each thread (table entries that are looked at), or until it is asked to
  // stop.
  void run(std::int64_t num_steps, const ShouldStop& should_stop);

  [[nodiscard]] const Configuration& best() const;
  [[nodiscard]] const std::vector<Configuration>& all_best() const;  // the best first
  // Certified: no configuration, but for those of all_best(), has a larger log density. Finite.
  [[nodiscard]] double log_upper() const;
  [[nodiscard]] bool is_done() const;
  // What is better by less than a step of the costs was not looked for; log_upper() allows for it.
  [[nodiscard]] bool is_by_steps() const;
  [[nodiscard]] std::int64_t num_contradictions() const;
  [[nodiscard]] std::int64_t num_nodes() const;
  [[nodiscard]] std::int64_t num_parts() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace treesample
