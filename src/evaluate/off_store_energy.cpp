#include "evaluate/off_store_energy.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace treesample {
namespace {

int position_of(const std::vector<int>& sorted, int value) {
  const auto found = std::lower_bound(sorted.begin(), sorted.end(), value);
  return found != sorted.end() && *found == value ? static_cast<int>(found - sorted.begin()) : -1;
}

}  // namespace

OffStoreEnergy::OffStoreEnergy(const SearchSpace& space, std::vector<FactorMeans> means)
    : space_(space), means_(std::move(means)), plans_(space.levels.size()) {
  make_contexts();
  make_terms();
}

// Children come before parents. A context consists of the contexts of the children and the scopes of the level's own
// factors, without the level itself.
void OffStoreEnergy::make_contexts() {
  for (int n = space_.num_levels() - 1; n >= 0; --n) {
    std::vector<int>& context = plans_[n].context;
    const auto add = [&](const std::vector<int>& levels) {
      std::vector<int> merged;
      std::set_union(context.begin(), context.end(), levels.begin(), levels.end(), std::back_inserter(merged));
      context = std::move(merged);
    };
    for (const int child : space_.levels[n].children) add(plans_[child].context);
    for (const int m : space_.levels[n].factors) add(means_[m].levels);
    std::erase(context, n);
  }
}

// A factor belongs to the deepest level of its scope. It is a term of that level's own row and of the row of every edge
// on the way up to its first level, with the part of the scope that is assigned there; above its first level it is a
// constant.
void OffStoreEnergy::make_terms() {
  const auto add_term = [&](int level, std::size_t row, const FactorMeans& factor, std::size_t num_assigned) {
    Term term;
    term.means = factor.given[num_assigned].data();
    term.is_row = factor.levels[num_assigned - 1] == level;
    term.row = row;
    for (std::size_t j = 0; j < num_assigned - (term.is_row ? 1 : 0); ++j) {
      term.fields.emplace_back(position_of(plans_[level].context, factor.levels[j]),
                               space_.levels[factor.levels[j]].num_states);
    }
    plans_[level].terms.push_back(std::move(term));
  };
  for (const FactorMeans& factor : means_) {
    if (factor.levels.empty()) continue;
    std::size_t num_assigned = factor.levels.size();
    add_term(factor.levels.back(), 0, factor, num_assigned);
    for (int child = factor.levels.back(); child > factor.levels.front(); child = space_.levels[child].parent) {
      if (factor.levels[num_assigned - 1] == child) --num_assigned;
      const int level = space_.levels[child].parent;
      add_term(level, 1 + position_of(space_.levels[level].children, child), factor, num_assigned);
    }
    plans_[factor.levels.front()].constant += factor.given[0][0];
  }
  for (int n = space_.num_levels() - 1; n >= 0; --n) {
    if (space_.levels[n].parent >= 0) plans_[space_.levels[n].parent].constant += plans_[n].constant;
  }
}

std::vector<std::vector<int>> OffStoreEnergy::contexts() const {
  std::vector<std::vector<int>> result;
  for (const Plan& plan : plans_) result.push_back(plan.context);
  return result;
}

void OffStoreEnergy::compute_rows(int level, std::span<const int> context) {
  const Level& here = space_.levels[level];
  row_size_ = here.num_states;
  rows_.assign((1 + here.children.size()) * row_size_, 0.0);
  for (std::size_t j = 0; j < here.children.size(); ++j) {
    std::fill_n(rows_.begin() + static_cast<std::ptrdiff_t>((1 + j) * row_size_), row_size_,
                plans_[here.children[j]].constant);
  }
  for (const Term& term : plans_[level].terms) {
    std::size_t index = 0;
    for (const auto& [position, num_states] : term.fields) index = index * num_states + context[position];
    double* const row = rows_.data() + term.row * row_size_;
    if (term.is_row) {
      const double* const values = term.means + index * row_size_;
      for (std::size_t a = 0; a < row_size_; ++a) row[a] += values[a];
    } else {
      for (std::size_t a = 0; a < row_size_; ++a) row[a] += term.means[index];
    }
  }
}

}  // namespace treesample
