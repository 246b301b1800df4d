// treesample decide: the decisions of the largest expected utility of an influence diagram.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "command.hpp"
#include "file_roles.hpp"
#include "memory_limit.hpp"
#include "model_input.hpp"
#include "reading_watch.hpp"
#include "treesample/error.hpp"
#include "treesample/exact/decisions.hpp"
#include "treesample/io/decision_file.hpp"
#include "treesample/io/evidence_file.hpp"
#include "treesample/io/file.hpp"
#include "treesample/io/json_text.hpp"
#include "treesample/model/names.hpp"
#include "treesample/text.hpp"

namespace treesample::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMostShown = 100;  // rows of a policy in the text

class DecideCommand final : public Command {
 public:
  std::string name() const override { return "decide"; }
  std::string summary() const override {
    return "Best decisions of an influence diagram, and what it is worth to know more";
  }
  std::string examples() const override {
    return "  treesample decide wildcatter.xdsl\n"
           "  treesample decide wildcatter.xmlbif --evidence test=yes --value-of oil\n"
           "  treesample decide pigs.xdsl --limited --json policies.json";
  }
  void declare(CommandLine& line) override {
    line.positional("FILE", file_,
                    "Influence diagram (.xmlbif, .xml, .xdsl); the parents of a decision are known to it");
    declare_evidence(line, evidence_);
    line.flag("--limited", is_limited_,
              "Limited memory: a decision knows its parents and nothing else, not what was known and decided before");
    line.option("--value-of", values_, "NAME",
                "By how much the expected utility rises where NAME is known to each decision from the first one on, or "
                "to those from D on: NAME:D; may be repeated");
    line.seconds("--time", seconds_, "Seconds; nothing is written after that");
    line.option("--memory", memory_, "SIZE", "For tables and policies, such as 4G");
    line.option("--json", json_, "FILE", "Write policies and values; - is standard output");
  }
  int run() override;

 private:
  struct Found {
    DecisionAnswer best;
    double upper = 0.0;
  };
  [[nodiscard]] Evidence evidence(const FactorGraph& graph) const;
  [[nodiscard]] Found solve(const DecisionModel& model, const Evidence& seen) const;
  [[nodiscard]] double value_of(const DecisionModel& model, const Evidence& seen, const std::string& text,
                                double before) const;

  std::string file_, json_, memory_;
  double seconds_ = 0.0;
  std::vector<std::string> evidence_, values_;
  bool is_limited_ = false;
};

Evidence DecideCommand::evidence(const FactorGraph& graph) const {
  const Names names(graph);
  Observations known;
  for (const std::string& given : evidence_) {
    if (is_observation_text(given)) {
      observe(known, names, given);
    } else {
      observe(known, names, read_evidence(given, names));
    }
  }
  check_argument(known.soft.empty(), "--evidence", "weights of states are not allowed where decisions are made");
  return known.states;
}

DecideCommand::Found DecideCommand::solve(const DecisionModel& model, const Evidence& seen) const {
  if (is_limited_) {
    LimitedAnswer limited = best_limited_decisions(model, seen);
    return {std::move(limited.best), limited.upper};
  }
  DecisionAnswer best = best_decisions(model, seen);
  const double utility = best.expected_utility;
  return {std::move(best), utility};
}

double DecideCommand::value_of(const DecisionModel& model, const Evidence& seen, const std::string& text,
                               double before) const {
  const Names names(model.graph);
  const std::size_t colon = text.rfind(':');
  const int variable = names.variable(text.substr(0, colon));
  DecisionModel informed = model;
  auto from = informed.decisions.begin();
  if (colon != std::string::npos) {
    const int decision = names.variable(text.substr(colon + 1));
    from = std::find_if(from, informed.decisions.end(), [&](const Decision& one) { return one.variable == decision; });
    check_argument(from != informed.decisions.end(), "--value-of",
                   fmt::format("{} is no decision", variable_name(model.graph, decision)));
  }
  for (; from != informed.decisions.end(); ++from) {
    if (std::find(from->known.begin(), from->known.end(), variable) == from->known.end()) {
      from->known.push_back(variable);
    }
  }
  return solve(informed, seen).best.expected_utility - before;
}

// "yes, closed" for each joint state of a policy's scope, or so many, and the choice; empty where it is impossible.
std::vector<std::pair<std::vector<std::string>, std::string>> rows_of(const FactorGraph& graph, const Policy& policy,
                                                                      std::size_t most = SIZE_MAX) {
  std::vector<std::pair<std::vector<std::string>, std::string>> rows;
  std::vector<int> states(policy.scope.size(), 0);
  for (const int choice : policy.choice) {
    if (rows.size() == most) break;
    std::vector<std::string> names;
    for (std::size_t i = 0; i < states.size(); ++i) names.push_back(state_name(graph, policy.scope[i], states[i]));
    rows.emplace_back(std::move(names), choice < 0 ? "" : state_name(graph, policy.decision, choice));
    for (std::size_t i = states.size(); i-- > 0;) {
      if (++states[i] < graph.num_states(policy.scope[i])) break;
      states[i] = 0;
    }
  }
  return rows;
}

std::vector<std::string> names_of(const FactorGraph& graph, const std::vector<int>& variables) {
  std::vector<std::string> names;
  for (const int v : variables) names.push_back(variable_name(graph, v));
  return names;
}

Json policy_json(const FactorGraph& graph, const Policy& policy) {
  Json choices = Json::array();
  const std::vector<std::string> known = names_of(graph, policy.scope);
  for (const auto& [states, choice] : rows_of(graph, policy)) {
    Json given = Json::object();
    for (std::size_t i = 0; i < known.size(); ++i) given[known[i]] = states[i];
    choices.push_back({{"given", std::move(given)}, {"choice", choice.empty() ? Json() : Json(choice)}});
  }
  return {{"decision", variable_name(graph, policy.decision)}, {"knows", known}, {"choices", std::move(choices)}};
}

void print_policy(const FactorGraph& graph, const Policy& policy) {
  const std::string decision = printable(variable_name(graph, policy.decision));
  if (policy.scope.empty()) {
    fmt::print("policy      {}: {}\n", decision, printable(rows_of(graph, policy).front().second));
    return;
  }
  fmt::print("policy      {} by {}\n", decision,
             printable(fmt::format("{}", fmt::join(names_of(graph, policy.scope), ", "))));
  for (const auto& [states, choice] : rows_of(graph, policy, kMostShown)) {
    fmt::print("  {}: {}\n", printable(fmt::format("{}", fmt::join(states, ", "))),
               choice.empty() ? "(impossible)" : printable(choice));
  }
  if (policy.choice.size() > kMostShown) {
    fmt::print("  ... and {} more (--json FILE has all)\n", policy.choice.size() - kMostShown);
  }
}

int DecideCommand::run() {
  check_distinct({{"FILE", file_}}, {{"--json", json_}});
  keep_to_memory(memory_of(memory_, Limits{}.bytes));
  auto watch = std::make_unique<const ReadingWatch>(std::vector{file_}, seconds_, "decided", /*is_short=*/false);
  const DecisionModel model = read_decisions(file_);
  const Evidence seen = evidence(model.graph);
  const Found found = solve(model, seen);
  const double utility = found.best.expected_utility;
  Json values = Json::object(), policies = Json::array();
  for (const std::string& name : values_) values[name] = value_of(model, seen, name, utility);
  if (json_.empty()) watch.reset();  // nothing may end the program while it writes
  if (!json_.empty()) {
    for (const Policy& policy : found.best.policies) policies.push_back(policy_json(model.graph, policy));
    const Json all = {{"format", "treesample decisions"}, {"version", 1},
                      {"expected_utility", utility},      {"upper", found.upper},
                      {"policies", std::move(policies)},  {"value_of", values}};
    const std::string text = json_text(all) + "\n";
    watch.reset();
    if (json_ == "-") {
      fmt::print("{}", text);
      return 0;
    }
    write_file_atomically(json_, text);
  }
  const bool is_exact = found.upper - utility <= 1e-9 * (1.0 + std::abs(utility));
  fmt::print("utility     {:.6g}{}\n", utility,
             is_exact ? ", the largest one" : fmt::format("; no policies have more than {:.6g}", found.upper));
  for (const Policy& policy : found.best.policies) print_policy(model.graph, policy);
  for (const auto& [name, value] : values.items()) {
    fmt::print("value of    {}: {:.6g}\n", printable(name), value.get<double>());
  }
  return 0;
}

}  // namespace

std::unique_ptr<Command> make_decide_command() { return std::make_unique<DecideCommand>(); }

}  // namespace treesample::cli
