// The paper's tree search.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "infer/leaves.hpp"
#include "infer/phase_verbs.hpp"
#include "infer/policy.hpp"
#include "infer/words.hpp"
#include "treesample/error.hpp"
#include "treesample/exact/max_product.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/search/q_uct_search.hpp"
#include "treesample/store/passes.hpp"
#include "treesample/text.hpp"
#include "treesample/tree/evaluated_mass.hpp"
#include "treesample/tree/rebuilt_search.hpp"
#include "treesample/value/telescoped_value.hpp"

namespace treesample {
namespace {

void add_marginals(Draft& draft, const QUctResult& result, const Task& task) {
  if (result.approximation->has_exact_marginals()) {
    Marginals marginals = result.approximation->marginals(task.run.until());
    if (result.approximation->is_exact()) {
      draft.known.offer_solved(std::move(marginals), result.report.log_z.width(), "the search");
    } else {
      draft.known.offer({.values = std::move(marginals), .from = "of the approximation, by one pass over the search"});
    }
    return;
  }
  add_frequencies(draft, *result.approximation, policy::kMarginalSamples, task, "from {} samples of the approximation");
}

// Where everything is in the store, with its rewards, the best of it is the best of all. In `tree` the error of log Z
// contains the rounding of each density that can be the largest, as tree_rounding.cpp has it, once; both the best and
// the one that it is compared with may be off.
void add_best(Draft& draft, const QUctResult& result, const Leaves& leaves, const Task& task) {
  const std::optional<StoredBest> stored =
      best_in_store(result.approximation->view(), result.reward_rounding, task.run.until());
  if (!stored) return;
  draft.known.best.offer(*stored);
  const int num_levels = result.approximation->space().num_levels();
  const LeafValue* const estimate = leaves.values.estimate.get();
  for (int n = 0; estimate != nullptr && n < num_levels; ++n) {
    if (estimate->is_exact(n)) return;  // it stands for configurations that are not in the store
  }
  const LogBounds& log_z = result.report.log_z;
  if (!result.approximation->is_exact() || !(log_z.upper < HUGE_VAL)) return;
  const double of_paths = result.reward_rounding.empty() ? log_z.upper - log_z.lower : 0.0;
  draft.known.best.prove(*stored, stored->excess + of_paths + 2.0 * task.run.log_error());
}

// For a network in the space `tree`: its values, corrected by samples and made consistent between levels. The cost is
// subtracted from the limits.
Telescoped telescope_network(const Task& task, const SearchSpace& space, Leaves& leaves, Limits& limits) {
  const InferOptions& chosen = task.options();
  const bool is_network = chosen.leaf->kind == LeafKind::kNetwork;
  if (!is_network || space.kind != SpaceKind::kTree || space.num_levels() == 0 ||
      chosen.network_values == NetworkValues::kAbsolute) {
    return {};
  }
  Telescoped made = telescope(task.graph, space, leaves.values.estimate, budget_of(limits),
                              {.count = static_cast<int>(*chosen.root_samples)}, task.seed());
  leaves.values.estimate = made.value;
  if (made.sampled_kl > Telescoped::kTrustedKl) {
    task.run.remark(fmt::format("the network alone is {} from the target, corrected by {} of it",
                                std::isinf(made.sampled_kl) ? "far" : fmt::format("about {:.1f} nats", made.sampled_kl),
                                counted(made.num_samples, "sample")));
  }
  leaves.text += fmt::format(", telescoped, corrected by {}", counted(made.num_samples, "sample"));
  if (limits.budget != Limits::kUnlimited) {
    limits.budget -= std::min(limits.budget, static_cast<std::int64_t>(std::ceil(made.spent.in(limits.unit))));
  }
  return made;
}

// The tree search, in rounds where the memory is short.
QUctResult searched(const Task& task, const SearchSpace& space, const Leaves& leaves, const Limits& limits,
                    const TreeSearchOptions& options, const Observer& observer) {
  if (space.kind != SpaceKind::kTree || task.options().when_full == WhenFull::kStop) {
    return q_uct_search(task.graph, space, leaves.values, limits, options, observer, task.run.until());
  }
  RebuiltSearchResult result = rebuilt_search(task.graph, space, leaves.values, limits, {.tree = options}, observer);
  if (result.trees.size() > 1) {
    const double gain = result.trees[result.best].elbo - result.trees[0].elbo;
    task.run.remark(fmt::format(
        "the memory was full {}: the tree was compiled into a value function and built again; {}",
        counted(static_cast<std::int64_t>(result.trees.size()), "time"),
        result.best == 0
            ? "the first one is the best"
            : fmt::format("number {} is about {:.2g} nats nearer the target than the first", result.best + 1, gain)));
  }
  return {std::make_shared<TreeApproximation>(std::move(result.approximation)), result.report};
}

}  // namespace

void search_tree(Findings& found, const Task& task, const PhaseClock& clock) {
  const InferOptions& chosen = task.options();
  const Run& run = task.run;
  if (!found.space) return;
  const SearchSpace& space = found.space->space;
  Leaves& leaves = found.space->leaves;
  Limits limits = task.limits();
  const Telescoped before = telescope_network(task, space, leaves, limits);
  limits.seconds = std::max(clock.seconds_left(), policy::kLeastSearchSeconds);
  const TreeSearchOptions options{.c = *chosen.c,
                                  .epsilon = *chosen.epsilon,
                                  .bonus = *chosen.bonus,
                                  .ties = *chosen.ties,
                                  .seed = task.seed(),
                                  .observer_interval = *chosen.trace ? policy::kTraversalsBetweenLooks : 0,
                                  .reports_bounds = run.is_watched(),
                                  .known = before.known};
  bool is_large = false;  // no time would be left for passes over all nodes
  const Observer observer{
      .progress =
          [&](Progress now) {
            now.log_z = leaves.log_z & LogBounds::at_least(now.log_z.lower);
            run.tell(now);
            is_large = run.seconds_left() < policy::kTreePassSeconds * static_cast<double>(now.num_nodes);
          },
      .should_stop = [&, is_over = clock.should_stop()] { return is_large || run.is_interrupted() || is_over(); }};
  found.tree = std::make_shared<const QUctResult>(searched(task, space, leaves, limits, options, observer));
  const QUctResult& result = *found.tree;
  run.tell({.spent = result.report.spent,
            .log_z = leaves.log_z,
            .estimate = result.report.estimate,
            .num_nodes = result.report.num_nodes});
  Draft& draft = found.draft;
  draft.method =
      fmt::format("{}, space {}, order {} (width {}), leaf {}; exact takes {} evaluations",
                  space.kind == SpaceKind::kTree ? "tree search" : "search by q-uct", word_for(*chosen.space),
                  word_for(*chosen.order), space.width(), leaves.text, count_text(space.log_exact_cost()));
  draft.stop = is_large ? StopReason::kTime : result.report.stop;
  draft.known.bound(leaves.log_z);
  draft.known.bound(result.report.log_z);
  draft.known.estimate(result.report.estimate, Trust::kGuess);
  draft.spent = result.report.spent;
  draft.spent += before.spent;
  draft.error = result.report.error;
  // Where leaf values give every configuration that is left a probability of 0, nothing can be drawn.
  const bool has_support = result.approximation && result.approximation->log_value() != kNegInf;
  draft.has_importance =
      has_support && !draft.known.is_exact() && !draft.error && result.report.stop != StopReason::kInterrupted;
  if (has_support) draft.approximation = result.approximation;
}

// What passes over all nodes say; of a large tree only those for which there is time.
void read_tree(Findings& found, const Task& task, const PhaseClock&) {
  if (!found.tree || !found.tree->approximation) return;
  const QUctResult& result = *found.tree;
  Draft& draft = found.draft;
  const auto* const tree = dynamic_cast<const TreeApproximation*>(result.approximation.get());
  if (tree != nullptr && !draft.known.is_exact()) {
    draft.known.bound(LogBounds::at_least(log_evaluated_mass(*tree, task.graph, task.run.until())));
  }
  if (task.question().best) add_best(draft, result, found.space->leaves, task);
  if (task.question().marginals && draft.known.log_z() != kNegInf) add_marginals(draft, result, task);
  const bool is_judged = task.question().marginals || task.options().importance > 0;
  const bool is_target = draft.known.is_exact() && result.approximation->is_exact();
  if (draft.known.bounds().upper == kNegInf) return;  // impossible: there is nothing to explore or to draw
  if (draft.known.is_exact() && !is_target) say_cut_off(draft, task);
  if (!is_target && is_judged) draft.unexplored_mass = result.approximation->unexplored_mass(task.run.until());
}

}  // namespace treesample
