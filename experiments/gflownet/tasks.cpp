#include "experiments/gflownet/tasks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "treesample/exact/elimination.hpp"
#include "treesample/families/family.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/math/random.hpp"
#include "treesample/program/dag_posterior.hpp"
#include "treesample/program/environments/dag_edges.hpp"
#include "treesample/program/environments/hypergrid.hpp"
#include "treesample/program/environments/sequence_tables.hpp"

namespace treesample::experiments {
namespace {

// 100 cases of a random linear network of five variables, as the DAG tasks of the literature have them: an edge between
// two nodes, in a random order, with probability 0.4, weights N(0, 1), noise of standard deviation 0.3.
std::vector<std::vector<double>> random_cases(std::uint64_t seed) {
  constexpr int kNodes = 5, kCases = 100;
  Random random(seed, "linear network");
  const std::vector<int> order = random.permutation(kNodes);
  std::vector<std::vector<double>> weights(kNodes, std::vector<double>(kNodes, 0.0));
  for (int i = 0; i < kNodes; ++i) {
    for (int j = i + 1; j < kNodes; ++j) weights[i][j] = random.uniform() < 0.4 ? random.normal() : 0.0;
  }
  std::vector<std::vector<double>> cases(kCases, std::vector<double>(kNodes, 0.0));
  for (auto& values : cases) {
    for (int j = 0; j < kNodes; ++j) {
      double& value = values[static_cast<std::size_t>(order[j])];
      value = 0.3 * random.normal();
      for (int i = 0; i < j; ++i) value += weights[i][j] * values[static_cast<std::size_t>(order[i])];
    }
  }
  return cases;
}

FactorGraph family_model(const std::string& family, std::uint64_t seed, std::map<std::string, double> values) {
  return make_family(family, {.seed = seed, .values = std::move(values)}).graph;
}

FlowTask family_task(const std::string& family, int n, int k) {
  std::map<std::string, double> values = {{"n", n}};
  if (k > 0) values["k"] = k;
  return {
      .word = fmt::format("{}-{}", family, n),
      .title = fmt::format("{}, N = {}", family, n),
      .make =
          [=](std::uint64_t seed) { return flow_program(configuration_sequences(family_model(family, seed, values))); },
      .size = std::pow(k > 0 ? k : 2, n)};
}

FlowTask hypergrid_task(int height) {
  return {.word = fmt::format("hypergrid-{}", height),
          .title = fmt::format("hypergrid {}^4", height),
          .make = [height](std::uint64_t) { return flow_program(Hypergrid<4>(height)); },
          .make_tree =
              [height](std::uint64_t) {
                const Hypergrid<4> grid(height);
                return flow_program(Sequences(height, 4, [grid](std::span<const int> x) {
                  Hypergrid<4>::State place{};
                  std::copy(x.begin(), x.end(), place.begin());
                  return grid.reward(place);
                }));
              },
          .size = std::pow(height, 4),
          .log_largest = std::log(2.501)};
}

std::vector<FlowTask> make_tasks() {
  std::vector<FlowTask> tasks = {hypergrid_task(8), hypergrid_task(20)};
  tasks.push_back({.word = "binding",
                   .title = "TFBind8-like",
                   .make = [](std::uint64_t seed) { return flow_program(table_sequences(binding_table(seed))); },
                   .size = 65'536,
                   .log_largest = 0.0});
  tasks.push_back({.word = "blocks",
                   .title = "QM9-small-like",
                   .make = [](std::uint64_t seed) { return flow_program(table_sequences(block_table(seed))); },
                   .size = 161'051,
                   .log_largest = 0.0});
  tasks.push_back({.word = "dag-5",
                   .title = "DAGs of 5 nodes, BGe",
                   .make = [](std::uint64_t seed) { return flow_program(DagEdges(bge_scores(random_cases(seed)))); },
                   .size = 29'281});
  for (const int n : {6, 10}) {
    for (const char* const family : {"chain", "permuted-chain", "factor-graphs-1"}) {
      tasks.push_back(family_task(family, n, 4));
    }
    tasks.push_back(family_task("factor-graphs-2", n, 0));
  }
  FlowTask small = family_task("ising", 4, 0);
  small.title = "Ising 4 x 4";
  small.size = 65'536;
  tasks.push_back(small);
  FlowTask large = family_task("ising", 10, 0);
  large.title = "Ising 10 x 10";
  large.size = std::ldexp(1.0, 100);
  large.log_z = [](std::uint64_t seed) {
    return Elimination(family_model("ising", seed, {{"n", 10}}), {}, {.goal = EliminationGoal::kLogZ}).log_z();
  };
  large.most_calls = 3'000;  // 100 steps to each object
  tasks.push_back(large);
  return tasks;
}

}  // namespace

const std::vector<FlowTask>& flow_tasks() {
  static const std::vector<FlowTask> tasks = make_tasks();
  return tasks;
}

FlowTruth::FlowTruth(NumberedProgram& program) {
  std::vector<Transition> transitions;
  for (StateId state = program.start(); state < program.num_states(); ++state) {
    places_.push_back(ends_.size());
    if (program.is_end(state)) {
      ends_.push_back(state);
      continue;
    }
    transitions.clear();
    program.actions(state, transitions);
  }
  log_rewards_.resize(ends_.size());
  program.rewards(ends_, log_rewards_);
  log_z_ = log_sum_exp(log_rewards_);
  for (const StateId end : ends_) {
    const std::vector<int> encoding = program.encode(end);
    num_values_.resize(encoding.size(), 1);
    for (std::size_t i = 0; i < encoding.size(); ++i) num_values_[i] = std::max(num_values_[i], encoding[i] + 1);
  }
  std::size_t num_cells = 1;
  for (const int count : num_values_) num_cells *= static_cast<std::size_t>(count);
  cells_.assign(num_cells, -1);
  for (const StateId end : ends_) cells_[cell_of(program.encode(end))] = end;
}

std::size_t FlowTruth::cell_of(const std::vector<int>& encoding) const {
  std::size_t cell = 0;
  for (std::size_t i = 0; i < encoding.size(); ++i) {
    cell = cell * static_cast<std::size_t>(num_values_[i]) + static_cast<std::size_t>(encoding[i]);
  }
  return cell;
}

std::optional<StateId> FlowTruth::find(const std::vector<int>& encoding) const {
  const std::int64_t end = cells_[cell_of(encoding)];
  if (end < 0) return std::nullopt;
  return static_cast<StateId>(end);
}

std::vector<double> FlowTruth::possible_cells() const {
  std::vector<double> possible;
  for (const std::int64_t end : cells_) possible.push_back(end < 0 ? kNegInf : 0.0);
  return possible;
}

}  // namespace treesample::experiments
