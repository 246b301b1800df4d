// How fast programs as models are: states, transitions and rewards a second of processor time, and the distance of what
// is learned from the truth. Prints CSV, which is kept in experiments/programs.
//
// usage: program_bench [CALLS ...]     numbers of calls for the hypergrid 20^4; none: it is not learned
#include <fmt/format.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <vector>

#include "treesample/math/random.hpp"
#include "treesample/program/dag_posterior.hpp"
#include "treesample/program/environments/hypergrid.hpp"
#include "treesample/program/infer_program.hpp"

namespace treesample {
namespace {

double processor_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

std::vector<std::vector<double>> chain_data(int width) {
  Random random(1, "data");
  std::vector<std::vector<double>> rows(200, std::vector<double>(static_cast<std::size_t>(width)));
  for (std::vector<double>& row : rows) {
    for (std::size_t v = 0; v < row.size(); ++v) row[v] = random.normal() + (v == 0 ? 0.0 : 0.7 * row[v - 1]);
  }
  return rows;
}

std::int64_t count_transitions(const ProgramAnswer& answer) {
  std::int64_t count = 0;
  answer.distribution->for_each_action([&](StateId, const Transition&, double) { ++count; });
  return count;
}

void measure_layers(int width) {
  const double start = processor_seconds();
  const DagScores scores = bge_scores(chain_data(width));
  const double scored = processor_seconds();
  const DagPosterior posterior = dag_posterior(scores);
  const double end = processor_seconds();
  HashedProgram<DagLayers> layers{DagLayers(scores)};
  const double begun = processor_seconds();
  const ProgramAnswer answer = infer_program(layers);
  const double seconds = processor_seconds() - begun;
  const auto transitions = count_transitions(answer);
  fmt::print("dag-{} posterior with all edges,{},{},{},0,{:.4f},{:.3g},{:.12g}\n", width, answer.num_states,
             transitions, 0, end - scored, posterior.bounds.width(), posterior.edges[0][1]);
  fmt::print("dag-{} log Z alone,{},{},{},0,{:.4f},{:.3g},{:.12g}\n", width, answer.num_states, transitions, 0, seconds,
             answer.log_z.width(), static_cast<double>(transitions) / seconds);
  fmt::print("dag-{} bge scores,,,{},0,{:.4f},,\n", width, width << (width - 1), scored - start);
}

// Tells all distributions over the grid from the true one.
double distance(const HashedProgram<Hypergrid<4>>& grid, const ProgramAnswer& answer, double log_z) {
  double total = 0.0;
  answer.distribution->for_each_end([&](StateId end, double probability) {
    total += std::abs(probability - std::exp(grid.program().reward(grid.state(end)) - log_z));
  });
  return 0.5 * total;
}

void measure_grid(const std::vector<std::int64_t>& calls) {
  HashedProgram<Hypergrid<4>> grid{Hypergrid<4>(20)};
  const double start = processor_seconds();
  const ProgramAnswer exact = infer_program(grid);
  fmt::print("hypergrid 20^4 exact,{},,{},{:.3g},{:.4f},{:.3g},\n", exact.num_states, exact.spent.calls,
             distance(grid, exact, *exact.estimate), processor_seconds() - start, exact.log_z.width());
  for (const std::int64_t most : calls) {
    for (const std::uint64_t seed : {0, 1, 2}) {
      HashedProgram<Hypergrid<4>> again{Hypergrid<4>(20)};
      const double begun = processor_seconds();
      const ProgramAnswer answer = infer_program(again, {.seed = seed}, {.calls = most});
      fmt::print("hypergrid 20^4 learned seed {},{},,{},{:.4f},{:.4f},,{:.6f}\n", seed, answer.num_states,
                 answer.spent.calls, distance(again, answer, *exact.estimate), processor_seconds() - begun,
                 *answer.estimate - *exact.estimate);
    }
  }
}

}  // namespace
}  // namespace treesample

int main(int argc, char** argv) {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);  // a line at a time: some take minutes
  std::vector<std::int64_t> calls;
  for (int i = 1; i < argc; ++i) calls.push_back(std::atoll(argv[i]));
  fmt::print("task,states,transitions,rewards,total variation,processor seconds,width of the bounds,note\n");
  for (const int width : {5, 8, 10, 12}) treesample::measure_layers(width);
  treesample::measure_grid(calls);
}
