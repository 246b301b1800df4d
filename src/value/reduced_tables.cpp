#include "value/reduced_tables.hpp"

#include <algorithm>
#include <cmath>

#include "model/dense_table.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample {
namespace {

// Entries of a factor with its variables in the order of `scope`, the last one fastest. x is 0 for all variables,
// before and after.
std::vector<double> entries_in_order(const FactorGraph& graph, const Factor& factor, std::span<const int> scope,
                                     Assignment& x) {
  std::vector<double> entries(num_table_entries(graph, scope));
  for (double& entry : entries) {
    entry = factor.log_values()[table_index(graph, factor, x)];
    for (auto v = scope.rbegin(); v != scope.rend() && ++x[*v] == graph.num_states(*v); ++v) x[*v] = 0;
  }
  return entries;
}

double magnitude_of(double value) { return std::isfinite(value) ? std::abs(value) : 0.0; }

std::vector<double> magnitudes_of(std::vector<double> values) {
  for (double& value : values) value = magnitude_of(value);
  return values;
}

// Takes out the last variable of a table, the fastest one.
void reduce_rows(const ReducedTables::ReduceRow& reduce, int variable, std::size_t num_states,
                 std::vector<double>& entries) {
  for (std::size_t row = 0; row < entries.size() / num_states; ++row) {
    entries[row] = reduce(variable, {&entries[row * num_states], num_states});
  }
  entries.resize(entries.size() / num_states);
}

// The rounding errors of sums over a level and everything below it.
class RoundingErrors {
 public:
  explicit RoundingErrors(const SearchSpace& space) : space_(space), levels_(space.levels.size()) {
    for (int n = space.num_levels() - 1; n >= 0; --n) {
      if (space.levels[n].parent >= 0) levels_[space.levels[n].parent].num_terms += levels_[n].num_terms;
    }
  }

  // A term of the levels from `from` up to `until`, without it; `num_added` numbers were added up to make it.
  void add(int from, int until, double magnitude, int num_added) {
    for (int n = from; n != until && n >= 0; n = space_.levels[n].parent) {
      levels_[n].magnitudes += magnitude;
      levels_[n].of_terms += num_added * magnitude;
      ++levels_[n].num_terms;
    }
  }

  // Adding up t numbers is off by at most t 2^-53 times the sum of their magnitudes.
  [[nodiscard]] double bound(int level, double constant) const {
    const Sums& sums = levels_[level];
    const double others = magnitude_of(constant);
    return 0x1.0p-52 * ((sums.num_terms + 8.0) * (sums.magnitudes + others) + sums.of_terms);
  }

 private:
  struct Sums {
    double num_terms = 1.0;  // one of each level below is its own
    double magnitudes = 1.0, of_terms = 0.0;
  };
  const SearchSpace& space_;
  std::vector<Sums> levels_;
};

}  // namespace

ReducedTables::ReducedTables(const FactorGraph& graph, const SearchSpace& space, const ReduceRow& reduce, Rows rows,
                             const std::vector<double>& own)
    : rounding_(space.levels.size(), 0.0) {
  std::vector<int> level_of(graph.num_variables());
  for (int n = 0; n < space.num_levels(); ++n) level_of[space.levels[n].variable] = n;
  std::vector<double> constants = own;
  Assignment x(level_of.size(), 0);
  RoundingErrors errors(space);
  std::vector<std::vector<int>> tables_of(space.levels.size());  // by level: what its row adds up
  for (int deepest = 0; deepest < space.num_levels(); ++deepest) {
    for (const int m : space.levels[deepest].factors) {
      const Factor& factor = graph.factor(m);
      if (!factor.is_table()) {
        constants[deepest] += *factor.log_max();
        errors.add(deepest, -1, magnitude_of(*factor.log_max()), 0);
        continue;
      }
      std::vector<int> scope = factor.scope();
      std::sort(scope.begin(), scope.end(), [&](int v, int w) { return level_of[v] < level_of[w]; });
      std::vector<double> entries = entries_in_order(graph, factor, scope, x);
      std::vector<double> magnitudes = magnitudes_of(entries);
      int num_added = 0;
      for (int from = deepest; from >= 0;) {
        const int variable = scope.back();
        reduce_rows(reduce, variable, graph.num_states(variable), entries);
        if (rows == Rows::kSummed) {
          reduce_rows(reduce, variable, graph.num_states(variable), magnitudes);
          num_added += graph.num_states(variable) + 1;
        } else {
          magnitudes = magnitudes_of(entries);
        }
        scope.pop_back();
        const int until = scope.empty() ? -1 : level_of[scope.back()];
        errors.add(from, until, *std::max_element(magnitudes.begin(), magnitudes.end()), num_added);
        if (scope.empty()) {
          constants[from] += entries.front();  // one number; the levels above get it with the constants
        } else {
          for (int n = from; n != until; n = space.levels[n].parent) {
            tables_of[n].push_back(static_cast<int>(tables_.size()));
          }
          tables_.push_back(entries);
          scopes_.push_back(scope);
        }
        from = until;
      }
    }
  }
  for (int n = space.num_levels() - 1; n >= 0; --n) {
    const int parent = space.levels[n].parent;
    if (parent >= 0) constants[parent] += constants[n];
  }
  for (int n = 0; n < space.num_levels(); ++n) {
    const int parent = space.levels[n].parent;
    rows_.begin_row(constants[n], parent >= 0 ? space.levels[parent].variable : -1);
    for (const int t : tables_of[n]) rows_.add(graph, {scopes_[t], tables_[t].data()});
    rounding_[n] = errors.bound(n, constants[n]);
  }
}

}  // namespace treesample
