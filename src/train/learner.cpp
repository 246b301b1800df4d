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

// Squares of gradients up to here, and so Adam's moments, are finite in float32; its step is then at most a few
// times the learning rate, and finite parameters stay finite.
constexpr float kLargestGradient = 1e18F;

}  // namespace

void LearnerOptions::validate() const {
  check_argument(architecture == "gnn" || architecture == "mlp", "LearnerOptions",
                 fmt::format("architecture is '{}', allowed are gnn and mlp", architecture));
  check_range("LearnerOptions", "batch_size", batch_size, 1, 1 << 16);
}

Network make_network(const LearnerOptions& options, const ProblemSource& problems) {
  options.validate();
  Random random(options.seed, "parameters");
  if (options.architecture == "mlp") {
    return Mlp(
        {.num_variables = problems.num_variables(), .num_states = problems.max_states(), .hidden = options.hidden},
        random);
  }
  return Gnn({.kinds = problems.network_kinds(), .num_states = problems.max_states(), .iterations = options.iterations},
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
  std::vector<std::vector<int>> prefixes;
  for (const ReplayEntry& entry : batch) {
    prefixes.emplace_back(entry.experience->num_variables());
    entry.experience->write_prefix(entry.row, prefixes.back());
  }
  if (const Mlp* const mlp = std::get_if<Mlp>(&network_)) {
    std::vector<MlpSample> samples;
    for (std::size_t i = 0; i < batch.size(); ++i) {
      const Experience& from = *batch[i].experience;
      samples.push_back({.states = prefixes[i],
                         .variable = from.variable(batch[i].row),
                         .target = from.target(batch[i].row),
                         .high = from.high(batch[i].row)});
    }
    return mlp->accumulate_gradient(samples, mlp_scratch_, gradient_);
  }
  std::vector<GnnSample> samples;
  for (std::size_t i = 0; i < batch.size(); ++i) {
    const Experience& from = *batch[i].experience;
    const std::optional<GnnPlan>& plan = from.problem->plan;
    samples.push_back({.plan = plan ? &*plan : nullptr,
                       .states = prefixes[i],
                       .variable = from.variable(batch[i].row),
                       .target = from.target(batch[i].row),
                       .high = from.high(batch[i].row)});
  }
  return accumulate_gradient(std::get<Gnn>(network_), samples, gnn_scratch_, gradient_);
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
