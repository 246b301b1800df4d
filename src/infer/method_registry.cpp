#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <vector>

#include "infer/call_methods.hpp"
#include "infer/methods.hpp"
#include "infer/words.hpp"
#include "model/clause.hpp"
#include "treesample/error.hpp"

namespace treesample {

namespace {

// Where several rules can answer, the planner takes the first.
constexpr std::array kRows = {
    MethodRow{Method::kTree, {}, "tree"},
    MethodRow{Method::kSearch, SelectRule::kQUct, "search", "q-uct"},
    MethodRow{Method::kSearch, SelectRule::kGap, "search", "gap"},
    MethodRow{Method::kSearch, SelectRule::kMass, "search", "mass"},
    MethodRow{Method::kSis, {}, "sis"},
    MethodRow{Method::kSmc, {}, "smc"},
    MethodRow{Method::kGibbs, {}, "gibbs"},
    MethodRow{Method::kBp, {}, "bp"},
    MethodRow{Method::kAis, {}, "ais"},
    MethodRow{Method::kMetropolis, {}, "metropolis"},
    MethodRow{Method::kFrequencies, {}, "frequencies"},
    MethodRow{Method::kExact, {}, "exact"},
    MethodRow{Method::kCount, {}, "count"},
    MethodRow{Method::kLearned, {}, "learned"},
    MethodRow{Method::kMonotone, {}, "monotone"},
};

}  // namespace

void check_method(Method method, const FactorGraph& graph) {
  const bool needs_tables =
      method == Method::kExact || method == Method::kCount || method == Method::kBp || method == Method::kAis;
  if (needs_tables && !graph.has_only_tables()) {
    throw OptionError("method",
                      fmt::format("is '{}', which needs a model of tables: this one has functions", word_for(method)));
  }
  if (method != Method::kCount && has_long_clause(graph)) {
    throw OptionError("method",
                      fmt::format("is '{}', which needs tables, and a clause of the model is too long for one: "
                                  "allowed is count",
                                  word_for(method)));
  }
}

// The last two are offered where their library is linked (infer/call_methods.hpp).
std::span<const MethodRow> method_registry() {
  constexpr std::size_t kForCalls = 2;
  return std::span(kRows).first(call_methods() != nullptr ? kRows.size() : kRows.size() - kForCalls);
}

std::span<const Word<Method>> words_of(Method) {
  static const std::vector<Word<Method>> words = [] {
    std::vector<Word<Method>> list;
    for (const MethodRow& row : method_registry()) {
      if (list.empty() || list.back().value != row.method) list.push_back({row.word, row.method});
    }
    return list;
  }();
  return words;
}

std::span<const Word<SelectRule>> words_of(SelectRule) {
  static const std::vector<Word<SelectRule>> words = [] {
    std::vector<Word<SelectRule>> list;
    for (const MethodRow& row : method_registry()) {
      if (row.rule) list.push_back({row.rule_word, *row.rule});
    }
    return list;
  }();
  return words;
}

std::string ways_text(Ways ways) {
  constexpr Ways kAllRules = way(SelectRule::kQUct) + way(SelectRule::kGap) + way(SelectRule::kMass);
  std::vector<std::string> methods, rules;
  for (const MethodRow& row : method_registry()) {
    if ((ways & row.way()) == 0) continue;
    if (row.rule) rules.emplace_back(word_for(*row.rule));
    if (!row.rule) methods.emplace_back(row.word);
  }
  if (!rules.empty()) {
    const bool has_all = (ways & kRules) == kAllRules;
    methods.insert(methods.begin(), has_all ? "search" : fmt::format("search --select {}", fmt::join(rules, " or ")));
  }
  return fmt::format("{}", fmt::join(methods, ", "));
}

bool has_upper_bound(const InferOptions& resolved, const FactorGraph& graph) {
  if (resolved.method == Method::kMonotone) return true;
  if (resolved.method != Method::kSearch) return false;
  if (resolved.select != SelectRule::kMass) return resolved.select == SelectRule::kGap;
  return std::all_of(graph.factors().begin(), graph.factors().end(),
                     [](const Factor& factor) { return factor.log_max().has_value(); });
}

const char* to_string(Method method) { return word_for(method); }
const char* to_string(SelectRule rule) { return word_for(rule); }
const char* to_string(SpaceKind kind) { return word_for(kind); }
const char* to_string(OrderKind kind) { return word_for(kind); }

}  // namespace treesample
