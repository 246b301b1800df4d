#include "infer_defaults.hpp"

#include <fmt/format.h>

#include <initializer_list>
#include <optional>
#include <string>

#include "infer_support.hpp"
#include "option_uses.hpp"
#include "terminal.hpp"
#include "treesample/error.hpp"

namespace treesample::cli {
namespace {

constexpr double kDefaultSeconds = 10.0;  // where only a search can answer
constexpr double kDefaultEliminationSeconds = 20.0;
constexpr std::int64_t kDefaultOracleSeconds = 60;
constexpr std::int64_t kImportanceShare = 2;  // the budget divided by this is the most for importance samples

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

// The first of the options that is on the line.
std::optional<std::string> first_given(const CommandLine& line, std::initializer_list<const char*> names) {
  for (const char* const name : names) {
    if (line.is_given(name)) return name;
  }
  return {};
}

}  // namespace

void choose_together(InferOptions& options, const CommandLine& line) {
  if (options.select == "mass" && !line.is_given("--prior")) options.prior = "calibrated";
  if (options.prior != "calibrated") return;
  const bool is_particle_filter = options.method == "sis" || options.method == "smc";
  if (!line.is_given("--select") && !is_particle_filter) options.select = "mass";
  check_argument(options.select == "mass" && !is_particle_filter, "--prior calibrated", "goes with --select mass only");
}

void choose_method(InferOptions& options, const CommandLine& line, const FactorGraph& graph) {
  const bool is_open = options.method == "auto";
  options.method = "treesample";
  const bool has_rule = line.is_given("--select") || options.prior == "calibrated";
  if (!graph.has_only_tables()) {
    if (has_rule) return;
    options.select = choose_rule(is_open ? "mass" : "q-uct", options, line, graph);
    choose_together(options, line);
    if (!is_open || options.select != "mass") return;
    note(options.is_quiet, fmt::format("factors can only be evaluated: --select mass --prior {}", options.prior));
    return;
  }
  const bool is_set_up =
      !is_open || has_rule ||
      first_given(line, {"--space", "--order", "--prior", "--budget-unit", "--c", "--epsilon", "--ties"});
  if (is_set_up) {
    if (!has_rule) options.select = choose_rule("q-uct", options, line, graph);
    if (options.select == "gap" && !line.is_given("--prior")) options.prior = "mini-bucket";
    return;
  }
  // These mean nothing to elimination.
  const std::optional<std::string> wants_search =
      first_given(line, {"--sampler", "--max-tries", "--confidence", "--trace"});
  if (wants_search) note(options.is_quiet, fmt::format("a search with bounds, because of {}", *wants_search));
  if (!line.is_given("--budget") && !wants_search && can_eliminate(options, graph)) {
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

void take_calls(InferOptions& options, const CommandLine& line) {
  if (!line.is_given("--calls")) return;
  check_argument(!line.is_given("--budget"), "--calls", "is short for --budget N --budget-unit call: give one of both");
  check_argument(!line.is_given("--budget-unit") || options.unit == "call", "--calls",
                 fmt::format("counts in calls, and --budget-unit is '{}'", options.unit));
  options.budget = options.num_calls;
  options.unit = "call";
}

void set_oracle_defaults(InferOptions& options, const CommandLine& line, bool has_other_limit) {
  if (!line.is_given("--importance")) options.num_importance = 0;
  const bool is_paper = options.method == "treesample" && options.select == "q-uct";
  if (!line.is_given("--budget-unit") && !is_paper && options.method != "bp") options.unit = "call";
  if (line.is_given("--budget") || line.is_given("--calls") || has_other_limit) return;
  options.budget = options.unit == "cost" ? kDefaultOracleSeconds : options.num_calls;
  const char* const words = options.unit == "cost"   ? "seconds of evaluations"
                            : options.unit == "call" ? "calls of programs"
                                                     : "evaluations";
  note(options.is_quiet,
       fmt::format("neither --calls, --budget nor --time is given: a budget of {} {}", options.budget, words));
}

void pay_importance(InferOptions& options, const FactorGraph& graph) {
  if (options.unit != "call" || options.num_importance == 0 || options.budget == INT64_MAX) return;
  const std::int64_t calls_each = num_functions(graph);
  const std::int64_t affordable = options.budget / kImportanceShare / std::max<std::int64_t>(calls_each, 1);
  if (affordable < options.num_importance) {
    note(options.is_quiet, fmt::format("--importance {} becomes {}: samples may take half of the {} calls, {} each",
                                       options.num_importance, affordable, options.budget, calls_each));
  }
  options.num_importance = std::min(options.num_importance, affordable);
  options.budget -= options.num_importance * calls_each;
}

}  // namespace treesample::cli
