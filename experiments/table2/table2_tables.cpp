#include "table2_tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "experiments/experiment.hpp"
#include "experiments/statistics.hpp"

namespace treesample::experiments {
namespace {

// Shows -3e-13 as +0.00.
std::string signed_text(double value) { return fmt::format("{:+.2f}", std::abs(value) < 0.005 ? 0.0 : value); }
std::string median_text(const std::optional<Spread>& spread) { return spread ? signed_text(spread->median) : "-"; }
std::string spread_text(const std::optional<Spread>& spread) {
  if (!spread) return "-";
  return fmt::format("{} [{}, {}]", signed_text(spread->median), signed_text(spread->low), signed_text(spread->high));
}
std::string plain_text(const std::optional<Spread>& spread) {
  return spread ? fmt::format("{:.2f}", spread->median) : "-";
}
double median_of(const std::vector<double>& values) { return quantile(values, 0.5); }

std::vector<std::string> header(const char* first) {
  std::vector<std::string> words{first};
  for (int c = 0; c < num_columns(); ++c) words.push_back(column_word(c));
  return words;
}

Table median_table(const Part& part) {
  Table table{.title = fmt::format("Medians, {} reading: ours, and the paper's below", part.word),
              .header = header("delta-KL relative to TS")};
  for (const Line& line : part.lines) {
    std::vector<std::string> ours{line.title()};
    std::vector<std::string> paper{"  paper"};
    for (int c = 0; c < num_columns(); ++c) {
      ours.push_back(median_text(spread_of(part.results.paired(line, c))));
      paper.push_back(median_text(paper_cell(line.word(), c)));
    }
    table.rows.push_back(ours);
    if (std::find(kPaperLines.begin(), kPaperLines.end(), line.word()) != kPaperLines.end())
      table.rows.push_back(paper);
  }
  return table;
}

Table kl_table(const Part& part) {
  Table table{.title = fmt::format("KL itself, {} reading: medians", part.word),
              .header = header("nats"),
              .remark =
                  "Nothing can gain more than the KL of TreeSample without value function. The residual is the "
                  "root mean square of R + V_phi(child) - Q_phi(edge) along samples of Q_phi."};
  const Trainer& first = *part.lines.front().trainer;
  std::vector<std::string> floor{"TS without value function"};
  for (int c = 0; c < num_columns(); ++c) floor.push_back(plain_text(spread_of(part.results.plain_kl(first, c))));
  table.rows.push_back(floor);
  for (const Line& line : part.lines) {
    std::vector<std::string> row{line.title()};
    for (int c = 0; c < num_columns(); ++c) row.push_back(plain_text(spread_of(part.results.kl(line, c))));
    table.rows.push_back(row);
    if (line.of != Line::Of::kPhi) continue;
    std::vector<std::string> residual{"  Bellman residual"};
    for (int c = 0; c < num_columns(); ++c) {
      const auto& runs = part.results.unit_numbers(c, *line.trainer);
      residual.push_back(c == 0 ? "-" : plain_text(spread_of(column(runs, "residual"))));
    }
    table.rows.push_back(residual);
  }
  return table;
}

Table line_table(const Part& part, const Line& line) {
  Table table{.title = fmt::format("{}, {} reading: median [quartiles]", line.title(), part.word),
              .header = {"value function", "paper", "ours, same problems", "ours, one reference"}};
  for (int c = 0; c < num_columns(); ++c) {
    if (part.results.paired(line, c).empty()) continue;
    table.rows.push_back({column_title(c), spread_text(paper_cell(line.word(), c)),
                          spread_text(spread_of(part.results.paired(line, c))),
                          spread_text(spread_of(part.results.unpaired(line, c)))});
  }
  return table;
}

// The gain of search over the network alone, run by run on the same problems.
Table gain_table(const Part& part) {
  Table table{.title = fmt::format("Search less Q_phi alone, {} reading: mean over runs (standard error)", part.word),
              .header = header("nats, paired"),
              .remark = "Below 0: the search is better than the network that it uses."};
  for (const Line& line : part.lines) {
    if (!line.has_search()) continue;
    std::vector<std::string> row{line.title(), "-"};
    for (int c = 1; c < num_columns(); ++c) {
      std::vector<double> values = part.results.paired(line, c);
      const std::vector<double> alone = part.results.paired({line.trainer, Line::Of::kPhi}, c);
      for (std::size_t r = 0; r < values.size(); ++r) values[r] -= alone[r];
      if (values.empty()) {
        row.emplace_back("-");
        continue;
      }
      const Summary summary = summarize(values);
      row.push_back(fmt::format("{:+.3f} ({:.3f})", summary.mean, summary.error));
    }
    table.rows.push_back(row);
  }
  return table;
}

// What the gain of the search with telescoped values over Q_phi alone consists of: the corrections by its samples, and
// the search itself on top of them.
Table share_table(const Part& part) {
  Table table{.title = fmt::format("What the gain of the telescoped search consists of, {} reading", part.word),
              .header = header("nats, mean over runs (standard error)"),
              .remark =
                  "The last line is the search's part of the whole gain. What is corrected without a search is "
                  "measured in every second measured episode of the second half."};
  using Of = Line::Of;
  for (const Line& line : part.lines) {
    if (line.of != Of::kTelescoped) continue;
    std::vector<std::string> corrected{fmt::format("{}: corrections less Q_phi alone", line.trainer->title), "-"};
    std::vector<std::string> search{fmt::format("{}: search less corrections", line.trainer->title), "-"};
    std::vector<std::string> share{fmt::format("{}: the search's part", line.trainer->title), "-"};
    for (int c = 1; c < num_columns(); ++c) {
      const std::vector<double> alone = part.results.paired({line.trainer, Of::kPhi}, c);
      const std::vector<double> fixed = part.results.paired({line.trainer, Of::kCorrected}, c);
      const std::vector<double> searched = part.results.paired(line, c);
      if (fixed.empty()) {
        for (auto* const row : {&corrected, &search, &share}) row->emplace_back("-");
        continue;
      }
      std::vector<double> by_samples, by_search;
      for (std::size_t r = 0; r < fixed.size(); ++r) {
        by_samples.push_back(fixed[r] - alone[r]);
        by_search.push_back(searched[r] - fixed[r]);
      }
      const Summary samples = summarize(by_samples);
      const Summary rest = summarize(by_search);
      corrected.push_back(fmt::format("{:+.3f} ({:.3f})", samples.mean, samples.error));
      search.push_back(fmt::format("{:+.3f} ({:.3f})", rest.mean, rest.error));
      share.push_back(fmt::format("{:.0f} %", 100.0 * rest.mean / (rest.mean + samples.mean)));
    }
    for (auto& row : {corrected, search, share}) table.rows.push_back(row);
  }
  return table;
}

const Line* find_line(const Part& part, const std::string& word) {
  for (const Line& line : part.lines) {
    if (line.word() == word) return &line;
  }
  return nullptr;
}

std::string order_text(const std::vector<std::pair<double, std::string>>& values) {
  std::vector<std::pair<double, std::string>> sorted = values;
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::string text;
  for (const auto& [value, word] : sorted) text += (text.empty() ? "" : " < ") + word;
  return text;
}

// For each cell: does our median have the paper's sign, and do the lines of a column come in the paper's order?
Table sign_table(const Part& part) {
  Table table{.title = fmt::format("The paper's signs and orders, {} reading", part.word), .header = header("sign")};
  int num_same = 0;
  int num_cells = 0;
  for (const std::string& word : kPaperLines) {
    const Line* const line = find_line(part, word);
    if (line == nullptr) continue;
    std::vector<std::string> row{line->title()};
    for (int c = 0; c < num_columns(); ++c) {
      const std::vector<double> ours = part.results.paired(*line, c);
      const std::optional<Spread> paper = paper_cell(word, c);
      if (ours.empty() || !paper || paper->median == 0.0) {
        row.emplace_back("-");
        continue;
      }
      const bool is_same = (median_of(ours) < 0.0) == (paper->median < 0.0);
      row.emplace_back(is_same ? "same" : "DIFFERS");
      num_same += is_same ? 1 : 0;
      ++num_cells;
    }
    table.rows.push_back(row);
  }
  std::vector<std::string> order{"order of the column"};
  int num_orders = 0;
  std::string misses;
  for (int c = 0; c < num_columns(); ++c) {
    std::vector<std::pair<double, std::string>> ours;
    std::vector<std::pair<double, std::string>> paper;
    for (const std::string& word : kPaperLines) {
      const Line* const line = find_line(part, word);
      const std::optional<Spread> cell = paper_cell(word, c);
      if (line == nullptr || !cell || part.results.paired(*line, c).empty()) continue;
      ours.emplace_back(median_of(part.results.paired(*line, c)), word);
      paper.emplace_back(cell->median, word);
    }
    const bool is_same = order_text(ours) == order_text(paper);
    num_orders += is_same ? 1 : 0;
    order.emplace_back(is_same ? "same" : "DIFFERS");
    if (!is_same) misses += fmt::format(" {}: {}; the paper: {}.", column_word(c), order_text(ours), order_text(paper));
  }
  table.rows.push_back(order);
  table.remark = fmt::format("Signs: {} of {} the paper's. Orders: {} of {}.{}", num_same, num_cells, num_orders,
                             num_columns(), misses);
  return table;
}

// Checks the conclusions that the paper draws from its table with our medians.
Table claim_table(const Part& part) {
  constexpr int kSameSize = 3;
  constexpr double kAboutAsGood = 0.5;  // the paper's medians differ by at most 0.41 from the one at the same size
  constexpr double kTie = 0.05;
  Table table{.title = fmt::format("The paper's statements in our medians, {} reading", part.word),
              .header = {"statement"}};
  for (int c = 1; c < num_columns(); ++c) table.header.push_back(column_word(c));
  const auto median = [&](const char* word, int c) {
    return median_of(part.results.paired(*find_line(part, word), c));
  };
  const auto add = [&](const char* statement, const auto& holds) {
    std::vector<std::string> row{statement};
    for (int c = 1; c < num_columns(); ++c) row.emplace_back(holds(c) ? "yes" : "no");
    table.rows.push_back(row);
  };
  const bool has_smc = find_line(part, "smc_phi") != nullptr;
  if (find_line(part, "ts_phi") == nullptr) return table;
  for (int c = 1; c < num_columns(); ++c) {
    if (part.results.unit_numbers(c, *find_line(part, "ts_phi")->trainer).empty()) return table;
  }
  add("TS with Q_phi better than without", [&](int c) { return median("ts_search", c) < 0.0; });
  if (has_smc) {
    add("trained by TS better than by SMC", [&](int c) { return median("ts_phi", c) < median("smc_phi", c); });
    add("SMC makes Q_phi worse", [&](int c) { return median("smc_search", c) > median("smc_phi", c); });
  }
  add("TS with Q_phi about as good as Q_phi or better",
      [&](int c) { return median("ts_search", c) < median("ts_phi", c) + kTie; });
  add("TS with telescoped Q_phi better than Q_phi",
      [&](int c) { return median("ts_telescoped", c) < median("ts_phi", c); });
  std::vector<std::string> sizes{"about as good as N_train 20"};
  for (int c = 1; c < num_columns(); ++c) {
    const bool is_close = std::abs(median("ts_search", c) - median("ts_search", kSameSize)) <= kAboutAsGood;
    sizes.emplace_back(c <= kSameSize ? "" : is_close ? "yes" : "no");
  }
  table.rows.push_back(sizes);
  return table;
}

// The only numbers that differ between two equal runs.
Table time_table(const Part& part) {
  Table table{.title = fmt::format("CPU seconds per run, {} reading, median", part.word),
              .header = header("trained by")};
  for (const Line& line : part.lines) {
    if (line.of != Line::Of::kPhi) continue;
    std::vector<std::string> row{line.trainer->title};
    for (int c = 0; c < num_columns(); ++c) {
      const std::vector<double> seconds = column(part.results.unit_numbers(c, *line.trainer), "seconds");
      row.push_back(seconds.empty() ? "-" : fmt::format("{:.1f}", median_of(seconds)));
    }
    table.rows.push_back(row);
  }
  return table;
}

std::string spread_cells(const std::optional<Spread>& spread) {
  return spread ? fmt::format(",{},{},{}", spread->median, spread->low, spread->high) : ",,,";
}

}  // namespace

std::vector<Table> part_tables(const Part& part) {
  std::vector<Table> tables = {median_table(part), kl_table(part), gain_table(part), share_table(part)};
  for (const Line& line : part.lines) tables.push_back(line_table(part, line));
  tables.push_back(sign_table(part));
  tables.push_back(claim_table(part));
  tables.push_back(time_table(part));
  return tables;
}

CsvFile table_csv(const std::vector<Part>& parts) {
  std::string text =
      "reading,row,column,runs,median,quartile_25,quartile_75,one_reference_median,one_reference_quartile_25,"
      "one_reference_quartile_75,kl_median,kl_quartile_25,kl_quartile_75,paper_median,paper_quartile_25,"
      "paper_quartile_75\n";
  for (const Part& part : parts) {
    for (const Line& line : part.lines) {
      for (int c = 0; c < num_columns(); ++c) {
        const std::vector<double> paired = part.results.paired(line, c);
        if (paired.empty()) continue;
        text +=
            fmt::format("{},{},{},{}{}{}{}{}\n", part.word, line.word(), column_word(c), paired.size(),
                        spread_cells(spread_of(paired)), spread_cells(spread_of(part.results.unpaired(line, c))),
                        spread_cells(spread_of(part.results.kl(line, c))), spread_cells(paper_cell(line.word(), c)));
      }
    }
  }
  return {"table2", text};
}

CsvFile runs_csv(const std::vector<Part>& parts) {
  std::string text =
      "reading,column,trainer,run,delta_kl,delta_kl_phi,delta_kl_telescoped,delta_kl_uncorrected,delta_kl_corrected,"
      "delta_kl_samples,delta_kl_plain,log_z,bellman_residual,loss\n";
  const auto cell = [](const Numbers& numbers, const char* name) {
    const auto found = numbers.find(name);
    return found == numbers.end() ? std::string() : fmt::format("{}", found->second);
  };
  for (const Part& part : parts) {
    for (int c = 0; c < num_columns(); ++c) {
      for (const Line& line : part.lines) {
        if (line.of != Line::Of::kPhi || (c == 0 && &line != &part.lines.front())) continue;
        const std::vector<const Numbers*>& runs = part.results.unit_numbers(c, *line.trainer);
        for (std::size_t r = 0; r < runs.size(); ++r) {
          const Numbers& run = *runs[r];
          text +=
              fmt::format("{},{},{},{},{}", part.word, column_word(c),
                          c == 0 ? "smc without network" : line.trainer->word, r, cell(run, c == 0 ? "smc" : "search"));
          for (const char* const name :
               {"phi", "telescoped", "uncorrected", "corrected", "samples", "plain", "log_z", "residual", "loss"}) {
            text += "," + cell(run, name);
          }
          text += "\n";
        }
      }
    }
  }
  return {"table2_runs", text};
}

}  // namespace treesample::experiments
