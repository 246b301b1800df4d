// Figures of two kinds, as gnuplot scripts with their data inside: lines with error bars, clouds of points.
#pragma once

#include <string>
#include <vector>

namespace treesample::experiments {

struct PlotPoint {
  double x = 0.0;
  double y = 0.0;
  double error = 0.0;  // half the length of an error bar; lines only
};

enum class SeriesKind { kLine, kCloud };

struct Series {
  std::string name;
  std::vector<PlotPoint> points;
  SeriesKind kind = SeriesKind::kLine;
  int color = 0;  // of a palette that colour-blind readers can tell apart, 0 to 6
  bool is_dashed = false;
};

struct Plot {
  std::string title;
  std::string x_label;
  std::string y_label;
  bool is_x_log = false;
  // Values at or below `floor` are drawn on it, where the axis is labelled "exact".
  bool is_y_log = false;
  double floor = 1e-9;
  std::string extra;  // further gnuplot commands, such as tics
  std::vector<Series> series;
};

// Points that are not finite are left out.
std::string plot_script(const Plot& plot);

}  // namespace treesample::experiments
