#include "results.hpp"

#include "experiment.hpp"
#include "statistics.hpp"

namespace treesample::experiments {

int num_columns() { return 1 + static_cast<int>(training_columns().size()); }
std::string column_title(int column) { return column == 0 ? "none" : training_columns()[column - 1].title; }
std::string column_word(int column) { return column == 0 ? "none" : training_columns()[column - 1].word; }

std::optional<Spread> spread_of(const std::vector<double>& values) {
  if (values.empty()) return std::nullopt;
  return Spread{quantile(values, 0.5), quantile(values, 0.25), quantile(values, 0.75)};
}

std::optional<Spread> paper_cell(int line, int column) {
  static const std::optional<Spread> cells[kNumLines][7] = {
      {std::nullopt,
       {{1.63, -1.60, 2.87}},
       {{-0.19, -2.68, 1.49}},
       {{-0.97, -2.41, 0.40}},
       {{-1.00, -1.52, -0.58}},
       {{-1.17, -1.42, -0.46}},
       {{-0.64, -0.84, -0.32}}},
      {{{2.72, 1.02, 4.54}},
       {{2.93, -1.54, 4.32}},
       {{1.64, -1.61, 3.46}},
       {{2.56, 0.58, 4.42}},
       {{2.00, 1.72, 2.19}},
       {{1.64, 1.38, 2.05}},
       {{2.10, 1.50, 2.68}}},
      {std::nullopt,
       {{-3.61, -5.73, -0.60}},
       {{-3.86, -6.03, -0.85}},
       {{-2.05, -3.58, -0.55}},
       {{-2.12, -2.23, -1.99}},
       {{-2.52, -2.63, -2.40}},
       {{-1.83, -2.13, -1.76}}},
      {{{0.00, -1.47, 1.68}},
       {{-3.63, -5.72, -0.64}},
       {{-3.87, -6.05, -0.88}},
       {{-2.23, -3.75, -0.73}},
       {{-2.22, -2.30, -2.05}},
       {{-2.64, -2.79, -2.55}},
       {{-2.35, -2.46, -2.10}}},
  };
  return cells[line][column];
}

Results::Results(const std::vector<TrainingUnit>& units, const std::vector<Numbers>& all) {
  for (std::size_t u = 0; u < units.size(); ++u) {
    numbers_[{units[u].column == nullptr ? "none" : units[u].column->word, units[u].method}].push_back(&all[u]);
  }
  plain_median_ = quantile(column(unit_numbers(0, InferenceMethod::kTreeSample), "plain"), 0.5);
}

const std::vector<const Numbers*>& Results::unit_numbers(int column, InferenceMethod method) const {
  return numbers_.at({column_word(column), column == 0 ? InferenceMethod::kTreeSample : method});
}

std::vector<double> Results::raw(int line, int column_index) const {
  const auto [method, is_search, word, title] = kLines[line];
  if (column_index == 0 && !is_search) return {};
  const char* const without_network = method == InferenceMethod::kSmc ? "smc" : "plain";
  return column(unit_numbers(column_index, method), column_index == 0 ? without_network : is_search ? "search" : "phi");
}

std::vector<double> Results::paired(int line, int column_index) const {
  std::vector<double> values = raw(line, column_index);
  const std::vector<const Numbers*>& runs = unit_numbers(column_index, kLines[line].method);
  for (std::size_t r = 0; r < values.size(); ++r) values[r] -= runs[r]->at("plain");
  return values;
}

std::vector<double> Results::unpaired(int line, int column_index) const {
  std::vector<double> values = raw(line, column_index);
  for (double& value : values) value -= plain_median_;
  return values;
}

}  // namespace treesample::experiments
