// What the methods of `infer` share: progress, search spaces, mini-buckets.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "infer_methods.hpp"
#include "terminal.hpp"
#include "treesample/error.hpp"
#include "treesample/space/limits.hpp"
#include "treesample/space/reward_queue.hpp"
#include "treesample/space/search_space.hpp"
#include "treesample/stop.hpp"
#include "treesample/value/mini_bucket.hpp"

namespace treesample::cli {

// Seconds for one step of a method: this share of --time, less where most of the time is over; the given number without
// a time limit.
double box_seconds(const InferOptions& options, double share, double without_limit);
// True once they are over, counted from now, or after Ctrl-C: for what can be ended with what there is.
ShouldStop time_box(const InferOptions& options, double share, double without_limit);
// True a moment after Ctrl-C and when the time limit is over, this share of it: for what makes the answer.
ShouldStop time_limit(const InferOptions& options, double share = 1.0);
// The same at once after Ctrl-C: the moment is for the samplers.
ShouldStop search_limit(const InferOptions& options);
// As time_limit, for what has to be made before a method can begin: it is given up then, and first_answer() is all
// there is.
ShouldStop set_up_limit(const InferOptions& options);

// Nothing when it is given up.
template <typename Work>
auto unless_given_up(Work work) -> std::optional<decltype(work())> {
  try {
    return work();
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kInterrupted) throw;
    return {};
  }
}

// The budget and the memory; of the time every method has a part.
Limits limits_of(const InferOptions& options);

// A progress line against budget and time.
class Watch {
 public:
  explicit Watch(const InferOptions& options) : options_(options), progress_(options.is_quiet) {}
  void update(const Spending& spent, double seconds, const std::string& text);
  // For the baselines, which have no time limit of their own.
  Observer observer();

 private:
  const InferOptions& options_;
  Interruption interruption_;
  Progress progress_;
};

SearchSpace space_for(const FactorGraph& graph, const InferOptions& options, SpaceKind kind);

// The model without its barren variables; null when it has none, or they are to stay.
std::shared_ptr<const SummedModel> sum_out(const FactorGraph& graph, const InferOptions& options);
// The end of a line about the method: how many there were.
std::string summed_out_text(const SummedModel* summed);

// By --memory, --restarts and --seed; orders are looked for in a small part of the time.
EliminationOptions elimination_options(const InferOptions& options);
// The same with an order; nothing unless elimination and its marginals fit into the memory and, by an estimate, into
// the time.
std::optional<EliminationOptions> cheap_elimination(const FactorGraph& graph, const InferOptions& options,
                                                    double seconds);

// Marginals as frequencies of up to `max_samples` samples, fewer where that takes long; returns how many.
int add_frequencies(Answer& answer, const Approximation& approximation, const FactorGraph& graph, int max_samples,
                    const InferOptions& options);

// Calls that the density of one configuration takes.
std::int64_t num_functions(const FactorGraph& graph);

// By --oracle-order.
AnswerOrder answer_order(const InferOptions& options);

// The one of several orders in which small mini-buckets bound log Z best.
SearchSpace space_for_mini_buckets(const FactorGraph& graph, const InferOptions& options, SpaceKind kind);

// Throws Error (kArgument) unless the word is one of --prior's.
void check_prior(const std::string& word);

// By --prior mini-bucket[:I], within a part of the memory and of the time: the search wants the rest.
std::shared_ptr<const WeightedMiniBucket> make_mini_buckets(const FactorGraph& graph, const SearchSpace& space,
                                                            const InferOptions& options);

}  // namespace treesample::cli
