// treesample bench: speed of the search on fixed models, with a fingerprint of the results.
#include <fmt/format.h>

#include <bit>
#include <cmath>

#include "command.hpp"
#include "treesample/families/family.hpp"
#include "treesample/search/q_uct_search.hpp"

namespace treesample::cli {
namespace {

class BenchCommand final : public Command {
 public:
  std::string name() const override { return "bench"; }
  std::string summary() const override {
    return "Speed of the search on fixed models, with a fingerprint of the results";
  }
  std::string examples() const override { return "  treesample bench\n  treesample bench --budget 10000000"; }
  void declare(CommandLine& line) override {
    line.option("--budget", budget_, 1, INT64_MAX, "Reward evaluations per model and space");
  }
  int run() override;

 private:
  std::int64_t budget_ = 1'000'000;
};

int BenchCommand::run() {
  struct Row {
    std::string family;
    double n, k;
    SpaceKind kind;
    const char* space;
    OrderKind order;
  };
  const Row rows[] = {
      {"chain", 10, 5, SpaceKind::kTree, "tree", OrderKind::kGiven},
      {"chain", 20, 2, SpaceKind::kTree, "tree", OrderKind::kGiven},
      {"chain", 100, 2, SpaceKind::kTree, "tree", OrderKind::kGiven},
      {"ising", 12, 2, SpaceKind::kGraph, "graph", OrderKind::kGiven},
      {"ising", 12, 2, SpaceKind::kAndOr, "andor", OrderKind::kMinFill},
  };
  fmt::print("{:<8}{:>5}{:>3}  {:<6}{:>14}{:>12}{:>14}{:>16}\n", "model", "n", "k", "space", "evaluations",
             "per second", "bytes each", "log Z estimate");
  std::uint64_t fingerprint = 0xcbf29ce484222325ULL;
  for (const Row& row : rows) {
    FamilyOptions options;
    options.seed = 1;
    options.values["n"] = row.n;
    if (row.family == "chain") options.values["k"] = row.k;
    const FactorGraph graph = make_family(row.family, options).graph;
    const SearchSpace space = make_search_space(graph, search_order(graph, row.kind, {.kind = row.order}), row.kind);
    const QUctResult result = q_uct_search(graph, space, {}, {.budget = budget_, .bytes = SIZE_MAX});
    const auto evaluations = static_cast<double>(result.report.spent.reward_evaluations);
    fmt::print("{:<8}{:>5}{:>3}  {:<6}{:>14}{:>12.3g}{:>14.1f}{:>16.6f}\n", row.family, row.n, row.k, row.space,
               result.report.spent.reward_evaluations, evaluations / result.report.seconds,
               static_cast<double>(result.report.used_bytes) / evaluations, result.report.estimate);
    // Rounded, so that the fingerprint does not depend on the last bits of the C library.
    const double rounded = std::round(result.report.estimate * 1e6);
    for (const std::uint64_t part : {std::bit_cast<std::uint64_t>(rounded), result.report.num_nodes}) {
      fingerprint = (fingerprint ^ part) * 0x100000001b3ULL;
    }
  }
  fmt::print("fingerprint {:016x}\n", fingerprint);
  return 0;
}

}  // namespace

std::unique_ptr<Command> make_bench_command() { return std::make_unique<BenchCommand>(); }

}  // namespace treesample::cli
