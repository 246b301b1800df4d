#include "run_display.hpp"

#include <fmt/format.h>
#include <sysexits.h>

#include <algorithm>
#include <cmath>
#include <sstream>

#include "treesample/error.hpp"
#include "treesample/text.hpp"

namespace treesample::cli {
namespace {

// Breaks the text into lines of at most 100 characters.
std::string wrapped(const std::string& text) {
  std::string lines;
  std::size_t width = 0;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    if (width > 0 && width + 1 + word.size() > 100) {
      lines += '\n';
      width = 0;
    } else if (width > 0) {
      lines += ' ';
      ++width;
    }
    lines += word;
    width += word.size();
  }
  return lines;
}

}  // namespace

void make_folder(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error)
    throw Error(ErrorCode::kWrite, fmt::format("{}: cannot make this folder: {}", folder.string(), error.message()));
}

experiments::RunControl run_control(Progress& progress, int num_threads) {
  return {.num_threads = num_threads,
          .show_progress =
              [&progress](const experiments::RunProgress& now) {
                progress.show(
                    (now.num_finished + now.under_way) / std::max(now.num_instances, 1),
                    fmt::format(
                        "{} of {} problems{}{}", now.num_finished, now.num_instances,
                        now.under_way > 0.0 ? fmt::format(" and {:.2f} of the next", now.under_way) : "",
                        now.remaining_seconds < 0.0 ? "" : fmt::format(", {} left", time_text(now.remaining_seconds))));
              },
          .is_interrupted = [] { return Interruption::is_asked(); }};
}

int report_interruption(Progress& progress, const std::filesystem::path& folder) {
  progress.clear();
  note(false, fmt::format("treesample: interrupted{}",
                          folder.empty()
                              ? ""
                              : fmt::format("; finished problems are kept in {}, the same command goes on from there",
                                            folder.string())));
  return Interruption::exit_code(EX_TEMPFAIL);
}

int show_report(const experiments::Report& report, const std::filesystem::path& folder, bool is_quiet) {
  fmt::print("{}\n{}{}\n\n{}", report.title, report.advice.empty() ? "" : wrapped(report.advice) + '\n',
             wrapped(report.introduction), experiments::format_tables(report.tables));
  if (folder.empty()) return 0;
  for (const std::string& remark : experiments::write_report(report, folder)) note(is_quiet, "note: " + remark);
  fmt::print("\nreport      {}\n", printable((folder / "report.html").string()));
  return 0;
}

}  // namespace treesample::cli
