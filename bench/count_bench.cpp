// count() on models made for it: seconds and decisions per second, and how many times longer it takes without its
// cache and without learning, all in one run and on one core. `count_bench [SECONDS]`: the limit of each run.
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>

#include "support/zero_benchmarks.hpp"
#include "treesample/count/count.hpp"

int main(int argc, char** argv) {
  using namespace treesample;
  const double limit = argc > 1 ? std::atof(argv[1]) : 5.0;
  bool is_correct = true;
  for (const auto& [name, graph] : testing::zero_benchmarks()) {
    CountOptions options{.seconds = limit};
    const CountResult whole = count(graph, options);
    fmt::print("{}: {}, log Z {:.9g} .. {:.9g}, {:.3g} decisions per second; {}\n", name,
               whole.is_solved ? "solved" : "open", whole.log_z.lower, whole.log_z.upper,
               static_cast<double>(whole.report.num_decisions) / whole.report.seconds, whole.report.brief());
    const auto compare = [&](const char* what, const CountOptions& other) {
      const CountResult result = count(graph, other);
      fmt::print("  {}: {}{:.3g} times as long\n", what, result.is_solved ? "" : "more than ",
                 result.report.seconds / whole.report.seconds);
      is_correct = is_correct && result.log_z.lower <= whole.log_z.upper && whole.log_z.lower <= result.log_z.upper;
    };
    if (whole.is_solved && argc < 3) {
      compare("without cache", {.seconds = limit, .has_cache = false});
      compare("without learning", {.seconds = limit, .has_learning = false});
    }
    std::fflush(stdout);
  }
  if (!is_correct) fmt::print("WRONG: bounds of two runs do not meet\n");
  return is_correct ? 0 : 1;
}
