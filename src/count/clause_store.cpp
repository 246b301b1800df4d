#include "count/clause_store.hpp"

#include <algorithm>
#include <utility>

namespace treesample {

void ClauseStore::sign(int index) {
  std::uint64_t signature = 0;
  for (const Literal literal : clauses_[index]) signature |= std::uint64_t{1} << ((literal >> 1) * 0x9E3779B1U >> 26);
  signatures_[index] = signature;
}

void ClauseStore::add(Clause clause) {
  if (std::any_of(clause.begin(), clause.end(), [&](Literal literal) { return values_[literal] > 0; })) return;
  std::erase_if(clause, [&](Literal literal) { return values_[literal] < 0; });
  if (clause.empty()) is_impossible_ = true;
  if (clause.size() == 1) set_true(clause.front());
  if (clause.size() < 2) return;
  const int index = size();
  for (const Literal literal : clause) clauses_of_[literal].push_back(index);
  clauses_.push_back(std::move(clause));
  signatures_.push_back(0);
  sign(index);
  changed_.push_back(index);
}

void ClauseStore::remove(int index) {
  for (const Literal literal : clauses_[index]) std::erase(clauses_of_[literal], index);
  clauses_[index] = {};
}

void ClauseStore::strengthen(int index, Literal literal) {
  Clause& clause = clauses_[index];
  std::erase(clause, literal);
  std::erase(clauses_of_[literal], index);
  if (clause.size() == 1) {
    const Literal last = clause.front();
    remove(index);
    return set_true(last);
  }
  sign(index);
  changed_.push_back(index);
}

void ClauseStore::set_true(Literal literal) {
  if (values_[literal] > 0) return;
  if (values_[literal] < 0) {
    is_impossible_ = true;
    return;
  }
  values_[literal] = 1;
  values_[opposite(literal)] = -1;
  facts_.push_back(literal);
}

bool ClauseStore::settle() {
  for (; next_fact_ < facts_.size() && !is_impossible_; ++next_fact_) {
    const Literal fact = facts_[next_fact_];
    const std::vector<int> true_ones = std::exchange(clauses_of_[fact], {});
    for (const int index : true_ones) remove(index);
    const std::vector<int> shorter = std::exchange(clauses_of_[opposite(fact)], {});
    for (const int index : shorter) {
      if (!clauses_[index].empty()) strengthen(index, opposite(fact));
    }
  }
  return !is_impossible_;
}

std::vector<int> ClauseStore::take_changed() {
  std::vector<int> changed = std::exchange(changed_, {});
  std::sort(changed.begin(), changed.end());
  changed.erase(std::unique(changed.begin(), changed.end()), changed.end());
  std::erase_if(changed, [&](int index) { return clauses_[index].empty(); });
  return changed;
}

std::vector<Clause> ClauseStore::left() const {
  std::vector<Clause> left;
  for (const Clause& clause : clauses_) {
    if (!clause.empty()) left.push_back(clause);
  }
  return left;
}

}  // namespace treesample
