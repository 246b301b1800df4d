// treesample journal: what a journal of paid evaluations holds.
#include <fmt/format.h>

#include <algorithm>

#include "command.hpp"
#include "journal_page.hpp"
#include "treesample/error.hpp"
#include "treesample/io/file.hpp"
#include "treesample/oracle/journal.hpp"
#include "treesample/text.hpp"

namespace treesample::cli {
namespace {

class JournalCommand final : public Command {
 public:
  std::string name() const override { return "journal"; }
  std::string summary() const override { return "What a journal of paid evaluations holds"; }
  std::string examples() const override {
    return "  treesample journal run.journal\n  treesample journal run.journal --html journal.html\n"
           "  treesample journal run.journal --repair";
  }
  void declare(CommandLine& line) override {
    line.positional("FILE", file_, "Journal of a model with expensive factors");
    line.option("--html", html_, "FILE", "Write a page to look at: what was paid for, by factor and call by call");
    line.flag("--repair", is_repairing_,
              "Drop rows that do not fit their checksums, and take over a journal of version 0.1.0, which had none");
  }
  int run() override;

 private:
  int repair() const;

  std::string file_, html_;
  bool is_repairing_ = false;
};

int JournalCommand::repair() const {
  const JournalRepair repair = repair_journal(file_);
  for (const std::string& row : repair.dropped) fmt::print("dropped {}\n", printable(row));
  fmt::print("{}: {} rows kept, {} dropped\n", printable(file_), repair.num_kept, repair.dropped.size());
  if (repair.had_no_checksums) {
    fmt::print("its rows had no checksums: those that are kept were taken over as they were, and have them now\n");
  }
  return 0;
}

int JournalCommand::run() {
  check_argument(!is_repairing_ || html_.empty(), "--html", "does not go with --repair");
  if (is_repairing_) return repair();
  if (!html_.empty()) check_writable(html_);
  const JournalSummary summary = journal_summary(file_);
  if (!html_.empty()) write_file_atomically(html_, journal_page(file_, summary, journal_entries(file_)));
  fmt::print("journal         {}\n", printable(file_));
  fmt::print("model           {}\n", printable(summary.model));
  fmt::print("created         {} UTC\n", printable(summary.created));
  fmt::print("fingerprint     {}\n", printable(summary.fingerprint));
  for (const auto& [name, fingerprint] : summary.parts) {
    fmt::print("  {}  {}\n", printable(fingerprint), printable(name));
  }

  std::size_t width = std::string("factor").size();
  for (const JournalSummary::Factor& factor : summary.factors) width = std::max(width, printable(factor.name).size());
  fmt::print("\n{:<{}} {:>12} {:>14} {:>14}  {}\n", "factor", width, "evaluations", "seconds paid", "seconds each",
             "variables");
  for (const JournalSummary::Factor& factor : summary.factors) {
    const std::string mean = factor.num_evaluations == 0
                                 ? "-"
                                 : fmt::format("{:.4g}", factor.seconds / static_cast<double>(factor.num_evaluations));
    fmt::print("{:<{}} {:>12} {:>14.2f} {:>14}  {}\n", printable(factor.name), width, factor.num_evaluations,
               factor.seconds, mean, printable(factor.scope));
    if (factor.num_failures > 0) {
      fmt::print("  {} failed for good; the last {}\n", factor.num_failures, printable(factor.last_failure));
    }
  }
  for (const std::string& row : summary.damaged) fmt::print("damaged: {}\n", printable(row));
  if (summary.damaged.empty()) return 0;
  throw Error(ErrorCode::kParse, fmt::format("{}: {}; --repair drops what is damaged", file_,
                                             counted(std::ssize(summary.damaged), "damaged row")));
}

}  // namespace

std::unique_ptr<Command> make_journal_command() { return std::make_unique<JournalCommand>(); }

}  // namespace treesample::cli
