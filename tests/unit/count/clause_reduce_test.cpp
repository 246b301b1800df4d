// Reductions of clauses: each alone and all together keep what they promise.
#include "count/clause_reduce.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "support/formulas.hpp"

namespace treesample {
namespace {

ClauseSet set_of(const Formula& formula) {
  ClauseSet set{.num_atoms = formula.num_variables};
  for (int c = 0; c < formula.num_clauses(); ++c) {
    Clause clause;
    for (const int l : formula.clause(c)) clause.push_back(l > 0 ? positive(l - 1) : opposite(positive(-l - 1)));
    std::sort(clause.begin(), clause.end());
    set.clauses.push_back(std::move(clause));
  }
  return set;
}

bool holds(unsigned x, Literal literal) { return ((x >> atom_of(literal)) & 1U) == (is_negative(literal) ? 0U : 1U); }

bool is_solution(unsigned x, const ClauseSet& set) {
  return std::all_of(set.clauses.begin(), set.clauses.end(), [&](const Clause& clause) {
    return std::any_of(clause.begin(), clause.end(), [&](Literal literal) { return holds(x, literal); });
  });
}

// The solutions, on the atoms of the mask.
std::set<unsigned> solutions(const ClauseSet& set, unsigned mask) {
  std::set<unsigned> found;
  for (unsigned x = 0; x < 1U << set.num_atoms; ++x) {
    if (is_solution(x, set)) found.insert(x & mask);
  }
  return found;
}

// What is left, with the fixed and the equivalent literals as clauses.
ClauseSet lifted(const ReducedClauses& reduced) {
  ClauseSet set = reduced.rest;
  for (const Literal literal : reduced.fixed) set.clauses.push_back({literal});
  for (const auto& [atom, literal] : reduced.equivalent) {
    set.clauses.push_back({positive(atom), opposite(literal)});
    set.clauses.push_back({opposite(positive(atom)), literal});
  }
  if (reduced.is_impossible) set.clauses.push_back({});
  return set;
}

TEST(ClauseReduce, EachReductionKeepsAllSolutions) {
  Random random(4, "clauses");
  const ClauseSwitches all, none{false, false, false, false, false};
  ClauseReport sum;
  for (int trial = 0; trial < 600; ++trial) {
    const ClauseSet set = set_of(testing::random_formula(random, {.most_variables = 10}));
    const std::vector<AtomRole> roles(static_cast<std::size_t>(set.num_atoms), AtomRole::kCounted);
    const unsigned mask = (1U << set.num_atoms) - 1U;
    ClauseSwitches switches[6] = {all, none, none, none, none, none};
    switches[1].fails = switches[2].equivalents = switches[3].subsumes = switches[4].vivifies = true;
    for (const ClauseSwitches& some : switches) {
      const ReducedClauses reduced = reduce_clauses(set, roles, {}, some);
      ASSERT_EQ(solutions(lifted(reduced), mask), solutions(set, mask)) << trial;
      EXPECT_TRUE(reduced.resolved.empty());
      sum.num_failed += reduced.report.num_failed;
      sum.num_equivalent += reduced.report.num_equivalent;
      sum.num_subsumed += reduced.report.num_subsumed;
      sum.num_strengthened += reduced.report.num_strengthened;
      sum.num_vivified += reduced.report.num_vivified;
    }
  }
  for (const std::int64_t number : {std::int64_t{sum.num_failed}, std::int64_t{sum.num_equivalent}, sum.num_subsumed,
                                    sum.num_strengthened, sum.num_vivified}) {
    EXPECT_GT(number, 0);
  }
}

TEST(ClauseReduce, ResolutionKeepsTheSolutionsOfCountedAtoms) {
  Random random(6, "resolved");
  int num_resolved = 0;
  for (int trial = 0; trial < 600; ++trial) {
    const ClauseSet set = set_of(testing::random_formula(random, {.most_variables = 10}));
    std::vector<AtomRole> roles;
    unsigned mask = 0;
    for (int atom = 0; atom < set.num_atoms; ++atom) {
      const bool is_counted = random.below(2) == 0;
      roles.push_back(is_counted ? AtomRole::kCounted : AtomRole::kRemoved);
      mask |= is_counted ? 1U << atom : 0U;
    }
    const ReducedClauses reduced = reduce_clauses(set, roles, {});
    for (const int atom : reduced.resolved) EXPECT_EQ(roles[atom], AtomRole::kRemoved);
    num_resolved += static_cast<int>(reduced.resolved.size());
    ASSERT_EQ(solutions(lifted(reduced), mask), solutions(set, mask)) << trial;
  }
  EXPECT_GT(num_resolved, 100);
}

TEST(ClauseReduce, OneThatIsAskedToEndKeepsWhatItHas) {
  Random random(8, "ended");
  for (int trial = 0; trial < 100; ++trial) {
    const ClauseSet set = set_of(testing::random_formula(random, {.most_variables = 9}));
    const std::vector<AtomRole> roles(static_cast<std::size_t>(set.num_atoms), AtomRole::kCounted);
    const ReducedClauses reduced = reduce_clauses(set, roles, [] { return true; });
    const unsigned mask = (1U << set.num_atoms) - 1U;
    ASSERT_EQ(solutions(lifted(reduced), mask), solutions(set, mask));
  }
}

}  // namespace
}  // namespace treesample
