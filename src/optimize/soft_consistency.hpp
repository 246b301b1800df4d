// Propagation of costs: existential directional arc consistency, for functions of any number of variables.
//
// Variables have places in a line. When nothing is left to do,
//
//   arc          each state of each variable has an entry of cost 0 in each function
//   directional  the same for the first variable of a function, where the other variables add their unary costs
//   existential  each variable has a state of unary cost 0 with an entry of cost 0 in each function, where the
//   variables
//                before it add their unary costs
//
// and no state of cost `top` is left. Whatever order it works in, costs are only shifted (optimize/cost_network.hpp),
// so that a propagation that is cut short leaves a weaker bound, never a wrong one.
#pragma once

#include <cstdint>
#include <queue>
#include <span>
#include <utility>
#include <vector>

#include "optimize/cost_network.hpp"
#include "treesample/stop.hpp"

namespace treesample {

class SoftConsistency {
 public:
  // `line`: all variables, in the order of their places. Both must outlive the object.
  SoftConsistency(CostNetwork& network, std::span<const int> line);

  // From what has changed in the network. False: nothing cheaper than `top` is left.
  [[nodiscard]] bool propagate(StopCheck& stop);
  // Everything is looked at, as at the start.
  [[nodiscard]] bool propagate_all(StopCheck& stop);
  // Gains of the bottom that are smaller than this are not looked for: they could be without end.
  void set_grain(Cost grain) { grain_ = grain; }
  [[nodiscard]] Cost grain() const { return grain_; }
  // The function that showed the last contradiction, or -1.
  [[nodiscard]] int last_function() const { return function_; }

 private:
  // A queue of variables, each at most once.
  class Queue {
   public:
    void resize(std::size_t size) { is_in_.assign(size, 0); }
    void push(int key) {
      if (is_in_[key] != 0) return;
      is_in_[key] = 1;
      keys_.push(key);
    }
    int pop() {
      const int key = keys_.top();
      keys_.pop();
      is_in_[key] = 0;
      return key;
    }
    [[nodiscard]] bool empty() const { return keys_.empty(); }
    void clear() {
      while (!empty()) pop();
    }

   private:
    std::priority_queue<int> keys_;  // the largest first
    std::vector<char> is_in_;
  };

  bool work(StopCheck& stop);
  bool take_changes(bool is_given_back = false);
  bool project_from(int v);
  bool project_others(int f, int target, std::uint64_t mask);
  bool direct(int v);
  bool exist(int v);

  CostNetwork& network_;
  std::vector<int> line_, place_;
  // By the place of a variable; of `exist_`, counted from the end, so that the first comes first.
  Queue arc_, direct_, exist_;
  std::vector<Cost> sums_, least_;
  std::vector<int> changed_;
  std::vector<std::uint8_t> kinds_;
  std::vector<std::pair<CostNetwork::Use, std::uint64_t>> givers_;
  std::vector<std::int64_t> given_in_;  // by variable: the round in which it has given
  std::int64_t round_ = 0;
  int function_ = -1;
  Cost grain_ = 1;
};

}  // namespace treesample
