#include "treesample/value/leaf_value.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "math/compensated_sum.hpp"
#include "treesample/error.hpp"
#include "treesample/math/log_domain.hpp"
#include "value/reduced_tables.hpp"

namespace treesample {
namespace {

// -sum of p log p, with 0 log 0 = 0.
double entropy(std::span<const double> probs) {
  double sum = 0.0;
  for (const double p : probs) sum -= p > 0.0 ? p * std::log(p) : 0.0;
  return sum;
}

double mean(std::span<const double> probs, std::span<const double> values) {
  double sum = 0.0;
  for (std::size_t a = 0; a < values.size(); ++a) sum += probs[a] > 0.0 ? probs[a] * values[a] : 0.0;
  return sum;
}

// The logarithm of the probability that softmax gives to one state. It is not computed as a difference to the
// log-sum-exp, which carries the rounding of the largest value: probabilities would not add up to 1 if values are
// large.
double log_softmax(std::span<const double> q, std::size_t state) {
  if (q[state] == kNegInf) return kNegInf;
  const double largest = *std::max_element(q.begin(), q.end());
  double sum = 0.0;
  for (const double value : q) sum += std::exp(value - largest);
  return (q[state] - largest) - std::log(sum);
}

void check_distributions(const char* function, const FactorGraph& graph, const LocalDistributions& distributions) {
  bool is_fitting = distributions.size() == static_cast<std::size_t>(graph.num_variables());
  for (int v = 0; is_fitting && v < graph.num_variables(); ++v) {
    is_fitting = distributions[v].size() == static_cast<std::size_t>(graph.num_states(v));
  }
  check_argument(is_fitting, function, "the distributions are not one per variable with a number for each state");
}

// The bound holds for numbers that add up to 1, so they are normalised; only rounding remains.
LocalDistributions normalised(const char* function, LocalDistributions distributions) {
  constexpr double kTolerance = 1e-6;
  for (std::size_t v = 0; v < distributions.size(); ++v) {
    double sum = 0.0;
    for (const double p : distributions[v]) {
      check_argument(p >= 0.0, function, fmt::format("the distribution of variable {} has the number {}", v, p));
      sum += p;
    }
    check_argument(std::abs(sum - 1.0) <= kTolerance, function,
                   fmt::format("the distribution of variable {} adds up to {}, not to 1", v, sum));
    for (double& p : distributions[v]) p /= sum;
  }
  return distributions;
}

// A sum of reduced tables as the value, and independent variables as the distribution.
class ProductValue final : public LeafValue {
 public:
  ProductValue(const SearchSpace& space, LocalDistributions distributions, ReducedTables tables, double widen)
      : LeafValue(space), distributions_(std::move(distributions)), tables_(std::move(tables)), widen_(widen) {}

  [[nodiscard]] double log_value(int level, std::span<const int> x) const override {
    return tables_.sum(level, x) + widen_ * tables_.rounding(level);
  }
  void log_values(int level, int, std::span<int> x, std::span<double> values) const override {
    tables_.sum_each(level, x, values);
    for (double& value : values) value += widen_ * tables_.rounding(level);
  }
  double draw_below(int level, std::span<int> x, Random& random, StopCheck& stop) const override {
    for_each_below(space(), level, [&](int n) {
      stop.go_on("sample", 8);
      const int v = space().levels[n].variable;
      x[v] = random.categorical(distributions_[v]);
    });
    return log_prob_below(level, x);
  }
  [[nodiscard]] double log_prob_below(int level, std::span<const int> x) const override {
    CompensatedSum sum;
    for_each_below(space(), level, [&](int n) {
      const int v = space().levels[n].variable;
      sum.add(std::log(distributions_[v][x[v]]));
    });
    return sum.value();
  }
  void probabilities(int level, std::span<const int>, std::span<double> probs) const override {
    const std::vector<double>& distribution = distributions_[space().levels[level].variable];
    std::copy(distribution.begin(), distribution.end(), probs.begin());
  }

 private:
  const LocalDistributions distributions_;
  const ReducedTables tables_;
  const double widen_;  // -1 for a lower bound, 1 for an upper one
};

}  // namespace

LeafValue::LeafValue(const SearchSpace& space) : space_(without_contexts(space)) {}

// The value of UniformValue is computed without Q-values, because a search asks for it once per node.
double LeafValue::log_value(int level, std::span<const int> x) const {
  const Level& here = space_.levels[level];
  if (counts_states()) return here.log_states_below + std::log(here.num_states);
  std::vector<double> q(here.num_states);
  q_values(level, x, 1, q);
  return log_sum_exp(q);
}

void LeafValue::log_values(int level, int variable, std::span<int> x, std::span<double> values) const {
  if (counts_states()) {
    std::fill(values.begin(), values.end(), LeafValue::log_value(level, x));
    return;
  }
  for (std::size_t a = 0; a < values.size(); ++a) {
    x[variable] = static_cast<int>(a);
    values[a] = log_value(level, x);
  }
}

void LeafValue::q_values(int level, std::span<const int> prefixes, int count, std::span<double> q) const {
  const Level& here = space_.levels[level];
  const auto num_states = static_cast<std::size_t>(here.num_states);
  const std::size_t width = space_.levels.size();
  std::vector<double> values(num_states);
  for (std::size_t r = 0; r < static_cast<std::size_t>(count); ++r) {
    Assignment x(prefixes.begin() + static_cast<std::ptrdiff_t>(r * width),
                 prefixes.begin() + static_cast<std::ptrdiff_t>((r + 1) * width));
    const std::span<double> row = q.subspan(r * num_states, num_states);
    std::fill(row.begin(), row.end(), 0.0);
    for (const int child : here.children) {
      log_values(child, here.variable, x, values);
      for (std::size_t a = 0; a < num_states; ++a) row[a] = row[a] == kNegInf ? kNegInf : row[a] + values[a];
    }
  }
}

double LeafValue::sample_below(int level, std::span<int> x, Random& random, StopCheck* stop) const {
  StopCheck never({});
  return draw_below(level, x, random, stop != nullptr ? *stop : never);
}

double LeafValue::draw_below(int level, std::span<int> x, Random& random, StopCheck& stop) const {
  constexpr std::int64_t kSteps = StopCheck::kStepsBetweenLooks / 16;  // q_values() may take milliseconds
  CompensatedSum log_prob;
  std::vector<double> q;
  for_each_below(space_, level, [&](int n) {
    stop.go_on("sample", kSteps);
    q.resize(space_.levels[n].num_states);
    q_values(n, x, 1, q);
    const double log_total = softmax(q, q);
    check_argument(log_total != kNegInf, "sample", "the leaf value excludes every state of a variable");
    int& state = x[space_.levels[n].variable];
    state = random.categorical(q);
    log_prob.add(std::log(q[state]));
  });
  return log_prob.value();
}

double LeafValue::log_prob_below(int level, std::span<const int> x) const {
  // The Q-values of a level may depend only on the variables before it.
  Assignment prefix(x.begin(), x.end());
  for_each_below(space_, level, [&](int n) { prefix[space_.levels[n].variable] = -1; });
  CompensatedSum log_prob;
  std::vector<double> q;
  for_each_below(space_, level, [&](int n) {
    const int v = space_.levels[n].variable;
    if (log_prob.value() != kNegInf) {
      q.resize(space_.levels[n].num_states);
      q_values(n, prefix, 1, q);
      log_prob.add(log_softmax(q, static_cast<std::size_t>(x[v])));
    }
    prefix[v] = x[v];
  });
  return log_prob.value();
}

void LeafValue::probabilities(int level, std::span<const int> x, std::span<double> probs) const {
  q_values(level, x, 1, probs);
  softmax(probs, probs);
}

void LeafValues::check_fit(const char* function, const SearchSpace& space) const {
  for (const auto& leaf : {lower, upper, estimate}) {
    check_argument(!leaf || leaf->fits(space), function, "leaf values were made for another search space");
  }
}

void UniformValue::q_values(int level, std::span<const int> /*prefixes*/, int /*count*/, std::span<double> q) const {
  check_range("UniformValue::q_values", "level", level, 0, space().num_levels() - 1);
  std::fill(q.begin(), q.end(), space().levels[level].log_states_below);
}

LocalDistributions uniform_distributions(const FactorGraph& graph) {
  LocalDistributions result;
  for (int v = 0; v < graph.num_variables(); ++v) {
    result.emplace_back(graph.num_states(v), 1.0 / graph.num_states(v));
  }
  return result;
}

std::shared_ptr<const LeafValue> product_value(const FactorGraph& graph, const SearchSpace& space,
                                               const LocalDistributions& distributions, const ShouldStop& should_stop) {
  check_space("product_value", graph, space);
  check_argument(graph.has_only_tables(), "product_value", "needs a model in which every factor is a table");
  check_distributions("product_value", graph, distributions);
  const LocalDistributions normal = normalised("product_value", distributions);
  std::vector<double> entropies;
  StopCheck stop(should_stop);
  for (const Level& level : space.levels) {
    stop.go_on("product_value", std::int64_t{100} * level.num_states);
    entropies.push_back(entropy(normal[level.variable]));
  }
  const auto reduce = [&](int variable, std::span<const double> entries) { return mean(normal[variable], entries); };
  return std::make_shared<ProductValue>(
      space, normal, ReducedTables(graph, space, {reduce, ReducedTables::Rows::kSummed, entropies, should_stop}), -1.0);
}

std::shared_ptr<const LeafValue> maxima_value(const FactorGraph& graph, const SearchSpace& space,
                                              const ShouldStop& should_stop) {
  check_space("maxima_value", graph, space);
  for (const Factor& factor : graph.factors()) {
    if (!factor.log_max()) return nullptr;
  }
  std::vector<double> log_states;
  for (const Level& level : space.levels) log_states.push_back(std::log(level.num_states));
  const auto reduce = [](int, std::span<const double> entries) {
    return *std::max_element(entries.begin(), entries.end());
  };
  return std::make_shared<ProductValue>(
      space, uniform_distributions(graph),
      ReducedTables(graph, space, {reduce, ReducedTables::Rows::kPicked, log_states, should_stop}), 1.0);
}

}  // namespace treesample
