// Questions that are answered by derivatives of Z and by marginals under one more observation: exact, by elimination.
#include "treesample/infer/sensitivity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "infer/option_field.hpp"
#include "infer/policy.hpp"
#include "infer/run.hpp"
#include "math/compensated_sum.hpp"
#include "treesample/error.hpp"
#include "treesample/exact/derivatives.hpp"
#include "treesample/exact/elimination.hpp"
#include "treesample/infer/infer.hpp"
#include "treesample/io/evidence_file.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/model/names.hpp"
#include "treesample/model/network.hpp"
#include "treesample/text.hpp"

namespace treesample {
namespace {

constexpr const char* kOfEvidence = "evidence";
constexpr std::size_t kMostShown = 10;
constexpr double kRounding = 1e-12;  // of the largest: smaller numbers count as nothing

// A number of any size: derivatives may be beyond all doubles where their differences and shares are not.
struct SignedLog {
  double log_size = kNegInf;
  bool is_negative = false;

  [[nodiscard]] double value() const { return (is_negative ? -1.0 : 1.0) * std::exp(log_size); }
};

SignedLog sum_of(std::span<const SignedLog> terms) {
  double log_most = kNegInf;
  for (const SignedLog& term : terms) log_most = std::max(log_most, term.log_size);
  if (log_most == kNegInf) return {};
  double sum = 0.0;
  for (const SignedLog& term : terms) sum += (term.is_negative ? -1.0 : 1.0) * std::exp(term.log_size - log_most);
  return std::abs(sum) <= kRounding ? SignedLog{} : SignedLog{log_most + std::log(std::abs(sum)), sum < 0.0};
}

Evidence target_of(const FactorGraph& graph, const std::string& text) {
  const Names names(graph);
  if (text == kOfEvidence && names.find_variable(text) < 0) return {};
  if (const int v = names.find_variable(text); v >= 0) {
    throw OptionError(
        "sensitivity",
        fmt::format("of which state of '{}'? Allowed are NAME=STATE, such as {}={}, and '{}'", shortened(text, 60),
                    shortened(text, 60), shortened(state_name(graph, v, 0), 60), kOfEvidence));
  }
  Observations named;
  try {
    observe(named, names, text);
  } catch (const Error& error) {
    throw OptionError("sensitivity", error.what());
  }
  if (named.states.size() != 1 || !named.soft.empty()) {
    throw OptionError("sensitivity", fmt::format("allowed are one state, NAME=STATE, and '{}'", kOfEvidence));
  }
  return named.states;
}

int variable_of(const FactorGraph& graph, const std::string& name) {
  try {
    return Names(graph).variable(name);
  } catch (const Error& error) {
    throw OptionError("value-for", error.what());
  }
}

double entropy_of(const std::vector<double>& probs) {
  double sum = 0.0;
  for (const double p : probs) sum -= p > 0.0 ? p * std::log(p) : 0.0;
  return std::max(0.0, sum);
}

class ByElimination {
 public:
  ByElimination(const Model& model, const InferRequest& request, const Run& run)
      : model_(model),
        graph_(with_soft_evidence(model.graph, model.soft_evidence)),
        limits_(request.limits),
        observer_{.should_stop = run.until()} {
    const EliminationOptions options{.seed = request.options.seed, .most_entries = policy::kDerivativeEntries};
    plan_ = plan_elimination(graph_, options, run.until());
    is_cheap_ =
        plan_.num_entries <= policy::kDerivativeEntries && plan_.marginal_bytes < static_cast<double>(limits_.bytes);
  }

  [[nodiscard]] bool is_cheap() const { return is_cheap_; }
  // None where nothing is possible.
  [[nodiscard]] std::optional<Sensitivity> sensitivity(const Evidence& target) const;
  [[nodiscard]] ObservationValues values_for(int target) const;
  [[nodiscard]] std::optional<double> entropy() const;

 private:
  void keep_rows(int m, std::vector<SignedLog>& rates) const;
  void rank(Sensitivity& result, const std::vector<std::vector<SignedLog>>& rates) const;

  const Model& model_;
  const FactorGraph graph_;
  const Limits limits_;
  const Observer observer_;
  EliminationPlan plan_;
  bool is_cheap_ = false;
};

// dP(q | e) = (dZ(q, e) - P(q | e) dZ(e)) / Z(e), and d log Z(e) = dZ(e) / Z(e).
std::optional<Sensitivity> ByElimination::sensitivity(const Evidence& target) const {
  Sensitivity result;
  result.target = target;
  const TableDerivatives given = table_derivatives(graph_, model_.evidence, limits_, plan_, observer_);
  if (given.log_z == kNegInf) return {};
  TableDerivatives joint;
  double log_share = 0.0;  // P(q | e)
  result.value = given.log_z;
  if (!target.empty()) {
    Evidence both = model_.evidence;
    both.insert(both.end(), target.begin(), target.end());
    joint = table_derivatives(graph_, both, limits_, plan_, observer_);
    log_share = joint.log_z - given.log_z;
    result.value = std::exp(log_share);
  }
  result.is_network = check_network(model_.graph).is_network();
  std::vector<std::vector<SignedLog>> rates;
  for (int m = 0; m < model_.graph.num_factors(); ++m) {  // without those of soft evidence
    std::vector<SignedLog>& of_table = rates.emplace_back();
    for (std::size_t e = 0; e < given.log_derivatives[m].size(); ++e) {
      const double log_rate = given.log_derivatives[m][e] - given.log_z;
      of_table.push_back(target.empty() ? SignedLog{log_rate}
                                        : sum_of(std::array{SignedLog{joint.log_derivatives[m][e] - given.log_z},
                                                            SignedLog{log_rate + log_share, /*is_negative=*/true}}));
    }
    if (result.is_network) keep_rows(m, of_table);
  }
  rank(result, rates);
  for (const std::vector<SignedLog>& of_table : rates) {
    std::vector<double>& values = result.derivatives.emplace_back();
    for (const SignedLog& rate : of_table) values.push_back(rate.value());
  }
  return result;
}

// In a network a row must keep its sum: the other entries change in proportion.
void ByElimination::keep_rows(int m, std::vector<SignedLog>& rates) const {
  const Factor& factor = model_.graph.factor(m);
  const auto num_states = static_cast<std::size_t>(model_.graph.num_states(factor.scope().back()));
  std::vector<SignedLog> terms(num_states);
  for (std::size_t first = 0; first < rates.size(); first += num_states) {
    const std::vector<SignedLog> free(rates.begin() + static_cast<std::ptrdiff_t>(first),
                                      rates.begin() + static_cast<std::ptrdiff_t>(first + num_states));
    for (std::size_t i = 0; i < num_states; ++i) {
      double log_rest = kNegInf;  // of the other entries in the row
      for (std::size_t j = 0; j < num_states; ++j) {
        if (j != i) log_rest = log_add_exp(log_rest, factor.log_values()[first + j]);
      }
      for (std::size_t j = 0; j < num_states; ++j) {
        const double log_part = log_rest == kNegInf ? -std::log(static_cast<double>(num_states - 1))
                                                    : factor.log_values()[first + j] - log_rest;
        terms[j] = j == i ? free[j] : SignedLog{free[j].log_size + log_part, !free[j].is_negative};
      }
      rates[first + i] = sum_of(terms);
    }
  }
}

void ByElimination::rank(Sensitivity& result, const std::vector<std::vector<SignedLog>>& rates) const {
  std::vector<std::pair<double, Sensitivity::Parameter>> all;  // with the logarithm of its influence
  for (int m = 0; m < model_.graph.num_factors(); ++m) {
    for (std::size_t e = 0; e < rates[m].size(); ++e) {
      const double log_value = model_.graph.factor(m).log_values()[e];
      const double influence = rates[m][e].log_size + (result.is_network ? 0.0 : log_value);
      if (influence != kNegInf) all.push_back({influence, {m, e, std::exp(log_value), rates[m][e].value()}});
    }
  }
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  for (std::size_t i = 0; i < std::min(all.size(), kMostShown); ++i) {
    if (all[i].first >= all.front().first + std::log(kRounding)) result.most_influential.push_back(all[i].second);
  }
}

// I(T; X | e) = H(X) - sum over t of P(t) H(X | t), from the marginals given each state of the target.
ObservationValues ByElimination::values_for(int target) const {
  ObservationValues result;
  result.target = target;
  const auto marginals_given = [&](const Evidence& evidence, double& log_z) {
    const ReducedModel reduced = condition(graph_, evidence);
    std::vector<int> reduced_of(reduced.fixed_states.size(), -1);
    for (std::size_t i = 0; i < reduced.variable_of.size(); ++i)
      reduced_of[reduced.variable_of[i]] = static_cast<int>(i);
    std::vector<int> order;
    for (const int v : plan_.order) {
      if (reduced_of[v] >= 0) order.push_back(reduced_of[v]);
    }
    const Elimination elimination(reduced.graph, plan_in_order(reduced.graph, order), limits_, {}, observer_);
    log_z = elimination.log_z();
    return log_z == kNegInf ? Marginals() : reduced.lift(elimination.marginals());
  };
  double log_z = 0.0;
  const Marginals now = marginals_given(model_.evidence, log_z);
  if (now.empty()) return result;
  result.entropy = entropy_of(now[target]);
  const Assignment observed = observed_states(graph_, model_.evidence);
  for (int v = 0; v < graph_.num_variables(); ++v) {
    if (observed[v] < 0 && v != target) result.values.push_back({v, entropy_of(now[v])});
  }
  for (int t = 0; t < graph_.num_states(target); ++t) {
    if (now[target][t] <= 0.0 || observed[target] >= 0) continue;
    Evidence both = model_.evidence;
    both.push_back({target, t});
    double ignored = 0.0;
    const Marginals then = marginals_given(both, ignored);
    if (then.empty()) continue;
    for (ObservationValues::Value& value : result.values) {
      value.information -= now[target][t] * entropy_of(then[value.variable]);
    }
  }
  for (ObservationValues::Value& value : result.values) {
    const bool is_known = observed[target] >= 0;
    value.information = is_known ? 0.0 : std::clamp(value.information, 0.0, result.entropy);
  }
  std::stable_sort(result.values.begin(), result.values.end(),
                   [](const auto& a, const auto& b) { return a.information > b.information; });
  return result;
}

// H = log Z - sum over the factors of E[log psi_m], with P(x_S) = theta dZ/dtheta / Z for the entry theta of x_S. Each
// table is divided by its largest entry first: what is left of it has logarithms that are small where P is large, so
// that nothing cancels.
std::optional<double> ByElimination::entropy() const {
  FactorGraph scaled;
  for (int v = 0; v < graph_.num_variables(); ++v) scaled.add_variable(graph_.num_states(v));
  for (const Factor& factor : graph_.factors()) {
    std::vector<double> table(factor.log_values().begin(), factor.log_values().end());
    const double most = *std::max_element(table.begin(), table.end());
    for (double& value : table) value = value == kNegInf ? kNegInf : value - most;
    scaled.add_table(factor.scope(), std::move(table));
  }
  const TableDerivatives of = table_derivatives(scaled, model_.evidence, limits_, plan_, observer_);
  if (of.log_z == kNegInf) return {};
  CompensatedSum sum;
  sum.add(of.log_z);
  for (int m = 0; m < scaled.num_factors(); ++m) {
    const std::span<const double> table = scaled.factor(m).log_values();
    for (std::size_t e = 0; e < table.size(); ++e) {
      const double log_joint = table[e] + of.log_derivatives[m][e];
      if (table[e] != kNegInf && log_joint != kNegInf) sum.add(-std::exp(log_joint - of.log_z) * table[e]);
    }
  }
  return std::max(0.0, sum.value());
}

void check_tables(const Model& model, const char* option) {
  if (model.graph.has_only_tables()) return;
  throw OptionError(option, "needs a model of tables, and this one has factors that are computed by functions");
}

bool is_observed(const Model& model, int variable) {
  return observed_states(model.graph, model.evidence)[variable] >= 0;
}

// Adds what elimination finds; a remark where it does not fit.
template <class Add>
void add(const char* option, const Answer& answer, const Model& model, const InferRequest& request, const Run& run,
         Add add_result) {
  if (answer.log_z == kNegInf && answer.is_exact) return;
  const auto find = [&] {
    const ByElimination found(model, request, run);
    if (found.is_cheap()) add_result(found);
    return found.is_cheap();
  };
  const bool is_done = unless_too_large([&] { return unless_given_up(find).value_or(false); }).value_or(false);
  if (!is_done) {
    run.remark(fmt::format("--{} is not answered: elimination takes too long or too much memory", option));
  }
}

constexpr const char *kSensitivity = "sensitivity", *kValueFor = "value-for", *kEntropy = "entropy";

void check_sensitivity(const Model& model, const Question& question) {
  check_tables(model, kSensitivity);
  for (const auto& [variable, state] : target_of(model.graph, question.sensitivity)) {
    if (!is_observed(model, variable)) continue;
    throw OptionError(kSensitivity, fmt::format("variable '{}' is observed: its probability depends on nothing",
                                                variable_name(model.graph, variable)));
  }
}

void check_value_for(const Model& model, const Question& question) {
  check_tables(model, kValueFor);
  if (!is_observed(model, variable_of(model.graph, question.value_for))) return;
  throw OptionError(kValueFor, fmt::format("variable '{}' is observed: nothing can tell more about it",
                                           shortened(question.value_for, 60)));
}

void check_entropy(const Model& model, const Question&) { check_tables(model, kEntropy); }

void add_sensitivity(Answer& answer, const Model& model, const InferRequest& request, const Run& run) {
  add(kSensitivity, answer, model, request, run, [&](const ByElimination& by) {
    answer.sensitivity = by.sensitivity(target_of(model.graph, request.question.sensitivity));
  });
}

void add_values(Answer& answer, const Model& model, const InferRequest& request, const Run& run) {
  add(kValueFor, answer, model, request, run, [&](const ByElimination& by) {
    answer.observation_values = by.values_for(variable_of(model.graph, request.question.value_for));
  });
}

void add_entropy(Answer& answer, const Model& model, const InferRequest& request, const Run& run) {
  add(kEntropy, answer, model, request, run, [&](const ByElimination& by) { answer.entropy = by.entropy(); });
}

}  // namespace

std::vector<OptionRow> derivative_questions() {
  return {
      question<&Question::sensitivity>(
          kSensitivity,
          "Which numbers of the model P(NAME=STATE | evidence) depends on most, by exact derivatives; 'evidence' asks "
          "for those of log P(evidence)",
          {.meta = "NAME=STATE|evidence",
           .not_with = kNotWithCases | kNotWithCircuits | kNotWithLogZ,
           .check = check_sensitivity,
           .answer = add_sensitivity}),
      question<&Question::value_for>(kValueFor,
                                     "How much observing each other variable would tell about this one, in nats",
                                     {.meta = "NAME",
                                      .not_with = kNotWithCases | kNotWithCircuits | kNotWithLogZ,
                                      .check = check_value_for,
                                      .answer = add_values}),
      question<&Question::entropy>(kEntropy, "The entropy of the distribution, in nats; exact, where elimination fits",
                                   {.initial = "no",
                                    .not_with = kNotWithCircuits | kNotWithLogZ,
                                    .check = check_entropy,
                                    .answer = add_entropy}),
  };
}

}  // namespace treesample
