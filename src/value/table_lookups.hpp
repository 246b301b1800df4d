// Rows of table look-ups: row r adds up entries of tables that live elsewhere, at the states of x.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "model/dense_table.hpp"
#include "treesample/model/factor_graph.hpp"

namespace treesample {

class TableLookups {
 public:
  void begin_row(double constant) {
    const auto num_terms = static_cast<int>(terms_.size());
    const auto num_unary = static_cast<int>(unary_.size());
    rows_.push_back({constant, num_terms, num_terms, num_unary, num_unary});
  }
  // To the row that was begun last. A variable `own` of the scope is left open: sum_each() runs over it.
  void add(const FactorGraph& graph, const TableView& table, int own = -1) {
    if (own < 0 && table.scope.size() == 1) {
      unary_.push_back({table.values, table.scope[0]});
      rows_.back().end_unary = static_cast<int>(unary_.size());
      return;
    }
    Term term{table.values, 0, static_cast<int>(strides_.size()), 0};
    std::int64_t stride = 1;
    for (auto v = table.scope.rbegin(); v != table.scope.rend(); ++v) {
      if (*v == own) {
        term.own_stride = stride;
      } else {
        strides_.emplace_back(*v, stride);
      }
      stride *= graph.num_states(*v);
    }
    term.end = static_cast<int>(strides_.size());
    terms_.push_back(term);
    rows_.back().end = static_cast<int>(terms_.size());
  }

  [[nodiscard]] double sum(int row, std::span<const int> x) const {
    const Row& here = rows_[row];
    double result = here.constant;
    for (int t = here.first_unary; t < here.end_unary; ++t) result += unary_[t].table[x[unary_[t].variable]];
    for (int t = here.first; t < here.end; ++t) result += *entry(terms_[t], x);
    return result;
  }
  // values[a] = the sum with the open variable at a. Pre: every table of the row has been added with one.
  void sum_each(int row, std::span<const int> x, std::span<double> values) const {
    for (double& value : values) value = rows_[row].constant;
    for (int t = rows_[row].first; t < rows_[row].end; ++t) {
      const double* from = entry(terms_[t], x);
      const std::int64_t stride = terms_[t].own_stride;
      for (std::size_t a = 0; a < values.size(); ++a) values[a] += from[static_cast<std::int64_t>(a) * stride];
    }
  }

 private:
  struct Term {
    const double* table = nullptr;
    std::int64_t own_stride = 0;
    int first = 0;  // in strides_
    int end = 0;
  };
  // A table of one variable, as most are that are left of factors of two.
  struct UnaryTerm {
    const double* table = nullptr;
    int variable = 0;
  };
  struct Row {
    double constant = 0.0;
    int first = 0, end = 0;              // in terms_
    int first_unary = 0, end_unary = 0;  // in unary_
  };

  [[nodiscard]] const double* entry(const Term& term, std::span<const int> x) const {
    const double* from = term.table;
    for (int s = term.first; s < term.end; ++s) from += x[strides_[s].first] * strides_[s].second;
    return from;
  }

  std::vector<std::pair<int, std::int64_t>> strides_;  // variable, stride in the table
  std::vector<Term> terms_;
  std::vector<UnaryTerm> unary_;
  std::vector<Row> rows_;
};

}  // namespace treesample
