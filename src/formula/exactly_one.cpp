#include "formula/exactly_one.hpp"

#include <algorithm>
#include <cstdint>
#include <unordered_set>
#include <utility>

namespace treesample {
namespace {

std::uint64_t key_of(Literal a, Literal b) { return std::uint64_t{std::min(a, b)} << 32 | std::max(a, b); }

}  // namespace

std::vector<Clause> exactly_one_groups(const ClauseSet& set, const std::vector<char>& may_be_in) {
  constexpr std::size_t kMostLiterals = 256;  // every pair is looked up
  std::unordered_set<std::uint64_t> pairs;
  std::vector<const Clause*> candidates;
  for (const Clause& clause : set.clauses) {
    if (clause.size() == 2) pairs.insert(key_of(clause[0], clause[1]));
    const bool may_be =
        std::all_of(clause.begin(), clause.end(), [&](Literal l) { return may_be_in[atom_of(l)] != 0; });
    if (may_be && clause.size() > 2 && clause.size() <= kMostLiterals) candidates.push_back(&clause);
  }
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const Clause* a, const Clause* b) { return a->size() > b->size(); });
  std::vector<char> is_taken(may_be_in.size(), 0);
  std::vector<Clause> groups;
  for (const Clause* const clause : candidates) {
    bool is_group = std::none_of(clause->begin(), clause->end(), [&](Literal l) { return is_taken[atom_of(l)] != 0; });
    for (std::size_t i = 0; i < clause->size() && is_group; ++i) {
      for (std::size_t j = 0; j < i && is_group; ++j) {
        is_group = pairs.contains(key_of(opposite((*clause)[i]), opposite((*clause)[j])));
      }
    }
    if (!is_group) continue;
    for (const Literal literal : *clause) is_taken[atom_of(literal)] = 1;
    groups.push_back(*clause);
  }
  return groups;
}

}  // namespace treesample
