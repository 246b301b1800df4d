// Rows of table look-ups. Row r adds up entries of tables that live elsewhere, at the states of x.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "model/dense_table.hpp"
#include "model/table_index.hpp"
#include "treesample/model/factor_graph.hpp"

namespace treesample {

class TableLookups {
 public:
  // Begins a row. Tables that contain the variable `own` are kept apart, so that sum_each() can run over its states.
  void begin_row(double constant, int own = -1) {
    rows_.push_back({constant, own, Range(unary_.size()), Range(terms_.size()), Range(own_terms_.size())});
  }
  // Adds a table to the row that was begun last.
  void add(const FactorGraph& graph, const TableView& table) {
    Row& row = rows_.back();
    if (table.scope.size() == 1 && table.scope[0] != row.own) {
      unary_.push_back({table.values, table.scope[0]});
      row.unary.end = unary_.size();
      return;
    }
    Term term{table.values, 0, static_cast<int>(strides_.size()), 0};
    const std::vector<std::size_t> strides = table_strides(states_of_scope(graph, table.scope));
    for (std::size_t i = 0; i < strides.size(); ++i) {
      const auto stride = static_cast<std::int64_t>(strides[i]);
      if (table.scope[i] == row.own) {
        term.own_stride = stride;
      } else {
        strides_.emplace_back(table.scope[i], stride);
      }
    }
    term.end = static_cast<int>(strides_.size());
    (term.own_stride != 0 ? own_terms_ : terms_).push_back(term);
    row.terms.end = terms_.size();
    row.own_terms.end = own_terms_.size();
  }

  [[nodiscard]] double sum(int row, std::span<const int> x) const {
    const Row& here = rows_[row];
    double result = sum_of_others(here, x);
    for (std::size_t t = here.own_terms.first; t < here.own_terms.end; ++t) {
      result += entry(own_terms_[t], x)[x[here.own] * own_terms_[t].own_stride];
    }
    return result;
  }
  // values[a] = the sum with the row's own variable in state a, whatever its state in x; the same bits as sum().
  void sum_each(int row, std::span<const int> x, std::span<double> values) const {
    const Row& here = rows_[row];
    std::fill(values.begin(), values.end(), sum_of_others(here, x));
    for (std::size_t t = here.own_terms.first; t < here.own_terms.end; ++t) {
      const double* from = entry(own_terms_[t], x);
      const std::int64_t stride = own_terms_[t].own_stride;
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
  // A table of one variable; most of the tables that remain from pair factors are such.
  struct UnaryTerm {
    const double* table = nullptr;
    int variable = 0;
  };
  struct Range {
    explicit Range(std::size_t begin) : first(begin), end(begin) {}
    std::size_t first, end;
  };
  struct Row {
    double constant = 0.0;
    int own = -1;
    Range unary, terms, own_terms;
  };

  [[nodiscard]] double sum_of_others(const Row& row, std::span<const int> x) const {
    double result = row.constant;
    for (std::size_t t = row.unary.first; t < row.unary.end; ++t) result += unary_[t].table[x[unary_[t].variable]];
    for (std::size_t t = row.terms.first; t < row.terms.end; ++t) result += *entry(terms_[t], x);
    return result;
  }
  [[nodiscard]] const double* entry(const Term& term, std::span<const int> x) const {
    const double* from = term.table;
    for (int s = term.first; s < term.end; ++s) from += x[strides_[s].first] * strides_[s].second;
    return from;
  }

  std::vector<std::pair<int, std::int64_t>> strides_;  // variable, stride in the table
  std::vector<UnaryTerm> unary_;
  std::vector<Term> terms_, own_terms_;
  std::vector<Row> rows_;
};

}  // namespace treesample
