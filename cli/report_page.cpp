#include "report_page.hpp"

#include <cmath>
#include <nlohmann/json.hpp>

#include "treesample/io/json_text.hpp"
#include "treesample/page/answer_page.hpp"

namespace treesample::cli {
namespace {

using Json = nlohmann::ordered_json;

Json points_json(const experiments::Series& series) {
  Json points = Json::array();
  for (const experiments::PlotPoint& point : series.points) {
    if (!std::isfinite(point.x) || !std::isfinite(point.y)) continue;
    points.push_back({point.x, point.y, std::isfinite(point.error) ? Json(point.error) : Json()});
  }
  return points;
}

Json figure_json(const experiments::Figure& figure) {
  const experiments::Plot& plot = *figure.plot;
  Json series = Json::array();
  for (const experiments::Series& one : plot.series) {
    series.push_back({{"name", one.name},
                      {"color", one.color},
                      {"is_dashed", one.is_dashed},
                      {"is_band", one.kind == experiments::SeriesKind::kBand},
                      {"has_marks", one.kind == experiments::SeriesKind::kLine},
                      {"points", points_json(one)}});
  }
  return {{"title", figure.title},      {"caption", figure.caption}, {"x_label", plot.x_label},
          {"y_label", plot.y_label},    {"is_x_log", plot.is_x_log}, {"is_y_log", plot.is_y_log},
          {"series", std::move(series)}};
}

}  // namespace

std::string report_page(const experiments::Report& report) {
  Json figures = Json::array();
  for (const experiments::Figure& figure : report.figures) {
    if (figure.plot) figures.push_back(figure_json(figure));
  }
  Json tables = Json::array();
  for (const experiments::Table& table : report.tables) {
    tables.push_back(
        {{"title", table.title}, {"header", table.header}, {"rows", table.rows}, {"remark", table.remark}});
  }
  Json options = Json::array();
  for (const auto& [name, value] : report.options) options.push_back(Json::array({name, value}));
  const Json data = {{"kind", "report"},
                     {"title", report.title},
                     {"advice", report.advice},
                     {"introduction", report.introduction},
                     {"figures", std::move(figures)},
                     {"tables", std::move(tables)},
                     {"options", std::move(options)}};
  return page_of(report.title, json_text(data));
}

}  // namespace treesample::cli
