#include "treesample/evaluate/annealed_importance.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <utility>

#include "evaluate/annealing_path.hpp"
#include "evaluate/lower_limit.hpp"
#include "space/num_threads.hpp"
#include "space/run_watch.hpp"
#include "stopwatch.hpp"
#include "thread_team.hpp"
#include "treesample/error.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kFewestChains = 128.0;    // number of chains for which the limits should leave room
constexpr double kFewestEffective = 20.0;  // for standard errors
constexpr int kSweepsPerMore = 8;          // sweeps of the path for each sweep of the model itself
constexpr double kRoundSeconds = 20e-3;
constexpr std::size_t kMostBlocks = 64;  // of one thread in one round

std::uint64_t seed_for(std::uint64_t seed, const char* stream, std::uint64_t block = 0) {
  return Random(seed, stream).bits() + block * std::uint64_t{0x9E3779B97F4A7C15};
}

// Pieces of work that threads do in any order, but whose results are used in order. It ends before the first piece that
// was stopped.
class InOrder {
 public:
  InOrder(int threads, const RunWatch& watch) : team_(threads), watch_(watch) {
    stops_.emplace_back([this] { return is_ended_ = is_ended_ || watch_.reason_to_stop().has_value(); });
    stops_.resize(static_cast<std::size_t>(threads), StopCheck([this] { return is_ended_.load(); }));
  }

  // make(piece, into, stop) returns false if it was stopped. run() returns false if not all pieces were made and used.
  template <typename Made>
  bool run(std::int64_t count, const std::function<bool(std::int64_t piece, Made& into, StopCheck& stop)>& make,
           const std::function<void(Made& made)>& use) {
    std::size_t each = 1;
    std::vector<Made> made;
    std::vector<char> is_made;
    for (std::int64_t first = 0; first < count;) {
      const auto size = static_cast<std::size_t>(
          std::min<std::int64_t>(count - first, static_cast<std::int64_t>(each * stops_.size())));
      made.resize(std::max(made.size(), size));
      is_made.assign(size, 0);
      const Stopwatch clock;
      team_.run(size, 1, [&](std::size_t begin, std::size_t end, int worker) {
        for (std::size_t i = begin; i < end; ++i) {
          is_made[i] = make(first + static_cast<std::int64_t>(i), made[i], stops_[static_cast<std::size_t>(worker)]);
        }
      });
      for (std::size_t i = 0; i < size; ++i) {
        if (is_made[i] == 0) return false;
        use(made[i]);
      }
      first += static_cast<std::int64_t>(size);
      if (first < count && watch_.reason_to_stop()) return false;
      if (clock.seconds() < kRoundSeconds) each = std::min(2 * each, kMostBlocks);
    }
    return true;
  }
  [[nodiscard]] StopCheck& stop() { return stops_[0]; }

 private:
  ThreadTeam team_;
  const RunWatch& watch_;
  std::atomic<bool> is_ended_ = false;
  std::vector<StopCheck> stops_;  // by thread; the first one is the calling thread
};

// Weighted means over chains with their errors. Everything is in units of the largest weight so far.
class ChainSums {
 public:
  explicit ChainSums(const AnnealingModel& model) : model_(model) {}

  void add(const AnnealedBlock& block) {
    for (int l = 0; l < kLanes; ++l) add(block, l);
  }
  [[nodiscard]] bool is_empty() const { return weights_ == 0.0; }
  [[nodiscard]] double log_sum() const { return log_unit_ + std::log(weights_); }
  [[nodiscard]] double ess() const { return weights_ * weights_ / squares_; }

  void read(AnnealedResult& result, bool has_errors) const {
    if (sums_.empty() || is_empty()) return;
    result.marginals.clear();
    for (int v = 0; v < model_.num_variables(); ++v) {
      result.marginals.emplace_back();
      double largest = 1.0 / ess();
      for (int a = 0; a < model_.num_states(v); ++a) {
        const Sums& of = sums_[model_.first_state(v) + a];
        const double p = of.weighted / weights_;
        // The delta method for a quotient of sums, in which a chain counts as a whole.
        const double squares = of.squared - 2.0 * p * of.crossed + p * p * squares_;
        largest = std::max(largest, std::sqrt(std::max(0.0, squares)) / weights_);
        result.marginals.back().push_back(p);
      }
      if (has_errors) result.marginal_errors.push_back(std::min(1.0, largest));
    }
    if (!has_errors) return;
    result.marginals_error = *std::max_element(result.marginal_errors.begin(), result.marginal_errors.end());
  }

 private:
  struct Sums {
    double weighted = 0.0, crossed = 0.0, squared = 0.0;  // of w p, w^2 p and (w p)^2
  };
  void add(const AnnealedBlock& block, int lane) {
    const double log_weight = block.log_weight[lane];
    if (log_weight == kNegInf) return;
    if (log_weight > log_unit_) rescale(log_weight);
    const double weight = std::exp(log_weight - log_unit_);
    weights_ += weight;
    squares_ += weight * weight;
    if (block.chances.empty()) return;
    sums_.resize(block.chances.size() / kLanes);
    for (std::size_t i = 0; i < sums_.size(); ++i) {
      const double weighted = weight * block.chances[i * kLanes + static_cast<std::size_t>(lane)];
      sums_[i].weighted += weighted;
      sums_[i].crossed += weight * weighted;
      sums_[i].squared += weighted * weighted;
    }
  }
  void rescale(double log_unit) {
    const double factor = std::exp(log_unit_ - log_unit);
    weights_ *= factor;
    squares_ *= factor * factor;
    for (Sums& sums : sums_) {
      sums.weighted *= factor;
      sums.crossed *= factor * factor;
      sums.squared *= factor * factor;
    }
    log_unit_ = log_unit;
  }

  const AnnealingModel& model_;
  double log_unit_ = kNegInf, weights_ = 0.0, squares_ = 0.0;
  std::vector<Sums> sums_;
};

// The cost of one sweep of one chain, charged as Gibbs sampling is.
Spending sweep_cost(const FactorGraph& graph) {
  Spending cost;
  for (int v = 0; v < graph.num_variables(); ++v) cost.reward_evaluations += graph.num_states(v);
  for (const Factor& factor : graph.factors()) {
    for (const int v : factor.scope()) cost.factor_evaluations += graph.num_states(v);
  }
  return cost;
}

Spending times(const Spending& cost, std::int64_t count) {
  return {cost.reward_evaluations * count, cost.factor_evaluations * count};
}

std::int64_t sweeps_for(const Limits& limits, const Spending& cost) {
  if (limits.budget == Limits::kUnlimited) return Limits::kUnlimited;
  check_argument(limits.unit == BudgetUnit::kReward || limits.unit == BudgetUnit::kFactor, "budget_unit",
                 "allowed for annealing are reward and factor");
  const std::int64_t each = limits.unit == BudgetUnit::kReward ? cost.reward_evaluations : cost.factor_evaluations;
  return limits.budget / std::max<std::int64_t>(1, each);
}

int more_sweeps(const AnnealingPath& path, const AnnealingOptions& options) {
  return options.has_marginals ? std::max(1, path.num_temperatures() / kSweepsPerMore) : 0;
}

// The number of blocks of chains for which the budget pays.
std::int64_t num_blocks(const AnnealingOptions& options, std::int64_t sweeps_left, std::int64_t sweeps_each) {
  const std::int64_t most = (options.max_chains + kLanes - 1) / kLanes;
  if (sweeps_left == Limits::kUnlimited) return most;
  const std::int64_t fewest = (options.min_chains + kLanes - 1) / kLanes;
  return std::min(most, std::max(fewest, sweeps_left / (sweeps_each * kLanes)));
}

void set_estimate(AnnealedReport& report, const ChainSums& sums, double rounding, const LowerLimit& limit) {
  const auto count = static_cast<double>(report.num_chains);
  report.std_error = kInfinity;
  if (sums.is_empty()) {
    report.no_error = report.num_chains == 0 ? "there are no chains" : "all chains ended in impossible states";
    return;
  }
  report.estimate = sums.log_sum() - std::log(count);
  report.ess = sums.ess();
  if (const double log_limit = limit.log_limit(); log_limit != kNegInf) report.log_lower = log_limit - rounding;
  if (report.ess < kFewestEffective) {
    report.no_error = fmt::format("{:.1f} effective chains: what was missed is not known", report.ess);
    return;
  }
  report.std_error = std::sqrt(std::max(0.0, count / report.ess - 1.0) / (count - 1.0)) + rounding;
}

}  // namespace

void AnnealingOptions::validate() const {
  check_range("AnnealingOptions", "num_temperatures", num_temperatures, 0, 1 << 20);
  check_range("AnnealingOptions", "min_chains", min_chains, 0, max_chains);
  check_range("AnnealingOptions", "max_chains", max_chains, 1, std::int64_t{1} << 40);
  check_argument(error_probability > 0.0 && error_probability < 1.0, "AnnealingOptions",
                 "error_probability must be between 0 and 1");
}

AnnealedResult annealed_importance(const FactorGraph& graph, const Limits& limits, const AnnealingOptions& options,
                                   const Observer& observer) {
  limits.validate();
  options.validate();
  const RunWatch watch(limits, observer);
  InOrder work(num_threads(limits), watch);
  const auto made = std::make_shared<AnnealingPath>(graph);
  AnnealingPath& path = *made;
  const Spending cost = sweep_cost(graph);
  const std::int64_t budget = sweeps_for(limits, cost);
  if (budget < 2 * kLanes && options.min_chains < 1) {
    throw OptionError("budget", fmt::format("{} pays for no {} chains of annealing: they cost {}", limits.budget,
                                            kLanes, times(cost, 2 * kLanes).in(limits.unit)));
  }
  const double most_sweeps = budget == Limits::kUnlimited ? kInfinity : static_cast<double>(budget);
  std::int64_t num_sweeps = 0;
  if (options.num_temperatures > 0) {
    path.set_num_temperatures(static_cast<int>(options.num_temperatures));
  } else {
    num_sweeps = path.choose({limits.seconds, most_sweeps, kFewestChains}, seed_for(options.seed, "annealing, trials"),
                             work.stop());
  }
  AnnealedResult result;
  result.path = made;
  AnnealedReport& report = result.report;
  report.num_temperatures = path.num_temperatures();
  report.base = path.base_text();
  const int num_more = more_sweeps(path, options);
  const std::int64_t each = path.num_temperatures() - 1 + num_more;
  const std::int64_t count =
      num_blocks(options, budget == Limits::kUnlimited ? budget : std::max<std::int64_t>(0, budget - num_sweeps),
                 std::max<std::int64_t>(1, each));
  ChainSums sums(path.model());
  LowerLimit limit(options.error_probability);
  result.best.log_density = kNegInf;
  const Stopwatch clock;
  const double seconds = limits.seconds - watch.seconds();
  const auto num_expected = [&] {
    const double paid = static_cast<double>(count) * kLanes;
    const double pace = static_cast<double>(report.num_chains) / std::max(clock.seconds(), 1e-6);
    return report.num_chains == 0 ? std::min(paid, kFewestChains) : std::min(paid, pace * seconds);
  };
  const auto use = [&](AnnealedBlock& block) {
    const double expected = num_expected();
    for (int l = 0; l < kLanes; ++l) {
      limit.add(block.log_weight[l], expected);
      ++report.num_chains;
      if (block.log_weight[l] == kNegInf) ++report.num_impossible;
      const std::span<const int> x =
          std::span(block.x).subspan(static_cast<std::size_t>(l) * graph.num_variables(), graph.num_variables());
      if (block.log_density[l] > result.best.log_density) {
        result.best = {Assignment(x.begin(), x.end()), block.log_density[l]};
      }
      if (!options.keeps_particles || block.log_weight[l] == kNegInf) continue;
      result.particles.states.insert(result.particles.states.end(), x.begin(), x.end());
      result.particles.log_weights.push_back(block.log_weight[l]);
      result.particles.log_densities.push_back(block.log_density[l]);
    }
    sums.add(block);
    num_sweeps += each * kLanes;
    const double estimate =
        sums.is_empty() ? kNegInf : sums.log_sum() - std::log(static_cast<double>(report.num_chains));
    watch.tell({.phase = "annealing",
                .spent = times(cost, num_sweeps),
                .estimate = estimate,
                .num_samples = report.num_chains});
  };
  const std::uint64_t seed = seed_for(options.seed, "annealing, forward");
  const bool is_done = work.run<AnnealedBlock>(
      count,
      [&](std::int64_t piece, AnnealedBlock& into, StopCheck& stop) {
        return path.forward(num_more, seed + static_cast<std::uint64_t>(piece) * std::uint64_t{0x9E3779B97F4A7C15},
                            stop, into);
      },
      use);
  if (!is_done) report.stop = watch.reason_to_stop().value_or(StopReason::kTime);
  report.log_z = {kNegInf, kInfinity};
  set_estimate(report, sums, path.rounding(path.num_temperatures()), limit);
  if (options.has_marginals) sums.read(result, report.no_error.empty());
  report.spent = times(cost, num_sweeps);
  report.seconds = watch.seconds();
  return result;
}

AnnealedUpper annealed_upper(const AnnealingPath& path, const RejectionSamples& exact, const Limits& limits,
                             const AnnealingOptions& options, const Observer& observer) {
  options.validate();
  limits.validate();
  const RunWatch watch(limits, observer);
  InOrder work(num_threads(limits), watch);
  AnnealedUpper upper{kInfinity, kInfinity};
  LowerLimit limit(options.error_probability);  // of the mean of 1 / w
  std::vector<double> log_inverses;
  const std::uint64_t first = seed_for(options.seed, "annealing, backward");
  const int num_temperatures = path.num_temperatures();
  work.run<double>(
      std::ssize(exact.samples),
      [&](std::int64_t piece, double& into, StopCheck& stop) {
        return path.backward(exact.samples[static_cast<std::size_t>(piece)], num_temperatures,
                             first + static_cast<std::uint64_t>(piece) * std::uint64_t{0x9E3779B97F4A7C15}, stop, into);
      },
      [&](double& log_inverse) {
        limit.add(log_inverse, static_cast<double>(exact.samples.size()));
        log_inverses.push_back(log_inverse);
      });
  upper.num_samples = std::ssize(log_inverses);
  if (log_inverses.empty()) return upper;
  upper.estimate = std::log(static_cast<double>(log_inverses.size())) - log_sum_exp(log_inverses);
  const double log_limit = limit.log_limit();
  // Samples have the model's probabilities up to factors of exp(2 log_error).
  if (log_limit != kNegInf) upper.log_upper = -log_limit + path.rounding(num_temperatures) + 2.0 * exact.log_error;
  return upper;
}

}  // namespace treesample
