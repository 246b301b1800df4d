#include "oracle/oracle_model.hpp"

#include <fmt/format.h>

#include <utility>

#include "oracle/program_oracle.hpp"
#include "oracle/umbridge_oracle.hpp"
#include "treesample/error.hpp"
#include "treesample/model/log_value.hpp"

namespace treesample {

namespace {

OracleModel model_of(const JsonModel& json, std::vector<OracleSource> sources, bool wants_fingerprints) {
  OracleModel model{.name = json.source_name,
                    .variables = json.variables,
                    .sources = std::move(sources),
                    .parts = wants_fingerprints ? fingerprint_parts(json) : FingerprintParts()};
  const auto no_function = [](std::span<const int>) { return 0.0; };
  for (const FactorDescription& factor : json.factors) {
    model.factors.push_back({factor.name, factor.name,
                             factor.is_table()
                                 ? factor.table(json.variables)
                                 : Factor::function(factor.scope, no_function, factor.log_max, factor.cost),
                             factor.program});
    Factor& made = model.factors.back().factor;
    if (!factor.directions.empty()) made = made.monotone(factor.directions);
  }
  return model;
}

// Bounds are derived from the declared maximum, and from the declaration that a function is monotone. So a rule must
// not give a value above the maximum, or any value for a monotone function.
FailureRule failure_rule(const Factor& factor, int index, const std::map<int, FailureRule>& rules) {
  const auto found = rules.find(index);
  if (found == rules.end()) return {};
  const FailureRule rule = found->second;
  check_argument(factor.directions().empty() || rule.kind == FailureRule::Kind::kStop, "OracleSet",
                 fmt::format("factor {} is declared monotone: a failure must end the run, because what it counts as "
                             "would bound other states",
                             index));
  if (rule.kind != FailureRule::Kind::kValue) return rule;
  const std::string problem = log_value_problem(rule.log_value, factor.log_max());
  if (!problem.empty()) throw_argument("OracleSet", fmt::format("on_failure of factor {} is {}", index, problem));
  return rule;
}

// A function of this process, or a server in its place.
OracleSource source_of(const FactorGraph& graph, int index, const OracleOptions& options) {
  const Factor& factor = graph.factor(index);
  const auto server = options.servers.find(index);
  if (server == options.servers.end()) {
    return {.make = [factor](const StopSignal&) { return std::make_unique<CallableOracle>(factor); },
            .max_batch = factor.max_batch(),
            .description = "function"};
  }
  check_argument(
      server->second.umbridge.has_value() && !options.executor, "OracleSet",
      fmt::format("factor {} is computed by a server: allowed are UM-Bridge servers, and no executor", index));
  std::vector<std::vector<int>> scopes;
  for (const Factor& each : graph.factors()) scopes.push_back(each.scope());
  return umbridge_source(server->second, std::move(scopes));
}

double failure_share(int index, const std::map<int, double>& shares) {
  const auto found = shares.find(index);
  if (found == shares.end()) return kMaxFailureShare;
  const double share = found->second;
  check_argument(share >= 0.0 && share <= 1.0, "OracleSet",
                 fmt::format("max_failure_share of factor {} is {}, allowed are numbers from 0 to 1", index, share));
  return share;
}

}  // namespace

OracleModel make_oracle_model(const JsonModel& json, const std::filesystem::path& log, bool wants_fingerprints) {
  std::vector<OracleSource> sources;
  for (int p = 0; p < static_cast<int>(json.programs.size()); ++p) sources.push_back(program_source(json, p, log));
  return model_of(json, std::move(sources), wants_fingerprints);
}

OracleModel make_remote_model(const JsonModel& json) {
  std::vector<OracleSource> sources;
  for (const ProgramDescription& program : json.programs) sources.push_back(remote_source(program));
  return model_of(json, std::move(sources), /*wants_fingerprints=*/true);
}

OracleModel make_oracle_model(const FactorGraph& graph, const std::string& version, const OracleOptions& options) {
  OracleModel model{.name = "a model of functions", .parts = fingerprint_parts(graph, version)};
  for (int v = 0; v < graph.num_variables(); ++v) model.variables.push_back(graph.variable(v));
  for (int m = 0; m < graph.num_factors(); ++m) {
    const Factor& factor = graph.factor(m);
    const std::string name = fmt::format("factor {}", m);
    const auto label = options.names.find(m);
    const bool has_label = label != options.names.end();
    model.factors.push_back({name, has_label ? label->second : name, factor});
    if (factor.is_table()) continue;
    model.factors.back().source = static_cast<int>(model.sources.size());
    OracleSource& source = model.sources.emplace_back(source_of(graph, m, options));
    source.on_failure = failure_rule(factor, m, options.on_failure);
    source.max_failure_share = failure_share(m, options.max_failure_share);
    if (has_label) source.description = fmt::format("function '{}'", label->second);
  }
  return model;
}

std::string describe_scope(const OracleModel& model, const std::vector<int>& scope) {
  std::string text;
  for (const int v : scope) {
    const std::string& name = model.variables[v].name;
    text += fmt::format("{}{}", text.empty() ? "" : ", ", name.empty() ? fmt::format("x{}", v) : name);
  }
  return text;
}

}  // namespace treesample
