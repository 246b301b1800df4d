#include "plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace treesample::experiments {
namespace {

// Okabe and Ito's palette without the yellow, which is too light for lines on white.
constexpr const char* kColors[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#000000", "#e69f00", "#56b4e9"};
constexpr int kPointTypes[] = {7, 5, 9, 11, 13, 4, 6};

// A text as gnuplot reads it literally, whatever it holds.
std::string quoted(const std::string& text) {
  std::string quote = "'";
  for (const char c : text) quote += c == '\'' ? "''" : std::string(1, c == '\n' ? ' ' : c);
  return quote + "'";
}

std::string data_block(const Plot& plot, const Series& series, std::size_t index) {
  std::string block = fmt::format("$series{} << END\n", index);
  for (const PlotPoint& point : series.points) {
    if (!std::isfinite(point.x) || !std::isfinite(point.y)) continue;
    double low = point.y - point.error;
    double y = point.y;
    if (plot.is_y_log) {
      y = std::max(y, plot.floor);
      low = std::max(low, plot.floor);
    }
    block += fmt::format("{} {} {} {}\n", point.x, y, low, std::max(point.y + point.error, y));
  }
  return block + "END\n";
}

std::string style(const Series& series) {
  const int color = series.color % static_cast<int>(std::size(kColors));
  if (series.kind == SeriesKind::kCloud) {
    return fmt::format("with points pt 7 ps 0.35 lc rgb '#90{}'", kColors[color] + 1);
  }
  return fmt::format("with linespoints pt {} ps 0.8 lw 2.2 {} lc rgb '{}'", kPointTypes[color],
                     series.is_dashed ? "dt 2" : "dt 1", kColors[color]);
}

}  // namespace

std::string plot_script(const Plot& plot) {
  std::string script;
  for (std::size_t i = 0; i < plot.series.size(); ++i) script += data_block(plot, plot.series[i], i);
  script += fmt::format("set title {} noenhanced\nset xlabel {} noenhanced\nset ylabel {} noenhanced\n",
                        quoted(plot.title), quoted(plot.x_label), quoted(plot.y_label));
  script +=
      "set key outside below center horizontal samplen 2 noenhanced\nset border 3 lc rgb '#4b535c'\n"
      "set tics nomirror out scale 0.6\nset grid lc rgb '#e3e6ea' lt 1 lw 1\n";
  if (plot.is_x_log) script += "set logscale x\nset format x '10^{%T}'\n";
  if (plot.is_y_log) {
    bool has_floor = false;
    double highest = plot.floor * 10.0;
    for (const Series& series : plot.series) {
      for (const PlotPoint& point : series.points) {
        has_floor = has_floor || point.y <= plot.floor;
        if (std::isfinite(point.y)) highest = std::max(highest, point.y + point.error);
      }
    }
    script += "set logscale y\nset format y '10^{%T}'\n";
    if (has_floor) {
      script +=
          fmt::format("set yrange [{}:{}]\nset ytics add ('exact' {})\n", plot.floor / 2.0, highest * 2.0, plot.floor);
    }
  }
  script += plot.extra;
  script += "plot ";
  for (std::size_t i = 0; i < plot.series.size(); ++i) {
    const Series& series = plot.series[i];
    if (i > 0) script += ", \\\n     ";
    if (series.kind == SeriesKind::kLine) {
      const bool has_errors = std::any_of(series.points.begin(), series.points.end(),
                                          [](const PlotPoint& point) { return point.error > 0.0; });
      if (has_errors) {
        script += fmt::format("$series{} using 1:2:3:4 with yerrorbars pt 0 ps 0 lw 1 lc rgb '{}' notitle, \\\n     ",
                              i, kColors[series.color % static_cast<int>(std::size(kColors))]);
      }
    }
    script += fmt::format("$series{} using 1:2 {} title {}", i, style(series), quoted(series.name));
  }
  return script + "\n";
}

}  // namespace treesample::experiments
