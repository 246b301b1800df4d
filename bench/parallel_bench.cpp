// Measures how much quality several evaluations at a time cost, and how much speed they gain: docs/methods/oracles.md.
//
//   parallel_bench kl [INSTANCES [BUDGET]]    mean KL at equal budget, as CSV
//   parallel_bench speed                      evaluations per second with a function that sleeps 20 ms, as CSV
#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <deque>
#include <string>
#include <thread>
#include <utility>

#include "treesample/evaluate/divergence.hpp"
#include "treesample/exact/elimination.hpp"
#include "treesample/families/family.hpp"
#include "treesample/oracle/oracle_set.hpp"
#include "treesample/search/search.hpp"
#include "treesample/search/search_approximation.hpp"

namespace treesample {
namespace {

constexpr int kWorkers[] = {1, 4, 16};
constexpr int kNumSamples = 20'000;
constexpr double kSleepSeconds = 0.02;
constexpr std::int64_t kBudgetSeconds = 20;  // total time of evaluations: 1000 of 20 ms

// P programs that all take equally long: the answer to the oldest question comes first.
class EquallySlow final : public EvaluationQueue {
 public:
  EquallySlow(FactorGraph graph, int num_workers) : graph_(std::move(graph)), num_workers_(num_workers) {}
  [[nodiscard]] bool answers(int) const override { return true; }
  [[nodiscard]] int num_workers() const override { return num_workers_; }
  [[nodiscard]] int num_pending() const override { return static_cast<int>(pending_.size()); }
  Ticket submit(std::vector<OracleQuestion> questions) override {
    pending_.push_back(std::move(questions[0]));
    return next_ticket_++;
  }
  std::vector<OracleAnswer> wait_any() override {
    const OracleQuestion question = std::move(pending_.front());
    pending_.pop_front();
    const Ticket ticket = next_ticket_ - static_cast<Ticket>(pending_.size()) - 1;
    return {{ticket, {graph_.factor(question.factor).function()(question.states)}, {0.0}, {}}};
  }
  OracleAnswer wait(Ticket) override { return wait_any()[0]; }  // with one worker there is only one ticket

 private:
  FactorGraph graph_;
  int num_workers_;
  Ticket next_ticket_ = 0;
  std::deque<OracleQuestion> pending_;
};

// The same model with functions that hide their tables.
FactorGraph functions_of(const FactorGraph& tables) {
  FactorGraph graph;
  for (int v = 0; v < tables.num_variables(); ++v) graph.add_variable(tables.num_states(v));
  for (const Factor& factor : tables.factors()) {
    graph.add_factor(Factor::function(factor.scope(), [factor, &tables](std::span<const int> states) {
      std::size_t index = 0;
      for (std::size_t i = 0; i < states.size(); ++i) {
        index = index * static_cast<std::size_t>(tables.num_states(factor.scope()[i])) +
                static_cast<std::size_t>(states[i]);
      }
      return factor.log_values()[index];
    }));
  }
  return graph;
}

SearchResult search(const FactorGraph& graph, const SearchSpace& space, const Limits& limits) {
  return search(graph, space, {}, limits, {.select = SelectRule::kMass});
}

std::vector<int> given_order(const FactorGraph& graph) {
  std::vector<int> order(graph.num_variables());
  for (int v = 0; v < graph.num_variables(); ++v) order[v] = v;
  return order;
}

void measure_kl(int num_instances, std::int64_t budget) {
  fmt::print("family,workers,budget,instances,mean_kl,standard_error,ratio_to_one_worker\n");
  for (const char* family : {"chain", "permuted-chain", "factor-graphs-1", "factor-graphs-2"}) {
    double sequential = 0.0;
    for (const int num_workers : kWorkers) {
      double sum = 0.0;
      double sum_of_squares = 0.0;
      for (int instance = 0; instance < num_instances; ++instance) {
        const FactorGraph tables =
            make_family(family, {.seed = 2024, .instance = static_cast<std::uint64_t>(instance)}).graph;
        FactorGraph graph = functions_of(tables);
        graph.set_evaluation_queue(std::make_shared<EquallySlow>(graph, num_workers));
        const SearchSpace space = make_search_space(graph, given_order(graph), SpaceKind::kTree);
        const SearchResult result = search(graph, space, {.budget = budget});
        const SearchApproximation approximation(result, SamplerKind::kEstimate);
        Random random(static_cast<std::uint64_t>(instance), "kl");
        const double kl =
            sampled_divergence(tables, approximation, kNumSamples, random).kl(Elimination(tables).log_z());
        sum += kl;
        sum_of_squares += kl * kl;
      }
      const double mean = sum / num_instances;
      const double variance = sum_of_squares / num_instances - mean * mean;
      if (num_workers == 1) sequential = mean;
      fmt::print("{},{},{},{},{:.4f},{:.4f},{:.3f}\n", family, num_workers, budget, num_instances, mean,
                 std::sqrt(std::max(variance, 0.0) / num_instances), mean / sequential);
      std::fflush(stdout);
    }
  }
}

// A model with tables over pairs, and one function over all variables that sleeps, in place of a simulator.
FactorGraph simulator_model() {
  constexpr int kNumVariables = 8;
  constexpr int kNumStates = 4;
  FactorGraph graph;
  Random random(2024, "simulator");
  std::vector<int> all(kNumVariables);
  for (int& v : all) v = graph.add_variable(kNumStates);
  for (int v = 0; v + 1 < kNumVariables; ++v) {
    std::vector<double> values(std::size_t{kNumStates} * kNumStates);
    for (double& value : values) value = random.normal();
    graph.add_table({v, v + 1}, values);
  }
  const auto simulate = [](std::span<const int> states) {
    std::this_thread::sleep_for(std::chrono::duration<double>(kSleepSeconds));
    double sum = 0.0;
    for (const int state : states) sum = std::sin(sum + state);
    return sum;
  };
  graph.add_factor(Factor::function(all, simulate, {}, kSleepSeconds));
  return graph;
}

void measure_speed() {
  using Clock = std::chrono::steady_clock;
  fmt::print("workers,evaluations,seconds,evaluations_per_second,ratio_to_one_worker\n");
  double sequential = 0.0;
  for (const int num_workers : kWorkers) {
    const FactorGraph graph = simulator_model();
    const OracleSet oracles(graph, "1", {.num_workers = num_workers});
    const SearchSpace space = make_search_space(graph, given_order(graph), SpaceKind::kTree);
    const Clock::time_point start = Clock::now();
    search(oracles.graph(), space, {.budget = kBudgetSeconds, .unit = BudgetUnit::kCost});
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    const std::int64_t num_paid = oracles.counts()[0].paid;
    const double speed = static_cast<double>(num_paid) / seconds;
    if (num_workers == 1) sequential = speed;
    fmt::print("{},{},{:.2f},{:.1f},{:.2f}\n", num_workers, num_paid, seconds, speed, speed / sequential);
    std::fflush(stdout);
  }
}

}  // namespace
}  // namespace treesample

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  if (what == "kl") {
    treesample::measure_kl(argc > 2 ? std::atoi(argv[2]) : 20, argc > 3 ? std::atoll(argv[3]) : 10'000);
  } else if (what == "speed") {
    treesample::measure_speed();
  } else {
    fmt::print(stderr, "parallel_bench kl [INSTANCES [BUDGET]] | speed\n");
    return 64;
  }
  return 0;
}
