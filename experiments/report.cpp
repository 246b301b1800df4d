#include "report.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "treesample/io/figure.hpp"
#include "treesample/io/file.hpp"

namespace treesample::experiments {
namespace {

// "# name value; name value" above the columns, so that a file explains itself.
std::string csv_text(const Report& report, const CsvFile& csv) {
  std::string text = "#";
  for (const auto& [name, value] : report.options) {
    text += fmt::format("{} {} {}", text.size() > 1 ? ";" : "", name, value);
  }
  return text + "\n" + csv.text;
}

std::string full_script(const Figure& figure) {
  return fmt::format(
      "# gnuplot {0}.gp makes {0}.svg and {0}.png\n"
      "set terminal svg size 720,460 dynamic font 'Helvetica,Arial,sans-serif,14' background rgb 'white'\n"
      "set output '{0}.svg'\n{1}\n"
      "set terminal pngcairo size 1080,690 font 'sans,15' linewidth 1.4 pointscale 1.4 background rgb 'white'\n"
      "set output '{0}.png'\nreplot\n",
      figure.name, figure.script);
}

}  // namespace

std::string format_tables(const std::vector<Table>& tables) {
  std::string text;
  for (const Table& table : tables) {
    std::vector<std::size_t> widths;
    const auto measure = [&](const std::vector<std::string>& cells) {
      widths.resize(std::max(widths.size(), cells.size()));
      for (std::size_t i = 0; i < cells.size(); ++i) widths[i] = std::max(widths[i], cells[i].size());
    };
    measure(table.header);
    for (const auto& row : table.rows) measure(row);
    const auto line = [&](const std::vector<std::string>& cells) {
      std::string padded;
      for (std::size_t i = 0; i < cells.size(); ++i) {
        padded += i == 0 ? fmt::format("  {:<{}}", cells[i], widths[i]) : fmt::format("  {:>{}}", cells[i], widths[i]);
      }
      padded.erase(padded.find_last_not_of(' ') + 1);
      return padded + "\n";
    };
    text += fmt::format("{}{}\n", text.empty() ? "" : "\n", table.title);
    text += line(table.header);
    for (const auto& row : table.rows) text += line(row);
    if (!table.remark.empty()) text += fmt::format("  {}\n", table.remark);
  }
  return text;
}

std::vector<std::string> write_report(const Report& report, const std::filesystem::path& folder) {
  std::vector<std::string> remarks;
  for (const CsvFile& csv : report.csv_files)
    write_file_atomically(folder / (csv.name + ".csv"), csv_text(report, csv));
  std::vector<std::string> pictures;
  bool is_drawn = true;
  for (const Figure& figure : report.figures) {
    const bool is_good = draw_figure(folder, figure.name, full_script(figure));
    pictures.push_back(is_good ? read_file(folder / (figure.name + ".svg")) : "");
    is_drawn = is_drawn && is_good;
  }
  if (!is_drawn) {
    remarks.push_back(
        "figures are missing, because gnuplot is not there or failed: install it (Debian: gnuplot-nox) "
        "and run the same command again");
  }
  write_file_atomically(folder / "report.html", format_html(report, pictures));
  return remarks;
}

}  // namespace treesample::experiments
