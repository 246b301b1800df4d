#include "treesample/surrogate/value_estimate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "math/compensated_sum.hpp"
#include "model/table_index.hpp"
#include "space/asked_sum.hpp"
#include "surrogate/learned_model.hpp"
#include "treesample/error.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/surrogate/learned_approximation.hpp"

namespace treesample {
namespace {

constexpr double kMostTableStates = 4096;  // for a function whose unknown states are excluded one by one
constexpr std::int64_t kFewestValues = 3;
constexpr std::int64_t kFirstStep = 10;
constexpr int kDraws = 8;

double num_states_of(const FactorGraph& graph, const Factor& factor) {
  double product = 1.0;
  for (const int v : factor.scope()) product *= graph.num_states(v);
  return product;
}

// Growing numbers of values; the last one is all of them.
std::vector<std::int64_t> steps_up_to(std::int64_t all, int num_steps) {
  std::set<std::int64_t> steps{all};
  const auto first = static_cast<double>(std::min(kFirstStep, all));
  for (int i = 0; i + 1 < num_steps; ++i) {
    const double share = static_cast<double>(i) / std::max(num_steps - 1, 1);
    steps.insert(std::llround(first * std::pow(static_cast<double>(all) / first, share)));
  }
  return {steps.begin(), steps.end()};
}

class Estimator {
 public:
  Estimator(const FactorGraph& graph, const ValueEstimateOptions& options)
      : graph_(graph),
        limits_{.max_entries = options.max_entries, .max_bytes = HUGE_VAL, .seed = options.seed},
        model_(graph, functions_of(graph), limits_),
        tables_(tables_alone(graph, 1.0)),
        known_(static_cast<std::size_t>(graph.num_factors())) {
    choose_sum();
  }

  void add(const PaidValue& value);
  // None if no possible value is known.
  std::optional<ValueEstimate::Step> step(std::int64_t num_values, const ShouldStop& should_stop);
  [[nodiscard]] bool is_exact() const { return is_exact_; }
  [[nodiscard]] const std::string& no_known() const { return no_known_; }
  [[nodiscard]] std::vector<int> num_terms() const { return model_.num_terms(); }
  [[nodiscard]] double spread(std::uint64_t seed, double log_z) const;

 private:
  static std::vector<int> functions_of(const FactorGraph& graph) {
    std::vector<int> functions;
    for (int m = 0; m < graph.num_factors(); ++m) {
      if (!graph.factor(m).is_table()) functions.push_back(m);
    }
    return functions;
  }
  void choose_sum();
  [[nodiscard]] FactorGraph known_model() const;
  // Returns the known configurations and adds them to the sum.
  [[nodiscard]] std::vector<Configuration> known_configurations(AskedSum& sum) const;

  const FactorGraph& graph_;
  LearnedModelLimits limits_;
  LearnedModel model_;
  FactorGraph tables_;
  std::vector<std::map<std::vector<int>, double>> known_;  // by factor
  // The function whose values are summed to add up the known configurations; it has all variables in its scope. -1 if
  // they are added up by elimination.
  int widest_ = -1;
  std::string no_known_;
  bool is_exact_ = false;
};

// If a function has all variables in its scope, the known configurations are among its values. Otherwise functions with
// few states become tables with -inf where they were not evaluated, and elimination adds up the known configurations.
void Estimator::choose_sum() {
  const std::vector<int> functions = functions_of(graph_);
  for (const int m : functions) {
    if (std::ssize(graph_.factor(m).scope()) == graph_.num_variables()) widest_ = m;
  }
  if (widest_ >= 0) return;
  const bool has_large = std::any_of(functions.begin(), functions.end(),
                                     [&](int m) { return num_states_of(graph_, graph_.factor(m)) > kMostTableStates; });
  if (has_large) {
    no_known_ = fmt::format("a function has more than {:.0f} states and not all variables", kMostTableStates);
  } else if (!LearnedModel::can_hold(known_model(), limits_)) {
    no_known_ = "the functions' tables are too large for elimination";
  }
}

void Estimator::add(const PaidValue& value) {
  check_range("estimate_from_values", "factor", value.factor, 0, graph_.num_factors() - 1);
  const Factor& factor = graph_.factor(value.factor);
  check_argument(!factor.is_table(), "estimate_from_values", fmt::format("factor {} is a table", value.factor));
  check_states("estimate_from_values", states_of_scope(graph_, factor.scope()), value.states);
  if (!known_[value.factor].emplace(value.states, value.log_value).second) return;
  AskedConfiguration asked{.x = Assignment(static_cast<std::size_t>(graph_.num_variables()), 0)};
  for (std::size_t i = 0; i < value.states.size(); ++i) asked.x[factor.scope()[i]] = value.states[i];
  const bool has_all = std::ssize(factor.scope()) == graph_.num_variables();
  asked.log_density = value.log_value + (has_all ? tables_.log_density(asked.x) : 0.0);
  asked.values.emplace_back(value.factor, value.log_value);
  model_.add(asked);
}

FactorGraph Estimator::known_model() const {
  FactorGraph model = tables_;
  for (const int m : functions_of(graph_)) {
    const std::vector<int>& scope = graph_.factor(m).scope();
    const std::vector<std::size_t> strides = table_strides(states_of_scope(graph_, scope));
    std::vector<double> table(static_cast<std::size_t>(num_states_of(graph_, graph_.factor(m))), kNegInf);
    for (const auto& [states, value] : known_[m]) {
      std::size_t index = 0;
      for (std::size_t i = 0; i < scope.size(); ++i) index += strides[i] * static_cast<std::size_t>(states[i]);
      table[index] = value;
    }
    model.add_factor(Factor::table_of_sums(scope, table));
  }
  return model;
}

std::vector<Configuration> Estimator::known_configurations(AskedSum& sum) const {
  const std::vector<int> functions = functions_of(graph_);
  const std::vector<int>& scope = graph_.factor(widest_).scope();
  std::vector<Configuration> configurations;
  for (const auto& [states, value] : known_[widest_]) {
    Assignment x(states.size(), 0);
    for (std::size_t i = 0; i < states.size(); ++i) x[scope[i]] = states[i];
    CompensatedSum density;
    for (int m = 0; m < tables_.num_factors(); ++m) density.add(tables_.log_value(m, x));
    bool is_known = true;
    for (const int m : functions) {
      std::vector<int> own;
      for (const int v : graph_.factor(m).scope()) own.push_back(x[v]);
      const auto found = known_[m].find(own);
      is_known = is_known && found != known_[m].end();
      if (is_known) density.add(found->second);
    }
    if (!is_known) continue;
    sum.add(density.value(), density.error());
    configurations.push_back({std::move(x), density.value()});
  }
  return configurations;
}

std::optional<ValueEstimate::Step> Estimator::step(std::int64_t num_values, const ShouldStop& should_stop) {
  model_.learn(should_stop);
  Elimination learned = eliminate(model_.graph(1.0), limits_);
  ValueEstimate::Step step{.num_values = num_values, .log_z = learned.log_z()};
  if (widest_ >= 0) {
    AskedSum sum;
    const std::vector<Configuration> known = known_configurations(sum);
    const LearnedApproximation whole(std::move(learned), graph_, known, should_stop);
    step.log_z = whole.log_value();
    step.log_known = sum.bounds().lower;
    // Uses the tables alone, because the learned values may make other configurations so improbable that they
    // underflow.
    const LearnedApproximation uniform(eliminate(model_.graph(0.0), limits_), graph_, known, should_stop);
    is_exact_ = uniform.log_elsewhere() == kNegInf;
  } else if (no_known_.empty()) {
    step.log_known = eliminate(known_model(), limits_).bounds().lower;
    const std::vector<int> functions = functions_of(graph_);
    is_exact_ = std::all_of(functions.begin(), functions.end(), [&](int m) {
      return static_cast<double>(known_[m].size()) == num_states_of(graph_, graph_.factor(m));
    });
  }
  if (!std::isfinite(step.log_z)) return {};
  return step;
}

double Estimator::spread(std::uint64_t seed, double log_z) const {
  Random random(seed, "spread");
  double sum = 0.0, squares = 0.0;
  for (int i = 0; i < kDraws; ++i) {
    const double off = eliminate(model_.draw(1.0, random), limits_).log_z() - log_z;
    sum += off;
    squares += off * off;
  }
  return std::sqrt(std::max(0.0, squares - sum * sum / kDraws) / (kDraws - 1));
}

}  // namespace

ValueEstimate estimate_from_values(const FactorGraph& graph, std::span<const PaidValue> values,
                                   const ValueEstimateOptions& options, const ShouldStop& should_stop) {
  check_range("estimate_from_values", "num_steps", options.num_steps, 1, 1'000'000);
  ValueEstimate result;
  const LearnedModelLimits limits{.max_entries = options.max_entries, .max_bytes = HUGE_VAL, .seed = options.seed};
  if (!LearnedModel::can_hold(graph, limits)) {
    result.no_estimate = "the tables of the model are too large for elimination";
    return result;
  }
  Estimator estimator(graph, options);
  result.no_known = estimator.no_known();
  if (std::ssize(values) < kFewestValues) {
    result.no_estimate = fmt::format("there are fewer than {} values", kFewestValues);
    for (const PaidValue& value : values) estimator.add(value);
    return result;
  }
  std::size_t next = 0;
  try {
    for (const std::int64_t count : steps_up_to(std::ssize(values), options.num_steps)) {
      while (static_cast<std::int64_t>(next) < count) estimator.add(values[next++]);
      if (const auto step = estimator.step(count, should_stop)) result.steps.push_back(*step);
      if (should_stop && should_stop()) throw Error(ErrorCode::kInterrupted, "estimate_from_values");
    }
    if (!result.steps.empty()) result.spread = estimator.spread(options.seed, result.steps.back().log_z);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kInterrupted) throw;
    result.steps.clear();
    result.no_estimate = "learning from the values was given up, because it took too long";
    return result;
  }
  if (result.steps.empty()) result.no_estimate = "nothing possible is among the values";
  result.is_exact = estimator.is_exact();
  if (result.is_exact) result.spread = 0.0;
  result.num_terms = estimator.num_terms();
  return result;
}

}  // namespace treesample
