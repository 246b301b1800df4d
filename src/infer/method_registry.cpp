#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <vector>

#include "infer/methods.hpp"
#include "infer/policy.hpp"
#include "infer/words.hpp"

namespace treesample {

// The methods, in method_*.cpp; baselines have their rows there.
Draft run_tree_search(const Task& task);
Draft run_gap_search(const Task& task);
Draft run_mass_search(const Task& task);
Draft run_count(const Task& task);
Draft run_learned(const Task& task);
Draft run_monotone(const Task& task);
Draft run_elimination(const Task& task);  // throws Error (kInterrupted) when it would not finish in time

namespace {

using Phases = std::vector<PlannedPhase>;

bool has_samples(const Plan& plan) { return plan.request.question.samples > 0; }

double search_end(const Plan& plan) { return plan.request.options.importance > 0 ? policy::kEstimateSearchEnd : 1.0; }

Phases tree_phases(const Plan& plan) {
  return phases_of(plan, {{"order and leaf values", policy::kSetUpEnd},
                          {"search", search_end(plan)},
                          {"importance samples", has_samples(plan) ? policy::kImportanceEnd : 1.0},
                          {"samples", 1.0}});
}

Phases gap_phases(const Plan& plan) {
  const bool has_rejection = plan.request.options.sampler == SampleSource::kRejection;
  Phases phases = phases_of(plan, {{"a first configuration", policy::kFindShare},
                                   {"mini-buckets, by the best of several orders", policy::kBucketsEnd},
                                   {"search, while the bounds are more than 10 nats apart", policy::kFarSearchEnd},
                                   {"search", policy::kGapSearchEnd},
                                   {"sums over joint states of a cutset, where it is not solved",
                                    policy::kGapSearchEnd + policy::kCutsetEnd * (1.0 - policy::kGapSearchEnd)},
                                   {"samples with bounded weights", !has_samples(plan) ? 1.0
                                                                    : has_rejection    ? policy::kRejectionEstimateEnd
                                                                                       : policy::kEstimateEnd},
                                   {"samples", 1.0}});
  if (plan.counts_first)
    phases.insert(phases.begin(), {"counting, in turns with all else", plan.request.limits.seconds});
  return phases;
}

Phases elimination_phases(const Plan& plan) {
  return phases_of(plan, {{"order", policy::kChoiceEnd},
                          {"elimination and marginals", policy::kEliminationEnd},
                          {"most probable configuration", policy::kMostProbableEnd},
                          {"samples", 1.0}});
}

Phases count_phases(const Plan& plan) {
  return phases_of(plan, {{"counting", policy::kCountEnd}, {"circuit, for marginals and samples", 1.0}});
}

Phases learned_phases(const Plan& plan) {
  return phases_of(plan, {{"asking and learning", 1.0 - *plan.request.options.error_share},
                          {"samples for the errors", 1.0},
                          {"samples", 1.0}});
}

Phases monotone_phases(const Plan& plan) {
  return phases_of(
      plan, {{"boxes", 1.0 - *plan.request.options.error_share}, {"samples of what is open", 1.0}, {"samples", 1.0}});
}

// Where several rules can answer, the planner takes the first. run_gap_search works for every rule that bounds suffice
// for, run_mass_search for those that need estimates.
constexpr std::array kSearchRows = {
    MethodRow{Method::kTree, {}, "tree", run_tree_search, tree_phases},
    MethodRow{Method::kSearch, SelectRule::kQUct, "search", run_tree_search, tree_phases, "q-uct"},
    MethodRow{Method::kSearch, SelectRule::kGap, "search", run_gap_search, gap_phases, "gap"},
    MethodRow{Method::kSearch, SelectRule::kMass, "search", run_mass_search, tree_phases, "mass"},
};
constexpr std::array kOthers = {
    MethodRow{Method::kExact, {}, "exact", run_elimination, elimination_phases},
    MethodRow{Method::kCount, {}, "count", run_count, count_phases},
    MethodRow{Method::kLearned, {}, "learned", run_learned, learned_phases},
    MethodRow{Method::kMonotone, {}, "monotone", run_monotone, monotone_phases},
};

}  // namespace

std::vector<PlannedPhase> phases_of(const Plan& plan, std::initializer_list<std::pair<const char*, double>> shares) {
  Phases phases;
  for (const auto& [what, end] : shares) phases.push_back({what, end * plan.request.limits.seconds});
  return phases;
}

std::span<const MethodRow> method_registry() {
  static const std::vector<MethodRow> registry = [] {
    std::vector<MethodRow> rows(kSearchRows.begin(), kSearchRows.end());
    const std::span<const MethodRow> baselines = baseline_rows();
    rows.insert(rows.end(), baselines.begin(), baselines.end());
    rows.insert(rows.end(), kOthers.begin(), kOthers.end());
    return rows;
  }();
  return registry;
}

const MethodRow& method_row(Method method, SelectRule rule) {
  const std::span<const MethodRow> registry = method_registry();
  return *std::find_if(registry.begin(), registry.end(),
                       [&](const MethodRow& row) { return row.method == method && (!row.rule || row.rule == rule); });
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
