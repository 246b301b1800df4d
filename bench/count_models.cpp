// Counts models from files: `count_models [--seconds S] [--memory MiB] [--no-cache] [--no-learning] [--no-reductions]
// [--reductions LETTERS] MODEL.uai ...`. The letters are p (split products), m (merged states), g (gates) and s (sums);
// pmgs is all. Evidence is read from MODEL.uai.evid if it exists. One line per model; for experiments.
#include <fmt/format.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <numbers>
#include <optional>

#include "count/reduce.hpp"
#include "treesample/count/count.hpp"
#include "treesample/error.hpp"
#include "treesample/io/uai.hpp"
#include "treesample/reduce/evidence.hpp"
#include "treesample/reduce/simplify.hpp"

namespace {

// The reductions of count(), some of them left out.
treesample::FactorGraph reduced_by(const treesample::FactorGraph& graph, const treesample::ReduceSwitches& switches) {
  using namespace treesample;
  CountReduction reduction = reduce_for_count(simplify(graph).model.graph, {}, switches);
  fmt::print("split {}, merged {}, gates {} (equivalent {}), summed {}: ", reduction.num_split,
             reduction.num_merged_states, reduction.num_inlined, reduction.num_equivalent, reduction.num_summed);
  return std::move(reduction.graph);
}

}  // namespace

int main(int argc, char** argv) {
  using namespace treesample;
  Limits limits{.seconds = 20.0};
  CountOptions options;
  std::optional<ReduceSwitches> switches;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    const auto number = [&] { return i + 1 < argc ? std::atof(argv[++i]) : 0.0; };
    if (argument == "--seconds") {
      limits.seconds = number();
    } else if (argument == "--memory") {
      limits.bytes = static_cast<std::size_t>(number()) << 20;
    } else if (argument == "--no-cache") {
      options.has_cache = false;
    } else if (argument == "--no-learning") {
      options.has_learning = false;
    } else if (argument == "--no-reductions") {
      options.has_reductions = false;
    } else if (argument == "--reductions" && i + 1 < argc) {
      const std::string letters = argv[++i];
      const auto has = [&](char letter) { return letters.find(letter) != std::string::npos; };
      switches = ReduceSwitches{has('p'), has('m'), has('g'), has('s')};
      options.has_reductions = false;
    } else if (argument == "--circuit") {
      options.keep_circuit = true;
    } else if (argument == "--restarts") {
      options.order_restarts = static_cast<int>(number());
    } else {
      try {
        const FactorGraph graph = read_uai(argument);
        const std::filesystem::path evidence = argument + ".evid";
        const FactorGraph reduced =
            std::filesystem::exists(evidence) ? condition(graph, read_uai_evidence(evidence, graph)).graph : graph;
        const FactorGraph smaller = switches ? reduced_by(reduced, *switches) : reduced;
        const CountResult result = count(smaller, limits, options);
        fmt::print("{}: {} log10 Z {:.10g} .. {:.10g} ({:.2g}), share {:.2g}; {}\n", argument,
                   result.is_solved ? "solved" : "open", result.report.log_z.lower / std::numbers::ln10,
                   result.report.log_z.upper / std::numbers::ln10,
                   result.report.log_z.upper - result.report.log_z.lower, result.report.share_done,
                   result.report.brief());
      } catch (const Error& error) {
        fmt::print("{}: {}\n", argument, error.what());
      }
      std::fflush(stdout);
    }
  }
  return 0;
}
