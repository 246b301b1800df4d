// treesample journal: what a journal of paid evaluations holds.
#include <fmt/format.h>

#include <algorithm>

#include "command.hpp"
#include "treesample/oracle/journal.hpp"
#include "treesample/text.hpp"

namespace treesample::cli {
namespace {

class JournalCommand final : public Command {
 public:
  std::string name() const override { return "journal"; }
  std::string summary() const override { return "What a journal of paid evaluations holds"; }
  std::string examples() const override { return "  treesample journal run.journal"; }
  void declare(CommandLine& line) override {
    line.positional("FILE", file_, "Journal of a model with expensive factors");
  }
  int run() override;

 private:
  std::string file_;
};

int JournalCommand::run() {
  const JournalSummary summary = journal_summary(file_);
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
  }
  return 0;
}

}  // namespace

std::unique_ptr<Command> make_journal_command() { return std::make_unique<JournalCommand>(); }

}  // namespace treesample::cli
