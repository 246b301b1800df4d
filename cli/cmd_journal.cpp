// treesample journal: the contents of a journal of paid evaluations.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <thread>

#include "command.hpp"
#include "file_roles.hpp"
#include "journal_page.hpp"
#include "terminal.hpp"
#include "treesample/error.hpp"
#include "treesample/io/file.hpp"
#include "treesample/io/json_model.hpp"
#include "treesample/oracle/journal.hpp"
#include "treesample/oracle/journal_calls.hpp"
#include "treesample/text.hpp"

namespace treesample::cli {
namespace {

class JournalCommand final : public Command {
 public:
  std::string name() const override { return "journal"; }
  std::string summary() const override { return "Contents of a journal of paid evaluations"; }
  std::string examples() const override {
    return "  treesample journal run.journal\n"
           "  treesample journal run.journal --list --model model.json\n"
           "  treesample journal run.journal --csv calls.csv\n"
           "  treesample journal run.journal --import calls.csv --model model.json\n"
           "  treesample journal run.journal --html journal.html --model model.json\n"
           "  treesample journal run.journal --html journal.html --follow         while a run writes it\n"
           "  treesample journal run.journal --repair";
  }
  void declare(CommandLine& line) override {
    line.positional("FILE", file_, "Journal of a model with expensive factors");
    line.flag("--list", is_listing_, "All calls, one per line, in their order; works while a run is writing");
    line.option("--csv", csv_, "FILE", "Write all calls as CSV; - is standard output");
    line.option("--import", import_, "FILE",
                "Add the values of a CSV file to the journal: columns log_value and the names of the variables (with "
                "--model)");
    line.option(
        "--model", model_, "FILE",
        "Model file (.json) of the journal, for the names of states, for log Z on the page of --html and for --import");
    line.option(
        "--html", html_, "FILE",
        "Write a page to look at: what was paid for, by factor, worker and call, and the best; also while a run is "
        "going on; - is standard output");
    line.flag("--follow", is_following_,
              "Write the page of --html again whenever the journal has grown, until Ctrl-C; an open page shows it");
    line.flag("--repair", is_repairing_,
              "Drop rows that do not fit their checksums, and convert a journal of the first layout, which had none");
  }
  int run() override;

 private:
  int repair() const;
  int import() const;
  int list() const;
  int follow() const;
  void print_summary(const JournalSummary& summary) const;
  [[nodiscard]] std::optional<JsonModel> model() const {
    return model_.empty() ? std::nullopt : std::optional(read_json_model(model_));
  }

  std::string file_, csv_, html_, import_, model_;
  bool is_repairing_ = false, is_listing_ = false, is_following_ = false;
};

int JournalCommand::repair() const {
  const JournalRepair repair = repair_journal(file_);
  for (const std::string& row : repair.dropped) fmt::print("dropped {}\n", printable(row));
  fmt::print("{}: {} rows kept, {} dropped\n", printable(file_), repair.num_kept, repair.dropped.size());
  if (repair.had_no_checksums) {
    fmt::print("its rows had no checksums; the rows that were kept have them now\n");
  }
  return 0;
}

int JournalCommand::import() const {
  check_argument(!model_.empty(), "--import", "needs the model whose calls these are: --model FILE");
  const JournalImport imported = import_calls(file_, read_json_model(model_), import_);
  fmt::print("{}: {} new, {} known{}\n", printable(file_), counted(imported.num_new, "evaluation"), imported.num_known,
             imported.num_failed > 0 ? fmt::format(", {} left out", counted(imported.num_failed, "failure")) : "");
  return 0;
}

// Prints the list, and writes CSV.
int JournalCommand::list() const {
  const std::vector<Variable> names = model_.empty() ? std::vector<Variable>() : model()->variables;
  const JournalCalls calls = journal_calls(file_);
  if (csv_ == "-") {
    fmt::print("{}", format_calls(calls, names));
  } else if (!csv_.empty()) {
    write_file_atomically(csv_, format_calls(calls, names));
  }
  if (is_listing_) {
    fmt::print("{:>7}  {:<23}  {:<10}  {:>9}  {:>14}  {}\n", "number", "time (UTC)", "worker", "seconds", "log value",
               "states");
    for (const JournalCall& call : calls.calls) {
      const std::string of = calls.factors.size() > 1 ? calls.factors[call.factor].name + ": " : "";
      const std::string number = call.number == 0 ? "" : fmt::format("{}", call.number);
      const std::string value = call.failure.empty() ? fmt::format("{:.8g}", call.log_value) : "failed";
      const std::string failure = call.failure.empty() ? "" : "  " + call.failure;
      fmt::print("{:>7}  {:<23}  {:<10}  {:>9.3g}  {:>14}  {}{}{}\n", number, call_time(call.finished),
                 printable(call.worker), call.seconds, value, printable(of), printable(call_states(calls, call, names)),
                 printable(failure));
    }
  }
  if (calls.damaged.empty()) return 0;
  throw Error(ErrorCode::kParse, fmt::format("{}: {} left out; --repair drops what is damaged", file_,
                                             counted(std::ssize(calls.damaged), "damaged row")));
}

// The last page does not wait for another one.
int JournalCommand::follow() const {
  constexpr double kSeconds = 2.0;
  constexpr std::chrono::milliseconds kLook{100};
  constexpr int kLooks = 20;
  const Interruption interruption;
  std::int64_t num_written = -1;
  for (bool is_last = false; !is_last;) {
    is_last = Interruption::is_asked();
    const JournalSummary summary = journal_summary(file_);
    std::int64_t num_known = 0;
    for (const JournalSummary::Factor& factor : summary.factors)
      num_known += factor.num_evaluations + factor.num_failures;
    if (is_last || num_known != num_written) {
      const double reload_seconds = is_last ? 0.0 : kSeconds;
      write_file_atomically(html_, journal_page(file_, summary, journal_calls(file_), model(), reload_seconds));
      num_written = num_known;
    }
    for (int look = 0; look < kLooks && !is_last && !Interruption::is_asked(); ++look) {
      std::this_thread::sleep_for(kLook);
    }
  }
  return 0;
}

int JournalCommand::run() {
  const int num_wishes =
      int(is_repairing_) + int(!import_.empty()) + int(!html_.empty()) + int(is_listing_ || !csv_.empty());
  check_argument(num_wishes <= 1, "journal", "allowed is one of --list and --csv, --html, --import, --repair");
  std::vector<FileRole> kept = journal_roles("FILE", file_);
  kept.push_back({"--model", model_});
  check_distinct(kept, {{"--csv", csv_}, {"--html", html_}});
  if (is_repairing_) return repair();
  if (!import_.empty()) return import();
  if (is_listing_ || !csv_.empty()) return list();
  check_argument(!is_following_ || (!html_.empty() && html_ != "-"), "--follow", "needs a page to write: --html FILE");
  if (!html_.empty() && html_ != "-") check_writable(html_);
  if (is_following_) return follow();
  const JournalSummary summary = journal_summary(file_);
  const std::string page = html_.empty() ? "" : journal_page(file_, summary, journal_calls(file_), model());
  if (html_ == "-") {
    fmt::print("{}", page);
  } else {
    if (!html_.empty()) write_file_atomically(html_, page);
    print_summary(summary);
  }
  if (summary.damaged.empty()) return 0;
  throw Error(ErrorCode::kParse, fmt::format("{}: {}; --repair drops what is damaged", file_,
                                             counted(std::ssize(summary.damaged), "damaged row")));
}

void JournalCommand::print_summary(const JournalSummary& summary) const {
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
}

}  // namespace

std::unique_ptr<Command> make_journal_command() { return std::make_unique<JournalCommand>(); }

}  // namespace treesample::cli
