// A smaller model of the same least cost: tables within the scope of another one join it, and variables with few
// neighbours are eliminated by the minimum. In integers nothing is lost by that.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "optimize/cost_tables.hpp"
#include "treesample/model/factor_graph.hpp"

namespace treesample {

struct CostReductionOptions {
  bool eliminates = true;  // otherwise tables are joined, and all configurations stay
};

class CostReduction {
 public:
  // Makes `model` smaller: eliminated variables have one state and no tables left.
  explicit CostReduction(CostTables& model, const CostReductionOptions& options = {});
  // The eliminated variables in their best states, given those of the others.
  void complete(std::span<int> x) const;
  [[nodiscard]] std::size_t num_eliminated() const { return eliminated_.size(); }

 private:
  struct Eliminated {
    int variable = 0;
    std::vector<int> scope;
    std::vector<std::int32_t> best_state;  // for each state of the scope, row-major
  };

  void join_tables();
  void eliminate_all();
  void eliminate(int v, const std::vector<int>& scope);

  CostTables& model_;
  std::vector<int> num_states_;         // before
  std::vector<std::vector<int>> uses_;  // by variable: its tables
  std::vector<Eliminated> eliminated_;
};

}  // namespace treesample
