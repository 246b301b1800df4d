#include "infer/asked.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "treesample/error.hpp"
#include "treesample/model/names.hpp"
#include "treesample/text.hpp"

namespace treesample {
namespace {

// Of one joint state, in an answer that is printed too.
constexpr double kBytesPerJointState = 512.0;

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

void check_joint(const FactorGraph& graph, const std::vector<int>& variables, std::size_t most_bytes) {
  double num_joint = 1.0;
  for (std::size_t i = 0; i < variables.size(); ++i) {
    const int v = variables[i];
    const auto before = variables.begin() + static_cast<std::ptrdiff_t>(i);
    if (std::find(variables.begin(), before, v) != before) {
      throw Error(ErrorCode::kArgument, fmt::format("variable '{}' is in it twice", variable_name(graph, v)));
    }
    num_joint *= graph.num_states(v);
  }
  const double most = std::floor(static_cast<double>(most_bytes) / kBytesPerJointState);
  if (num_joint > most) {
    throw Error(ErrorCode::kArgument,
                fmt::format("the variables have {:.6g} joint states, allowed are {:.6g} with this "
                            "memory (--memory)",
                            num_joint, most));
  }
}

}  // namespace

AskedModel::AskedModel(const Model& model, const InferRequest& request) : original_(model) {
  if (!model.soft_evidence.empty()) {
    with_soft_ = model;
    with_soft_->graph = with_soft_evidence(std::move(with_soft_->graph), model.soft_evidence);
  }
  if (request.question.query.empty()) return;
  const Names names(model.graph);
  try {
    for (const std::vector<std::string>& asked : request.question.query) {
      std::vector<int> variables;
      for (const std::string& name : asked) variables.push_back(asked_variable(names, name));
      if (variables.empty()) throw Error(ErrorCode::kArgument, "a query has no variables");
      if (variables.size() > 1) check_joint(model.graph, variables, request.limits.bytes);
      queries_.push_back(std::move(variables));
    }
  } catch (const OptionError&) {
    throw;
  } catch (const Error& error) {
    throw OptionError("query", error.what(), error.code());
  }
}

bool AskedModel::has_joint() const {
  return std::any_of(queries_.begin(), queries_.end(), [](const auto& variables) { return variables.size() > 1; });
}

Answer AskedModel::answered(Answer answer, const std::vector<std::vector<double>>& joints) const {
  for (std::size_t q = 0; q < queries_.size(); ++q) {
    const std::vector<int>& variables = queries_[q];
    QueryAnswer& result = answer.queries.emplace_back();
    result.variables = variables;
    if (variables.size() > 1) {
      if (q < joints.size() && !joints[q].empty()) result.probabilities = joints[q];
      if (!result.probabilities.empty()) result.error = answer.marginals_error;
    } else if (!answer.marginals.empty()) {
      result.probabilities = answer.marginals[variables.front()];
      if (!answer.marginal_errors.empty()) result.error = answer.marginal_errors[variables.front()];
    }
  }
  return answer;
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
