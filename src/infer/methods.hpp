// The registry of methods: one row for each, and what they share.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>

#include "infer/draft.hpp"
#include "infer/option_table.hpp"
#include "infer/run.hpp"
#include "treesample/evaluate/bounded_importance.hpp"
#include "treesample/infer/plan.hpp"
#include "treesample/space/search_space.hpp"
#include "treesample/value/mini_bucket.hpp"

namespace treesample {

// What a method gets: the reduced model, the plan with every option decided, and the run.
struct Task {
  const FactorGraph& graph;
  const Plan& plan;
  const Run& run;

  [[nodiscard]] const InferOptions& options() const { return plan.request.options; }
  // Of the method; the time is the run's.
  [[nodiscard]] Limits limits() const {
    Limits limits = plan.request.limits;
    limits.budget = plan.method_budget;
    limits.calls = Limits::kUnlimited;
    limits.seconds = run.seconds_left();
    return limits;
  }
  [[nodiscard]] const Question& question() const { return plan.request.question; }
  [[nodiscard]] std::uint64_t seed() const { return options().seed; }
  // Between steps that look at the clock late or not at all: throws Error (kInterrupted) where the end was asked for
  // and first_answer() has something to say.
  void go_on() const {
    if (run.is_overdue() && graph.has_only_tables()) {
      throw Error(ErrorCode::kInterrupted, "infer: asked to end");
    }
  }
};

struct MethodRow {
  Method method;
  std::optional<SelectRule> rule;  // of the method treesample
  const char* word;                // of the method
  Draft (*run)(const Task& task);
  // How the time is split among its phases; the shares are of the limit.
  std::vector<PlannedPhase> (*phases)(const Plan& plan);

  [[nodiscard]] constexpr Ways way() const { return rule ? treesample::way(*rule) : treesample::way(method); }
};
std::span<const MethodRow> method_registry();
const MethodRow& method_row(Method method, SelectRule rule);

// Certified bounds from one look at each factor, and one configuration if it is found at once: the answer when there
// was no time for a method. What is certified already is kept.
Draft first_answer(const Task& task, const LogBounds& known = {});

// Tells the same before anything else is done, because choosing a method may take long; the configuration only where
// the time limit is not short.
void tell_first_bounds(const FactorGraph& graph, std::uint64_t seed, const Run& run);

// ---- What several methods use --------------------------------------------------------------------------------------

SearchSpace space_for(const Task& task, const FactorGraph& graph, SpaceKind kind);
// By the cheapest of so many orders.
SearchSpace space_by_order(const Task& task, const FactorGraph& graph, SpaceKind kind, int restarts);
// What the time for mini-buckets allows.
std::uint64_t wanted_bucket_bytes(const Task& task, const FactorGraph& graph);
// The one of several orders in which mini-buckets bound log Z best (order_trials.cpp).
SearchSpace space_for_mini_buckets(const Task& task, const FactorGraph& graph, SpaceKind kind);

// The model without its barren variables; null when it has none, or they are to stay.
std::shared_ptr<const SummedModel> sum_out(const FactorGraph& graph, const Plan& plan);
// The configuration with its barren variables in their most probable states; as it is where there are none.
std::optional<Configuration> completed(std::optional<Configuration> left, const SummedModel* summed,
                                       const FactorGraph& whole);
// The end of a line about the method: how many there were.
std::string summed_out_text(const SummedModel* summed);

// The end of a line about the method: how many programs ran at a time.
std::string workers_text(const InferOptions& options);
// What a search that asks functions reports, and that.
template <class Report>
void add_report(Draft& draft, const Report& report, const InferOptions& options) {
  draft.method += workers_text(options);
  draft.stop = report.stop;
  draft.error = report.error;
  draft.spent = report.spent;
  draft.set_log_z(report.estimate, report.log_z);
}

EliminationOptions elimination_options(const InferRequest& request, const Run& run);
// What elimination is predicted to take: log Z alone, or marginals too.
double predicted_seconds(const EliminationCost& cost, const Limits& limits, bool has_marginals);
// Log Z alone, in the order of `cost`, in slices where it does not fit into the memory; nothing unless it is predicted
// to fit into the time. `cost` becomes what it would take.
std::optional<EliminationOptions> sliced_elimination(const FactorGraph& graph, const InferRequest& request,
                                                     const Run& run, double seconds, EliminationCost& cost);
// Whether elimination, if need be of the model without its barren variables, can answer everything; else whether it has
// log Z before a search. Fills in what the plan says about it.
bool choose_elimination(Plan& plan, const FactorGraph& graph, const Run& run);
// Shares of the time limit.
struct LateRule {
  double look = 0.0, end = 1.0;
};
// Ends where the rest would not be done by `end`, as the share that is done after a while (`look`) tells, and a moment
// after an interruption. The rule may change while it is watched.
Observer unless_late(const Run& run, const char* phase, std::shared_ptr<const LateRule> rule);
// The same with an order; nothing unless elimination and its marginals fit into the memory and, by a prediction, into
// the time. `found` receives what it would take, where that was found.
std::optional<EliminationOptions> cheap_elimination(const FactorGraph& graph, const InferRequest& request,
                                                    const Run& run, double seconds,
                                                    std::optional<EliminationCost>* found = nullptr);

// P_U of the search, for the whole model: barren variables, where some were summed out, are drawn too. Both must
// outlive it.
BoundedSampler bounded_sampler(const SearchApproximation& upper, const SummedModel* summed);

// Marginals as frequencies of up to `max_samples` samples, fewer where that takes long; returns how many.
int add_frequencies(Draft& draft, const Approximation& approximation, int max_samples, const Task& task);

// Whether functions are to be learned: one has more states than there are calls, and elimination can take the tables.
bool wants_learning(const FactorGraph& graph, std::int64_t calls, std::string& why);

// Whether all functions are declared monotone and box_search can take the model. `why` says why, also why not where one
// is declared.
bool wants_boxes(const FactorGraph& graph, std::string& why);

// Calls that the density of one configuration takes.
std::int64_t num_functions(const FactorGraph& graph);

// Mini-buckets within a part of the memory and of the time: the search wants the rest.
std::shared_ptr<const WeightedMiniBucket> make_mini_buckets(const Task& task, const FactorGraph& graph,
                                                            const SearchSpace& space);
[[nodiscard]] bool is_mini_bucket(const std::string& prior);
// The prior that is a value function of the caller.
inline constexpr const char* kFunctionWord = "function";
inline constexpr const char* kProgramWord = "program:";
// Throws OptionError unless the word is one of the factory of leaf values, or stands for the caller's own.
void check_prior(const InferOptions& options);

}  // namespace treesample
