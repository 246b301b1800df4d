// exp(R) of the levels whose factors are small tables, computed once. A search looks it up for each edge of a path, so
// that its nodes need not store it.
#pragma once

#include <cstddef>
#include <vector>

#include "treesample/space/reward.hpp"

namespace treesample {

struct RewardTable {
  static constexpr int kMostOthers = 2;

  const double* factors = nullptr;  // null if there is no table
  int others[kMostOthers] = {};     // the other variables; unused places have strides of 0
  int strides[kMostOthers] = {};    // the own variable has stride 1

  // exp(R) of an edge. x has a state for every variable on the path down to the node.
  [[nodiscard]] double at(int action, const int* x) const {
    return factors[action + x[others[0]] * strides[0] + x[others[1]] * strides[1]];
  }
};

// Tables by level, from the top down, with at most `most_entries` entries in all. A level has no table if a factor is a
// function, if R is extreme (see factor_of_reward), or if R depends on too many variables.
class RewardTables {
 public:
  RewardTables(const FactorGraph& graph, const SearchSpace& space, const Reward& reward, std::size_t most_entries);

  [[nodiscard]] const RewardTable& operator[](int level) const { return tables_[level]; }
  [[nodiscard]] std::vector<bool> are_missing() const;

 private:
  std::vector<RewardTable> tables_;
  std::vector<std::vector<double>> factors_;
};

}  // namespace treesample
