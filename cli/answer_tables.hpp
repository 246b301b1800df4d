// Answers as tables: CSV files for spreadsheets and data frames.
#pragma once

#include <string>

#include "model_input.hpp"
#include "treesample/infer/answer.hpp"

namespace treesample::cli {

// variable,state,probability,error: one row per state, of the variables that were asked for, or of all. The error is
// the standard error where there is one: 0 for exact numbers, empty where it is not known.
void write_marginals(const Answer& answer, const FactorGraph& graph, const std::string& path);

// One column per variable, one row per sample, states by name.
void write_samples(const Answer& answer, const FactorGraph& graph, const std::string& path);

// The table of many cases: one row each.
class CaseTable {
 public:
  void add(const std::string& label, const Answer& answer, const Model& model);
  // CSV; the first line has the names of the columns.
  [[nodiscard]] const std::string& text() const { return text_; }
  [[nodiscard]] std::size_t num_rows() const { return num_rows_; }

 private:
  std::string text_;
  std::size_t num_rows_ = 0;
};

}  // namespace treesample::cli
