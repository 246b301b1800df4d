// Literals of which exactly one holds in every solution: a clause of them, and a clause of two opposites for each pair.
// Formulas say so where they mean a variable of several states, such as a colour, a place or a pigeon's hole. The
// search propagates and decides such a variable as one.
#pragma once

#include <vector>

#include "count/clause_reduce.hpp"

namespace treesample {

// Groups of at least three literals, no atom in two of them, among the atoms that may be in one.
std::vector<Clause> exactly_one_groups(const ClauseSet& set, const std::vector<char>& may_be_in);

}  // namespace treesample
