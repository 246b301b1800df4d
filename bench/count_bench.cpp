// Measures count() on generated models: seconds and decisions per second. Also measures how many times longer it takes
// without its cache, without learning, without reductions and elimination, and with variables of two states only.
// Everything is measured in one run and on one core. `count_bench [SECONDS]`: the time limit of each run.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "binary_encoding.hpp"
#include "support/zero_benchmarks.hpp"
#include "treesample/count/count.hpp"

namespace {

using namespace treesample;

// The search is used without reductions and elimination, so that there is something to compare.
const CountOptions kSearchAlone{.has_reductions = false, .most_eliminated_entries = 0.0};

bool has_more_than_two_states(const FactorGraph& graph) {
  for (int v = 0; v < graph.num_variables(); ++v) {
    if (graph.num_states(v) > 2) return true;
  }
  return false;
}

// Returns true if the bounds of all runs overlap.
bool measure(const testing::NamedModel& model, double seconds) {
  const Limits limits{.seconds = seconds};
  const CountResult whole = count(model.graph, limits, kSearchAlone);
  fmt::print("{}: {}, log Z {:.9g} .. {:.9g}, {:.3g} decisions per second; {}\n", model.name,
             whole.is_solved ? "solved" : "open", whole.report.log_z.lower, whole.report.log_z.upper,
             static_cast<double>(whole.report.num_decisions) / whole.report.seconds, whole.report.brief());
  bool is_correct = true;
  const auto compare = [&](const char* what, const FactorGraph& graph, const CountOptions& options) {
    const CountResult result = count(graph, limits, options);
    is_correct = is_correct && result.report.log_z.lower <= whole.report.log_z.upper &&
                 whole.report.log_z.lower <= result.report.log_z.upper;
    if (!whole.is_solved && !result.is_solved) return;
    fmt::print("  {}: {}{:.3g} times as long, {:.3g} times the decisions\n", what,
               result.is_solved ? (whole.is_solved ? "" : "solved, less than ") : "more than ",
               result.report.seconds / whole.report.seconds,
               static_cast<double>(result.report.num_decisions) /
                   std::max(1.0, static_cast<double>(whole.report.num_decisions)));
  };
  CountOptions options = kSearchAlone;
  options.has_cache = false;
  compare("without cache", model.graph, options);
  options = kSearchAlone;
  options.has_learning = false;
  compare("without learning", model.graph, options);
  compare("with reductions and elimination", model.graph, {});
  if (has_more_than_two_states(model.graph)) {
    compare("with variables of two states", binary_encoded(model.graph), kSearchAlone);
  }
  std::fflush(stdout);
  return is_correct;
}

// Runs count() with all of its parts, as users do. Returns true if the bounds contain the known number.
bool check_known(const testing::NamedModel& model, double seconds) {
  const CountResult result = count(model.graph, {.seconds = seconds});
  const LogBounds& log_z = result.report.log_z;
  const double known = *model.log_solutions;
  constexpr double kRounding = 1e-9;  // of the known number
  const bool is_right =
      known == kNegInf ? log_z.lower == kNegInf : log_z.lower <= known + kRounding && log_z.upper >= known - kRounding;
  fmt::print("{}: {}{}, known {:.9g}, log Z {:.9g} .. {:.9g}; {}\n", model.name, result.is_solved ? "solved" : "open",
             is_right ? "" : ", WRONG", known, log_z.lower, log_z.upper, result.report.brief());
  std::fflush(stdout);
  return is_right;
}

}  // namespace

int main(int argc, char** argv) {
  const double limit = argc > 1 ? std::atof(argv[1]) : 5.0;
  bool is_correct = true;
  for (const testing::NamedModel& model : testing::known_counts()) is_correct = check_known(model, limit) && is_correct;
  for (const testing::NamedModel& model : testing::zero_benchmarks()) is_correct = measure(model, limit) && is_correct;
  if (!is_correct) fmt::print("WRONG: bounds of two runs do not meet\n");
  return is_correct ? 0 : 1;
}
