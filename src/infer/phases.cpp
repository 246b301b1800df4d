// The front page of `infer`: what every method does, row by row.
#include "infer/phases.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "infer/count_beside.hpp"
#include "infer/formula_methods.hpp"
#include "infer/phase_verbs.hpp"
#include "infer/policy.hpp"

namespace treesample {
namespace {

// ---- Is it worth it? -----------------------------------------------------------------------------------------------

bool always(const Findings&, const Plan&) { return true; }
// log Z, or what else is asked.
bool is_unanswered(const Findings& found, const Plan& plan) {
  return !found.draft.known.is_exact() || wants_more(plan.request.question);
}
bool is_open(const Findings& found, const Plan&) { return !found.draft.known.is_exact(); }
// A search for log Z tells little of the most probable configuration, which the rows after the method look for.
bool is_for_sums(const Plan& plan) { return !plan.is_open || plan.request.question.aim != Aim::kBest; }
bool has_open_sums(const Findings& found, const Plan& plan) { return is_open(found, plan) && is_for_sums(plan); }
bool has_sums(const Findings& found, const Plan& plan) { return is_unanswered(found, plan) && is_for_sums(plan); }
bool has_cheap_log_z(const Findings& found, const Plan& plan) {
  return plan.eliminates_first && has_open_sums(found, plan);
}
bool has_log_z_first(const Findings&, const Plan& plan) { return plan.eliminates_first && is_for_sums(plan); }
bool has_many_zeros(const Findings&, const Plan& plan) { return plan.counts_first; }
// A circuit needs all of the model as it is.
bool may_be_formula(const Findings& found, const Plan& plan) {
  return is_open(found, plan) && formula_methods() != nullptr && !plan.request.options.compile.value_or(false);
}
bool may_be_replaced(const Findings& found, const Plan& plan) { return plan.is_open && !found.elimination; }
bool counts_open_sums(const Findings& found, const Plan& plan) {
  return plan.counts_first && is_for_sums(plan) && is_open(found, plan);
}
bool wants_marginals(const Findings&, const Plan& plan) { return plan.request.question.marginals; }
bool wants_best(const Findings&, const Plan& plan) { return plan.request.question.best; }
bool wants_samples(const Findings&, const Plan& plan) { return plan.request.question.samples > 0; }
bool wants_beliefs(const Findings&, const Plan& plan) {
  return plan.request.question.marginals || plan.request.question.samples == 0;
}
bool weighs_samples(const Findings&, const Plan& plan) { return plan.request.options.importance > 0; }

// ---- The tables ----------------------------------------------------------------------------------------------------

constexpr Ways kGap = way(SelectRule::kGap), kQUct = way(SelectRule::kQUct) | way(Method::kTree),
               kMass = way(SelectRule::kMass);
constexpr Ways kExact = way(Method::kExact), kCount = way(Method::kCount), kBp = way(Method::kBp);
constexpr Ways kFilters = way(Method::kSis) | way(Method::kSmc), kGibbs = way(Method::kGibbs);
constexpr Ways kAis = way(Method::kAis), kLearned = way(Method::kLearned), kMonotone = way(Method::kMonotone);
constexpr Ways kDrawers = kFilters | kGibbs | kBp | kAis;
constexpr Ways kMetropolis = way(Method::kMetropolis), kFrequencies = way(Method::kFrequencies);

// clang-format off

constexpr End kSetUp = {.share = policy::kSetUpEnd};
constexpr End kDrawn = {.share = 1.0, .before_samples = 0.9, .before_rejection = 0.75};
constexpr End kCounted = {.share = policy::kCountEnd};
constexpr End kSearch = {.share = 1.0, .before_weights = 0.85};

constexpr Phase kPhases[] = {
    // name                         methods       until    is it worth it?  do it
    {"counting, if quicker",        kExact,       {1.0},   has_many_zeros,  count_instead},
    {"elimination",                 kExact,       {.share = 0.9, .before_search = 0.5}, always, eliminate},
    {"marginals",                   kExact,       {0.85},  wants_marginals, eliminate_for_marginals},
    {"most probable configuration", kExact,       {0.95},  wants_best,      eliminate_for_best},
    {"a search instead",            kExact,       {1.0},   may_be_replaced, search_instead},

    {"counting as a formula",       kCount,       {policy::kFormulaEnd}, may_be_formula, count_as_formula},
    {"counting",                    kCount,       kCounted, is_open,        count_zeros},

    {"counting as a formula",       kGap,         {policy::kFormulaEnd}, counts_open_sums, count_as_formula},
    {"counting, in turns",          kGap,         {1.0},   counts_open_sums, begin_counting},
    {"first bounds",                kGap,         {0.1},   is_unanswered,   find_first},
    {"elimination for log Z",       kGap,         {0.5},   has_cheap_log_z, eliminate_log_z},
    {"marginals from slices",       kGap,         {0.95},  has_log_z_first, add_sliced_marginals, kSharesBeginAgain},
    {"orders and bounds",           kGap,         kSetUp,  has_sums,        set_up_search},
    {"search with bounds",          kGap,         {0.65},  has_sums,        search_between_bounds},
    {"cutset",                      kGap,         {0.825}, has_open_sums,   sum_joint_states},
    {"annealing",                   kGap,         kDrawn,  has_open_sums,   anneal},
    {"weighted samples",            kGap,         kDrawn,  has_sums,        weigh_samples},

    {"order and leaf values",       kQUct,        kSetUp,  always,          set_up_tree},
    {"tree search",                 kQUct,        kSearch, always,          search_tree},
    {"passes over the tree",        kQUct,        {1.0},   always,          read_tree},

    {"one configuration",           kDrawers,     {0.1},   always,          look_for_one},
    {"particles",                   kFilters,     {1.0},   always,          run_particle_filter},
    {"gibbs",                       kGibbs,       {1.0},   always,          run_gibbs},
    {"samples by decimation",       kBp,          {1.0},   wants_samples,   sample_by_decimation},
    {"messages",                    kBp,          {1.0},   wants_beliefs,   propagate_beliefs},
    {"annealing",                   kAis,         {0.97},  always,          run_annealing},

    // Of functions only values are known.
    {"boxes",                       kMonotone,    {1.0},   always,          run_monotone},
    {"asking and learning",         kLearned,     {1.0},   always,          run_learned},

    {"order and leaf values",       kMass,        kSetUp,  always,          set_up_mass},
    {"search by mass",              kMass,        kSearch, always,          search_by_mass},
    {"passes over the search",      kMass,        {1.0},   always,          read_mass},

    {"metropolis",                  kMetropolis,  {1.0},   always,          run_metropolis},
    {"frequencies",                 kFrequencies, {1.0},   always,          run_frequencies},
};

// After every method, in this order: what may tighten a bound comes before what is compared with it.
constexpr Phase kFinish[] = {
    {"what is known at once",       kEveryWay,    kAtOnce, always,          state_first_bounds},
    {"paid values",                 kEveryWay,    kAtOnce, always,          state_paid_values},
    // Bounds of the simplified model: before the next row, which widens them for the original one.
    {"bounds of the factors",       kEveryWay,    kAtOnce, is_open,         bound_by_factors},
    {"bounds of a network",         kEveryWay,    kAtOnce, always,          bound_as_network},
    // Samples are checked against all bounds, and take the time that is left.
    {"importance samples",          kQUct | kMass, {.share = 1.0, .before_samples = 0.95}, weighs_samples, weigh_answer},
    {"samples",                     kEveryWay,    {1.0},   wants_samples,   draw_samples},
    // Samples may have found a better configuration.
    {"bound of the best",           kEveryWay,    kAtOnce, is_open,         bound_by_best},
    // Last, because it withdraws what rests on noisy values.
    {"noise",                       kEveryWay,    kAtOnce, always,          check_noise},
};
// clang-format on

// Returns false if nothing was left to do.
bool run_row(const Phase& row, Findings& found, const Task& task) {
  if (found.beside) found.draft.known.bound(found.beside->bounds());
  if (!row.is_worth_it(found, task.plan)) return false;
  task.run.enter(row.until.is_at_once ? "" : row.name);
  // What cannot return a part of its work when it is asked to end ends its phase here.
  const auto is_done = unless_given_up([&] {
    row.run(found, task, {task.run, row.until.of(task.plan)});
    return true;
  });
  if (!is_done && found.draft.method.empty()) found.is_given_up = true;
  if (row.shares_begin_again) task.run.begin_phases();
  return true;
}

// Runs the row, and records that in the plan, which the row may have replaced by another one.
void run_recorded(const Phase& row, Findings& found, const Task& task, const Task& run_by) {
  const double began = task.run.seconds();
  if (!run_row(row, found, run_by)) return;
  const auto same = [&](const PlannedPhase& other) {
    return other.row == &row || (other.row == nullptr && other.what == row.name);
  };
  const auto place = std::find_if(task.plan.phases.begin(), task.plan.phases.end(), same);
  if (place == task.plan.phases.end()) return;
  place->began_seconds = began;
  place->ended_seconds = task.run.seconds();
}

Ways way_of(const Plan& plan) { return way(plan.method, plan.select); }

}  // namespace

double End::of(const Plan& plan) const {
  const bool has_rejection = plan.request.options.sampler == SampleSource::kRejection;
  if (before_search > 0.0 && plan.is_open && !plan.is_quick) return before_search;
  if (before_weights > 0.0 && plan.request.options.importance > 0) return before_weights;
  if (!(before_samples > 0.0) || plan.request.question.samples == 0) return share;
  return has_rejection && before_rejection > 0.0 ? before_rejection : before_samples;
}

std::vector<PlannedPhase> planned_phases(const Plan& plan, double begin, double end) {
  std::vector<PlannedPhase> planned;
  const Findings nothing;
  // A search has what counting leaves it; what counting does not use is not added here.
  const bool takes_turns = plan.counts_first && way_of(plan) == kGap && plan.request.limits.threads <= 1;
  double first = takes_turns && std::isfinite(end) ? begin + plan.count_share * (end - begin) : begin;
  for (const Phase& row : kPhases) {
    if ((row.ways & way_of(plan)) == 0 || !row.is_worth_it(nothing, plan)) continue;
    const double until = std::isfinite(end) ? first + row.until.of(plan) * (end - first) : HUGE_VAL;
    planned.push_back({row.name, until, &row});
    if (row.shares_begin_again) first = until;
  }
  for (const Phase& row : kFinish) {
    if (row.until.is_at_once || (row.ways & way_of(plan)) == 0 || !row.is_worth_it(nothing, plan)) continue;
    planned.push_back({row.name, std::isfinite(end) ? begin + row.until.of(plan) * (end - begin) : HUGE_VAL, nullptr});
  }
  return planned;
}

void run_phases(Findings& found, const Task& task) {
  found.is_given_up = task.is_overdue();
  if (found.is_given_up) return;
  task.run.begin_phases();
  const std::vector<PlannedPhase> planned = task.plan.phases;  // a row may change the plan
  try {
    for (const PlannedPhase& phase : planned) {
      if (phase.row == nullptr || phase.began_seconds || found.is_complete) continue;
      if (found.beside && found.beside->has_answer()) break;
      run_recorded(*phase.row, found, task, found.beside ? found.beside->task() : task);
    }
  } catch (...) {
    if (!found.beside || !found.beside->end()) throw;  // counting has the whole answer
  }
  if (const auto beside = std::exchange(found.beside, nullptr)) beside->join(found);
}

void finish_phases(Findings& found, const Task& task) {
  for (const Phase& row : kFinish) {
    if ((row.ways & way_of(task.plan)) != 0) run_recorded(row, found, task, task);
  }
}

}  // namespace treesample
