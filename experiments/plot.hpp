// Figures as gnuplot scripts with their data inside: points with error bars, clouds, lines, bands.
#pragma once

#include <string>
#include <vector>

namespace treesample::experiments {

inline constexpr double kExact = 1e-9;  // errors below this count as rounding

struct PlotPoint {
  double x = 0.0;
  double y = 0.0;
  double error = 0.0;  // half the length of an error bar; not in clouds
};

// Points with a line; points without one; very many small points; a line alone; the area between y - error and y +
// error.
enum class SeriesKind { kLine, kMarks, kCloud, kPlainLine, kBand };

struct Series {
  std::string name;  // in the key; if empty, it is not in the key
  std::vector<PlotPoint> points;
  SeriesKind kind = SeriesKind::kLine;
  int color = 0;  // in a palette that colour-blind readers can distinguish
  bool is_dashed = false;
};

struct Plot {
  std::string title;
  std::string x_label;
  std::string y_label;
  bool is_x_log = false;
  // If true, values of at most kExact in magnitude are drawn below all others, at a tic called "exact", and negative
  // values are left out.
  bool is_y_log = false;
  std::string extra;  // further gnuplot commands, such as tics
  std::vector<Series> series;
};

// Points that cannot be drawn are left out. The script is empty if no point is left.
std::string plot_script(const Plot& whole);

}  // namespace treesample::experiments
