// Where a learned target has most of its mass, found by evaluating its guess, which is free.
//
// Configurations are expanded: the beliefs of all that differ in one variable are computed together, and those within
// reach of the largest one are kept. Half of the expansions are of the largest belief that was not expanded, which
// counts up what lies around the modes; the other half is a Markov jump process from one configuration x to one of its
// neighbours y, by the rates b(y) / (b(x) + b(y)), where b is exp(belief). It is in balance with b and gets from one
// mode to the next.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "blackbox/learned_target.hpp"
#include "treesample/math/random.hpp"
#include "treesample/model/approximation.hpp"

namespace treesample {

class SurrogatePool {
 public:
  // Keeps at most so many configurations.
  SurrogatePool(const LearnedTarget& target, std::size_t most) : target_(target), most_(most) {}

  // Forgets all beliefs, but not where the walks are: the guess has changed.
  void clear();
  // Configurations with their beliefs, wherever they come from.
  void add(const std::vector<Assignment>& configurations);
  void expand(int num_expansions, Random& random);
  // By belief, the largest first.
  [[nodiscard]] std::vector<Configuration> best_first(std::size_t most) const;
  [[nodiscard]] std::size_t size() const { return beliefs_.size(); }
  [[nodiscard]] bool contains(const Assignment& x) const { return beliefs_.contains(x); }

 private:
  void note(const Assignment& x, double belief);
  void expand_at(const Assignment& x);
  void walk(Assignment& at, Random& random);
  [[nodiscard]] double reach() const;

  const LearnedTarget& target_;
  std::size_t most_;
  std::map<Assignment, double> beliefs_;
  std::set<std::pair<double, Assignment>> open_;   // not expanded; minus the belief
  std::multiset<double, std::greater<>> largest_;  // beliefs
  std::vector<Assignment> walks_;
  std::vector<double> means_;  // of the neighbours that were computed last
};

}  // namespace treesample
