// What several methods use: spaces, the size of mini-buckets, barren variables.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "infer/methods.hpp"
#include "infer/policy.hpp"
#include "infer/words.hpp"
#include "space/num_threads.hpp"
#include "treesample/error.hpp"
#include "treesample/exact/max_product.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/text.hpp"

namespace treesample {
namespace {

bool has_zeros(const FactorGraph& graph) {
  return std::any_of(graph.factors().begin(), graph.factors().end(), [](const Factor& factor) {
    if (!factor.is_table()) return false;
    const std::vector<double>& values = factor.log_values();
    return std::find(values.begin(), values.end(), kNegInf) != values.end();
  });
}

}  // namespace

// The bytes that the time for mini-buckets allows. Models with zeros have no lower bound, so the upper one gets twice
// as much.
std::uint64_t wanted_bucket_bytes(const Task& task, const FactorGraph& graph) {
  const double seconds = task.run.box_seconds(policy::kBucketShare, policy::kBucketSeconds);
  const double num_bounds = has_zeros(graph) ? 1.0 : 2.0;
  return static_cast<std::uint64_t>(2.0 / num_bounds * policy::kBucketBytesPerSecond * seconds);
}

SearchSpace space_by_order(const Task& task, const FactorGraph& graph, SpaceKind kind, int restarts) {
  const OrderOptions order{.kind = *task.options().order,
                           .restarts = restarts,
                           .seed = task.seed(),
                           .should_settle = task.run.time_box(policy::kOrderShare, HUGE_VAL),
                           .should_stop = task.run.set_up_end(),
                           .progress = task.run.phase("orders", policy::kOrderShare, HUGE_VAL)};
  return make_search_space(graph, search_order(graph, kind, order), kind, task.run.set_up_end());
}

SearchSpace space_for(const Task& task, const FactorGraph& graph, SpaceKind kind) {
  return space_by_order(task, graph, kind, static_cast<int>(*task.options().restarts));
}

std::shared_ptr<const SummedModel> sum_out(const FactorGraph& graph, const Plan& plan) {
  if (!plan.sums_out || !graph.has_only_tables()) return nullptr;
  auto summed = std::make_shared<const SummedModel>(graph);
  return summed->num_summed_out() > 0 ? summed : nullptr;
}

std::optional<Configuration> completed(std::optional<Configuration> left, const SummedModel* summed,
                                       const FactorGraph& whole) {
  if (!left || summed == nullptr) return left;
  Assignment x = summed->spread(left->x);
  summed->choose_best(x);
  const double log_density = whole.log_density(x);
  return Configuration{std::move(x), log_density};
}

// No configuration in the store is better than its best one, x*, by more than the excess. Any other one has at most the
// mass R = e^U - e^L: below half of that of x*, it is no better. (Rounding of the density of x* is in the excess, and R
// allows for it once more.)
//
// This needs every configuration that L counts in the store: no node was given up for its bounds, none was closed by
// a leaf value.
void offer_stored_best(Draft& draft, const StoredBest& stored, const SearchResult& result, const FactorGraph& graph) {
  draft.known.best.offer(stored);
  const LeafValues& leaves = result.leaves;
  if (graph.has_only_tables() || leaves.lower || leaves.lower_bound || result.report.num_collapses > 0) return;
  for (int n = 0; leaves.upper && n < graph.num_variables(); ++n) {
    if (leaves.upper->is_exact(n)) return;
  }
  const LogBounds& log_z = result.report.log_z;
  const double rest = -std::expm1(log_z.lower - log_z.upper) * std::exp(log_z.upper - stored.log_density);
  if (!(rest < 0.5)) return;
  constexpr double kRounded = 1.0 + 1e-9;  // of these few operations
  draft.known.best.prove(stored, kRounded * (std::log1p(rest) - std::log1p(-rest) + stored.excess));
}

std::string workers_text(const InferOptions& options) {
  if (!(options.workers > 1)) return "";
  return fmt::format(", {} programs at a time (order of {})", *options.workers, word_for(*options.answer_order));
}

std::string summed_out_text(const SummedModel* summed) {
  if (summed == nullptr) return "";
  return fmt::format("; {} summed out before", counted(summed->num_summed_out(), "barren variable"));
}

std::string slices_text(const EliminationPlan& plan) {
  if (!(plan.num_slices > 1.0)) return "";
  return fmt::format(", {}", counted(static_cast<std::int64_t>(plan.num_slices), "slice"));
}

// By upper bounds: the weights of the smaller model are those of the whole one.
BoundedSampler bounded_sampler(const SearchApproximation& upper, const SummedModel* summed) {
  if (summed == nullptr) {
    return {upper.log_value(),
            [&upper](std::span<int> x, Random& random, StopCheck& stop) { return upper.sample_into(x, random, &stop); },
            [&upper](std::span<int> x, Random& random, double least, StopCheck& stop) {
              return upper.sample_or_give_up(x, random, least, &stop);
            }};
  }
  const auto complete = [summed](std::span<int> x, Random& random, std::span<const int> left, double log_prob) {
    if (log_prob == HUGE_VAL) return log_prob;
    for (std::size_t i = 0; i < left.size(); ++i) x[summed->variable_of()[i]] = left[i];
    return log_prob + summed->draw(x, random);
  };
  const std::size_t num_left = summed->variable_of().size();
  // The weights have the sums of the barren variables themselves, of which the model has the least.
  return {upper.log_value() + summed->log_slack(),
          [&upper, complete, left = Assignment(num_left)](std::span<int> x, Random& random, StopCheck& stop) mutable {
            const double log_prob = upper.sample_into(left, random, &stop);
            return complete(x, random, left, log_prob);
          },
          [&upper, complete, left = Assignment(num_left)](std::span<int> x, Random& random, double least,
                                                          StopCheck& stop) mutable {
            const double log_prob = upper.sample_or_give_up(left, random, least, &stop);
            return complete(x, random, left, log_prob);
          }};
}

void add_frequencies(Draft& draft, const Approximation& approximation, int max_samples, const Task& task,
                     const char* from) {
  if (task.options().value_function) max_samples = std::min(max_samples, policy::kAskedSamples);
  const ShouldStop is_over = task.run.until();
  const double end = task.run.seconds() + task.run.box_seconds(policy::kFrequencyShare, policy::kFrequencySeconds);
  Random random(task.seed(), "marginals");
  Marginals marginals;
  for (int v = 0; v < task.graph.num_variables(); ++v) marginals.emplace_back(task.graph.num_states(v), 0.0);
  int num_samples = 0;
  while (num_samples < max_samples && (num_samples == 0 || (task.run.seconds() < end && !is_over()))) {
    const Assignment x = approximation.sample(random);
    for (std::size_t v = 0; v < x.size(); ++v) marginals[v][x[v]] += 1.0;
    ++num_samples;
  }
  for (std::vector<double>& probs : marginals) {
    for (double& p : probs) p /= num_samples;
  }
  draft.known.offer({.values = std::move(marginals), .from = fmt::format(fmt::runtime(from), num_samples)});
}

void say_cut_off(Draft& draft, const Task& task) {
  draft.is_cut_off = true;
  task.run.remark(
      "the memory was full: log Z is exact, but what else is said is of the part of the search that was kept");
}

std::int64_t num_functions(const FactorGraph& graph) {
  return std::count_if(graph.factors().begin(), graph.factors().end(),
                       [](const Factor& factor) { return !factor.is_table(); });
}

void say_why_no_marginals(Answer& answer, const FactorGraph& original, const Run& run) {
  const bool are_asked = answer.plan.request.question.marginals && original.num_variables() > 0;
  if (!are_asked || !answer.marginals.empty() || answer.log_z == kNegInf) return;
  const auto reason = [&] {
    if (run.is_interrupted()) return "interrupted";
    if (answer.error) return "a function failed";
    if (answer.plan.request.options.importance == 0) return "--importance 0 draws no samples that would give them";
    if (run.is_overdue() || answer.stop == StopReason::kTime) return "no time was left (--time)";
    return "not enough memory (--memory) or calls";
  };
  answer.marginals_from = fmt::format("none: {}", reason());
}

}  // namespace treesample
