// Sums of table look-ups. They are collected when they are asked for, by walking from a level up through its ancestors.
//
// Rows that name the tables of each level (value/table_lookups.hpp) are faster to add up, but a table that serves many
// levels is in all of their rows: in a path of N variables that can be N^2 entries. Here each table is stored once, at
// the level `until` below which it begins.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "treesample/space/search_space.hpp"
#include "value/table_lookups.hpp"

namespace treesample {

class TableWalk {
 public:
  TableWalk(const SearchSpace& space, std::vector<double> constants)
      : constants_(std::move(constants)), first_(space.levels.size() + 1, 0), levels_(space.levels.size()) {
    for (int n = 0; n < space.num_levels(); ++n) {
      const Level& level = space.levels[n];
      levels_[n] = {level.parent, n, level.variable, 0, 1};
    }
    for (int n = space.num_levels() - 1; n >= 0; --n) {
      if (levels_[n].parent >= 0) levels_[levels_[n].parent].end += levels_[n].end;  // counts; below they become ends
    }
    // Every subtree is an interval of places: the parent first, then one child after the other.
    std::vector<int> next(space.levels.size() + 1, 0);  // by parent; the last entry is for the roots
    for (int n = 0; n < space.num_levels(); ++n) {
      int& place = next[levels_[n].parent >= 0 ? levels_[n].parent : space.num_levels()];
      const int size = levels_[n].end;
      levels_[n].place = place;
      levels_[n].end = place + size;
      next[n] = place + 1;
      place += size;
    }
  }

  // Adds a table that serves the levels from `from` up to, but not including, `until`, whose variable is in its scope.
  void add(const FactorGraph& graph, int from, int until, const TableView& table) {
    lookups_.begin_row(0.0, levels_[until].variable);
    lookups_.add(graph, table);
    starts_.push_back({until, from, static_cast<int>(starts_.size())});
    levels_[from].highest = std::min(levels_[from].highest, until);
  }
  // Call it after the last table.
  void finish() {
    std::stable_sort(starts_.begin(), starts_.end(), [](const Start& a, const Start& b) { return a.until < b.until; });
    for (const Start& start : starts_) ++first_[start.until + 1];
    for (std::size_t n = 1; n < first_.size(); ++n) first_[n] += first_[n - 1];
    for (std::size_t n = levels_.size(); n-- > 0;) {
      LevelFacts& parent = levels_[levels_[n].parent >= 0 ? levels_[n].parent : n];
      parent.highest = std::min(parent.highest, levels_[n].highest);
    }
  }

  [[nodiscard]] double sum(int level, std::span<const int> x) const {
    double result = constants_[level];
    for_each_ancestor(level, levels_[level].parent,
                      [&](const Start& start) { result += lookups_.sum(start.table, x); });
    return result;
  }
  // The same for every state of the parent level's variable, whose state in x is ignored.
  void sum_each(int level, std::span<const int> x, std::span<double> values) const {
    const int parent = levels_[level].parent;
    double others = constants_[level];
    if (parent >= 0) {
      for_each_ancestor(level, levels_[parent].parent,
                        [&](const Start& start) { others += lookups_.sum(start.table, x); });
    }
    std::fill(values.begin(), values.end(), others);
    if (parent < 0) return;
    std::vector<double> own(values.size());
    for_each_at(level, parent, [&](const Start& start) {
      lookups_.sum_each(start.table, x, own);
      for (std::size_t a = 0; a < own.size(); ++a) values[a] += own[a];
    });
  }

 private:
  struct Start {
    int until = 0, from = 0, table = 0;
  };
  struct LevelFacts {
    int parent = -1;
    int highest = 0;  // the least `until` of the tables that serve this level; the level itself if there are none
    int variable = 0;
    int place = 0, end = 1;  // the interval of places taken by its subtree
  };

  // Visits the tables stored at `ancestor` that serve the level.
  template <typename Visit>
  void for_each_at(int level, int ancestor, Visit visit) const {
    for (std::int64_t s = first_[ancestor]; s < first_[ancestor + 1]; ++s) {
      const int place = levels_[starts_[s].from].place;
      if (place >= levels_[level].place && place < levels_[level].end) visit(starts_[s]);
    }
  }
  template <typename Visit>
  void for_each_ancestor(int level, int from, Visit visit) const {
    for (int n = from; n >= levels_[level].highest && n >= 0; n = levels_[n].parent) for_each_at(level, n, visit);
  }

  std::vector<double> constants_;    // by level
  std::vector<std::int64_t> first_;  // by level: its first place in starts_
  std::vector<LevelFacts> levels_;
  std::vector<Start> starts_;  // sorted by `until`
  TableLookups lookups_;       // one row per table
};

}  // namespace treesample
