// Times of the value networks with the paper's sizes, on one core: one evaluation (batch 1), evaluations in batches,
// and one training step (batch 128, with Adam). For each, it prints its share of the core's peak rate of fused
// multiply-adds, measured in the same run. Fails if a network disagrees with the plain double-precision reference.
//
// Usage: nn_bench

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <vector>

#include "nn/gnn_cone.hpp"
#include "nn/kernels.hpp"
#include "support/nn_reference.hpp"
#include "treesample/families/factor_graphs_2.hpp"
#include "treesample/math/random.hpp"
#include "treesample/nn/adam.hpp"
#include "treesample/nn/gnn.hpp"
#include "treesample/nn/mlp.hpp"

namespace {

using namespace treesample;

constexpr int kVariables = 20;
constexpr int kStates = 2;
constexpr int kGraphs = 8;
constexpr int kBatch = 128;

// The time of one call in the fastest of several runs of `repeats` calls each, because noise can only slow a run down.
template <typename Call>
double seconds_per_call(int repeats, const Call& call) {
  double best = HUGE_VAL;
  for (int run = 0; run < 7; ++run) {
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < repeats; ++i) call(i);
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin;
    best = std::min(best, spent.count() / repeats);
  }
  return best;
}

double peak_flops() {
  float sink = 0.25F;
  constexpr std::int64_t kRounds = 1 << 18;
  const double flops = nn::peak_flops_loop(kRounds, &sink);
  return flops / seconds_per_call(8, [&](int) { nn::peak_flops_loop(kRounds, &sink); });
}

void print_line(const char* what, double seconds, double flops, double peak) {
  fmt::print("{:<34} {:>9.2f} us  {:>7.1f} GFLOP/s  {:>5.1f} % of peak\n", what, 1e6 * seconds, 1e-9 * flops / seconds,
             100.0 * flops / seconds / peak);
}

// A state of the search: the variables before `variable` are assigned.
std::vector<int> prefix_before(int variable, Random& random) {
  std::vector<int> states(kVariables, -1);
  for (int v = 0; v < variable; ++v) states[v] = static_cast<int>(random.below(kStates));
  return states;
}

struct Query {
  int variable = 0;
  std::vector<int> states;
  std::vector<float> target;
};

std::vector<Query> make_queries(int count, Random& random) {
  std::vector<Query> queries;
  for (int i = 0; i < count; ++i) {
    const int variable = i % kVariables;
    queries.push_back({.variable = variable, .states = prefix_before(variable, random), .target = {1.0F, -1.0F}});
  }
  return queries;
}

// The states of one query, kBatch times.
std::vector<int> batch_of(const Query& query) {
  std::vector<int> states;
  for (int r = 0; r < kBatch; ++r) states.insert(states.end(), query.states.begin(), query.states.end());
  return states;
}

// The time of a training step with Adam. accumulate(gradient) is that of the network.
template <typename Accumulate>
double seconds_per_step(int repeats, Parameters& parameters, const Accumulate& accumulate) {
  FloatBuffer gradient(parameters.size());
  Adam adam({}, parameters.size());
  return seconds_per_call(repeats, [&](int) {
    std::fill(gradient.begin(), gradient.end(), 0.0F);
    accumulate(gradient);
    adam.step(parameters.values(), gradient);
  });
}

// Floating-point operations of the pruned evaluation of one read-out.
double gnn_flops(const GnnOptions& options, const nn::Cone& cone) {
  double blocks = 0.0;
  for (int s = 0; s < nn::num_steps(options); ++s) {
    const int iteration = s / nn::num_blocks(options) + 1;
    const bool is_node = nn::is_node_block(options, s % nn::num_blocks(options));
    const int in_panels = is_node ? (iteration == 1 ? 0 : 2) : (iteration == 2 ? 2 : 3);
    blocks += static_cast<double>(cone.step_size[s]) * (in_panels + nn::kTailLayers);
  }
  return 2.0 * nn::kBlock * blocks;
}

bool agrees(std::span<const float> q, const std::vector<double>& expected) {
  bool all = true;
  for (std::size_t a = 0; a < expected.size(); ++a) all = all && std::abs(q[a] - expected[a]) < 1e-4;
  return all;
}

bool bench_gnn(double peak) {
  Random random(1, "nn_bench");
  const GnnOptions options = {.kinds = {"not", "majority"}, .num_states = kStates};
  auto network = std::make_shared<Gnn>(options, random);
  std::vector<test::KindedGraph> models;
  std::vector<GnnPlan> plans;
  std::vector<GnnEvaluator> evaluators;
  for (int g = 0; g < kGraphs; ++g) {
    FamilyInstance instance = make_factor_graphs_2({}, 1, static_cast<std::uint64_t>(g));
    models.push_back({.graph = std::move(instance.graph), .kinds = std::move(instance.factor_kinds)});
    plans.emplace_back(models.back().graph, models.back().kinds, options);
    evaluators.emplace_back(network, plans.back());
  }
  const std::vector<Query> queries = make_queries(kGraphs * kVariables, random);
  const auto graph_of = [](int i) { return i / kVariables % kGraphs; };
  const int num_queries = static_cast<int>(queries.size());
  GnnScratch scratch;
  std::vector<float> q(kStates);
  const test::ReferenceTensors tensors(network->parameters().to_tensors(network->parameters().values()));
  bool correct = true;
  double flops = 0.0;
  for (int i = 0; i < num_queries; ++i) {
    evaluators[graph_of(i)].q_values(queries[i].variable, queries[i].states, scratch, q);
    correct = correct && agrees(q, test::reference_gnn(tensors, options, models[graph_of(i)], queries[i].states,
                                                       queries[i].variable));
    flops += gnn_flops(options, plans[graph_of(i)].data().cones[queries[i].variable]) / num_queries;
  }
  const double single = seconds_per_call(20 * num_queries, [&](int i) {
    const Query& query = queries[i % num_queries];
    evaluators[graph_of(i % num_queries)].q_values(query.variable, query.states, scratch, q);
  });
  print_line("GNN evaluation, batch 1", single, flops, peak);

  const std::vector<int> many = batch_of(queries[9]);
  std::vector<float> many_q(kBatch * kStates);
  const double batched =
      seconds_per_call(50, [&](int i) { evaluators[i % kGraphs].q_values(9, many, scratch, many_q); });
  double batch_flops = 0.0;
  for (const GnnPlan& plan : plans) batch_flops += gnn_flops(options, plan.data().cones[9]) / kGraphs;
  print_line("GNN evaluation, each of batch 128", batched / kBatch, batch_flops, peak);

  std::vector<GnnSample> samples;
  double step_flops = 0.0;
  for (int i = 0; i < kBatch; ++i) {
    const int j = i * 37 % num_queries;  // all graphs and variables, mixed
    samples.push_back({.plan = &plans[graph_of(j)],
                       .states = queries[j].states,
                       .variable = queries[j].variable,
                       .target = queries[j].target});
    step_flops += 3.0 * gnn_flops(options, plans[graph_of(j)].data().cones[queries[j].variable]);
  }
  const double step = seconds_per_step(30, network->parameters(), [&](FloatBuffer& gradient) {
    accumulate_gradient(*network, samples, scratch, gradient);
  });
  print_line("GNN training step, batch 128", step, step_flops, peak);
  return correct;
}

bool bench_mlp(double peak) {
  Random random(2, "nn_bench");
  const MlpOptions options = {.num_variables = kVariables, .num_states = kStates};
  Mlp network(options, random);
  const std::vector<Query> queries = make_queries(kBatch, random);
  MlpScratch scratch;
  std::vector<float> q(kStates);
  const test::ReferenceTensors tensors(network.parameters().to_tensors(network.parameters().values()));
  bool correct = true;
  for (const Query& query : queries) {
    network.q_values(query.variable, query.states, scratch, q);
    correct = correct && agrees(q, test::reference_mlp(tensors, options, query.states, query.variable));
  }
  double flops = 2.0 * kStates * options.hidden.back();  // all dense layers, including zeros that are skipped
  for (std::size_t l = 1; l < options.hidden.size(); ++l) flops += 2.0 * options.hidden[l - 1] * options.hidden[l];
  const double single = seconds_per_call(10 * kBatch, [&](int i) {
    network.q_values(queries[i % kBatch].variable, queries[i % kBatch].states, scratch, q);
  });
  print_line("MLP evaluation, batch 1", single, flops, peak);

  const std::vector<int> many = batch_of(queries[9]);
  std::vector<float> many_q(kBatch * kStates);
  const double batched = seconds_per_call(50, [&](int) { network.q_values(9, many, scratch, many_q); });
  print_line("MLP evaluation, each of batch 128", batched / kBatch, flops, peak);

  std::vector<MlpSample> samples;
  for (const Query& query : queries) {
    samples.push_back({.states = query.states, .variable = query.variable, .target = query.target});
  }
  const double step = seconds_per_step(20, network.parameters(), [&](FloatBuffer& gradient) {
    network.accumulate_gradient(samples, scratch, gradient);
  });
  print_line("MLP training step, batch 128", step, 3.0 * kBatch * flops, peak);
  return correct;
}

}  // namespace

int main() {
  const double peak = peak_flops();
  fmt::print("peak of fused multiply-adds on one core: {:.1f} GFLOP/s\n", 1e-9 * peak);
  const bool gnn = bench_gnn(peak);
  const bool mlp = bench_mlp(peak);
  fmt::print("against the double-precision reference: GNN {}, MLP {}\n", gnn ? "equal" : "DIFFERENT",
             mlp ? "equal" : "DIFFERENT");
  return gnn && mlp ? 0 : 1;
}
