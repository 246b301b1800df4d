#include "treesample/train/learner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "treesample/error.hpp"
#include "treesample/math/random.hpp"

namespace treesample {
namespace {

// Squares of gradients up to this, and so Adam's moments, are finite in float32. A step is then at most a few times the
// learning rate, and finite parameters stay finite.
constexpr float kLargestGradient = 1e18F;

// R_n(x_<=n) from the tables; x may contain later states too.
double reward_of(const Problem& problem, int level, std::span<const int> x) {
  double sum = 0.0;
  for (const int m : problem.space.levels[level].factors) {
    check_argument(problem.graph.factor(m).is_table(), "bellman_weight",
                   fmt::format("factor {} of problem {} is a function, which the learner would have to evaluate in "
                               "every step; allowed is 0",
                               m, problem.id));
    sum += problem.graph.log_value(m, x);
  }
  return sum;
}

// Rows of the replay with their prefixes written out. If there is a Bellman term, each row is followed by the row of
// the next level; the sample of the row has the state that leads there.
struct Minibatch {
  std::vector<std::vector<int>> prefixes;
  std::vector<GnnSample> samples;  // no plan if the problem has none, as for a perceptron

  Minibatch(std::span<const ReplayEntry> batch, const LearnerOptions& options) {
    for (const auto& [experience, row] : batch) {
      experience->write_prefix(row, prefixes.emplace_back(experience->num_variables()));
      const std::optional<GnnPlan>& plan = experience->problem->plan;
      samples.push_back({.plan = plan ? &*plan : nullptr,
                         .states = prefixes.back(),
                         .variable = experience->variable(row),
                         .target = experience->target(row),
                         .high = experience->high(row),
                         .loss = options.loss});
      if (options.bellman_weight > 0.0) add_bellman(*experience, row, options.bellman_weight);
    }
  }

 private:
  // Adds nothing for an impossible edge, whose residual is not finite.
  void add_bellman(const Experience& experience, int row, double weight) {
    const Problem& problem = *experience.problem;
    const int level = experience.row_levels[row];
    const std::span<const int> x = experience.sample(experience.row_samples[row]);
    double reward = reward_of(problem, level, x) - problem.offsets[level];
    if (!std::isfinite(reward)) return;
    const bool is_last = level + 1 == problem.space.num_levels();
    if (!is_last) reward += problem.offsets[level + 1];
    const int variable = problem.space.levels[level].variable;
    samples.back().bellman = {.weight = weight,
                              .action = x[variable],
                              .reward = reward,
                              .num_next = is_last ? 0 : problem.space.levels[level + 1].num_states};
    if (is_last) return;
    std::vector<int> next = prefixes.back();
    next[variable] = x[variable];
    prefixes.push_back(std::move(next));
    samples.push_back(
        {.plan = samples.back().plan, .states = prefixes.back(), .variable = problem.space.levels[level + 1].variable});
  }
};

}  // namespace

void LearnerOptions::validate() const {
  check_argument(architecture == "gnn" || architecture == "mlp", "LearnerOptions",
                 fmt::format("architecture is '{}', allowed are gnn and mlp", architecture));
  check_range("LearnerOptions", "batch_size", batch_size, 1, 1 << 16);
  check_at_least("LearnerOptions", "bellman_weight", bellman_weight, 0.0);
  check_argument(global_after == 0 || architecture == "gnn", "LearnerOptions",
                 "global_after needs the architecture gnn: a perceptron sees all variables anyway");
}

Network make_network(const LearnerOptions& options, const ProblemSource& problems) {
  options.validate();
  Random random(options.seed, "parameters");
  if (options.architecture == "mlp") {
    return Mlp(
        {.num_variables = problems.num_variables(), .num_states = problems.max_states(), .hidden = options.hidden},
        random);
  }
  return Gnn({.kinds = problems.network_kinds(),
              .num_states = problems.max_states(),
              .iterations = options.iterations,
              .global_after = options.global_after},
             random);
}

Parameters& parameters_of(Network& network) {
  return std::visit([](auto& net) -> Parameters& { return net.parameters(); }, network);
}

const Parameters& parameters_of(const Network& network) {
  return std::visit([](const auto& net) -> const Parameters& { return net.parameters(); }, network);
}

Learner::Learner(Network network, const LearnerOptions& options)
    : options_(options),
      network_(std::move(network)),
      adam_(options.adam, parameters_of(network_).size()),
      gradient_(parameters_of(network_).size()) {
  options.validate();
}

double Learner::step(const Replay& replay) {
  Random random(options_.seed, fmt::format("minibatch/{}", adam_.num_steps));
  const std::vector<ReplayEntry> batch = replay.sample(options_.batch_size, random);
  if (batch.empty()) return 0.0;
  std::fill(gradient_.begin(), gradient_.end(), 0.0F);
  const double error = accumulate(batch);
  check_step(error);
  adam_.step(parameters_of(network_).values(), gradient_);
  return error;
}

void Learner::check_step(double error) const {
  const auto refuse = [&](const std::string& what) {
    throw Error(ErrorCode::kNumeric,
                fmt::format("learner step {}: {}; the step is refused and the parameters stay as they were (is the "
                            "learning rate of {} too high?)",
                            adam_.num_steps + 1, what, options_.adam.learning_rate));
  };
  if (!std::isfinite(error)) refuse(fmt::format("the loss is {}", error));
  const auto is_usable = [](float g) { return std::abs(g) <= kLargestGradient; };  // false for NaN
  if (std::all_of(gradient_.begin(), gradient_.end(), is_usable)) return;
  const auto found = std::find_if_not(gradient_.begin(), gradient_.end(), is_usable);
  const auto index = static_cast<std::size_t>(found - gradient_.begin());
  const std::vector<Parameters::Tensor>& tensors = parameters_of(network_).tensors();
  const auto after = std::find_if(tensors.begin(), tensors.end(), [&](const auto& t) { return t.offset > index; });
  refuse(fmt::format("the gradient of tensor '{}' is {}, allowed is at most {}", std::prev(after)->name, *found,
                     kLargestGradient));
}

double Learner::accumulate(std::span<const ReplayEntry> batch) {
  const Minibatch minibatch(batch, options_);
  const Mlp* const mlp = std::get_if<Mlp>(&network_);
  if (mlp == nullptr) return accumulate_gradient(std::get<Gnn>(network_), minibatch.samples, gnn_scratch_, gradient_);
  std::vector<MlpSample> samples;
  for (const GnnSample& sample : minibatch.samples) {
    samples.push_back({.states = sample.states,
                       .variable = sample.variable,
                       .target = sample.target,
                       .high = sample.high,
                       .loss = sample.loss,
                       .bellman = sample.bellman});
  }
  return mlp->accumulate_gradient(samples, mlp_scratch_, gradient_);
}

void ParameterBoard::publish(std::shared_ptr<const Network> network, std::int64_t version) {
  const std::lock_guard lock(mutex_);
  posted_ = {std::move(network), version};
}

ParameterBoard::Posted ParameterBoard::newest() const {
  const std::lock_guard lock(mutex_);
  return posted_;
}

}  // namespace treesample
