#include "infer/joint_queries.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "count/circuit_joint.hpp"
#include "infer/methods.hpp"
#include "infer/planner.hpp"
#include "infer/policy.hpp"
#include "reduce/joint_states.hpp"
#include "treesample/exact/joint_table.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/reduce/evidence.hpp"
#include "treesample/reduce/simplify.hpp"
#include "treesample/reduce/summed_model.hpp"

namespace treesample {
namespace {

// ---- By elimination ------------------------------------------------------------------------------------------------

class EliminatedJoints {
 public:
  EliminatedJoints(const AskedModel& asked, const InferRequest& request, const Run& run)
      : original_(asked.model().graph), request_(request), run_(run) {
    const bool simplifies = request.options.simplify.value_or(true);
    const Evidence& evidence = asked.model().evidence;
    reduced_ = simplifies ? simplify(original_, evidence, run.time_box(policy::kSimplifyShare, HUGE_VAL)).model
                          : condition(original_, evidence);
  }

  // None where it takes too long or too much memory.
  [[nodiscard]] std::optional<JointTable> of(std::span<const int> variables) const {
    const JointIndex index(original_, variables);
    const ReducedQuery query(reduced_, variables, index);
    if (query.variables.empty()) {
      JointTable certain{std::vector<double>(index.size(), 0.0), 0.0};
      certain.probabilities[query.first] = 1.0;
      return certain;
    }
    std::optional<JointTable> found = of_reduced(query.variables);
    if (!found) return {};
    JointTable whole{std::vector<double>(index.size(), 0.0), found->width};
    std::vector<std::size_t> states(query.variables.size(), 0);
    for (const double p : found->probabilities) {
      std::size_t entry = query.first;
      for (std::size_t i = 0; i < states.size(); ++i) {
        const int state = reduced_.states_of[query.variables[i]][states[i]];
        entry += index.stride(query.places[i]) * static_cast<std::size_t>(state);
      }
      whole.probabilities[entry] = p;
      for (std::size_t i = states.size(); i-- > 0;) {
        if (++states[i] < reduced_.states_of[query.variables[i]].size()) break;
        states[i] = 0;
      }
    }
    return whole;
  }

 private:
  // Of the ancestors of these variables and what is not barren: tables of ones keep them.
  [[nodiscard]] std::optional<JointTable> of_reduced(const std::vector<int>& variables) const {
    FactorGraph kept = reduced_.graph;
    for (const int v : variables) {
      const std::vector<double> ones(static_cast<std::size_t>(kept.num_states(v)), 0.0);
      for (int i = 0; i < 2; ++i) kept.add_table({v}, ones);  // one alone would be summed out
    }
    const SummedModel summed(kept);
    std::vector<int> left_of(static_cast<std::size_t>(kept.num_variables()), -1);
    for (std::size_t i = 0; i < summed.variable_of().size(); ++i)
      left_of[summed.variable_of()[i]] = static_cast<int>(i);
    std::vector<int> left;
    for (const int v : variables) left.push_back(left_of[v]);
    EliminationOptions options = elimination_options(request_, run_);
    options.most_bytes = static_cast<double>(request_.limits.bytes);
    const ShouldStop end = run_.until();
    const EliminationPlan plan = plan_joint(summed.graph(), left, options, end);
    const double seconds = run_.has_time_limit() ? run_.seconds_left() : policy::kDefaultEliminationSeconds;
    if (!plan.is_possible() || plan.sample_bytes > options.most_bytes) return {};
    if (predicted_seconds(plan, request_.limits, false) > seconds) return {};
    JointTable found = joint_table(summed.graph(), left, plan, request_.limits, {.should_stop = end});
    found.width += 2.0 * (summed.log_slack() + run_.log_error());
    return found;
  }

  const FactorGraph& original_;
  const InferRequest& request_;
  const Run& run_;
  ReducedModel reduced_;
};

// ---- By samples ----------------------------------------------------------------------------------------------------

// Weighted frequencies of joint states.
struct Frequencies {
  std::vector<double> weights, squares;  // by joint state
  double total = 0.0, total_squares = 0.0;

  void scale(double factor) {
    for (double& weight : weights) weight *= factor;
    for (double& square : squares) square *= factor * factor;
    total *= factor;
    total_squares *= factor * factor;
  }
  void add(std::size_t entry, double weight) {
    weights[entry] += weight;
    squares[entry] += weight * weight;
    total += weight;
    total_squares += weight * weight;
  }
  // The largest standard error, by the delta method for a ratio of sums; a state that never occurred may still have a
  // probability of about one in the effective number of samples.
  [[nodiscard]] double largest_error() const {
    double largest = total_squares / (total * total);
    for (std::size_t i = 0; i < weights.size(); ++i) {
      const double p = weights[i] / total;
      const double variance = (squares[i] * (1.0 - 2.0 * p) + p * p * total_squares) / (total * total);
      largest = std::max(largest, std::sqrt(std::max(0.0, variance)));
    }
    return largest;
  }
};

// Samples of the search by upper bounds have weights; those of a solved model are exact.
void add_frequencies(Answer& answer, const AskedModel& asked, std::uint64_t seed, const ShouldStop& should_stop) {
  const Model& model = asked.model();
  std::vector<std::size_t> open;
  for (std::size_t q = 0; q < answer.queries.size(); ++q) {
    if (answer.queries[q].probabilities.empty()) open.push_back(q);
  }
  if (open.empty() || !answer.approximation || answer.marginals.empty()) return;
  const bool has_weights = answer.bounded_importance && !answer.sampler_divergence && model.graph.has_only_tables();
  std::vector<JointIndex> index;
  std::vector<Frequencies> found(open.size());
  for (std::size_t i = 0; i < open.size(); ++i) {
    index.emplace_back(model.graph, answer.queries[open[i]].variables);
    found[i].weights.assign(index[i].size(), 0.0);
    found[i].squares.assign(index[i].size(), 0.0);
  }
  Random random(seed, "joint queries");
  double log_unit = 0.0;  // of the weights: the largest of them so far
  for (int n = 0; n < policy::kJointSamples && (n == 0 || !should_stop()); ++n) {
    const auto x = unless_given_up([&] { return answer.approximation->sample(random); });
    if (!x) break;
    const double log_weight = has_weights ? model.graph.log_density(*x) - answer.approximation->log_prob(*x) : 0.0;
    if (log_weight == kNegInf) continue;
    const bool is_first = found.front().total == 0.0;
    if (has_weights && (is_first || log_weight > log_unit)) {
      if (!is_first)
        std::for_each(found.begin(), found.end(), [&](Frequencies& f) { f.scale(std::exp(log_unit - log_weight)); });
      log_unit = log_weight;
    }
    for (std::size_t i = 0; i < open.size(); ++i) {
      found[i].add(index[i].of(answer.queries[open[i]].variables, *x), std::exp(log_weight - log_unit));
    }
  }
  if (found.front().total == 0.0) return;
  const bool has_error = answer.is_exact || (has_weights && answer.bounded_importance->no_error.empty());
  for (std::size_t i = 0; i < open.size(); ++i) {
    QueryAnswer& query = answer.queries[open[i]];
    for (const double weight : found[i].weights) query.probabilities.push_back(weight / found[i].total);
    if (has_error) query.error = found[i].largest_error();
  }
}

}  // namespace

std::vector<std::vector<double>> joints_by_circuit(const Circuit& circuit, const ReducedModel& model,
                                                   const AskedModel& asked, const ShouldStop& should_stop) {
  std::vector<std::vector<double>> joints(asked.queries().size());
  for (std::size_t q = 0; q < joints.size(); ++q) {
    const std::vector<int>& variables = asked.queries()[q];
    if (variables.size() == 1) continue;
    const JointIndex index(asked.model().graph, variables);
    const auto found = unless_given_up([&] { return joint_by_circuit(circuit, model, variables, index, should_stop); });
    if (found) joints[q] = *found;
  }
  return joints;
}

void add_joint_queries(Answer& answer, const AskedModel& asked, const InferRequest& request, const Run& run) {
  if (!asked.has_joint() || answer.log_z == kNegInf) return;
  const bool is_by_tables = asked.model().graph.has_only_tables() && reasons_about_tables(request);
  if (is_by_tables && !run.is_overdue()) {
    const EliminatedJoints eliminated(asked, request, run);
    for (QueryAnswer& query : answer.queries) {
      if (!query.probabilities.empty() || query.variables.size() == 1) continue;
      const auto find = [&] { return unless_given_up([&] { return eliminated.of(query.variables); }); };
      const auto found = unless_too_large(find).value_or(std::nullopt).value_or(std::nullopt);
      if (!found) continue;
      query.probabilities = found->probabilities;
      query.error = found->width <= LogBounds::kExact ? 0.0 : std::expm1(2.0 * found->width);
    }
  }
  add_frequencies(answer, asked, request.options.seed, run.until());
}

}  // namespace treesample
