#include <fmt/format.h>

#include "report.hpp"
#include "treesample/page/answer_page.hpp"

namespace treesample::experiments {
namespace {

constexpr char kStyle[] = R"css(
:root { color-scheme: light; }
body { font: 16px/1.5 system-ui, sans-serif; color: #1b1f24; background: #fff; max-width: 68rem;
       margin: 0 auto; padding: 1.5rem 1rem 4rem; }
h1 { font-size: 1.6rem; line-height: 1.25; margin: 0 0 .5rem; }
h2 { font-size: 1.15rem; margin: 2.2rem 0 .5rem; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .3rem .75rem; text-align: right; border-bottom: 1px solid #e3e6ea; white-space: nowrap; }
th:first-child, td:first-child { text-align: left; padding-left: 0; }
th { border-bottom: 2px solid #9aa3ad; font-weight: 600; }
td.yes { color: #12662f; }
td.no { color: #a3341b; }
p.remark, figcaption { color: #4b535c; font-size: .92rem; margin: .5rem 0 0; }
figure { margin: 1rem 0 0; }
figure svg { width: 100%; height: auto; max-width: 48rem; display: block; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .2rem 1.2rem; margin: .5rem 0; }
dt { color: #4b535c; }
dd { margin: 0; overflow-wrap: anywhere; white-space: pre-line; }
@media (max-width: 40rem) {
  body { font-size: 15px; padding-top: 1rem; }
  th, td { padding: .25rem .5rem; }
  dl { grid-template-columns: 1fr; gap: 0; }
  dd { margin-bottom: .5rem; }
}
)css";

void replace_all(std::string& text, const std::string& what, const std::string& with) {
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size())) {
    text.replace(at, what.size(), with);
  }
}

// Text of a cell or paragraph.
std::string cell(const std::string& text) {
  std::string escaped = escaped_html(text);
  replace_all(escaped, " +- ", " &plusmn; ");
  return escaped;
}

std::string format_table(const Table& table) {
  std::string html = fmt::format("<h2>{}</h2>\n<div class=\"scroll\"><table>\n<thead><tr>", escaped_html(table.title));
  for (const std::string& name : table.header) html += fmt::format("<th>{}</th>", escaped_html(name));
  html += "</tr></thead>\n<tbody>\n";
  for (const auto& row : table.rows) {
    html += "<tr>";
    for (const std::string& text : row) {
      const bool is_answer = text == "yes" || text == "no";
      html += is_answer ? fmt::format("<td class=\"{0}\">{0}</td>", text) : fmt::format("<td>{}</td>", cell(text));
    }
    html += "</tr>\n";
  }
  html += "</tbody>\n</table></div>\n";
  if (!table.remark.empty()) html += fmt::format("<p class=\"remark\">{}</p>\n", cell(table.remark));
  return html;
}

// The <svg> element alone. Names inside it are made unique, because several pictures share the page.
std::string inline_picture(std::string svg, const std::string& name) {
  const std::size_t begin = svg.find("<svg");
  if (begin == std::string::npos) return "";
  svg.erase(0, begin);
  for (const std::string quote : {"'", "\""}) {
    replace_all(svg, fmt::format("id={}", quote), fmt::format("id={}{}-", quote, name));
    replace_all(svg, fmt::format("href={}#", quote), fmt::format("href={}#{}-", quote, name));
  }
  replace_all(svg, "url(#", "url(#" + name + "-");
  return svg;
}

}  // namespace

std::string format_html(const Report& report, const std::vector<std::string>& pictures) {
  std::string html = fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<title>{0}</title>\n<style>{1}</style>\n</head>\n<body>\n<h1>{0}</h1>\n<p>{2}</p>\n",
      escaped_html(report.title), kStyle,
      cell(report.advice + (report.advice.empty() ? "" : " ") + report.introduction));
  for (std::size_t i = 0; i < report.figures.size() && i < pictures.size(); ++i) {
    if (pictures[i].empty()) continue;
    const Figure& figure = report.figures[i];
    html += fmt::format("<h2>{}</h2>\n<figure>\n{}<figcaption>{}</figcaption>\n</figure>\n", escaped_html(figure.title),
                        inline_picture(pictures[i], figure.name), escaped_html(figure.caption));
  }
  for (const Table& table : report.tables) html += format_table(table);
  html += "<h2>How it was made</h2>\n<dl>\n";
  for (const auto& [name, value] : report.options) {
    html += fmt::format("<dt>{}</dt><dd>{}</dd>\n", escaped_html(name), escaped_html(value));
  }
  return html + "</dl>\n</body>\n</html>\n";
}

}  // namespace treesample::experiments
