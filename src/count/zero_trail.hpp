// Propagation of clauses and groups with a trail, and learning from contradictions.
//
// A literal follows in three cases: all other literals of a clause are false; another state of its group is true, so
// that it must be false; or it is the last state of its group. Clauses have two watched literals and are looked at only
// when one of these becomes false; clauses of two literals are kept as lists. Levels count decisions.
//
// From a contradiction a clause is learned: literals of the last level are replaced by those that implied them until
// one is left (the first unique implication point), and literals that follow from the others are removed. The clause
// follows from the zeros alone, so it holds everywhere. The search does not jump back: it undoes one decision and
// asserts the literal that the clause then implies (assert_learned) at the remaining level. Clauses that imply
// something at lower levels too are asserted again when those are reached.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "count/count_problem.hpp"
#include "count/soft_table.hpp"

namespace treesample {

class ZeroTrail {
 public:
  // The problem must outlive it and its copies. The constructor propagates everything that holds without a decision;
  // is_consistent() tells the outcome.
  ZeroTrail(const CountProblem& problem, bool has_learning);

  [[nodiscard]] bool is_consistent() const { return is_consistent_; }
  // 1: true, -1: false, 0: open.
  [[nodiscard]] int value(Literal literal) const { return values_[literal]; }
  [[nodiscard]] bool is_open(int atom) const { return values_[positive(atom)] == 0; }
  [[nodiscard]] const LiveStates& live() const { return live_; }
  [[nodiscard]] bool is_live(int variable, int state) const { return live_.is_live(variable, state); }
  [[nodiscard]] int num_live(int variable) const { return num_live_[variable]; }

  // A point in the trail to which undo() can return.
  struct Mark {
    std::size_t size = 0;
    int level = 0;
  };
  [[nodiscard]] Mark mark() const { return {trail_.size(), level_}; }
  // Opens one more level. Returns false at a contradiction: the trail must then be undone.
  bool decide(Literal literal);
  void undo(const Mark& mark);
  // Asserts what learned clauses imply now; returns false at a contradiction. Call it after undo().
  bool assert_learned();

  // Measures how often a variable took part in recent contradictions.
  [[nodiscard]] double activity(int variable) const { return activity_[variable]; }
  void decay_activity();

  [[nodiscard]] std::int64_t num_propagations() const { return num_propagations_; }
  [[nodiscard]] std::int64_t num_conflicts() const { return num_conflicts_; }
  [[nodiscard]] std::int64_t num_learned() const { return num_learned_; }
  [[nodiscard]] std::uint64_t bytes() const;

 private:
  using ClauseRef = std::uint32_t;  // place in arena_: number of literals, number of levels if learned, literals
  static constexpr std::uint32_t kHeader = 2;
  struct Watch {
    ClauseRef clause;
    Literal other;  // if it is true, there is nothing to do
  };
  // Why an atom has its value.
  struct Reason {
    enum Kind : std::uint32_t { kNone, kLiteral, kGroup, kClause } kind = kNone;
    std::uint32_t data = 0;
  };
  // A learned clause that may imply something again after the next undo().
  struct Pending {
    Literal literal = 0;  // the literal that it implies
    Reason reason = {};   // its other literals
  };

  bool assign(Literal literal, Reason reason);
  bool propagate();
  bool propagate_group(Literal literal);
  bool propagate_clauses(Literal literal);
  bool fail(std::span<const Literal> literals);
  // `num_levels` is 0 for clauses of the model.
  ClauseRef add_clause(std::span<const Literal> clause, std::uint32_t num_levels);
  void watch(ClauseRef ref);

  // The following are for learning: zero_trail_learn.cpp.
  template <typename Visit>
  void for_each_in(const Reason& reason, int atom, Visit visit) const;
  void learn();
  void see(Literal literal);
  void find_first_point();
  void minimise();
  void keep_learned();
  std::uint32_t num_levels();
  [[nodiscard]] bool says_something(const Pending& pending) const;
  void forget_clauses();

  [[nodiscard]] std::span<const Literal> literals(ClauseRef clause) const {
    return {arena_.data() + clause + kHeader, arena_[clause]};
  }

  const CountProblem* problem_;
  bool has_learning_;
  bool is_consistent_ = true;
  std::vector<signed char> values_;  // by literal
  std::vector<int> levels_;          // by atom
  std::vector<Reason> reasons_;      // by atom
  std::vector<Literal> trail_;
  std::size_t next_ = 0;  // position in the trail of the next literal to propagate
  int level_ = 0;
  LiveStates live_;
  std::vector<int> num_live_;
  std::vector<std::vector<Literal>> implied_;  // by literal: the literals that follow from it by a clause of two
  std::vector<std::vector<Watch>> watches_;    // by literal: clauses to look at when it becomes false
  std::vector<std::uint32_t> arena_;
  std::vector<ClauseRef> learned_;
  std::vector<Pending> pending_;

  std::vector<Literal> conflict_;  // literals, all false
  std::vector<Literal> clause_;    // the clause that is being learned
  std::vector<char> is_seen_;      // by atom
  std::vector<int> to_clear_;      // atoms seen
  int conflict_level_ = 0;
  std::vector<double> activity_;  // by variable
  std::vector<int> level_list_;   // scratch of num_levels()
  std::size_t most_learned_ = 1000;
  std::int64_t num_propagations_ = 0, num_conflicts_ = 0, num_learned_ = 0;
};

}  // namespace treesample
