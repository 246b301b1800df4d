// What the phases of several methods share, and the words for methods.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "infer/draft.hpp"
#include "infer/option_table.hpp"
#include "infer/run.hpp"
#include "treesample/evaluate/bounded_importance.hpp"
#include "treesample/infer/plan.hpp"
#include "treesample/reduce/reduced_model.hpp"
#include "treesample/search/search.hpp"
#include "treesample/space/search_space.hpp"

namespace treesample {

// What a phase works on: the reduced model, the plan with every option decided, and the run.
struct Task {
  const FactorGraph& graph;
  Plan& plan;
  const Run& run;
  const FactorGraph* original = nullptr;  // the model with what the question adds; null: the graph
  const ReducedModel* reduced = nullptr;  // how the graph was made from it; null: it is the same

  [[nodiscard]] const InferOptions& options() const { return plan.request.options; }
  // The limits of the method, without the time, which the run watches.
  [[nodiscard]] Limits limits() const {
    Limits limits = plan.request.limits;
    limits.budget = plan.method_budget;
    limits.calls = Limits::kUnlimited;
    limits.seconds = run.seconds_left();
    return limits;
  }
  [[nodiscard]] const Question& question() const { return plan.request.question; }
  [[nodiscard]] std::uint64_t seed() const { return options().seed; }
  // For use between steps that look at the clock late or never: the time is over, and first_answer() can answer.
  [[nodiscard]] bool is_overdue() const { return graph.has_only_tables() && run.is_overdue(); }
};

// The words of the command line for a method and, if it has several, for a rule.
struct MethodRow {
  Method method;
  std::optional<SelectRule> rule;  // only of the search
  const char* word;
  const char* rule_word = "";

  [[nodiscard]] constexpr Ways way() const { return rule ? treesample::way(*rule) : treesample::way(method); }
};
std::span<const MethodRow> method_registry();
// Throws OptionError for a method that cannot work on the model.
void check_method(Method method, const FactorGraph& graph);

// Certified bounds from one look at each factor, and a configuration if one is found at once: the answer when there was
// no time for a method. Bounds that are already certified are kept.
Draft first_answer(const Task& task, const LogBounds& certified = {});

// Reports these bounds before anything else, because choosing a method may take long; the configuration only where the
// time limit is not short.
void tell_first_bounds(const FactorGraph& graph, std::uint64_t seed, const Run& run);

// ---- What several methods use --------------------------------------------------------------------------------------

SearchSpace space_for(const Task& task, const FactorGraph& graph, SpaceKind kind);
// With the cheapest of `restarts` orders.
SearchSpace space_by_order(const Task& task, const FactorGraph& graph, SpaceKind kind, int restarts);
// The bytes of mini-buckets that the time allows.
std::uint64_t wanted_bucket_bytes(const Task& task, const FactorGraph& graph);
// With the order in which mini-buckets bound log Z best, among several (order_trials.cpp).
SearchSpace space_for_mini_buckets(const Task& task, const FactorGraph& graph, SpaceKind kind);

// The model without its barren variables; null when it has none, or when they are to stay.
std::shared_ptr<const SummedModel> sum_out(const FactorGraph& graph, const Plan& plan);
// Adds the barren variables in their most probable states; unchanged where there are none.
std::optional<Configuration> completed(std::optional<Configuration> left, const SummedModel* summed,
                                       const FactorGraph& whole);
// The end of a line about the method: the number of barren variables.
std::string summed_out_text(const SummedModel* summed);
std::string slices_text(const EliminationPlan& plan);

// The end of a line about the method: the number of programs that run at a time.
std::string workers_text(const InferOptions& options);
// Offers the best configuration of a search, and what its bounds prove of it in a model with functions.
void offer_stored_best(Draft& draft, const StoredBest& stored, const SearchResult& result, const FactorGraph& graph);
// Adds the report of a search that calls functions, and that line.
template <class Report>
void add_report(Draft& draft, const Report& report, const InferOptions& options) {
  draft.method += workers_text(options);
  draft.stop = report.stop;
  draft.error = report.error;
  draft.spent = report.spent;
  draft.known.bound(report.log_z);
  draft.known.estimate(report.estimate, Trust::kGuess);
}

EliminationOptions elimination_options(const InferRequest& request, const Run& run);
// The predicted time of elimination, for log Z alone or with marginals.
double predicted_seconds(const EliminationPlan& plan, const Limits& limits, bool has_marginals);
// Returns true if elimination, if need be of the model without its barren variables, can answer everything. Otherwise
// decides whether it computes log Z before a search. Sets what the plan says about it.
bool choose_elimination(Plan& plan, const FactorGraph& graph, const Run& run);
// Shares of the time limit.
struct LateRule {
  double look = 0.0, end = 1.0;
};
// Stops elimination when the share that is done after a while (`look`) shows that it would not finish by `end`, and
// soon after an interruption. The rule may change while it is used.
Observer unless_late(const Run& run, const char* phase, std::shared_ptr<const LateRule> rule);
// Nothing unless elimination with its marginals fits into the memory and, by a prediction, into the time. `found`
// receives the plan for the model in one piece, where there is one.
std::optional<EliminationPlan> cheap_elimination(const FactorGraph& graph, const InferRequest& request, const Run& run,
                                                 double seconds, std::optional<EliminationPlan>* found = nullptr);

// Offers the marginals of a model that was eliminated, and with them those of its barren variables, which are
// eliminated with their ancestors where that is predicted to be quick.
void offer_eliminated(Knowledge& known, const SummedModel* summed, const Marginals& marginals, double width,
                      const Task& task);

// Marginals by elimination, where that is predicted to be quick and rounding leaves log Z exact.
std::optional<Marginals> quick_exact_marginals(const Task& task, double seconds);

// P_U of the search for the whole model: barren variables that were summed out are drawn too. Both arguments must
// outlive the sampler.
BoundedSampler bounded_sampler(const SearchApproximation& upper, const SummedModel* summed);

// Marginals as frequencies of up to `max_samples` samples, fewer where that takes long. `from` is a format for their
// number.
void add_frequencies(Draft& draft, const Approximation& approximation, int max_samples, const Task& task,
                     const char* from);

// True if functions should be learned; `why` gives the reason.
bool wants_learning(const FactorGraph& graph, std::int64_t calls, std::string& why);

// True if all functions are declared monotone and box_search can take the model. `why` gives the reason, also for false
// where at least one is declared monotone.
bool wants_boxes(const FactorGraph& graph, std::string& why);

// The calls that the density of one configuration takes.
std::int64_t num_functions(const FactorGraph& graph);

// An answer that has no marginals although they were asked for says why.
void say_why_no_marginals(Answer& answer, const FactorGraph& original, const Run& run);

// Of a search that counted everything but had no memory to keep it.
void say_cut_off(Draft& draft, const Task& task);
}  // namespace treesample
