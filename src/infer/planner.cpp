#include "infer/planner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>

#include "infer/counting.hpp"
#include "infer/leaves.hpp"
#include "infer/noise_option.hpp"
#include "infer/option_table.hpp"
#include "infer/phases.hpp"
#include "infer/policy.hpp"
#include "infer/rule_choice.hpp"
#include "infer/time_limit.hpp"
#include "infer/words.hpp"
#include "treesample/error.hpp"
#include "treesample/text.hpp"

namespace treesample {
namespace {

class Planner {
 public:
  Planner(const FactorGraph& graph, const InferRequest& request, bool has_programs, bool is_simplified, Run& run,
          const Spending& spent)
      : graph_(graph), asked_(request), run_(run), is_simplified_(is_simplified), spent_(spent) {
    plan_.has_programs = has_programs;
    plan_.request = request;
    for (const OptionRow& row : option_rows()) {
      if (!row.is_given(request)) row.copy(defaults_, plan_.request);
    }
    // Limits that are open are no limits; the budget has a default for methods that have no other.
    limits().calls = request.limits.calls;
    limits().seconds = request.limits.seconds;
    limits().bytes = request.limits.bytes;
    // A value function sees prefixes, those of an order that its author knows.
    if (options().value_function && !is_given("space")) options().space = SpaceKind::kGraph;
    if (options().value_function && !is_given("order")) options().order = OrderKind::kGiven;
  }

  Plan make() {
    plan_.remarks = asked_.options.old_words;
    take_calls();
    check();
    if (asked_.question.aim != Aim::kAll) plan_.request.question.marginals = false;
    if (options().method == Method::kTree) set_up_tree_search();
    couple_mass_and_calibration();
    // Of slices, log Z alone is wanted.
    plan_.may_sum_out = is_simplified_;
    plan_.sums_out = is_simplified_ && (options().method != Method::kExact || options().slices);
    plan_.is_open = !is_given("method");
    if (*options().compile) {
      choose_to_compile();
    } else if (plan_.is_open || options().method == Method::kSearch) {
      choose_method();
    }
    name_tree_search();
    check_declared_noise(plan_.request.options, graph_);
    plan_.method = *options().method;
    plan_.select = *options().select;
    choose_order();
    note_ignored();
    choose_budget();
    remark_on_counting();
    plan_.phases = planned_phases(plan_, run_.seconds(), run_.time_limit());
    return plan_;
  }

 private:
  InferOptions& options() { return plan_.request.options; }
  Limits& limits() { return plan_.request.limits; }
  [[nodiscard]] bool is_given(const char* name) const { return option_row(name).is_given(asked_); }
  void remark(const std::string& text) { plan_.remarks.push_back(text); }
  void reason(const std::string& text) { plan_.reasons.push_back(text); }

  void take_calls();
  void check() const;
  void set_up_tree_search();
  void name_tree_search();
  void couple_mass_and_calibration();
  void choose_to_compile();
  void choose_method();
  void choose_for_functions();
  bool choose_boxes();
  bool is_set_up(Method method) const;
  bool choose_to_learn();
  bool has_noise() { return noise_of(options().noise).noise.is_there; }  // declared
  void choose_for_tables();
  SelectRule choose_rule(SelectRule usual);
  void choose_order();
  void note_ignored();
  void choose_budget();
  void choose_program_budget(bool has_other_limit);
  void pay_samples();
  void remark_on_counting();

  const FactorGraph& graph_;
  const InferRequest& asked_;
  Run& run_;
  const bool is_simplified_;
  const Spending spent_;
  const InferRequest defaults_ = default_request();
  Plan plan_;
};

// A limit of calls is a budget in that unit.
void Planner::take_calls() {
  if (!is_given("calls")) return;
  if (is_given("budget")) throw OptionError("calls", "is short for --budget N --budget-unit call: give one of both");
  if (is_given("budget-unit") && options().budget_unit != BudgetUnit::kCall) {
    throw OptionError("calls",
                      fmt::format("counts in calls, and --budget-unit is '{}'", word_for(*options().budget_unit)));
  }
  limits().budget = asked_.limits.calls;
  options().budget_unit = BudgetUnit::kCall;
}

void Planner::check() const {
  const BudgetUnit unit = *plan_.request.options.budget_unit;
  const double confidence = *plan_.request.options.confidence;
  if (unit == BudgetUnit::kCost && graph_.has_only_tables()) {
    throw OptionError("budget-unit",
                      "cost counts seconds of factors that are computed by programs, and the model has none");
  }
  if (unit == BudgetUnit::kCall && graph_.has_only_tables()) {
    throw OptionError(is_given("calls") ? "calls" : "budget-unit",
                      "calls are evaluations of factors that are computed by programs, and the model has none");
  }
  if (!(confidence > 0.0 && confidence < 1.0)) {
    throw OptionError("confidence",
                      fmt::format("is {}, allowed are numbers between 0 and 1, without them", confidence));
  }
  if (is_given("slices") && !(plan_.request.options.method == Method::kExact && is_given("resume"))) {
    throw OptionError("slices", "needs --method exact, and --resume with the file that they are written to");
  }
  check_leaf(plan_.request.options, is_given("leaf"), graph_);
}

// The tree search is the rule q-uct in the space tree; both words may be left out.
void Planner::set_up_tree_search() {
  if (is_given("space") && options().space != SpaceKind::kTree) {
    throw OptionError("space",
                      fmt::format("is '{}', and --method tree is the search in the space tree; --method search "
                                  "has graph and andor",
                                  word_for(*options().space)));
  }
  if (is_given("select") && options().select != SelectRule::kQUct) {
    throw OptionError("select",
                      fmt::format("is '{}', and --method tree has the rule q-uct; --method search has gap and "
                                  "mass",
                                  word_for(*options().select)));
  }
  options().space = SpaceKind::kTree;
  options().select = SelectRule::kQUct;
}

// Q-uct in the space tree is the tree search, whatever the words that lead to it.
void Planner::name_tree_search() {
  const bool is_paper = options().select == SelectRule::kQUct && options().space == SpaceKind::kTree;
  if (options().method != Method::kSearch || !is_paper) return;
  options().method = Method::kTree;
  if (!plan_.is_open) remark("--method tree: q-uct in the space tree is the tree search");
}

// The mass rule and calibrated values belong together, whichever of them was asked for.
void Planner::couple_mass_and_calibration() {
  if (options().select == SelectRule::kMass && !is_given("leaf")) options().leaf = LeafChoice{LeafKind::kCalibrated};
  if (options().leaf->kind != LeafKind::kCalibrated) return;
  const Method method = *options().method;
  const bool has_no_rules = method == Method::kTree || method == Method::kSis || method == Method::kSmc;
  if (!is_given("select") && !has_no_rules) options().select = SelectRule::kMass;
  if (options().select != SelectRule::kMass || has_no_rules)
    throw OptionError("leaf", "calibrated goes with --select mass only");
}

void Planner::choose_to_compile() {
  if (!graph_.has_only_tables())
    throw OptionError("compile", "needs a model with tables only, and a factor is a function");
  if (!plan_.is_open && options().method != Method::kCount) {
    throw OptionError("compile", fmt::format("is for --method count only, and it is {}", word_for(*options().method)));
  }
  options().method = Method::kCount;
  reason("--compile is given: counting writes circuits");
}

// Elimination needs tables; where they are small nothing is faster or more exact. Where they are not, mini-buckets
// guide the search and bound log Z. A user who sets the search up gets what was asked for; no option changes the rule
// or the method without a word.
void Planner::choose_method() {
  if (plan_.is_open && choose_clauses(plan_, graph_)) return;
  options().method = Method::kSearch;
  if (graph_.has_only_tables()) {
    choose_for_tables();
  } else {
    choose_for_functions();
  }
}

void Planner::choose_for_functions() {
  reason("factors are functions: elimination would have to ask for every state of them");
  if ((!has_noise() && choose_boxes()) || choose_to_learn()) return;
  if (is_given("select") || options().leaf->kind == LeafKind::kCalibrated) return;
  options().select = choose_rule(plan_.is_open ? SelectRule::kMass : SelectRule::kQUct);
  couple_mass_and_calibration();
  if (!plan_.is_open || options().select != SelectRule::kMass) return;
  remark(fmt::format("factors can only be evaluated: --select mass --leaf {}", to_string(*options().leaf)));
}

// Is an option of the search given that a method has no use for?
bool Planner::is_set_up(Method method) const {
  return std::any_of(option_rows().begin(), option_rows().end(), [&](const OptionRow& row) {
    return (row.ways & way(method)) == 0 && (row.ways & kSearches) != 0 && row.is_given(asked_);
  });
}

bool Planner::choose_boxes() {
  if (!plan_.is_open || is_set_up(Method::kMonotone) || asked_.question.aim == Aim::kBest) return false;
  std::string why;
  const bool is_chosen = wants_boxes(graph_, why);
  if (!why.empty()) reason(why);
  if (is_chosen) options().method = Method::kMonotone;
  return is_chosen;
}

// Where no option of the search is given.
bool Planner::choose_to_learn() {
  if (!plan_.is_open || is_set_up(Method::kLearned)) return false;
  const std::int64_t calls = options().budget_unit == BudgetUnit::kCall && limits().budget != Limits::kUnlimited
                                 ? limits().budget
                                 : defaults_.limits.calls;
  std::string why = "values are noisy (--noise): they are read several times, and nothing is certified";
  if (!has_noise() && !wants_learning(graph_, calls, why)) return false;
  reason(why);
  options().method = Method::kLearned;
  return true;
}

void Planner::choose_for_tables() {
  const bool has_rule = is_given("select") || options().leaf->kind == LeafKind::kCalibrated;
  const auto set_up = option_of_a_search(asked_);
  if (!plan_.is_open || has_rule || set_up) {
    if (set_up) reason(fmt::format("an option of the search is given: {}", *set_up));
    if (!has_rule) options().select = choose_rule(SelectRule::kQUct);
    if (options().select == SelectRule::kGap && !is_given("leaf")) options().leaf = LeafChoice{LeafKind::kMiniBucket};
    return;
  }
  // These mean nothing to elimination.
  const auto wants_search = first_given(asked_, {"sampler", "max-tries", "confidence", "trace"});
  if (wants_search) remark(fmt::format("a search with bounds, because of {}", *wants_search));
  if (wants_search) reason(fmt::format("{} means nothing to elimination", *wants_search));
  if (!wants_search && !run_.is_overdue() && choose_elimination(plan_, graph_, run_)) {
    options().method = Method::kExact;
    plan_.counts_first = elimination_seconds(plan_) > policy::kLeastElimination && wants_counting(graph_);
    if (plan_.counts_first)
      reason("many entries of the tables are zero: counting is tried, in case that it is quicker");
    return;
  }
  plan_search_instead(plan_, graph_);
  if (plan_.counts_first) reason("many entries of the tables are zero: counting takes turns with the search");
  if (!is_given("budget")) remark_on_time(plan_, run_);
}

SelectRule Planner::choose_rule(SelectRule usual) {
  const RuleChoice choice = rule_by_options(asked_, usual, graph_.has_only_tables());
  if (!choice.remark.empty()) remark(choice.remark);
  return choice.rule;
}

// Greedy elimination orders are made for branching spaces; on a path another order can be far cheaper.
void Planner::choose_order() {
  if (plan_.method != Method::kSearch || options().space != SpaceKind::kGraph || is_given("order")) return;
  if (options().value_function || run_.is_overdue()) return;
  double least = HUGE_VAL;
  for (const OrderKind kind : {OrderKind::kMinFill, OrderKind::kMinWidth, OrderKind::kGiven}) {
    const OrderOptions order{.kind = kind,
                             .restarts = static_cast<int>(*options().restarts),
                             .seed = options().seed,
                             .should_settle = run_.time_box(policy::kOrderShare, policy::kOrderSeconds),
                             .should_stop = run_.set_up_end()};
    const auto cost = unless_given_up([&] {
      const std::vector<int> found = search_order(graph_, SpaceKind::kGraph, order);
      return make_search_space(graph_, found, SpaceKind::kGraph, run_.set_up_end()).log_exact_cost();
    });
    if (!cost) return;
    if (*cost >= least) continue;
    least = *cost;
    options().order = kind;
  }
}

void Planner::note_ignored() {
  const Ways chosen = way(plan_.method, plan_.select);
  for (const OptionRow& row : option_rows()) {
    if (!row.is_given(asked_)) continue;
    std::string why;
    if ((row.ways & chosen) == 0) {
      why = fmt::format("the method is {}, and it is for {} only", ways_text(chosen), ways_text(row.ways));
    } else if (row.matters != nullptr && !row.matters(plan_.request, graph_)) {
      why = row.why_not;
    }
    if (!why.empty()) remark(fmt::format("--{} is ignored: {}", row.name, why));
  }
  const bool is_chain = options().gibbs_mode == GibbsMode::kChain;
  if (plan_.method == Method::kGibbs && !is_chain && is_given("burn-in"))
    throw OptionError("burn-in", "is for --gibbs-mode chain only");
}

void Planner::choose_budget() {
  const bool ends_at_gap = limits().gap > 0.0 && has_upper_bound(options(), graph_);
  const bool has_other_limit = run_.has_time_limit() || ends_at_gap;
  // Particle filters choose their number of particles by the budget.
  const bool has_particles = plan_.method == Method::kSis || plan_.method == Method::kSmc;
  const bool has_budget = is_given("budget") || is_given("calls");
  if (has_other_limit && !has_particles && !has_budget) limits().budget = Limits::kUnlimited;
  // A budget that nobody named is no reason to draw nothing where a single sample costs more.
  if (!has_budget) {
    plan_.min_samples = std::clamp<std::int64_t>(asked_.question.samples, 1, policy::kLeastDrawn);
  }
  const bool is_monotone = plan_.method == Method::kMonotone;
  const bool is_learned = plan_.method == Method::kLearned || is_monotone;
  // Who names a gap wants it certified.
  if (is_monotone && !is_given("error-share")) options().error_share = limits().gap > 0.0 ? 0.0 : policy::kBoxSamples;
  // What a smaller budget has asked, a larger one asks again: a journal then pays for it.
  if (is_learned && !is_given("oracle-order")) options().answer_order = AnswerOrder::kSubmission;
  const bool counts_calls = options().budget_unit == BudgetUnit::kCall;  // of functions in this process, too
  if (plan_.has_programs || is_learned || counts_calls) choose_program_budget(has_other_limit);
  limits().unit = *options().budget_unit;
  plan_.method_budget = limits().budget;
  limits().seconds_before = spent_.cost_seconds;
  if (limits().budget == Limits::kUnlimited) return;
  if (limits().unit == BudgetUnit::kCost && is_a_search(plan_.method) && !graph_.has_only_tables()) {
    // What a sample with a true density costs is known only afterwards.
    if (options().importance > 0) remark("--importance becomes 0: a budget of cost pays for no samples; --calls does");
    plan_.call_budget = options().importance.emplace(0);
  }
  if (limits().unit != BudgetUnit::kCall) return;
  plan_.method_budget = std::max<std::int64_t>(0, limits().budget - spent_.calls);
  plan_.call_budget = plan_.method_budget;
  // A configuration is evaluated again at the end (noise_check.cpp). A black box does that on its way, by these calls.
  if (const std::int64_t each = num_functions(graph_); each > 0 && looks_for_noise(options(), graph_)) {
    plan_.method_budget -= std::min<std::int64_t>(2, plan_.method_budget / (policy::kFewestForNoise * each)) * each;
  }
  pay_samples();
}

// Evaluations by programs are what a user pays for: few, or none, are spent unasked, and the budget counts them. The
// paper's search may walk through any number of levels without factors before it makes the first: it counts rewards.
void Planner::choose_program_budget(bool has_other_limit) {
  if (!is_given("importance")) options().importance = 0;
  const bool is_paper = is_a_search(plan_.method) && plan_.select == SelectRule::kQUct;
  const bool counts_calls = !graph_.has_only_tables() && !is_paper && plan_.method != Method::kBp;
  if (counts_calls && !is_given("budget-unit") && !is_given("calls")) options().budget_unit = BudgetUnit::kCall;
  if (is_given("budget") || is_given("calls") || has_other_limit) return;
  // What is learned anew with each value takes ever longer, however cheap the values are.
  if (plan_.method == Method::kLearned) options().budget_unit = BudgetUnit::kCall;
  const BudgetUnit unit = *options().budget_unit;
  limits().budget = unit == BudgetUnit::kCost ? policy::kDefaultCostSeconds : defaults_.limits.calls;
  remark(fmt::format("neither --calls, --budget nor --time is given: a budget of {} {}", limits().budget,
                     unit == BudgetUnit::kCost   ? "seconds of evaluations"
                     : unit == BudgetUnit::kCall ? "calls of programs"
                                                 : "evaluations"));
}

// Counting has no limit of its own: the first line says so.
void Planner::remark_on_counting() {
  if (plan_.method != Method::kCount || run_.has_time_limit()) return;
  plan_.remarks.insert(plan_.remarks.begin(),
                       "no time limit (--time): counting ends when it is done, and an "
                       "interruption gives what is certified by then");
}

// A budget of calls pays for samples with true densities too, importance samples and tries of rejection: they get up to
// half of it, and the method the rest.
void Planner::pay_samples() {
  if (!is_a_search(plan_.method)) return;
  const bool rejects =
      asked_.question.samples > 0 && options().sampler == SampleSource::kRejection && plan_.select == SelectRule::kGap;
  const std::int64_t for_samples = plan_.call_budget / policy::kImportanceDivisor;
  const std::int64_t for_importance = rejects ? for_samples / 2 : for_samples;
  const std::int64_t calls_each = std::max<std::int64_t>(num_functions(graph_), 1);
  std::int64_t& num_samples = *options().importance;
  if (for_importance / calls_each < num_samples) {
    remark(fmt::format("--importance {} becomes {}: samples may take {} of the {} calls, {} each", num_samples,
                       for_importance / calls_each, rejects ? "a quarter" : "half", plan_.call_budget, calls_each));
    num_samples = for_importance / calls_each;
  }
  plan_.method_budget -= rejects ? for_samples : num_samples * calls_each;
}

}  // namespace

Plan make_plan(const FactorGraph& graph, const InferRequest& request, bool has_programs, bool is_simplified, Run& run,
               const Spending& spent) {
  request.validate();
  return Planner(graph, request, has_programs, is_simplified, run, spent).make();
}

}  // namespace treesample
