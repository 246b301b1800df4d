#include "experiments/report.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "experiments/plot.hpp"
#include "experiments/statistics.hpp"

namespace treesample::experiments {
namespace {

TEST(Summary, IsTheTextbookOne) {
  const Summary summary = summarize({1.0, 2.0, 6.0});
  EXPECT_DOUBLE_EQ(summary.mean, 3.0);
  EXPECT_DOUBLE_EQ(summary.deviation, std::sqrt(7.0));
  EXPECT_DOUBLE_EQ(summary.error, std::sqrt(7.0 / 3.0));
  EXPECT_EQ(summarize({5.0}).deviation, 0.0);
  EXPECT_EQ(summarize({HUGE_VAL, 1.0}).mean, HUGE_VAL);
  EXPECT_EQ(median({9.0, 1.0, 2.0}), 2.0);
  EXPECT_EQ(median({9.0, 1.0, 2.0, 4.0}), 3.0);
}

TEST(Report, TablesAreAligned) {
  const Table table{.title = "T", .header = {"method", "x"}, .rows = {{"a", "1.00"}, {"longer name", "-12.50"}}};
  EXPECT_EQ(format_tables({table}),
            "T\n"
            "  method            x\n"
            "  a              1.00\n"
            "  longer name  -12.50\n");
}

TEST(Report, HtmlEscapesAndKeepsNamesOfPicturesApart) {
  Report report{.title = "a < b & c"};
  report.tables.push_back({.title = "T", .header = {"m", "x"}, .rows = {{"<i>", "1 +- 2"}}});
  report.figures = {{.name = "one"}, {.name = "two"}};
  const std::string picture = "<?xml?><svg><g id=\"p\"/><use xlink:href='#p'/></svg>";
  const std::string html = format_html(report, {picture, picture});
  EXPECT_NE(html.find("a &lt; b &amp; c"), std::string::npos);
  EXPECT_NE(html.find("&lt;i&gt;"), std::string::npos);
  EXPECT_NE(html.find("1 &plusmn; 2"), std::string::npos);
  for (const char* name : {"one", "two"}) {
    EXPECT_NE(html.find("id=\"" + std::string(name) + "-p\""), std::string::npos);
    EXPECT_NE(html.find("href='#" + std::string(name) + "-p'"), std::string::npos);
  }
  EXPECT_EQ(html.find("<?xml"), std::string::npos);
}

TEST(Plot, LeavesOutWhatCannotBeDrawnAndQuotesTexts) {
  Plot plot{.title = "it's", .is_y_log = true};
  plot.series.push_back({.name = "bad", .points = {{1.0, HUGE_VAL}, {2.0, -0.5}}});
  EXPECT_EQ(plot_script(plot), "");
  plot.series.push_back({.name = "good", .points = {{1.0, 1e-12}, {2.0, 5.0}, {3.0, 0.04}}});
  const std::string script = plot_script(plot);
  EXPECT_NE(script.find("'it''s'"), std::string::npos);
  EXPECT_NE(script.find("1 0.01 "), std::string::npos) << "an exact value is drawn below all others";
  EXPECT_NE(script.find("'exact' 0.01"), std::string::npos);
  EXPECT_EQ(script.find("bad"), std::string::npos);
}

}  // namespace
}  // namespace treesample::experiments
