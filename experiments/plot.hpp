// Figures as gnuplot scripts with their data inside: points with error bars, clouds, lines, bands.
#pragma once

#include <string>
#include <vector>

namespace treesample::experiments {

inline constexpr double kExact = 1e-9;  // errors below this are rounding

struct PlotPoint {
  double x = 0.0;
  double y = 0.0;
  double error = 0.0;  // half the length of an error bar; not in clouds
};

// Points with a line, without one, very many small ones, a line alone, the area between y - error and y + error.
enum class SeriesKind { kLine, kMarks, kCloud, kPlainLine, kBand };

struct Series {
  std::string name;  // in the key; empty is not there
  std::vector<PlotPoint> points;
  SeriesKind kind = SeriesKind::kLine;
  int color = 0;  // of a palette that colour-blind readers can tell apart
  bool is_dashed = false;
};

struct Plot {
  std::string title;
  std::string x_label;
  std::string y_label;
  bool is_x_log = false;
  // Values up to kExact in size are drawn below all others, at a tic called "exact"; negative ones are left out.
  bool is_y_log = false;
  std::string extra;  // further gnuplot commands, such as tics
  std::vector<Series> series;
};

// Points that cannot be drawn are left out; empty when no point is left.
std::string plot_script(const Plot& whole);

}  // namespace treesample::experiments
