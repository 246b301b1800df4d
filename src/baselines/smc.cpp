// Each level has three stages: extend (propose, pay, weigh), drop particles of weight 0, resample.
#include "treesample/baselines/smc.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <climits>
#include <cmath>
#include <optional>
#include <utility>

#include "baselines/sample_count.hpp"
#include "space/run_watch.hpp"
#include "treesample/error.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/space/reward.hpp"

namespace treesample {
namespace {

constexpr std::int64_t kBatch = 256;  // prefixes per call of Q_phi, evaluations per call of the observer

class ParticleFilter {
 public:
  ParticleFilter(const FactorGraph& graph, const SearchSpace& space, const LeafValue& q_phi, const Limits& limits,
                 const SmcOptions& options, const Observer& observer);
  void run();
  [[nodiscard]] const Particles& particles() const { return particles_; }
  [[nodiscard]] const SmcReport& report() const { return report_; }

 private:
  [[nodiscard]] std::int64_t num_live() const { return static_cast<std::int64_t>(particles_.log_weights.size()); }
  [[nodiscard]] std::span<int> row(std::int64_t i) { return std::span(particles_.states).subspan(i * width_, width_); }
  bool extend(int level);
  std::optional<StopReason> extend_batch(int level, std::int64_t begin, std::int64_t count);
  double propose(int level, std::span<const double> q, int& action);
  void drop_dead();
  void resample_if_needed();
  void resize(std::int64_t count);

  struct Weighing {
    double log_mean;  // log((1/I) sum w)
    double ess;
  };
  Weighing weigh();

  const SearchSpace& space_;
  SmcOptions options_;
  const LeafValue& q_phi_;
  Reward reward_;
  Budget budget_;
  Random proposal_;
  Random resampling_;
  std::int64_t width_;
  RunWatch watch_;
  SmcReport report_;
  Particles particles_;  // the live ones only
  Particles offspring_;  // buffers of the same size
  std::vector<int> parents_;
  std::vector<double> weights_;  // exp(log_weights - their maximum)
  std::vector<double> q_;
  std::vector<double> probabilities_;
};

std::int64_t particle_count(const FactorGraph& graph, const Reward& reward, const SearchSpace& space,
                            const Limits& limits, std::int64_t min_samples) {
  Spending cost;
  for (int n = 0; n < space.num_levels(); ++n) cost += reward.price(n);
  std::int64_t count = sample_count("smc", limits.budget, {in_unit(cost, limits.unit)}, min_samples);
  // All calls count as new: nobody can tell beforehand which of them a journal knows, and particles have to be
  // complete.
  if (const EvaluationQueue* const queue = graph.evaluation_queue(); queue != nullptr && cost.calls > 0) {
    if (queue->num_left() < cost.calls) {
      throw OptionError("new-calls",
                        fmt::format("{} pays for no particle: each costs {}", queue->num_left(), cost.calls));
    }
    count = std::min(count, queue->num_left() / cost.calls);
  }
  // Bytes per particle: states, weight and density, twice because of resampling; parent and weight; a copy for the
  // atoms.
  const auto bytes_each =
      static_cast<double>(3 * (graph.num_variables() * sizeof(int) + 2 * sizeof(double)) + 3 * sizeof(double));
  const double bytes = static_cast<double>(count) * bytes_each;
  if (bytes > static_cast<double>(limits.bytes) || count > INT_MAX) {
    throw Error(ErrorCode::kResource, fmt::format("{} particles need {:.3g} bytes, allowed are {:.3g}", count, bytes,
                                                  static_cast<double>(limits.bytes)));
  }
  return count;
}

ParticleFilter::ParticleFilter(const FactorGraph& graph, const SearchSpace& space, const LeafValue& q_phi,
                               const Limits& limits, const SmcOptions& options, const Observer& observer)
    : space_(space),
      options_(options),
      q_phi_(q_phi),
      reward_(graph, space),
      budget_(budget_of(limits, graph.evaluation_queue())),
      proposal_(options.seed, "proposal"),
      resampling_(options.seed, "resampling"),
      width_(graph.num_variables()),
      watch_(limits, observer) {
  report_.num_particles = particle_count(graph, reward_, space, limits, options.min_samples);
  resize(report_.num_particles);
  std::fill(particles_.states.begin(), particles_.states.end(), -1);
  std::fill(particles_.log_weights.begin(), particles_.log_weights.end(), 0.0);
  std::fill(particles_.log_densities.begin(), particles_.log_densities.end(), space.log_constant);
}

// Post: budget not exceeded; estimate is the log of an unbiased estimate of Z, unless interrupted.
void ParticleFilter::run() {
  if (space_.log_constant == kNegInf) resize(0);  // Z = 0: nothing to evaluate
  report_.estimate = space_.log_constant;
  for (int level = 0; level < space_.num_levels() && num_live() > 0; ++level) {
    if (level > 0) resample_if_needed();
    if (!extend(level)) {
      resize(0);  // prefixes are not samples
      break;
    }
    drop_dead();
  }
  if (options_.resamples_last && num_live() > 0) resample_if_needed();
  if (num_live() == 0) {
    report_.estimate = kNegInf;
  } else {
    const Weighing weighing = weigh();
    report_.estimate += weighing.log_mean;
    report_.ess = weighing.ess;
  }
  report_.spent = budget_.spent();
  report_.seconds = watch_.seconds();
}

// Returns false if the run was ended; the report has the reason.
bool ParticleFilter::extend(int level) {
  for (std::int64_t begin = 0; begin < num_live(); begin += kBatch) {
    auto reason = extend_batch(level, begin, std::min(kBatch, num_live() - begin));
    watch_.tell({.phase = "smc", .spent = budget_.spent()});
    if (!reason) reason = watch_.reason_to_stop();
    if (reason) {
      report_.stop = *reason;
      return false;
    }
  }
  return true;
}

// Between two calls of functions, which may take long, it looks whether the run is to end, and returns the reason.
std::optional<StopReason> ParticleFilter::extend_batch(int level, std::int64_t begin, std::int64_t count) {
  const int num_states = space_.levels[level].num_states;
  const int variable = space_.levels[level].variable;
  const bool is_uniform = q_phi_.is_uniform();
  const double uniform_log_proposal = -std::log(num_states);
  if (!is_uniform) {
    q_.resize(count * num_states);
    q_phi_.q_values(level, std::span(particles_.states).subspan(begin * width_, count * width_),
                    static_cast<int>(count), q_);
  }
  for (std::int64_t r = 0; r < count; ++r) {
    const std::int64_t i = begin + r;
    int action = 0;
    double log_proposal = uniform_log_proposal;
    if (is_uniform) {
      action = static_cast<int>(proposal_.below(num_states));
    } else {
      log_proposal = propose(level, std::span(q_).subspan(r * num_states, num_states), action);
    }
    if (log_proposal == kNegInf) {
      particles_.log_weights[i] = kNegInf;
      continue;
    }
    row(i)[variable] = action;
    const double reward = reward_.evaluate(level, row(i), budget_);
    particles_.log_weights[i] += reward - log_proposal;
    particles_.log_densities[i] += reward;
    if (reward_.functions(level).empty()) continue;
    if (const auto reason = watch_.reason_to_stop()) return reason;
  }
  return {};
}

// Draws an action from softmax(q). Returns its log-probability; -inf if Q_phi leaves no action.
double ParticleFilter::propose(int level, std::span<const double> q, int& action) {
  for (const double value : q) {
    if (!is_log_value(value)) {
      throw Error(ErrorCode::kNumeric,
                  fmt::format("the leaf value returned {} for variable {}", value, space_.levels[level].variable));
    }
  }
  probabilities_.resize(q.size());
  const double log_normaliser = softmax(q, probabilities_);
  if (log_normaliser == kNegInf) return kNegInf;
  action = proposal_.categorical(probabilities_);
  return q[action] - log_normaliser;
}

// Moves the live particles together, without changing their order.
void ParticleFilter::drop_dead() {
  std::int64_t kept = 0;
  for (std::int64_t i = 0; i < num_live(); ++i) {
    if (particles_.log_weights[i] == kNegInf) continue;
    if (kept != i) {
      std::copy_n(row(i).begin(), width_, row(kept).begin());
      particles_.log_weights[kept] = particles_.log_weights[i];
      particles_.log_densities[kept] = particles_.log_densities[i];
    }
    ++kept;
  }
  report_.num_dropped += num_live() - kept;
  if (kept < num_live()) resize(kept);
}

void ParticleFilter::resize(std::int64_t count) {
  particles_.states.resize(count * width_);
  particles_.log_weights.resize(count);
  particles_.log_densities.resize(count);
}

// Fills weights_. Pre: there is a live particle.
ParticleFilter::Weighing ParticleFilter::weigh() {
  double largest = kNegInf;
  for (const double log_weight : particles_.log_weights) largest = std::max(largest, log_weight);
  weights_.resize(num_live());
  double sum = 0.0;
  double sum_of_squares = 0.0;
  for (std::int64_t i = 0; i < num_live(); ++i) {
    weights_[i] = std::exp(particles_.log_weights[i] - largest);
    sum += weights_[i];
    sum_of_squares += weights_[i] * weights_[i];
  }
  return {largest + std::log(sum / static_cast<double>(report_.num_particles)), sum * sum / sum_of_squares};
}

void ParticleFilter::resample_if_needed() {
  if (options_.ess_threshold == 0.0) return;
  const Weighing weighing = weigh();
  if (weighing.ess >= options_.ess_threshold * static_cast<double>(report_.num_particles)) return;
  report_.estimate += weighing.log_mean;
  const std::int64_t count = report_.num_particles;
  parents_.resize(count);
  resample(options_.resampling, weights_, parents_, resampling_);
  offspring_.states.resize(count * width_);
  offspring_.log_weights.assign(count, 0.0);
  offspring_.log_densities.resize(count);
  for (std::int64_t i = 0; i < count; ++i) {
    std::copy_n(row(parents_[i]).begin(), width_, offspring_.states.begin() + i * width_);
    offspring_.log_densities[i] = particles_.log_densities[parents_[i]];
  }
  std::swap(particles_, offspring_);
  ++report_.num_resamplings;
}

}  // namespace

void SmcOptions::validate() const {
  check_range("SmcOptions", "min_samples", min_samples, 0, INT32_MAX);
  check_argument(ess_threshold >= 0.0 && ess_threshold <= 1.0, "SmcOptions",
                 fmt::format("ess_threshold is {}, allowed are values from 0 to 1", ess_threshold));
}

SmcResult smc(const FactorGraph& graph, const SearchSpace& space, const LeafValues& leaves, const Limits& limits,
              const SmcOptions& options, const Observer& observer) {
  limits.validate();
  options.validate();
  check_argument(space.kind != SpaceKind::kAndOr, "smc",
                 "the space is andor, allowed are tree and graph: particles are extended along one order");
  check_space("smc", graph, space);
  leaves.check_fit("smc", space);
  const std::shared_ptr<const LeafValue> q_phi =
      leaves.estimate ? leaves.estimate : std::make_shared<const UniformValue>(space);
  ParticleFilter filter(graph, space, *q_phi, limits, options, observer);
  filter.run();
  return {ParticleApproximation(graph, filter.particles()), filter.report()};
}

}  // namespace treesample
