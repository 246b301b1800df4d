#include "results.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "experiment.hpp"
#include "statistics.hpp"

namespace treesample::experiments {

std::string Line::word() const { return fmt::format("{}_{}", trainer->word, number()); }

std::string Line::title() const {
  const char* const method = trainer->method == InferenceMethod::kSmc ? "SMC" : "TS";
  switch (of) {
    case Of::kPhi:
      return fmt::format("Q_phi trained by {}, alone", trainer->title);
    case Of::kSearch:
      return trainer->title == method ? fmt::format("Q_phi + {}", method)
                                      : fmt::format("Q_phi ({}) + {}", trainer->title, method);
    case Of::kTelescoped:
      return fmt::format("Q_phi ({}) + TS, telescoped", trainer->title);
    case Of::kUncorrected:
      return fmt::format("Q_phi ({}) + TS, telescoped, uncorrected", trainer->title);
    case Of::kCorrected:
      return fmt::format("Q_phi ({}) corrected, no search", trainer->title);
    case Of::kSamplesOnly:
      break;
  }
  return fmt::format("Q_phi ({}) corrected by the whole budget, no search", trainer->title);
}

const char* Line::number() const {
  switch (of) {
    case Of::kPhi:
      return "phi";
    case Of::kSearch:
      return "search";
    case Of::kTelescoped:
      return "telescoped";
    case Of::kUncorrected:
      return "uncorrected";
    case Of::kCorrected:
      return "corrected";
    case Of::kSamplesOnly:
      break;
  }
  return "samples";
}

std::vector<Line> lines_of(const std::vector<const Trainer*>& trainers) {
  using Of = Line::Of;
  std::vector<Line> lines;
  for (const Trainer* const trainer : trainers) {
    std::vector<Of> all = {Of::kPhi, Of::kSearch};
    if (trainer->method == InferenceMethod::kTree) {
      all.insert(all.end(), {Of::kTelescoped, Of::kUncorrected, Of::kCorrected, Of::kSamplesOnly});
    }
    for (const Of of : all) lines.push_back({trainer, of});
  }
  return lines;
}

int num_columns() { return 1 + static_cast<int>(training_columns().size()); }
std::string column_title(int column) { return column == 0 ? "none" : training_columns()[column - 1].title; }
std::string column_word(int column) { return column == 0 ? "none" : training_columns()[column - 1].word; }

std::optional<Spread> spread_of(const std::vector<double>& values) {
  if (values.empty()) return std::nullopt;
  return Spread{quantile(values, 0.5), quantile(values, 0.25), quantile(values, 0.75)};
}

std::optional<Spread> paper_cell(const std::string& line, int column) {
  static const std::optional<Spread> cells[4][7] = {
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
  const auto found = std::find(kPaperLines.begin(), kPaperLines.end(), line);
  return found == kPaperLines.end() ? std::nullopt : cells[found - kPaperLines.begin()][column];
}

Results::Results(const std::vector<TrainingUnit>& units, const std::vector<Numbers>& all, Reading reading) {
  for (std::size_t u = 0; u < units.size(); ++u) {
    const TrainingUnit& unit = units[u];
    if (unit.reading != reading) continue;
    numbers_[unit.column == nullptr ? std::pair<std::string, std::string>{"none", ""}
                                    : std::pair{unit.column->word, unit.trainer->word}]
        .push_back(&all[u]);
  }
  plain_median_ = quantile(column(unit_numbers(0, {}), "plain"), 0.5);
}

const std::vector<const Numbers*>& Results::unit_numbers(int column, const Trainer& trainer) const {
  static const std::vector<const Numbers*> none;
  const auto found = numbers_.find({column_word(column), column == 0 ? "" : trainer.word});
  return found == numbers_.end() ? none : found->second;
}

std::vector<double> Results::raw(const Line& line, int column_index) const {
  const bool is_paper = paper_cell(line.word(), column_index).has_value();
  if (column_index == 0 && !is_paper) return {};
  const char* const without_network = line.trainer->method == InferenceMethod::kSmc ? "smc" : "plain";
  if (column_index > 0 && line.of != Line::Of::kPhi) {
    const std::vector<const Numbers*>& runs = unit_numbers(column_index, *line.trainer);
    if (!runs.empty() && !runs.front()->contains(line.number())) return {};
  }
  return column(unit_numbers(column_index, *line.trainer), column_index == 0 ? without_network : line.number());
}

std::vector<double> Results::added(std::vector<double> values, const Line& line, int column, const char* name,
                                   double sign) const {
  const std::vector<const Numbers*>& runs = unit_numbers(column, *line.trainer);
  for (std::size_t r = 0; r < values.size(); ++r) values[r] += sign * runs[r]->at(name);
  return values;
}

std::vector<double> Results::paired(const Line& line, int column) const {
  return added(raw(line, column), line, column, "plain", -1.0);
}

std::vector<double> Results::unpaired(const Line& line, int column) const {
  std::vector<double> values = raw(line, column);
  for (double& value : values) value -= plain_median_;
  return values;
}

std::vector<double> Results::kl(const Line& line, int column) const {
  return added(raw(line, column), line, column, "log_z", 1.0);
}

std::vector<double> Results::plain_kl(const Trainer& trainer, int column_index) const {
  const Line line{&trainer, Line::Of::kPhi};
  return added(column(unit_numbers(column_index, trainer), "plain"), line, column_index, "log_z", 1.0);
}

}  // namespace treesample::experiments
