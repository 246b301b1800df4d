// The cells of Table 2: the paper's, and ours from the numbers of all units.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "training_units.hpp"

namespace treesample::experiments {

// A line of the paper's table: how Q_phi was trained, and what is measured.
struct Line {
  InferenceMethod method;
  bool is_search;  // inference with Q_phi, not Q_phi alone
  const char* word;
  const char* title;
};
inline constexpr Line kLines[] = {
    {InferenceMethod::kSmc, false, "smc_phi", "Q_phi trained by SMC, alone"},
    {InferenceMethod::kSmc, true, "smc_search", "Q_phi + SMC"},
    {InferenceMethod::kTreeSample, false, "ts_phi", "Q_phi trained by TS, alone"},
    {InferenceMethod::kTreeSample, true, "ts_search", "Q_phi + TS"},
};
inline constexpr int kNumLines = 4;

// Column 0 is the one without value function, then come training_columns().
int num_columns();
std::string column_title(int column);
std::string column_word(int column);

struct Spread {
  double median, low, high;  // low and high: quartiles
};
// None for no values.
std::optional<Spread> spread_of(const std::vector<double>& values);
// None where the paper has "--".
std::optional<Spread> paper_cell(int line, int column);

// Two readings of "relative to TreeSample without value function". A delta-KL holds the problem's -log Z,
// which differs by nats between graphs.
// - paired: each run minus TreeSample on the very problems of the run, so that log Z cancels;
// - unpaired: each run minus one number, the median of TreeSample over the runs' single graphs. The spread between
// graphs
//   stays in: so do the paper's quartiles, whose first column is 0 with quartiles -1.47 and 1.68.
class Results {
 public:
  // The numbers must outlive it.
  Results(const std::vector<TrainingUnit>& units, const std::vector<Numbers>& all);

  // Of all runs; column 0 has the same for both methods.
  [[nodiscard]] const std::vector<const Numbers*>& unit_numbers(int column, InferenceMethod method) const;
  // Per run; empty where there is no such cell.
  [[nodiscard]] std::vector<double> paired(int line, int column) const;
  [[nodiscard]] std::vector<double> unpaired(int line, int column) const;

 private:
  [[nodiscard]] std::vector<double> raw(int line, int column) const;

  std::map<std::pair<std::string, InferenceMethod>, std::vector<const Numbers*>> numbers_;
  double plain_median_ = 0.0;
};

}  // namespace treesample::experiments
