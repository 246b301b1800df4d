// The cells of Table 2: the paper's, and ours from the numbers of all units.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "training_units.hpp"

namespace treesample::experiments {

// A line of the table: how Q_phi was trained, and what was measured.
struct Line {
  const Trainer* trainer;
  enum class Of { kPhi, kSearch, kTelescoped, kUncorrected, kCorrected, kSamplesOnly } of;

  [[nodiscard]] std::string word() const;  // smc_phi, ts_search, exact_telescoped
  [[nodiscard]] std::string title() const;
  [[nodiscard]] const char* number() const;  // its name among the numbers of a unit
  // False for what is measured only in the second half of a run (search_share.hpp).
  [[nodiscard]] bool has_curve() const { return of == Of::kPhi || of == Of::kSearch || of == Of::kTelescoped; }
  // True for lines with a search that is paid for on top of Q_phi.
  [[nodiscard]] bool has_search() const { return of == Of::kSearch || of == Of::kTelescoped || of == Of::kUncorrected; }
};
std::vector<Line> lines_of(const std::vector<const Trainer*>& trainers);

// Column 0 is the one without a value function; the training_columns() follow.
int num_columns();
std::string column_title(int column);
std::string column_word(int column);

struct Spread {
  double median, low, high;  // low and high: quartiles
};
// None if there are no values.
std::optional<Spread> spread_of(const std::vector<double>& values);

// None if the paper has "--", and for lines that the paper does not have.
std::optional<Spread> paper_cell(const std::string& line, int column);
inline const std::vector<std::string> kPaperLines = {"smc_phi", "smc_search", "ts_phi", "ts_search"};

// Two readings of "relative to TreeSample without value function". A delta-KL includes the problem's -log Z, which
// differs by nats between graphs.
// - paired: each run minus TreeSample on exactly the problems of the run, so that log Z cancels;
// - unpaired: each run minus one number, the median of TreeSample over the runs' single graphs. The spread between
//   graphs stays in: so do the paper's quartiles, whose first column is 0 with quartiles -1.47 and 1.68.
// There is also KL itself, with the log Z of exactly these problems from elimination.
class Results {
 public:
  // Takes the units of one reading. The numbers must outlive it.
  Results(const std::vector<TrainingUnit>& units, const std::vector<Numbers>& all, Reading reading);

  // One entry for each run; empty if there is no such unit. Column 0 is the same for all trainers.
  [[nodiscard]] const std::vector<const Numbers*>& unit_numbers(int column, const Trainer& trainer) const;
  // One value for each run; empty if there is no such cell.
  [[nodiscard]] std::vector<double> paired(const Line& line, int column) const;
  [[nodiscard]] std::vector<double> unpaired(const Line& line, int column) const;
  [[nodiscard]] std::vector<double> kl(const Line& line, int column) const;
  // KL of TreeSample without a value function: the most that can be gained.
  [[nodiscard]] std::vector<double> plain_kl(const Trainer& trainer, int column) const;

 private:
  [[nodiscard]] std::vector<double> raw(const Line& line, int column) const;
  [[nodiscard]] std::vector<double> added(std::vector<double> values, const Line& line, int column, const char* name,
                                          double sign) const;

  std::map<std::pair<std::string, std::string>, std::vector<const Numbers*>> numbers_;  // by column and trainer
  double plain_median_ = 0.0;
};

}  // namespace treesample::experiments
