#include "experiments/gflownet/tree_contender.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string>

#include "experiments/gflownet/run_start.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/program/infer_program.hpp"

namespace treesample::experiments {
namespace {

constexpr double kGrowth = 1.5;            // of what was seen, from one search to the next
constexpr std::int64_t kFewestCalls = 64;  // of a search
constexpr std::int64_t kUpdatesAtLeast = 200;

// A program with another `value` or `upper`. The key of an end is its number.
class GuidedProgram final : public NumberedProgram {
 public:
  using Guide = std::function<double(StateId)>;
  GuidedProgram(NumberedProgram& program, Guide value, Guide upper)
      : program_(program), value_(std::move(value)), upper_(std::move(upper)) {}

  [[nodiscard]] ProgramParts parts() const override {
    ProgramParts parts = program_.parts();
    parts.has_value = value_ != nullptr;
    parts.has_upper = upper_ != nullptr;
    return parts;
  }
  StateId start() override { return program_.start(); }
  bool is_end(StateId state) override { return program_.is_end(state); }
  void actions(StateId state, std::vector<Transition>& out) override { program_.actions(state, out); }
  void rewards(std::span<const StateId> ends, std::span<double> values) override { program_.rewards(ends, values); }
  double upper(StateId state) override { return upper_ ? upper_(state) : HUGE_VAL; }
  double value(StateId state) override { return value_ ? value_(state) : 0.0; }
  double log_paths(StateId end) override { return program_.log_paths(end); }
  std::vector<int> encode(StateId end) override { return program_.encode(end); }
  void compare_merged(bool is_on) override { program_.compare_merged(is_on); }
  [[nodiscard]] std::string text(StateId state) override { return program_.text(state); }
  [[nodiscard]] std::string action_text(StateId state, int action) override {
    return program_.action_text(state, action);
  }
  [[nodiscard]] std::string key(StateId state) override { return std::to_string(state); }
  [[nodiscard]] std::size_t num_states() const override { return program_.num_states(); }
  [[nodiscard]] std::size_t bytes() const override { return program_.bytes(); }

 private:
  NumberedProgram& program_;
  Guide value_, upper_;
};

// What a search may know without paying, and what it tells.
class SeenMemory final : public RewardMemory {
 public:
  explicit SeenMemory(SeenRewards& seen) : seen_(seen) {}
  [[nodiscard]] std::optional<double> find(const std::string& key) const override { return seen_.find(end_of(key)); }
  void add(const std::string& key, double) override { seen_.ask(end_of(key)); }

 private:
  static StateId end_of(const std::string& key) {
    StateId end = 0;
    std::from_chars(key.data(), key.data() + key.size(), end);
    return end;
  }
  SeenRewards& seen_;
};

}  // namespace

bool run_tree(const FlowContender& contender, const FlowTask& task, std::uint64_t seed,
              const std::vector<std::int64_t>& budgets, const std::function<bool()>& is_interrupted, Numbers& numbers) {
  RunStart start(task, seed, task.make_tree ? task.make_tree(seed) : task.make(seed));
  const FlowOptions options = tuned_options(task.word, word_of(FlowObjective::kSoftDqn));
  FlowNetwork network(*start.program, options, seed);
  GuidedProgram guided(
      start.program->states(), [&](StateId state) { return network.value(state); }, nullptr);
  SeenMemory memory(start.seen);
  const ProcessorClock clock;
  double judging = 0.0;  // seconds
  for (const std::int64_t budget : budgets) {
    start.seen.set_limit(budget);
    while (!start.seen.is_spent()) {
      const std::int64_t known = start.seen.num_calls();
      const auto more = std::max(kFewestCalls, static_cast<std::int64_t>((kGrowth - 1.0) * static_cast<double>(known)));
      const Limits limits{.calls = std::min(budget - known, more)};
      infer_program(guided, {.method = ProgramMethod::kTree, .seed = seed}, limits, {.should_stop = is_interrupted},
                    &memory);
      if (is_interrupted()) return false;
      if (start.seen.num_calls() == known) break;  // nothing is left
      const std::int64_t updates = options.updates * (start.seen.num_calls() - known) / options.batch;
      network.train_on(start.seen, std::max(kUpdatesAtLeast, updates), is_interrupted);
      if (is_interrupted()) return false;
    }
    const double seconds = clock.seconds() - judging;
    if (start.truth) {
      const std::vector<double> weights = remembered(start, network_weights(network, *start.truth));
      add_judged(numbers, contender.word, budget, judge(*start.truth, weights, log_sum_exp(weights)),
                 start.seen.num_calls(), seconds);
    } else {
      add_judged(numbers, contender.word, budget, judge_built(network, start.log_z, seed), start.seen.num_calls(),
                 seconds);
    }
    judging = clock.seconds() - seconds;
  }
  return true;
}

bool run_search(const FlowContender& contender, const FlowTask& task, std::uint64_t seed,
                const std::vector<std::int64_t>& budgets, const std::function<bool()>& is_interrupted,
                Numbers& numbers) {
  RunStart start(task, seed, task.make_tree ? task.make_tree(seed) : task.make(seed));
  const double log_values = std::log(start.program->num_values());
  const auto upper = [&](StateId state) {
    const std::vector<int> entries = start.program->states().encode(state);
    return task.log_largest + log_values * static_cast<double>(std::count(entries.begin(), entries.end(), -1));
  };
  GuidedProgram guided(start.program->states(), nullptr, upper);
  SeenMemory memory(start.seen);
  double seconds = 0.0;
  for (const std::int64_t budget : budgets) {
    start.seen.set_limit(budget);
    const ProcessorClock clock;
    const ProgramAnswer answer =
        infer_program(guided, {.method = ProgramMethod::kSearch, .seed = seed},
                      {.calls = budget - start.seen.num_calls()}, {.should_stop = is_interrupted}, &memory);
    seconds += clock.seconds();
    if (is_interrupted()) return false;
    const std::vector<double> nothing(start.truth->ends().size(), kNegInf);
    add_judged(numbers, contender.word, budget, judge(*start.truth, remembered(start, nothing), answer.log_z.lower),
               start.seen.num_calls(), seconds);
    numbers[fmt::format("{}.{}.gap", contender.word, budget)] = answer.log_z.upper - answer.log_z.lower;
    const bool holds = answer.log_z.lower <= start.log_z + 1e-9 && start.log_z <= answer.log_z.upper + 1e-9;
    numbers[fmt::format("{}.{}.holds", contender.word, budget)] = holds ? 1.0 : 0.0;
  }
  return true;
}

}  // namespace treesample::experiments
