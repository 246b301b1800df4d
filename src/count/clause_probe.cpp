#include "count/clause_probe.hpp"

#include <algorithm>
#include <utility>

#include "count/zero_trail.hpp"

namespace treesample {
namespace {

constexpr std::int64_t kMostPropagations = 10'000'000;  // of each of the two, in one round

class Prober {
 public:
  Prober(ClauseStore& store, const CountProblem& problem, const ShouldStop& should_stop, ClauseReport& report)
      : store_(store),
        trail_(problem, /*has_learning=*/false),
        base_(trail_.mark()),
        stop_(should_stop),
        report_(report) {}

  // Assumes the literals that imply others by clauses of two literals and are implied by none.
  void find_failed(int num_atoms) {
    if (!trail_.is_consistent()) return fail();
    std::vector<char> is_in_pair(2 * static_cast<std::size_t>(num_atoms), 0);
    for (int c = 0; c < store_.size(); ++c) {
      if (store_.clause(c).size() != 2) continue;
      for (const Literal literal : store_.clause(c)) is_in_pair[literal] = 1;
    }
    const std::int64_t last = trail_.num_propagations() + kMostPropagations;
    for (Literal literal = 0; literal < is_in_pair.size(); ++literal) {
      if (is_in_pair[opposite(literal)] == 0 || is_in_pair[literal] != 0 || trail_.value(literal) != 0) continue;
      if (trail_.num_propagations() > last || is_stopped()) break;
      const bool is_possible = trail_.decide(literal);
      trail_.undo(base_);
      if (is_possible) continue;
      ++report_.num_failed;
      if (!trail_.decide(opposite(literal))) return fail();
      base_ = trail_.mark();
    }
    take_facts(num_atoms);
  }

  void vivify(int num_atoms) {
    if (!trail_.is_consistent() || store_.is_impossible()) return;
    const std::int64_t last = trail_.num_propagations() + kMostPropagations;
    // Short clauses are the ones that propagate; those of three literals may become pairs.
    std::vector<int> clauses;
    for (int c = 0; c < store_.size(); ++c) {
      if (store_.clause(c).size() > 2) clauses.push_back(c);
    }
    std::stable_sort(clauses.begin(), clauses.end(),
                     [&](int a, int b) { return store_.clause(a).size() < store_.clause(b).size(); });
    for (const int c : clauses) {
      if (trail_.num_propagations() > last || is_stopped()) break;
      vivify_clause(c);
    }
    take_facts(num_atoms);
  }

 private:
  bool is_stopped() {
    const std::int64_t before = std::exchange(last_look_, trail_.num_propagations());
    return stop_.is_asked(10 * (trail_.num_propagations() - before) + 100);
  }
  void fail() {
    store_.set_true(0);
    store_.set_true(1);
  }
  void take_facts(int num_atoms) {
    for (int atom = 0; atom < num_atoms; ++atom) {
      const int value = trail_.value(positive(atom));
      if (value != 0) store_.set_true(value > 0 ? positive(atom) : opposite(positive(atom)));
    }
  }

  // Assumes the opposites of the literals one by one. Where one of the others is true then, or nothing is possible, the
  // literals so far are enough; one that is false is not needed.
  void vivify_clause(int index) {
    Clause order = store_.clause(index);
    if (std::any_of(order.begin(), order.end(), [&](Literal literal) { return trail_.value(literal) > 0; })) return;
    std::stable_sort(order.begin(), order.end(), [&](Literal a, Literal b) {
      return store_.clauses_of(opposite(a)).size() > store_.clauses_of(opposite(b)).size();
    });
    Clause needed;
    for (const Literal literal : order) {
      const int value = trail_.value(literal);
      if (value < 0) continue;
      needed.push_back(literal);
      if (value > 0 || !trail_.decide(opposite(literal))) break;
    }
    trail_.undo(base_);
    if (needed.size() == order.size()) return;
    ++report_.num_vivified;
    std::sort(needed.begin(), needed.end());
    store_.remove(index);
    store_.add(std::move(needed));
  }

  ClauseStore& store_;
  ZeroTrail trail_;
  ZeroTrail::Mark base_;
  StopCheck stop_;
  ClauseReport& report_;
  std::int64_t last_look_ = 0;
};

}  // namespace

void probe_clauses(ClauseStore& store, int num_atoms, const ProbeSwitches& switches, const ShouldStop& should_stop,
                   ClauseReport& report) {
  if (num_atoms == 0 || store.is_impossible()) return;
  CountProblem problem;
  for (int atom = 0; atom < num_atoms; ++atom) {
    problem.variables.push_back({.first_atom = atom, .num_states = 2});
    problem.variable_of_atom.push_back(atom);
  }
  problem.clauses = store.left();
  Prober prober(store, problem, should_stop, report);
  if (switches.fails) prober.find_failed(num_atoms);
  if (switches.vivifies) prober.vivify(num_atoms);
}

}  // namespace treesample
