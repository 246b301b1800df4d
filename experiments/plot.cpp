#include "plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace treesample::experiments {
namespace {

// Okabe and Ito's palette without yellow, which is too light for lines on white, and seven more colours.
constexpr const char* kColors[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#000000", "#e69f00", "#56b4e9",
                                   "#7f7f7f", "#882255", "#44aa99", "#ddcc77", "#332288", "#661100", "#999933"};
constexpr int kPointTypes[] = {7, 5, 9, 11, 13, 4, 6, 12, 8, 10, 14, 15, 2, 1};

// A text that gnuplot reads literally, whatever it contains.
std::string gnuplot_text(const std::string& text) {
  std::string quote = "'";
  for (const char c : text) quote += c == '\'' ? "''" : std::string(1, c == '\n' ? ' ' : c);
  return quote + "'";
}

bool is_drawable(const Plot& plot, const PlotPoint& point) {
  return std::isfinite(point.x) && std::isfinite(point.y) && (!plot.is_y_log || point.y >= -kExact);
}

// The height at which exact values are drawn: a power of ten clearly below all others.
double exact_level(const Plot& plot) {
  double smallest = 1.0;
  for (const Series& series : plot.series) {
    for (const PlotPoint& point : series.points) {
      if (point.y > kExact) smallest = std::min(smallest, point.y);
    }
  }
  return std::pow(10.0, std::floor(std::log10(smallest / 2.0)));
}

std::string data_block(const Plot& plot, const Series& series, std::size_t index) {
  std::string block = fmt::format("$series{} << END\n", index);
  const double floor = plot.is_y_log ? exact_level(plot) : -HUGE_VAL;
  for (const PlotPoint& point : series.points) {
    if (!is_drawable(plot, point)) continue;
    block += fmt::format("{} {} {} {}\n", point.x, std::max(point.y, floor), std::max(point.y - point.error, floor),
                         std::max(point.y + point.error, floor));
  }
  return block + "END\n";
}

std::string style(const Series& series) {
  const int color = series.color % static_cast<int>(std::size(kColors));
  if (series.kind == SeriesKind::kCloud) {
    return fmt::format("with points pt 7 ps 0.5 lc rgb '#90{}'", kColors[color] + 1);
  }
  if (series.kind == SeriesKind::kMarks)
    return fmt::format("with points pt {} ps 1.1 lc rgb '{}'", kPointTypes[color], kColors[color]);
  if (series.kind == SeriesKind::kPlainLine) {
    return fmt::format("with lines lw {} {} lc rgb '{}'", series.is_dashed ? 1.6 : 2.4,
                       series.is_dashed ? "dt (6,4)" : "dt 1", kColors[color]);
  }
  if (series.kind == SeriesKind::kBand) {
    return fmt::format("with filledcurves lc rgb '{}' fs transparent solid 0.18 noborder", kColors[color]);
  }
  return fmt::format("with linespoints pt {} ps 0.8 lw 2.2 {} lc rgb '{}'", kPointTypes[color],
                     series.is_dashed ? "dt 2" : "dt 1", kColors[color]);
}

std::string log_y_axis(const Plot& plot) {
  std::string axis = "set logscale y\nset format y '10^{%T}'\n";
  bool has_exact = false;
  for (const Series& series : plot.series) {
    has_exact = has_exact || std::any_of(series.points.begin(), series.points.end(),
                                         [](const PlotPoint& point) { return std::abs(point.y) <= kExact; });
  }
  if (!has_exact) return axis;
  const double level = exact_level(plot);
  return axis + fmt::format("set yrange [{}:*]\nset ytics add ('exact' {})\n", level / 2.0, level);
}

}  // namespace

std::string plot_script(const Plot& whole) {
  Plot plot = whole;
  std::erase_if(plot.series, [&](const Series& series) {
    return std::none_of(series.points.begin(), series.points.end(),
                        [&](const PlotPoint& point) { return is_drawable(plot, point); });
  });
  if (plot.series.empty()) return "";
  std::string script;
  for (std::size_t i = 0; i < plot.series.size(); ++i) script += data_block(plot, plot.series[i], i);
  script += fmt::format("set title {} noenhanced\nset xlabel {} noenhanced\nset ylabel {} noenhanced\n",
                        gnuplot_text(plot.title), gnuplot_text(plot.x_label), gnuplot_text(plot.y_label));
  script +=
      "set key outside top center horizontal samplen 2 noenhanced\nset border 3 lc rgb '#4b535c'\n"
      "set tics nomirror out scale 0.6\nset grid lc rgb '#e3e6ea' lt 1 lw 1\n";
  if (plot.is_x_log) script += "set logscale x\nset format x '10^{%T}'\n";
  if (plot.is_y_log) script += log_y_axis(plot);
  script += plot.extra;
  script += "plot ";
  for (std::size_t i = 0; i < plot.series.size(); ++i) {
    const Series& series = plot.series[i];
    if (i > 0) script += ", \\\n     ";
    if (series.kind == SeriesKind::kLine || series.kind == SeriesKind::kMarks) {
      const bool has_errors = std::any_of(series.points.begin(), series.points.end(),
                                          [](const PlotPoint& point) { return point.error > kExact; });
      if (has_errors) {
        script += fmt::format("$series{} using 1:2:3:4 with yerrorbars pt 0 ps 0 lw 1 lc rgb '{}' notitle, \\\n     ",
                              i, kColors[series.color % static_cast<int>(std::size(kColors))]);
      }
    }
    script += fmt::format("$series{} using {} {} {}", i, series.kind == SeriesKind::kBand ? "1:3:4" : "1:2",
                          style(series), series.name.empty() ? "notitle" : "title " + gnuplot_text(series.name));
  }
  return script + "\n";
}

}  // namespace treesample::experiments
