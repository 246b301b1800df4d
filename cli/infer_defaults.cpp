#include "infer_defaults.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "infer_support.hpp"
#include "terminal.hpp"
#include "treesample/error.hpp"
#include "unused_options.hpp"

namespace treesample::cli {
namespace {

constexpr double kDefaultSeconds = 10.0;  // where only a search can answer
constexpr double kDefaultEliminationSeconds = 20.0;
constexpr std::int64_t kDefaultOracleBudget = 1000, kDefaultOracleSeconds = 60;

// Whether elimination is quick, if need be of the model without its barren variables.
bool can_eliminate(InferOptions& options, const FactorGraph& graph) {
  const double seconds = options.time > 0.0 ? options.time : kDefaultEliminationSeconds;
  options.elimination = cheap_elimination(graph, options, seconds);
  if (options.elimination) {
    options.sums_out = false;
    return true;
  }
  const auto summed = sum_out(graph, options);
  if (summed) options.elimination = cheap_elimination(summed->graph(), options, seconds);
  return options.elimination.has_value();
}

}  // namespace

void choose_together(InferOptions& options, const CommandLine& line) {
  if (options.select == "mass" && !line.is_given("--prior")) options.prior = "calibrated";
  if (options.prior != "calibrated") return;
  if (!line.is_given("--select")) options.select = "mass";
  check_argument(options.select == "mass", "--prior calibrated", "goes with --select mass only");
}

void choose_method(InferOptions& options, const CommandLine& line, const FactorGraph& graph) {
  options.method = "treesample";
  if (!graph.has_only_tables()) {
    const bool is_paper = line.is_given("--select") || line.is_given("--epsilon") || line.is_given("--ties");
    if (is_paper) return;
    options.select = "mass";
    choose_together(options, line);
    note(options.is_quiet, fmt::format("factors can only be evaluated: --select mass --prior {}", options.prior));
    return;
  }
  // These mean nothing without bounds.
  const bool asks_for_bounds = line.is_given("--sampler") || line.is_given("--max-tries") ||
                               line.is_given("--confidence") || line.is_given("--trace");
  if (asks_for_bounds && !line.is_given("--select")) options.select = "gap";
  for (const char* option :
       {"--space", "--order", "--prior", "--budget-unit", "--select", "--c", "--epsilon", "--ties"}) {
    if (line.is_given(option)) return;
  }
  if (!line.is_given("--budget") && !asks_for_bounds && can_eliminate(options, graph)) {
    options.method = "exact";
    return;
  }
  choose_bounds(options);
  if (options.time > 0.0 || line.is_given("--budget") || options.gap > 0.0) return;
  options.time = kDefaultSeconds;
  note(options.is_quiet, fmt::format("neither --time, --budget nor --gap is given: {} seconds", kDefaultSeconds));
}

void choose_bounds(InferOptions& options) {
  options.method = "treesample";
  options.select = "gap";
  options.prior = "mini-bucket";
}

void set_oracle_defaults(InferOptions& options, const CommandLine& line, bool has_other_limit) {
  if (!line.is_given("--importance")) options.num_importance = 0;
  if (line.is_given("--budget") || has_other_limit) return;
  options.budget = options.unit == "cost" ? kDefaultOracleSeconds : kDefaultOracleBudget;
  note(options.is_quiet, fmt::format("neither --budget nor --time is given: a budget of {} {}", options.budget,
                                     options.unit == "cost" ? "seconds of evaluations" : "evaluations"));
}

bool has_upper_bound(const InferOptions& options, const FactorGraph& graph) {
  if (options.method != "treesample") return false;
  if (options.select != "mass") return options.select == "gap";
  return std::all_of(graph.factors().begin(), graph.factors().end(),
                     [](const Factor& factor) { return factor.log_max().has_value(); });
}

void note_ignored_options(const InferOptions& options, const CommandLine& line, const FactorGraph& graph) {
  for (const UnusedOption& unused : unused_options(line, options.method)) {
    note(options.is_quiet, fmt::format("{} is ignored: the method is {}, and it is for {} only", unused.option,
                                       options.method, unused.methods));
  }
  if (options.method == "treesample" && options.select == "gap") return;
  for (const char* option : {"--gap", "--confidence", "--sampler", "--max-tries", "--trace"}) {
    const bool is_gap = std::string(option) == "--gap";
    // An exact answer has no gap.
    if (!line.is_given(option) || (is_gap && (options.method == "exact" || has_upper_bound(options, graph)))) continue;
    note(options.is_quiet,
         is_gap && options.select == "mass"
             ? "--gap is ignored: there is no upper bound, because a factor declares no maximum (log_max)"
             : fmt::format("{} is ignored: only --method treesample --select gap has bounds", option));
  }
}

}  // namespace treesample::cli
