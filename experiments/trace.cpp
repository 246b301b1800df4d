#include "trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <sstream>

#include "plot.hpp"
#include "treesample/error.hpp"
#include "treesample/io/file.hpp"

namespace treesample::experiments {
namespace {

constexpr std::array<const char*, 5> kColumns = {"seconds", "evaluations", "lower", "upper", "estimate"};
// More points than this cannot be distinguished on paper.
constexpr int kPointsPerDecade = 40;

std::vector<std::string> split(const std::string& line) {
  std::vector<std::string> fields;
  std::istringstream stream(line);
  for (std::string field; std::getline(stream, field, ',');) {
    while (!field.empty() && field.back() == '\r') field.pop_back();
    fields.push_back(field);
  }
  return fields;
}

[[noreturn]] void throw_parse(const std::string& path, int line, const std::string& message) {
  throw Error(ErrorCode::kParse, fmt::format("{}:{}: {}", path, line, message));
}

double parse_number(const std::string& path, int line, const std::string& text) {
  std::size_t used = 0;
  double value = NAN;
  try {
    value = std::stod(text, &used);
  } catch (const std::exception&) {
    used = 0;
  }
  if (used != text.size() || std::isnan(value)) throw_parse(path, line, fmt::format("'{}' is not a number", text));
  return value;
}

// The position in a line at which each column is found.
std::array<std::size_t, kColumns.size()> find_columns(const std::string& path, int line, const std::string& header) {
  const std::vector<std::string> names = split(header);
  std::array<std::size_t, kColumns.size()> columns{};
  for (std::size_t c = 0; c < kColumns.size(); ++c) {
    columns[c] = std::find(names.begin(), names.end(), kColumns[c]) - names.begin();
    if (columns[c] == names.size()) {
      throw_parse(path, line,
                  fmt::format("no column '{}': a file of 'infer --trace' has seconds, evaluations, lower, upper, "
                              "estimate",
                              kColumns[c]));
    }
  }
  return columns;
}

// Chooses rows that are about evenly spaced in the logarithm of time. The first and the last row are always among them.
std::vector<TraceRow> thinned(const std::vector<TraceRow>& rows, double first_second) {
  std::vector<TraceRow> kept;
  double next = 0.0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const double seconds = std::max(rows[i].seconds, first_second);
    if (i > 0 && i + 1 < rows.size() && rows[i + 1].seconds < next) continue;
    kept.push_back(rows[i]);
    kept.back().seconds = seconds;
    next = seconds * std::pow(10.0, 1.0 / kPointsPerDecade);
  }
  return kept;
}

// value(row) as a staircase: a value stays until a better one is known.
template <typename MakePoint>
std::vector<PlotPoint> staircase(const std::vector<TraceRow>& rows, MakePoint make_point) {
  std::vector<PlotPoint> points;
  for (const TraceRow& row : rows) {
    if (!points.empty()) {
      points.push_back(points.back());
      points.back().x = row.seconds;
    }
    points.push_back(make_point(row));
  }
  return points;
}

// The time at which a logarithmic axis begins.
double first_second(const std::vector<Trace>& traces) {
  double first = HUGE_VAL;
  for (const Trace& trace : traces) {
    for (const TraceRow& row : trace.rows) {
      if (row.seconds > 0.0) first = std::min(first, row.seconds);
    }
  }
  return first < HUGE_VAL ? first : 1.0;
}

// Bounds from factor maxima can be a hundred times wider than others. So the trace that begins narrowest is shown in
// full, and wider ones are cut off. Empty if nothing is cut off.
std::string value_range(const std::vector<Trace>& traces) {
  TraceRow narrowest{.lower = -HUGE_VAL, .upper = HUGE_VAL};
  double widest = 0.0;
  for (const Trace& trace : traces) {
    const auto first = std::find_if(trace.rows.begin(), trace.rows.end(),
                                    [](const TraceRow& row) { return std::isfinite(row.upper - row.lower); });
    if (first == trace.rows.end()) continue;
    widest = std::max(widest, first->upper - first->lower);
    if (first->upper - first->lower < narrowest.upper - narrowest.lower) narrowest = *first;
  }
  const double gap = narrowest.upper - narrowest.lower;
  constexpr double kMuchWider = 8.0;
  constexpr double kMargin = 3.0;
  if (!std::isfinite(gap) || gap <= 0.0 || widest < kMuchWider * gap) return "";
  return fmt::format("set yrange [{}:{}]\n", narrowest.lower - kMargin * gap, narrowest.upper + kMargin * gap);
}

std::string text_of(double value) {
  return std::isfinite(value) ? fmt::format("{:.4f}", value) : value < 0 ? "-inf" : "inf";
}

// A label may contain the separator of columns.
std::string quoted_label(const std::string& label) {
  if (label.find_first_of(",\"") == std::string::npos) return label;
  std::string quote = "\"";
  for (const char c : label) quote += c == '"' ? "\"\"" : std::string(1, c);
  return quote + "\"";
}

std::string time_axis(const std::vector<Trace>& traces) {
  double last = 0.0;
  for (const Trace& trace : traces) last = std::max(last, trace.rows.back().seconds);
  const double first = first_second(traces);
  return fmt::format("set format x '%g'\nset xrange [{}:{}]\n", first / 1.1, std::max(1.1 * last, 2.0 * first));
}

Plot bounds_plot(const std::vector<Trace>& traces) {
  Plot plot{.title = "certified bounds of log Z",
            .x_label = "seconds",
            .y_label = "log Z (nats)",
            .is_x_log = true,
            .extra = time_axis(traces) + value_range(traces),
            .series = {}};
  for (std::size_t t = 0; t < traces.size(); ++t) {
    std::vector<TraceRow> rows = thinned(traces[t].rows, first_second(traces));
    const int color = static_cast<int>(t);
    const auto add = [&](const std::string& name, SeriesKind kind, bool is_dashed, auto make_point) {
      plot.series.push_back(
          {.name = name, .points = staircase(rows, make_point), .kind = kind, .color = color, .is_dashed = is_dashed});
    };
    add("", SeriesKind::kBand, false, [](const TraceRow& row) {
      return PlotPoint{row.seconds, (row.lower + row.upper) / 2.0, (row.upper - row.lower) / 2.0};
    });
    add("", SeriesKind::kPlainLine, false, [](const TraceRow& row) { return PlotPoint{row.seconds, row.lower}; });
    add(traces[t].label, SeriesKind::kPlainLine, false, [](const TraceRow& row) {
      return PlotPoint{row.seconds, row.upper};
    });
    const PlotPoint last{rows.back().seconds, rows.back().estimate};
    rows.pop_back();
    add("", SeriesKind::kPlainLine, true, [](const TraceRow& row) { return PlotPoint{row.seconds, row.estimate}; });
    plot.series.push_back({.name = "", .points = {last}, .kind = SeriesKind::kMarks, .color = color});
  }
  return plot;
}

Plot gap_plot(const std::vector<Trace>& traces) {
  Plot plot{.title = "what the bounds leave open",
            .x_label = "seconds",
            .y_label = "U - L (nats)",
            .is_x_log = true,
            .is_y_log = true,
            .extra = time_axis(traces),
            .series = {}};
  for (std::size_t t = 0; t < traces.size(); ++t) {
    plot.series.push_back({.name = traces[t].label,
                           .points = staircase(thinned(traces[t].rows, first_second(traces)),
                                               [](const TraceRow& row) {
                                                 return PlotPoint{row.seconds, row.upper - row.lower};
                                               }),
                           .kind = SeriesKind::kPlainLine,
                           .color = static_cast<int>(t)});
  }
  return plot;
}

}  // namespace

Trace read_trace(const std::string& label, const std::string& path) {
  std::istringstream lines(read_file(path));
  Trace trace{.label = label, .rows = {}};
  std::array<std::size_t, kColumns.size()> columns{};
  bool has_header = false;
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (line.empty() || line == "\r" || line[0] == '#') continue;
    if (!has_header) {
      columns = find_columns(path, number, line);
      has_header = true;
      continue;
    }
    const std::vector<std::string> fields = split(line);
    std::array<double, kColumns.size()> values{};
    for (std::size_t c = 0; c < kColumns.size(); ++c) {
      if (columns[c] >= fields.size()) throw_parse(path, number, fmt::format("no field '{}'", kColumns[c]));
      values[c] = parse_number(path, number, fields[columns[c]]);
    }
    trace.rows.push_back({values[0], values[1], values[2], values[3], values[4]});
  }
  if (trace.rows.empty()) throw_parse(path, number, "no rows");
  std::stable_sort(trace.rows.begin(), trace.rows.end(),
                   [](const TraceRow& a, const TraceRow& b) { return a.seconds < b.seconds; });
  return trace;
}

Report trace_report(const std::vector<Trace>& traces) {
  check_argument(!traces.empty(), "trace_report", "there is no trace");
  Table table{.title = "Where the traces end",
              .header = {"trace", "seconds", "evaluations", "lower", "upper", "gap", "estimate"},
              .rows = {},
              .remark = ""};
  CsvFile csv{.name = "traces", .text = "trace,seconds,evaluations,lower,upper,estimate\n"};
  for (const Trace& trace : traces) {
    const TraceRow& last = trace.rows.back();
    table.rows.push_back({trace.label, fmt::format("{:.2f}", last.seconds), fmt::format("{:.0f}", last.evaluations),
                          text_of(last.lower), text_of(last.upper), text_of(last.upper - last.lower),
                          text_of(last.estimate)});
    for (const TraceRow& row : trace.rows) {
      csv.text += fmt::format("{},{},{},{},{},{}\n", quoted_label(trace.label), row.seconds, row.evaluations, row.lower,
                              row.upper, row.estimate);
    }
  }
  Report report{.title = "Bounds over time"};
  report.introduction =
      "log Z lies between two certified bounds at every moment; what narrows them faster is better. Times are those of "
      "the machines that the traces come from.";
  report.options = {{"version", "treesample " TREESAMPLE_VERSION}};
  report.tables = {table};
  report.figures = {
      {.name = "bounds",
       .title = "Bounds",
       .caption =
           "Bands reach from the lower to the upper bound, from where both are finite; much wider ones are cut off. "
           "Dashed: the estimate while searching; mark: the one in the end.",
       .script = plot_script(bounds_plot(traces)),
       .plot = bounds_plot(traces)},
      {.name = "gap",
       .title = "What they leave open",
       .caption = "",
       .script = plot_script(gap_plot(traces)),
       .plot = gap_plot(traces)}};
  std::erase_if(report.figures, [](const Figure& figure) { return figure.script.empty(); });
  report.csv_files = {csv};
  return report;
}

}  // namespace treesample::experiments
