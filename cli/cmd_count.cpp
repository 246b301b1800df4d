// treesample count: how many solutions a formula has, exactly.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <optional>
#include <vector>

#include "command.hpp"
#include "file_roles.hpp"
#include "infer_display.hpp"
#include "memory_limit.hpp"
#include "model_input.hpp"
#include "model_text.hpp"
#include "reading_watch.hpp"
#include "terminal.hpp"
#include "treesample/error.hpp"
#include "treesample/formula/count_formula.hpp"
#include "treesample/formula/nnf.hpp"
#include "treesample/io/file.hpp"
#include "treesample/text.hpp"

namespace treesample::cli {
namespace {

// As SAT solvers and model counters end.
constexpr int kSatisfiable = 10, kUnsatisfiable = 20;
constexpr double kLog10 = 2.302585092994045684;

class CountCommand final : public Command {
 public:
  std::string name() const override { return "count"; }
  std::string summary() const override { return "The exact number of solutions of a formula, weighted or projected"; }
  std::string examples() const override {
    return "  treesample count formula.cnf\n"
           "  treesample count formula.cnf --time 600 --format competition\n"
           "  gunzip -c formula.cnf.gz | treesample count -";
  }
  void declare(CommandLine& line) override {
    line.positional(
        "FORMULA", model_,
        "Formula (.cnf, .cnf.gz, - for standard input), one that was compiled (.nnf), or a model of zeros and ones");
    line.seconds("--time", seconds_, "Seconds; without, until it is counted");
    line.option("--memory", memory_, "SIZE", "For clauses and the cache, such as 4G");
    line.word<Method>("--method", method_, {{"auto", Method::kAuto}, {"search", Method::kSearch}},
                      "auto: elimination of variables too, where that is predicted to be faster");
    line.option("--threads", threads_, 0, 4096, "Threads that search together; 0: one per core");
    line.option("--seed", seed_, 0, INT64_MAX, "Seed of the orders that guide the search");
    line.word<Format>("--format", format_, {{"text", Format::kText}, {"competition", Format::kCompetition}},
                      "What is printed; competition: the lines and exit codes of the model counting competition");
    line.word<Reductions>("--reductions", reductions_,
                          {{"all", Reductions::kAll}, {"clauses", Reductions::kClauses}, {"none", Reductions::kNone}},
                          "How the formula is made smaller first; clauses: without variables that others define");
    line.flag("--quiet", is_quiet_, "No progress on standard error");
  }
  int run() override;

 private:
  enum class Format { kText, kCompetition };
  enum class Method { kAuto, kSearch };
  enum class Reductions { kAll, kClauses, kNone };

  [[nodiscard]] Formula read() const;
  [[nodiscard]] Limits limits() const;
  static void print_text(const Formula& formula, const FormulaCount& count);
  static void print_competition(const Formula& formula, const FormulaCount& count);

  std::string model_, memory_;
  double seconds_ = 0.0;
  std::int64_t seed_ = 0, threads_ = 0;
  Format format_ = Format::kText;
  Method method_ = Method::kAuto;
  Reductions reductions_ = Reductions::kAll;
  bool is_quiet_ = false;
};

Limits CountCommand::limits() const {
  Limits limits;
  if (seconds_ > 0.0) limits.seconds = seconds_;
  limits.bytes = memory_of(memory_, limits.bytes);
  limits.threads = static_cast<int>(threads_);
  return limits;
}

// A model in another format becomes a formula where it is one: its variables have two states, and its tables over
// several variables are of zeros and ones.
Formula CountCommand::read() const {
  const double end = limits().seconds;
  const UnpackLimits unpack = unpack_limits(limits().bytes, [end] { return process_seconds() > end; });
  if (const std::optional<ModelText> text = model_text(model_, unpack); text && text->extension == ".cnf") {
    return parse_formula(text->contents, printable(model_ == "-" ? "standard input" : model_));
  }
  if (std::filesystem::path(model_).extension() == ".cnf") return parse_formula(read_file(model_), printable(model_));
  const ModelInput input = read_input(model_, input_options(model_, {}, {.runs_them = false}, {}, unpack));
  check_input(input, {}, is_quiet_);
  check_argument(input.evidence_file.empty(), "count",
                 fmt::format("{} beside the model is evidence, and a count has none", input.evidence_file));
  try {
    return formula_of(input.model.graph);
  } catch (const Error& error) {
    throw Error(ErrorCode::kParse, fmt::format("{}: it is no formula: {}", printable(model_), error.what()));
  }
}

std::string kind_of(const Formula& formula) {
  return std::string(formula.shown ? "p" : "") + (formula.weights.empty() ? "mc" : "wmc");
}

std::string value_text(const FormulaCount& count) {
  return count.denominator == "1" ? count.numerator : fmt::format("{}/{}", count.numerator, count.denominator);
}

// A logarithm to base 10, as counters write it.
std::string log10_text(double log_count) {
  return log_count == -HUGE_VAL ? "-inf" : fmt::format("{:.15g}", log_count / kLog10);
}

void CountCommand::print_text(const Formula& formula, const FormulaCount& count) {
  if (count.is_solved) {
    fmt::print("count           {}, exact\n", value_text(count));
    if (count.denominator != "1" || count.numerator.size() > 20) {
      fmt::print("log10           {}{}\n", log10_text(count.log_count.lower),
                 count.has_negative_weights ? " (of its magnitude)" : "");
    }
  } else {
    fmt::print("count           not finished: {}\n", to_string(count.report.stop));
    if (!count.has_negative_weights) {
      fmt::print("log10           in [{}, {}], certified\n", log10_text(count.log_count.lower),
                 log10_text(count.log_count.upper));
    }
  }
  const char* const satisfiable = !count.is_satisfiable ? "not known" : *count.is_satisfiable ? "yes" : "no";
  fmt::print("satisfiable     {}\n", satisfiable);
  const std::string of = formula.shown ? fmt::format(" of {} shown ones of", formula.shown->size()) : " of";
  fmt::print("what            {}: states{} {}\n", kind_of(formula), of, counted(formula.num_variables, "variable"));
  fmt::print("{:<15} {} left, {}, width {}; {}, {} looked up, {:.2f} s\n",
             count.report.is_eliminated ? "elimination" : "search", counted(count.report.num_variables, "variable"),
             counted(count.report.num_clauses, "clause"), count.report.width,
             counted(count.report.num_decisions, "decision"), counted(count.report.num_cache_hits, "component"),
             count.report.seconds);
}

void CountCommand::print_competition(const Formula& formula, const FormulaCount& count) {
  const bool is_known = count.is_satisfiable.has_value();
  if (!count.is_solved) {
    fmt::print("c o not finished: {}\n", to_string(count.report.stop));
    if (!count.has_negative_weights) {
      fmt::print("c o certified: log10 of the count is in [{}, {}]\n", log10_text(count.log_count.lower),
                 log10_text(count.log_count.upper));
    }
  }
  fmt::print("s {}\n", !is_known ? "UNKNOWN" : *count.is_satisfiable ? "SATISFIABLE" : "UNSATISFIABLE");
  fmt::print("c s type {}\n", formula.kind.empty() ? kind_of(formula) : formula.kind);
  if (!count.is_solved) return;
  const bool is_negative = count.numerator.starts_with('-');
  fmt::print("c s {} {}\n", is_negative ? "neglog10-estimate" : "log10-estimate", log10_text(count.log_count.lower));
  fmt::print("c s exact arb {} {}\n", count.denominator == "1" ? "int" : "frac", value_text(count));
}

// A formula that was compiled before needs no search.
std::string count_of_nnf(const std::string& file, Limits limits) {
  const Nnf nnf = parse_nnf(read_file(file), printable(file), limits);
  limits.seconds -= std::min(limits.seconds, process_seconds());
  return fmt::format("count           {}, exact\ncircuit         {}, decomposable and deterministic\n",
                     count_nnf(nnf, limits), counted(std::ssize(nnf.nodes), "node"));
}

int CountCommand::run() {
  keep_to_memory(limits().bytes, limits().threads);
  auto watch = std::make_unique<const ReadingWatch>(std::vector{model_}, limits().seconds);
  if (std::filesystem::path(model_).extension() == ".nnf") {
    const std::string text = count_of_nnf(model_, limits());
    watch.reset();  // nothing may end the program while it writes
    fmt::print("{}", text);
    return 0;
  }
  const Formula formula = read();
  watch.reset();
  const Interruption interruption;
  Progress progress(is_quiet_);
  Limits remaining = limits();
  if (seconds_ > 0.0) remaining.seconds = std::max(1e-3, seconds_ - process_seconds());
  const FormulaOptions options{.has_reductions = reductions_ != Reductions::kNone,
                               .has_definitions = reductions_ == Reductions::kAll,
                               .has_elimination = method_ == Method::kAuto,
                               .seed = static_cast<std::uint64_t>(seed_)};
  const auto show = [&](const treesample::Progress& now) {
    if (!progress.is_due()) return;
    progress.show(now.share_done.value_or(-1.0),
                  fmt::format("{}, {}", now.phase, counted(static_cast<std::int64_t>(now.num_nodes), "component")));
  };
  const FormulaCount count = count_formula(formula, remaining, options,
                                           {.progress = show, .should_stop = [] { return Interruption::is_asked(); }});
  progress.clear();
  if (format_ == Format::kText) {
    print_text(formula, count);
    return 0;
  }
  print_competition(formula, count);
  if (!count.is_satisfiable) return 0;
  return *count.is_satisfiable ? kSatisfiable : kUnsatisfiable;
}

}  // namespace

std::unique_ptr<Command> make_count_command() { return std::make_unique<CountCommand>(); }

}  // namespace treesample::cli
