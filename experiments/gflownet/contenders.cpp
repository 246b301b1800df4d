#include "experiments/gflownet/contenders.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "experiments/gflownet/run_start.hpp"
#include "experiments/gflownet/tree_contender.hpp"
#include "treesample/blackbox/black_box.hpp"
#include "treesample/error.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample::experiments {
namespace {

constexpr std::int64_t kFewestRounds = 100;  // of training, from one budget to the next
constexpr std::int64_t kMostSteps = 100;     // of a chain, for each reward that it may ask for

double log_known(const SeenRewards& seen) { return log_sum_exp(seen.log_rewards()); }

// The end whose encoding this is, where all places can be chosen freely.
StateId walk_to(NumberedProgram& program, const std::vector<int>& entries) {
  StateId state = program.start();
  std::vector<Transition> transitions;
  for (const int entry : entries) {
    transitions.clear();
    program.actions(state, transitions);
    state = transitions[static_cast<std::size_t>(entry)].next;
  }
  return state;
}

bool run_flow(const FlowContender& contender, const FlowTask& task, std::uint64_t seed,
              const std::vector<std::int64_t>& budgets, const std::function<bool()>& is_interrupted, Numbers& numbers) {
  RunStart start(task, seed);
  const FlowOptions options = contender.flow ? *contender.flow : tuned_options(task.word, contender.word);
  FlowNetwork network(*start.program, options, seed);
  const ProcessorClock clock;
  for (const std::int64_t budget : budgets) {
    start.seen.set_limit(budget);
    const double before = clock.seconds();
    network.train(start.seen, kFewestRounds + 2 * budget / options.batch, is_interrupted);
    numbers[contender.word + ".training"] += clock.seconds() - before;
    if (is_interrupted()) return false;
    const double seconds = numbers[contender.word + ".training"];
    if (!start.truth) {
      add_judged(numbers, contender.word, budget, judge_built(network, start.log_z, seed), start.seen.num_calls(),
                 seconds);
      continue;
    }
    const std::vector<double> log_weights = network_weights(network, *start.truth);
    add_judged(numbers, contender.word, budget, judge(*start.truth, log_weights, network.log_z()),
               start.seen.num_calls(), seconds);
    const std::vector<double> with_memory = remembered(start, log_weights);
    add_judged(numbers, contender.word + ".memory", budget, judge(*start.truth, with_memory, log_sum_exp(with_memory)),
               start.seen.num_calls(), seconds);
  }
  return true;
}

bool run_uniform(const FlowContender& contender, const FlowTask& task, std::uint64_t seed,
                 const std::vector<std::int64_t>& budgets, const std::function<bool()>&, Numbers& numbers) {
  RunStart start(task, seed);
  Random random(seed, "uniform");
  const std::vector<int> order = random.permutation(static_cast<int>(start.truth->ends().size()));
  const ProcessorClock clock;
  std::size_t next = 0;
  for (const std::int64_t budget : budgets) {
    start.seen.set_limit(budget);
    while (!start.seen.is_spent()) start.seen.ask(start.truth->ends()[static_cast<std::size_t>(order[next++])]);
    const double log_mean = log_known(start.seen) - std::log(static_cast<double>(budget));
    const std::vector<double> weights = remembered(start, std::vector<double>(order.size(), log_mean));
    add_judged(numbers, contender.word, budget,
               judge(*start.truth, weights, log_mean + std::log(static_cast<double>(order.size()))),
               start.seen.num_calls(), clock.seconds());
  }
  return true;
}

// One chain, which changes one entry of an object's encoding at a time.
bool run_metropolis(const FlowContender& contender, const FlowTask& task, std::uint64_t seed,
                    const std::vector<std::int64_t>& budgets, const std::function<bool()>& is_interrupted,
                    Numbers& numbers) {
  RunStart start(task, seed);
  NumberedProgram& program = start.program->states();
  Random random(seed, "metropolis");
  std::vector<int> here = program.encode(start.truth ? start.truth->ends()[random.below(start.truth->ends().size())]
                                                     : walk_to(program, std::vector<int>(100, 0)));
  double log_reward = kNegInf;
  const ProcessorClock clock;
  for (const std::int64_t budget : budgets) {
    start.seen.set_limit(budget);
    for (std::int64_t step = 0; step < kMostSteps * budget && !start.seen.is_spent(); ++step) {
      std::vector<int> there = here;
      there[random.below(there.size())] =
          static_cast<int>(random.below(static_cast<std::uint64_t>(start.program->num_values())));
      const auto end = start.truth ? start.truth->find(there) : std::optional(walk_to(program, there));
      if (!end) continue;
      const double value = *start.seen.ask(*end);
      if (value < log_reward && std::log(random.uniform()) >= value - log_reward) continue;
      here = there;
      log_reward = value;
    }
    if (is_interrupted()) return false;
    Judged judged{.total_variation = -std::expm1(std::min(0.0, log_known(start.seen) - start.log_z)),
                  .kl = std::max(0.0, start.log_z - log_known(start.seen))};
    judged.log_z_error = judged.kl;
    add_judged(numbers, contender.word, budget, judged, start.seen.num_calls(), clock.seconds());
  }
  return true;
}

// All encodings as a table of what is known of them, and a function of which nothing is known.
FactorGraph black_box_model(const RunStart& start) {
  FactorGraph graph;
  std::vector<int> scope;
  const std::vector<int> counts = start.truth->num_values();
  for (const int count : counts) scope.push_back(graph.add_variable(count));
  graph.add_factor(Factor::function(scope, [](std::span<const int>) { return 0.0; }));
  const std::vector<double> known = start.truth->possible_cells();
  if (std::find(known.begin(), known.end(), kNegInf) != known.end()) graph.add_table(scope, known);
  return graph;
}

// Where objects cannot be listed, each encoding is one.
BlackBox make_black_box(RunStart& start, std::uint64_t seed) {
  const BlackBoxOptions options{.seed = seed, .looks_for_noise = false, .can_repeat = false};
  if (start.truth) return BlackBox(black_box_model(start), options);
  NumberedProgram& program = start.program->states();
  const std::size_t length = program.encode(program.start()).size();
  return BlackBox(Domain{.num_states = std::vector<int>(length, start.program->num_values())}, options);
}

Judged judge_answer(RunStart& start, const BlackBoxAnswer& answer, std::uint64_t seed) {
  NumberedProgram& program = start.program->states();
  if (start.truth) {
    std::vector<double> weights;
    for (const StateId end : start.truth->ends()) {
      weights.push_back(answer.approximation->log_prob(program.encode(end)) + answer.log_z);
    }
    return judge(*start.truth, weights, answer.log_z);
  }
  Random random(seed, "judge");
  std::vector<std::pair<double, double>> samples;
  for (int i = 0; i < kJudgedSamples; ++i) {
    const Assignment x = answer.approximation->sample(random);
    const StateId end = walk_to(program, x);
    double log_reward = 0.0;
    program.rewards({&end, 1}, {&log_reward, 1});
    samples.emplace_back(answer.approximation->log_prob(x), log_reward);
  }
  return judge_samples(samples, start.log_z, answer.log_z);
}

bool run_black_box(const FlowContender& contender, const FlowTask& task, std::uint64_t seed,
                   const std::vector<std::int64_t>& budgets, const std::function<bool()>& is_interrupted,
                   Numbers& numbers) {
  RunStart start(task, seed);
  BlackBox box = make_black_box(start, seed);
  const ProcessorClock clock;
  for (const std::int64_t budget : budgets) {
    start.seen.set_limit(budget);
    while (!start.seen.is_spent()) {
      const std::vector<Assignment> asked = box.ask(1, is_interrupted);
      if (is_interrupted()) return false;
      if (asked.empty()) break;
      const StateId end = start.truth ? *start.truth->find(asked[0]) : walk_to(start.program->states(), asked[0]);
      box.tell_function(0, asked[0], *start.seen.ask(end));
      box.tell_done(asked[0]);
    }
    const BlackBoxAnswer answer = box.answer(is_interrupted);
    if (is_interrupted()) return false;
    const double seconds = clock.seconds();
    add_judged(numbers, contender.word, budget, judge_answer(start, answer, seed), start.seen.num_calls(), seconds);
  }
  return true;
}

std::vector<FlowContender> make_contenders() {
  std::vector<FlowContender> contenders = {
      {.word = "black-box", .title = "black box", .run = run_black_box, .is_learned = true},
      {.word = "tree", .title = "tree search, trained Q_phi", .run = run_tree},
      {.word = "search", .title = "search, declared largest reward", .run = run_search, .takes_only_declared = true},
      {.word = "uniform", .title = "uniform, remembering", .run = run_uniform, .takes_only_listed = true},
      {.word = "metropolis", .title = "Metropolis, remembering", .run = run_metropolis}};
  for (const auto& [word, title] :
       {std::pair{"tb", "trajectory balance"}, {"subtb", "sub-trajectory balance"}, {"dqn", "soft DQN"}}) {
    contenders.push_back({.word = word, .title = title, .run = run_flow, .has_memory_too = true});
  }
  // For tuning: all settings of each objective.
  for (std::size_t i = 0; i < flow_settings().size(); ++i) {
    for (const FlowObjective objective : kFlowObjectives) {
      FlowOptions options = flow_settings()[i];
      options.objective = objective;
      contenders.push_back({.word = fmt::format("{}-{}", word_of(objective), i),
                            .title = fmt::format("{}, setting {}", word_of(objective), i),
                            .run = run_flow,
                            .has_memory_too = true,
                            .is_for_tuning = true,
                            .flow = options});
    }
  }
  return contenders;
}

}  // namespace

bool FlowContender::takes(const FlowTask& task) const {
  return (task.can_list() || !takes_only_listed) && (task.log_largest < HUGE_VAL || !takes_only_declared);
}

const std::vector<FlowContender>& flow_contenders() {
  static const std::vector<FlowContender> contenders = make_contenders();
  return contenders;
}

}  // namespace treesample::experiments
