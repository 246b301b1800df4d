#include "value/reduced_tables.hpp"

#include <algorithm>
#include <cmath>

#include "model/dense_table.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample {
namespace {

// The entries of a factor with its variables in the order of `scope`, the last one fastest. x must be all 0, and is all
// 0 again afterwards.
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

// Reduces the last, fastest variable of a table.
void reduce_rows(const ReducedTables::ReduceRow& reduce, int variable, std::size_t num_states,
                 std::vector<double>& entries) {
  for (std::size_t row = 0; row < entries.size() / num_states; ++row) {
    entries[row] = reduce(variable, {&entries[row * num_states], num_states});
  }
  entries.resize(entries.size() / num_states);
}

// Bounds on the rounding errors of the sums over a level and all levels below it.
class RoundingErrors {
 public:
  explicit RoundingErrors(const SearchSpace& space) : space_(space), levels_(space.levels.size()) {}

  // Adds a term of `level` and of all levels above it, which is itself the sum of `num_added` numbers.
  void add_from(int level, double magnitude, int num_added) { levels_[level].below.add(magnitude, num_added); }
  // Adds the error of a term that is counted already, in units of the last place.
  void add_error_from(int level, double error) { levels_[level].below.of_terms += error; }
  // Adds a term of this level alone.
  void add_at(int level, double magnitude, int num_added) { levels_[level].here.add(magnitude, num_added); }

  // Called once all terms are known, from the last level to the first.
  void hand_up(int level) {
    levels_[level].below.num_terms += 1.0;  // the constant of the level
    const int parent = space_.levels[level].parent;
    if (parent >= 0) levels_[parent].below.add(levels_[level].below);
  }
  // A sum of t numbers is off by at most about t 2^-53 times the sum of their magnitudes.
  [[nodiscard]] double bound(int level, double constant) const {
    Sums sums = levels_[level].below;
    sums.add(levels_[level].here);
    const double magnitudes = 1.0 + sums.magnitudes + magnitude_of(constant);
    return 0x1.0p-52 * ((sums.num_terms + 8.0) * magnitudes + sums.of_terms);
  }

 private:
  struct Sums {
    double num_terms = 0.0, magnitudes = 0.0, of_terms = 0.0;
    void add(double magnitude, int num_added) { add({1.0, magnitude, num_added * magnitude}); }
    void add(const Sums& other) {
      num_terms += other.num_terms;
      magnitudes += other.magnitudes;
      of_terms += other.of_terms;
    }
  };
  struct LevelSums {
    Sums below, here;
  };
  const SearchSpace& space_;
  std::vector<LevelSums> levels_;
};

std::vector<int> depths_of(const SearchSpace& space) {
  std::vector<int> depths(space.levels.size(), 1);
  for (std::size_t n = 0; n < depths.size(); ++n) {
    if (space.levels[n].parent >= 0) depths[n] = depths[space.levels[n].parent] + 1;
  }
  return depths;
}

}  // namespace

// Reduces the factors one after the other. A reduced table serves a range of levels and adds `Range::magnitude` to
// their rounding errors. A factor that is reduced to one number goes to `constants_`, which the levels above inherit.
class ReducedTables::Builder {
 public:
  Builder(ReducedTables& target, const FactorGraph& graph, const SearchSpace& space, const Reduction& reduction)
      : target_(target),
        graph_(graph),
        space_(space),
        reduction_(reduction),
        stop_(reduction.should_stop),
        constants_(reduction.own),
        level_of_(space.levels.size()),
        x_(space.levels.size(), 0),
        errors_(space) {
    for (int n = 0; n < space.num_levels(); ++n) level_of_[space.levels[n].variable] = n;
  }

  void build() {
    for (int n = 0; n < space_.num_levels(); ++n) {
      for (const int m : space_.levels[n].factors) reduce(n, graph_.factor(m));
    }
    const bool is_walked = num_row_terms() > kMostTermsPerTable * static_cast<double>(ranges_.size()) + kFewTerms;
    std::vector<std::vector<int>> tables_of(space_.levels.size());  // by level: the tables that its row adds up
    for (std::size_t t = 0; t < ranges_.size(); ++t) {
      const Range& range = ranges_[t];
      if (is_walked) {  // a bound that is too large: the levels above `until` inherit the error too
        errors_.add_from(range.from, range.magnitude, range.num_added);
        continue;
      }
      stop_.go_on(kFunction, range.from - range.until);
      for (int n = range.from; n != range.until; n = space_.levels[n].parent) {
        tables_of[n].push_back(static_cast<int>(t));
        errors_.add_at(n, range.magnitude, range.num_added);
      }
    }
    for (int n = space_.num_levels() - 1; n >= 0; --n) {
      // A level's own contribution is then also a sum over its states, weighted by numbers that add up to 1 within as
      // many units in the last place.
      if (reduction_.rows == Rows::kSummed) {
        errors_.add_error_from(n, (2.0 * space_.levels[n].num_states + 4.0) * (1.0 + magnitude_of(reduction_.own[n])));
      }
      errors_.hand_up(n);
      if (space_.levels[n].parent >= 0) constants_[space_.levels[n].parent] += constants_[n];
    }
    for (int n = 0; n < space_.num_levels(); ++n) {
      target_.rounding_.push_back(errors_.bound(n, constants_[n]));
      if (is_walked) continue;
      const int parent = space_.levels[n].parent;
      target_.rows_.begin_row(constants_[n], parent >= 0 ? space_.levels[parent].variable : -1);
      stop_.go_on(kFunction, static_cast<std::int64_t>(4 * tables_of[n].size()));
      for (const int t : tables_of[n]) target_.rows_.add(graph_, {target_.scopes_[t], target_.tables_[t].data()});
    }
    if (is_walked) make_walk();
  }

 private:
  static constexpr const char* kFunction = "ReducedTables";
  // With more terms than this, rows would take far more memory than the model itself.
  static constexpr double kMostTermsPerTable = 32.0, kFewTerms = 1 << 21;

  // A table serves the levels from `from` up to, but not including, `until`.
  struct Range {
    int from = 0, until = -1;
    double magnitude = 0.0;
    int num_added = 0;
  };

  void reduce(int deepest, const Factor& factor) {
    if (!factor.is_table()) {
      constants_[deepest] += *factor.log_max();
      errors_.add_from(deepest, magnitude_of(*factor.log_max()), 0);
      return;
    }
    std::vector<int> scope = factor.scope();
    std::sort(scope.begin(), scope.end(), [&](int v, int w) { return level_of_[v] < level_of_[w]; });
    std::vector<double> entries = entries_in_order(graph_, factor, scope, x_);
    stop_.go_on(kFunction, static_cast<std::int64_t>(8 * entries.size()));
    std::vector<double> magnitudes = magnitudes_of(entries);
    int num_added = 0;
    for (int from = deepest; from >= 0;) {
      const int variable = scope.back();
      reduce_rows(reduction_.reduce, variable, graph_.num_states(variable), entries);
      if (reduction_.rows == Rows::kSummed) {
        reduce_rows(reduction_.reduce, variable, graph_.num_states(variable), magnitudes);
        num_added += graph_.num_states(variable) + 1;
      } else {
        magnitudes = magnitudes_of(entries);
      }
      scope.pop_back();
      const double magnitude = *std::max_element(magnitudes.begin(), magnitudes.end());
      if (scope.empty()) {
        constants_[from] += entries.front();
        errors_.add_from(from, magnitude, num_added);
        return;
      }
      ranges_.push_back({from, level_of_[scope.back()], magnitude, num_added});
      target_.tables_.push_back(entries);
      target_.scopes_.push_back(scope);
      from = level_of_[scope.back()];
    }
  }

  [[nodiscard]] double num_row_terms() const {
    const std::vector<int> depths = depths_of(space_);
    double sum = 0.0;
    for (const Range& range : ranges_) sum += depths[range.from] - depths[range.until];
    return sum;
  }

  void make_walk() {
    TableWalk& walk = target_.walk_.emplace(space_, constants_);
    for (std::size_t t = 0; t < ranges_.size(); ++t) {
      walk.add(graph_, ranges_[t].from, ranges_[t].until, {target_.scopes_[t], target_.tables_[t].data()});
    }
    walk.finish();
  }

  ReducedTables& target_;
  const FactorGraph& graph_;
  const SearchSpace& space_;
  const Reduction& reduction_;
  StopCheck stop_;
  std::vector<double> constants_;
  std::vector<int> level_of_;
  Assignment x_;
  RoundingErrors errors_;
  std::vector<Range> ranges_;  // by table
};

ReducedTables::ReducedTables(const FactorGraph& graph, const SearchSpace& space, const Reduction& reduction) {
  Builder(*this, graph, space, reduction).build();
}

}  // namespace treesample
