// Probabilities of a variable given its context, computed once and read for many samples.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "treesample/model/factor_graph.hpp"

namespace treesample {

class ConditionalTables {
 public:
  // A table is not made if it has more than kMostEntries entries, or if all tables together would have more than
  // kMostInAll.
  static constexpr double kMostEntries = 512.0;
  static constexpr std::size_t kMostInAll = std::size_t{1} << 18;

  explicit ConditionalTables(int num_levels = 0) : rows_(static_cast<std::size_t>(num_levels)) {}

  // Makes the table of one level. `scope` is the context followed by the variable; write(x, probs, log_probs) is called
  // for every assignment of the context.
  using Write = std::function<void(std::span<const int> x, std::span<double> probs, std::span<double> log_probs)>;
  void make(const FactorGraph& graph, int level, std::span<const int> scope, const Write& write);

  struct View {
    std::span<const double> probs, log_probs;  // empty if there is no table
  };
  [[nodiscard]] View at(int level, std::span<const int> x) const {
    const Row& row = rows_[static_cast<std::size_t>(level)];
    if (row.num_states == 0) return {};
    std::size_t place = row.first;
    for (std::size_t s = row.first_stride; s < row.end_stride; ++s) {
      place += static_cast<std::size_t>(x[strides_[s].first]) * strides_[s].second;
    }
    const double* const from = numbers_.data() + place;
    return {{from, row.num_states}, {from + row.num_states, row.num_states}};
  }

 private:
  struct Row {
    std::size_t first = 0, num_states = 0, first_stride = 0, end_stride = 0;
  };
  std::vector<Row> rows_;                             // by level
  std::vector<std::pair<int, std::size_t>> strides_;  // variable, and the distance between its states in numbers_
  std::vector<double> numbers_;                       // for each context the probabilities, then their logarithms
};

}  // namespace treesample
