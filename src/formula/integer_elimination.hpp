// Exact counts by variable elimination: one variable after the other is summed out of all clauses and tables that have
// it, which leaves a table over the others of these. It takes time and memory exponential in the width of the order,
// which are known beforehand; where that is small it is faster than a search, which looks each component up.
//
// Numbers are integers modulo 2^(64 W), with W so large that the count has one meaning. Nothing rounds or overflows:
// sums and products are right modulo this number, whatever they are before.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "count/count_problem.hpp"
#include "formula/integer_counts.hpp"
#include "treesample/stop.hpp"

namespace treesample {

class IntegerElimination {
 public:
  // The order has the variables of the problem, which must have no soft tables; weights as in IntegerCounts. All must
  // outlive it.
  IntegerElimination(const CountProblem& problem, const std::vector<ExactStates>& weights,
                     const std::vector<int>& order);

  // False if it is out of question: because variables are hidden, numbers are very long or tables are huge.
  [[nodiscard]] bool is_possible() const { return is_possible_; }
  // What count() will take: a guess, and the memory of all tables at the worst moment.
  [[nodiscard]] double seconds() const { return seconds_; }
  [[nodiscard]] double bytes() const { return bytes_; }

  // The count; none if should_stop returned true.
  std::optional<Integer> count(const ShouldStop& should_stop, int threads);

 private:
  // The clauses and tables that have a variable, when it is its turn.
  struct Bucket {
    int variable = -1;
    std::vector<int> scope;    // the other variables, those that are eliminated last first
    std::vector<int> clauses;  // by number in the problem
    std::vector<int> tables;   // by the position of the bucket that they come from
    double num_entries = 0.0;  // over the scope
  };
  using Words = std::vector<std::uint64_t>;

  void make_buckets(const std::vector<int>& order);
  void predict();
  [[nodiscard]] int num_states(int variable) const { return problem_.variables[variable].num_states; }
  [[nodiscard]] std::vector<char> allowed(const Bucket& bucket) const;
  template <std::size_t kWords>
  std::optional<Integer> run(const ShouldStop& should_stop, int threads);
  template <std::size_t kWords>
  void sum_out(std::size_t position, std::size_t first, std::size_t last, const std::vector<char>& is_allowed);

  const CountProblem& problem_;
  const std::vector<ExactStates>& weights_;
  std::vector<int> position_;  // by variable
  std::vector<Bucket> buckets_;
  std::vector<Words> tables_;       // by bucket: what is left of it
  std::vector<Words> state_words_;  // by variable: the weights of its states
  bool is_possible_ = true;
  std::size_t num_words_ = 1;
  double seconds_ = 0.0, bytes_ = 0.0;
};

}  // namespace treesample
