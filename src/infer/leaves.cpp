#include "infer/leaves.hpp"

#include <fmt/format.h>

#include <utility>

#include "infer/phase_verbs.hpp"
#include "infer/policy.hpp"
#include "space/num_threads.hpp"
#include "treesample/error.hpp"
#include "treesample/value/make_leaf_value.hpp"

namespace treesample {
namespace {

const LeafChoice& choice_of(const Task& task) { return *task.options().leaf; }
bool is_mini_bucket(const Task& task) { return choice_of(task).kind == LeafKind::kMiniBucket; }

std::shared_ptr<const LeafValue> make_value(const Task& task, const FactorGraph& graph, const SearchSpace& space) {
  if (task.options().value_function) {
    return std::make_shared<FunctionValue>(task.options().value_function, space);
  }
  try {
    return make_leaf_value(choice_of(task), graph, space, {.should_stop = task.run.set_up_end()});
  } catch (const Error& error) {
    // It is the option that is wrong: a file that is too large has nothing to do with the memory limit, either.
    if (error.code() != ErrorCode::kResource && error.code() != ErrorCode::kArgument) throw;
    throw OptionError("leaf", error.what(), error.code());
  }
}

// Mini-buckets within a part of the memory and of the time; the rest is for the search. Nothing when there is no time.
std::shared_ptr<const WeightedMiniBucket> make_mini_buckets(const Task& task, const FactorGraph& graph,
                                                            const SearchSpace& space) {
  MiniBucketOptions options;
  options.bytes = task.limits().bytes / policy::kBucketMemoryDivisor;
  options.wanted_bytes = wanted_bucket_bytes(task, graph);
  if (const std::optional<int> i_bound = choice_of(task).i_bound) {
    options.i_bound = *i_bound;
    options.bytes = task.limits().bytes;
  }
  options.threads = num_threads(task.limits());
  options.should_settle = task.run.time_box(policy::kBucketShare, policy::kBucketSeconds);
  options.progress = task.run.phase("mini-buckets", policy::kBucketShare, policy::kBucketSeconds);
  options.should_stop = task.run.until(policy::kBucketsEnd);
  const auto made = unless_given_up([&] { return std::make_shared<const WeightedMiniBucket>(graph, space, options); });
  return made.value_or(nullptr);
}

std::string mini_bucket_text(const WeightedMiniBucket& made) {
  return fmt::format("mini-bucket, i = {}", made.report().i_bound);
}

}  // namespace

void check_leaf(const InferOptions& options, bool is_given, const FactorGraph& graph) {
  const LeafKind kind = options.leaf->kind;
  const bool is_function = kind == LeafKind::kFunction || kind == LeafKind::kProgram;
  if (options.value_function && !is_function) {
    throw OptionError("leaf", fmt::format("is '{}', and a value function is given too: leave one of them out",
                                          to_string(*options.leaf)));
  }
  if (!options.value_function && is_function) throw OptionError("leaf", "is a value function, and none is given");
  if (is_given && kind == LeafKind::kMiniBucket && !graph.has_only_tables()) {
    throw OptionError("leaf", "is 'mini-bucket', which needs a model of tables: this one has functions");
  }
}

Leaves make_estimate(const Task& task, const SearchSpace& space) {
  if (choice_of(task).kind == LeafKind::kUniform) return {};
  if (!is_mini_bucket(task)) {
    return {
        .values = {.estimate = make_value(task, task.graph, space)}, .log_z = {}, .text = to_string(choice_of(task))};
  }
  const auto made = make_mini_buckets(task, task.graph, space);
  if (!made) {
    task.run.remark("no time for mini-buckets: the leaf values are uniform");
    return {};
  }
  const MiniBucketReport& report = made->report();
  Leaves leaves{.values = {.estimate = made}, .log_z = {}, .text = mini_bucket_text(*made)};
  leaves.log_z.upper = report.log_upper;
  if (report.has_lower || report.is_exact) leaves.log_z.lower = report.log_lower;
  return leaves;
}

Leaves make_bounds(const Task& task, const FactorGraph& graph, const SearchSpace& space) {
  const LeafChoice& choice = choice_of(task);
  const Run& run = task.run;
  if (is_mini_bucket(task)) {
    if (const auto made = make_mini_buckets(task, graph, space)) {
      const LocalDistributions local = mean_field(graph, policy::kMeanFieldSweeps, task.seed(),
                                                  run.time_box(policy::kMeanFieldShare, policy::kMeanFieldSeconds));
      return {.values = mini_bucket_leaves(graph, space, made, local, run.set_up_end()),
              .log_z = {},
              .text = mini_bucket_text(*made)};
    }
    run.remark("no time for mini-buckets: the maxima of the factors are the bounds");
  }
  const bool has_estimate = choice.kind == LeafKind::kNetwork || task.options().value_function;
  const bool has_bounds = is_mini_bucket(task) || choice.kind == LeafKind::kUniform || choice.kind == LeafKind::kMaxima;
  if (!has_bounds && !has_estimate) {
    throw OptionError("leaf", fmt::format("'{}' gives no bounds, allowed are uniform, maxima, mini-bucket, "
                                          "mini-bucket:I, net:FILE, program:FILE (--select gap)",
                                          to_string(choice)));
  }
  Leaves leaves;
  leaves.values.upper = maxima_value(graph, space, run.set_up_end());
  if (graph.has_only_tables()) {
    leaves.values.lower = product_value(graph, space, uniform_distributions(graph), run.set_up_end());
  }
  if (!leaves.values.upper)
    throw OptionError("select", "gap needs upper bounds: a factor that is a function must declare its maximum");
  leaves.text = "maxima of the factors";
  if (has_estimate) {
    leaves.values.estimate = make_value(task, graph, space);
    leaves.text += ", estimates by " + to_string(choice);
  }
  return leaves;
}

Leaves make_mass_leaves(const Task& task, const SearchSpace& space) {
  const LeafChoice& choice = choice_of(task);
  Leaves leaves;
  leaves.text = to_string(choice);
  leaves.values.upper = maxima_value(task.graph, space, task.run.set_up_end());
  if (choice.kind == LeafKind::kCalibrated) return leaves;
  if (is_mini_bucket(task)) {
    throw OptionError("leaf",
                      fmt::format("'{}' is none of calibrated, uniform, net:FILE (--select mass)", to_string(choice)));
  }
  leaves.values.estimate = make_value(task, task.graph, space);
  return leaves;
}

namespace {

// Where there is no time even for these, the method is given up.
template <typename Make>
void set_up(Findings& found, const Task& task, Make make) {
  auto made = unless_given_up(make);
  found.is_given_up = !made || task.is_overdue();
  if (!found.is_given_up) found.space = std::make_shared<BoundedSpace>(*std::move(made));
}

}  // namespace

void set_up_tree(Findings& found, const Task& task, const PhaseClock&) {
  if (task.options().workers > 1) throw OptionError("oracle-workers", "of several needs --select mass");
  set_up(found, task, [&] {
    SearchSpace space = space_for(task, task.graph, *task.options().space);
    Leaves leaves = make_estimate(task, space);
    return BoundedSpace{std::move(space), std::move(leaves)};
  });
}

void set_up_mass(Findings& found, const Task& task, const PhaseClock&) {
  set_up(found, task, [&] {
    SearchSpace space = space_for(task, task.graph, *task.options().space);
    Leaves leaves = make_mass_leaves(task, space);
    return BoundedSpace{std::move(space), std::move(leaves)};
  });
}

void set_up_search(Findings& found, const Task& task, const PhaseClock&) {
  const SummedModel* const summed = found.draft.summed.get();
  const FactorGraph& graph = summed != nullptr ? summed->graph() : task.graph;
  const auto make = [&] {
    const SpaceKind kind = *task.options().space;
    SearchSpace space = is_mini_bucket(task) ? space_for_mini_buckets(task, graph, kind) : space_for(task, graph, kind);
    Leaves leaves = make_bounds(task, graph, space);
    return BoundedSpace{std::move(space), std::move(leaves)};
  };
  if (!found.has_log_z) return set_up(found, task, make);
  // What elimination knows is not lost where there is no memory for more.
  const auto fits = unless_too_large([&] {
    set_up(found, task, make);
    return true;
  });
  if (fits) return;
  found.is_given_up = true;
  task.run.remark("no search for more than log Z: not enough memory (--memory)");
}

}  // namespace treesample
