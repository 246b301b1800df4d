#include "evaluate/annealing_path.hpp"

#include <algorithm>
#include <cmath>

#include "stopwatch.hpp"
#include "treesample/baselines/belief_propagation.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample {
namespace {

// In place of -inf, for each impossible factor: chains can pass, and hardly ever end there.
constexpr double kPenalty = -12.0;
constexpr double kImpossible = -1e30;

constexpr int kFirstTemperatures = 16;
constexpr int kTrialBlocks = 2;
constexpr double kWantedVariance = 0.5;  // of log w
constexpr double kTrialShare = 0.15;     // of all sweeps, and of the time
constexpr double kEven = 0.1;            // share of the temperatures that are spread evenly
constexpr double kOfFields = 0.1;        // share of the fields in a base of beliefs
constexpr double kBeliefShare = 0.02;    // of the time
constexpr int kBeliefSteps = 100;
constexpr double kBeliefDamping = 0.5, kBeliefTolerance = 1e-3;
constexpr int kMostTemperatures = 1 << 20;

Random stream(std::uint64_t seed) { return Random(seed, "annealing"); }

double log_mean_exp(const double (&values)[kLanes]) {
  return log_sum_exp(values) - std::log(static_cast<double>(kLanes));
}

}  // namespace

AnnealingPath::AnnealingPath(const FactorGraph& graph)
    : soft_(graph, kPenalty), hard_(graph, kImpossible), base_(soft_.fields()), base_text_("fields") {}

// b at equal steps of the length.
std::vector<double> AnnealingPath::temperatures(int count) const {
  std::vector<double> b = {0.0};
  std::size_t piece = 1;
  for (int i = 1; i < count; ++i) {
    const double wanted = length_.back() * i / count;
    while (length_[piece] < wanted) ++piece;
    const double share = (wanted - length_[piece - 1]) / (length_[piece] - length_[piece - 1]);
    b.push_back(known_b_[piece - 1] + share * (known_b_[piece] - known_b_[piece - 1]));
  }
  b.push_back(1.0);
  return b;
}

// The variance of log w is least where each step adds the same: its length times the spread is then constant.
void AnnealingPath::space_out(const Trial& trial) {
  const std::vector<double> b = temperatures(static_cast<int>(trial.spread.size()));
  double mean = 0.0;
  for (std::size_t k = 0; k < trial.spread.size(); ++k) mean += trial.spread[k] * (b[k + 1] - b[k]);
  if (!(mean > 0.0)) return;
  known_b_ = length_ = {0.0};
  for (std::size_t k = 0; k < trial.spread.size(); ++k) {
    known_b_.push_back(b[k + 1]);
    length_.push_back(length_.back() + (trial.spread[k] + kEven * mean) * (b[k + 1] - b[k]));
  }
}

bool AnnealingPath::try_out(int num_temperatures, int num_blocks, std::uint64_t seed, StopCheck& stop,
                            Trial& trial) const {
  const std::vector<double> b = temperatures(num_temperatures);
  const double count = num_blocks * kLanes;
  std::vector<double> sums(b.size() - 1, 0.0), squares(b.size() - 1, 0.0);
  double sum = 0.0, square = 0.0;
  for (int block = 0; block < num_blocks; ++block) {
    Random seeds = stream(seed + static_cast<std::uint64_t>(block));
    LaneRandom random(seeds);
    LaneStates states = soft_.states();
    soft_.draw_base(states, base_, random);
    double log_weight[kLanes] = {};
    for (std::size_t k = 0; k + 1 < b.size(); ++k) {
      if (k > 0) soft_.sweep(states, base_, b[k], random);
      for (int l = 0; l < kLanes; ++l) {
        const double slope = states.log_density[l] - states.log_base[l];
        log_weight[l] += (b[k + 1] - b[k]) * slope;
        sums[k] += slope / count;
        squares[k] += slope * slope / count;
      }
      if (stop.is_asked(std::int64_t{kLanes} * soft_.num_variables())) return false;
    }
    for (const double each : log_weight) {
      sum += each / count;
      square += each * each / count;
    }
  }
  trial.mean = sum;
  trial.variance = std::max(0.0, square - sum * sum) * count / (count - 1.0);
  trial.spread.clear();
  for (std::size_t k = 0; k < sums.size(); ++k) {
    trial.spread.push_back(std::sqrt(std::max(0.0, squares[k] - sums[k] * sums[k])));
  }
  return true;
}

void AnnealingPath::choose_base(std::uint64_t seed, int num_temperatures, double seconds, StopCheck& stop,
                                std::int64_t& num_sweeps) {
  Trial of_fields, of_beliefs;
  const bool is_known = try_out(num_temperatures, 1, seed, stop, of_fields);
  const BeliefPropagationResult beliefs =
      belief_propagation(graph(), {.seconds = kBeliefShare * seconds},
                         {.max_steps = kBeliefSteps, .tolerance = kBeliefTolerance, .damping = kBeliefDamping});
  // Beliefs that do not settle are those of one region among many: fewer chains then come by what matters.
  if (!is_known || !beliefs.report.is_converged() || beliefs.report.estimate == kNegInf || stop.is_asked()) return;
  const BaseLogProbs fields = base_;
  for (int v = 0; v < soft_.num_variables(); ++v) {
    for (int a = 0; a < soft_.num_states(v); ++a) {
      double& log_prob = base_[soft_.first_state(v) + a];
      log_prob = std::log((1.0 - kOfFields) * beliefs.marginals[v][a] + kOfFields * std::exp(log_prob));
    }
  }
  num_sweeps += std::int64_t{2} * kLanes * num_temperatures;
  if (try_out(num_temperatures, 1, seed, stop, of_beliefs) && of_beliefs.mean > of_fields.mean) {
    base_text_ = "beliefs";
  } else {
    base_ = fields;
  }
}

std::int64_t AnnealingPath::choose(const Means& means, std::uint64_t seed, StopCheck& stop) {
  std::int64_t num_sweeps = 0;
  const double fewest = std::max(means.chains_wanted, 1.0);
  // A budget that hardly pays for chains at all has nothing left for trials.
  const double most = std::min(means.num_sweeps / fewest, static_cast<double>(kMostTemperatures));
  if (most < 4.0 * kFirstTemperatures) {
    num_temperatures_ = std::max(1, static_cast<int>(most) - 2);
    return 0;
  }
  const Stopwatch clock;
  choose_base(seed, kFirstTemperatures, means.seconds, stop, num_sweeps);
  num_temperatures_ = kFirstTemperatures;
  for (std::uint64_t round = 1;; ++round) {
    const double before = clock.seconds();
    Trial trial;
    if (!try_out(num_temperatures_, kTrialBlocks, seed + 16 * round, stop, trial)) break;
    const std::int64_t made = std::int64_t{kTrialBlocks} * kLanes * num_temperatures_;
    num_sweeps += made;
    space_out(trial);
    if (trial.variance < kWantedVariance || 2.0 * num_temperatures_ > most) break;
    // The next trial takes twice as long, and so does each chain.
    const double next = 2.0 * (clock.seconds() - before);
    const bool is_slow = clock.seconds() + next > kTrialShare * means.seconds ||
                         next / (kTrialBlocks * kLanes) * fewest > (1.0 - kTrialShare) * means.seconds;
    if (is_slow || static_cast<double>(num_sweeps + 2 * made) > kTrialShare * means.num_sweeps) break;
    num_temperatures_ *= 2;
  }
  return num_sweeps;
}

bool AnnealingPath::forward(int num_more, std::uint64_t seed, StopCheck& stop, AnnealedBlock& block) const {
  const std::vector<double> b = temperatures(num_temperatures_);
  Random seeds = stream(seed);
  LaneRandom random(seeds);
  LaneStates states = soft_.states();
  soft_.draw_base(states, base_, random);
  std::fill_n(block.log_weight, kLanes, 0.0);
  const std::int64_t steps = std::int64_t{kLanes} * soft_.num_variables();
  for (std::size_t k = 0; k + 1 < b.size(); ++k) {
    if (k > 0) soft_.sweep(states, base_, b[k], random);
    for (int l = 0; l < kLanes; ++l) {
      block.log_weight[l] += (b[k + 1] - b[k]) * (states.log_density[l] - states.log_base[l]);
    }
    if (stop.is_asked(steps)) return false;
  }
  Assignment x(soft_.num_variables());
  if (has_zeros()) {
    for (int l = 0; l < kLanes; ++l) {
      states.read(l, x);
      if (graph().log_density(x) == kNegInf) block.log_weight[l] = kNegInf;
    }
  }
  block.chances.assign(num_more > 0 ? static_cast<std::size_t>(soft_.num_states_in_all()) * kLanes : 0, 0.0);
  for (int i = 0; i < num_more; ++i) {
    hard_.sweep(states, base_, 1.0, random, block.chances.data());
    if (stop.is_asked(steps)) return false;
  }
  for (double& each : block.chances) each /= num_more;
  block.x.clear();
  for (int l = 0; l < kLanes; ++l) {
    states.read(l, x);
    block.x.insert(block.x.end(), x.begin(), x.end());
    block.log_density[l] = graph().log_density(x);
  }
  return true;
}

bool AnnealingPath::backward(std::span<const int> x, int num_temperatures, std::uint64_t seed, StopCheck& stop,
                             double& log_inverse) const {
  const std::vector<double> b = temperatures(num_temperatures);
  Random seeds = stream(seed);
  LaneRandom random(seeds);
  LaneStates states = soft_.states();
  soft_.set(states, x);
  soft_.measure(states, base_);
  double log_inverses[kLanes] = {};
  for (std::size_t k = b.size() - 1; k > 0; --k) {
    if (k + 1 < b.size()) soft_.sweep_back(states, base_, b[k], random);
    for (int l = 0; l < kLanes; ++l) {
      log_inverses[l] -= (b[k] - b[k - 1]) * (states.log_density[l] - states.log_base[l]);
    }
    if (stop.is_asked(std::int64_t{kLanes} * soft_.num_variables())) return false;
  }
  log_inverse = log_mean_exp(log_inverses);
  return true;
}

}  // namespace treesample
