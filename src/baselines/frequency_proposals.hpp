// What to evaluate next by the frequencies of states among the best quarter (baselines/frequencies.hpp).
#pragma once

#include <optional>
#include <set>
#include <vector>

#include "treesample/math/random.hpp"
#include "treesample/model/approximation.hpp"
#include "treesample/model/factor_graph.hpp"

namespace treesample {

class FrequencyProposals {
 public:
  // Keeps a reference to the graph.
  FrequencyProposals(const FactorGraph& graph, std::uint64_t seed)
      : graph_(graph), random_(seed, "frequencies"), unlisted_(static_cast<std::size_t>(graph.num_variables()), 0) {}

  // A configuration that was not evaluated before, if there is one.
  std::optional<Assignment> next();
  void note(const Assignment& x, double value);

 private:
  [[nodiscard]] Marginals frequencies(std::size_t first, std::size_t end) const;
  std::optional<Assignment> preferred();
  std::optional<Assignment> first_unasked();

  const FactorGraph& graph_;
  Random random_;
  std::vector<Configuration> known_;  // the best first
  std::set<Assignment> asked_;
  Assignment unlisted_;  // all before it, in lexicographic order, were evaluated
  bool is_listed_ = false;
};

}  // namespace treesample
