#include "infer/asked.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "infer/planner.hpp"
#include "infer/policy.hpp"
#include "treesample/error.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/model/names.hpp"
#include "treesample/text.hpp"

namespace treesample {
namespace {

// The table of a joint query has the square of this number of entries.
constexpr std::int64_t kMostJointStates = 4096;

// An approximation of a model with added variables, which are functions of the original ones.
class ProjectedApproximation final : public Approximation {
 public:
  ProjectedApproximation(std::size_t num_original, std::vector<AskedModel::Query> queries,
                         std::shared_ptr<const Approximation> whole)
      : num_original_(num_original), queries_(std::move(queries)), whole_(std::move(whole)) {}
  [[nodiscard]] Assignment sample(Random& random) const override {
    Assignment x = whole_->sample(random);
    x.resize(num_original_);
    return x;
  }
  [[nodiscard]] double log_prob(std::span<const int> x) const override {
    check_range("Approximation::log_prob", "number of states given", std::ssize(x),
                static_cast<std::int64_t>(num_original_), static_cast<std::int64_t>(num_original_));
    Assignment all(x.begin(), x.end());
    for (const AskedModel::Query& query : queries_) {
      if (query.joint < 0) continue;
      int number = 0;
      for (std::size_t i = 0; i < query.variables.size(); ++i) {
        number = number * query.num_states[i] + x[query.variables[i]];
      }
      all.push_back(number);
    }
    return whole_->log_prob(all);
  }
  [[nodiscard]] ExploredTree explored_tree(std::size_t max_nodes) const override {
    ExploredTree tree = whole_->explored_tree(max_nodes);
    const int num_original = static_cast<int>(num_original_);
    tree.rename([&](int v, int s) { return std::pair(v < num_original ? v : -1, s); });
    return tree;
  }

 private:
  std::size_t num_original_;
  std::vector<AskedModel::Query> queries_;
  std::shared_ptr<const Approximation> whole_;
};

// Queries are often written as P(lung=yes | smoke=no): such names get a helpful message.
int asked_variable(const Names& names, const std::string& name) {
  const std::size_t end = name.find_first_of("=|");
  if (names.find_variable(name) < 0 && end != std::string::npos && end > 0) {
    std::string variable = name.substr(0, end);
    variable.erase(variable.find_last_not_of(' ') + 1);
    if (names.find_variable(variable) >= 0) {
      throw Error(
          ErrorCode::kArgument,
          fmt::format("'{}' is no variable: a query names variables, such as {}, and is answered for all states; "
                      "what is given is --evidence NAME=STATE",
                      shortened(name, 60), shortened(variable, 60)));
    }
  }
  return names.variable(name);
}

bool has_joint(const Question& question) {
  return std::any_of(question.query.begin(), question.query.end(), [](const auto& asked) { return asked.size() > 1; });
}

}  // namespace

AskedModel::AskedModel(const Model& model, const InferRequest& request)
    : original_(model), question_(request.question) {
  if (!model.soft_evidence.empty()) {
    added_ = model;
    added_->graph = with_soft_evidence(std::move(added_->graph), model.soft_evidence);
  }
  if (question_.query.empty()) return;
  const bool has_variables = has_joint(question_) && model.graph.has_only_tables() && reasons_about_tables(request);
  const Names names(model.graph);
  try {
    for (const std::vector<std::string>& asked : question_.query) {
      Query query;
      for (const std::string& name : asked) query.variables.push_back(asked_variable(names, name));
      if (query.variables.empty()) throw Error(ErrorCode::kArgument, "a query has no variables");
      if (query.variables.size() > 1) add_joint(query, has_variables);
      queries_.push_back(std::move(query));
    }
  } catch (const OptionError&) {
    throw;
  } catch (const Error& error) {
    throw OptionError("query", error.what(), error.code());
  }
}

void AskedModel::add_joint(Query& query, bool has_variable) {
  const FactorGraph& graph = original_.graph;
  std::int64_t num_joint = 1;
  for (std::size_t i = 0; i < query.variables.size(); ++i) {
    const int v = query.variables[i];
    if (std::find(query.variables.begin(), query.variables.begin() + static_cast<std::ptrdiff_t>(i), v) !=
        query.variables.begin() + static_cast<std::ptrdiff_t>(i)) {
      throw Error(ErrorCode::kArgument, fmt::format("variable '{}' is in it twice", variable_name(graph, v)));
    }
    query.num_states.push_back(graph.num_states(v));
    num_joint *= graph.num_states(v);
    if (num_joint > kMostJointStates) {
      throw Error(ErrorCode::kArgument, fmt::format("the variables have more than {} configurations, which is the most "
                                                    "that a joint query may have",
                                                    kMostJointStates));
    }
  }
  if (!has_variable) return;
  if (!added_) added_ = original_;
  const auto size = static_cast<std::size_t>(num_joint);
  query.joint = added_->graph.add_variable(static_cast<int>(num_joint));
  std::vector<int> scope = query.variables;
  scope.push_back(query.joint);
  std::vector<double> table(size * size, kNegInf);
  for (std::size_t i = 0; i < size; ++i) table[i * size + i] = 0.0;
  added_->graph.add_table(std::move(scope), std::move(table));
}

Question AskedModel::question() const {
  Question asked = question_;
  if (!asked.seconds_to_show || model().graph.num_variables() == original_.graph.num_variables()) return asked;
  asked.seconds_to_show = [show = question_.seconds_to_show,
                           num_original = original_.graph.num_variables()](const std::vector<Assignment>& samples) {
    std::vector<Assignment> shown = samples;
    for (Assignment& sample : shown) sample.resize(static_cast<std::size_t>(num_original));
    return show(shown);
  };
  return asked;
}

Answer AskedModel::answered(Answer answer) const {
  const auto num_original = static_cast<std::size_t>(original_.graph.num_variables());
  for (const Query& query : queries_) {
    QueryAnswer& result = answer.queries.emplace_back();
    result.variables = query.variables;
    const auto variable = static_cast<std::size_t>(query.joint < 0 ? query.variables.front() : query.joint);
    if (answer.marginals.empty() || (query.joint < 0 && query.variables.size() > 1)) continue;
    result.probabilities = answer.marginals[variable];
    if (!answer.marginal_errors.empty()) result.error = answer.marginal_errors[variable];
  }
  if (model().graph.num_variables() == original_.graph.num_variables()) return answer;
  const auto cut = [&](auto& list) { list.resize(std::min(list.size(), num_original)); };
  cut(answer.marginals);
  cut(answer.marginal_errors);
  if (!answer.marginal_errors.empty()) {
    answer.marginals_error = *std::max_element(answer.marginal_errors.begin(), answer.marginal_errors.end());
  }
  if (answer.best) cut(answer.best->x);
  if (answer.importance) cut(answer.importance->best.x);
  if (answer.bounded_importance) {
    cut(answer.bounded_importance->best.x);
    cut(answer.bounded_importance->marginals);
    cut(answer.bounded_importance->marginal_errors);
  }
  for (Assignment& sample : answer.samples) cut(sample);
  if (answer.approximation) {
    answer.approximation =
        std::make_shared<ProjectedApproximation>(num_original, queries_, std::move(answer.approximation));
  }
  return answer;
}

void AskedModel::add_frequencies(Answer& answer, std::uint64_t seed, const ShouldStop& should_stop) const {
  const bool is_needed = std::any_of(queries_.begin(), queries_.end(),
                                     [](const Query& query) { return query.joint < 0 && query.variables.size() > 1; });
  if (!is_needed || !answer.approximation || answer.marginals.empty()) return;
  Random random(seed, "joint queries");
  std::vector<std::vector<double>> counts(queries_.size());
  int num_samples = 0;
  while (num_samples < policy::kJointSamples && (num_samples == 0 || !should_stop())) {
    const auto drawn = unless_given_up([&] { return answer.approximation->sample(random); });
    if (!drawn) break;
    const Assignment& x = *drawn;
    ++num_samples;
    for (std::size_t q = 0; q < queries_.size(); ++q) {
      const Query& query = queries_[q];
      if (query.joint >= 0 || query.variables.size() < 2) continue;
      std::size_t number = 0, size = 1;
      for (std::size_t i = 0; i < query.variables.size(); ++i) {
        const auto num_states = static_cast<std::size_t>(query.num_states[i]);
        number = number * num_states + static_cast<std::size_t>(x[query.variables[i]]);
        size *= num_states;
      }
      counts[q].resize(size, 0.0);
      counts[q][number] += 1.0;
    }
  }
  for (std::size_t q = 0; q < queries_.size(); ++q) {
    if (counts[q].empty()) continue;
    for (double& count : counts[q]) count /= num_samples;
    answer.queries[q].probabilities = std::move(counts[q]);
  }
}

Evidence query_states(const QueryAnswer& query, const FactorGraph& graph, std::size_t row) {
  Evidence states(query.variables.size());
  for (std::size_t i = states.size(); i-- > 0;) {
    const auto num_states = static_cast<std::size_t>(graph.num_states(query.variables[i]));
    states[i] = {query.variables[i], static_cast<int>(row % num_states)};
    row /= num_states;
  }
  return states;
}

}  // namespace treesample
