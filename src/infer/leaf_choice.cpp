#include "infer/leaf_choice.hpp"

#include <fmt/format.h>

#include <utility>

#include "infer/policy.hpp"
#include "treesample/error.hpp"
#include "treesample/value/make_leaf_value.hpp"

namespace treesample {
namespace {

bool is_network(const std::string& prior) { return prior.rfind("net:", 0) == 0; }

std::shared_ptr<const LeafValue> make_value(const Task& task, const FactorGraph& graph, const SearchSpace& space) {
  if (task.options().value_function) {
    return std::make_shared<FunctionValue>(task.options().value_function, space);
  }
  try {
    return make_leaf_value(*task.options().prior, graph, space, {.should_stop = task.run.set_up_end()});
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kResource) throw;
    throw OptionError("prior", error.what(),
                      error.code());  // a file that is too large has nothing to do with the memory limit
  }
}

}  // namespace

Prior make_prior(const Task& task, const SearchSpace& space) {
  const std::string& word = *task.options().prior;
  if (word == "uniform") return {};
  if (!is_mini_bucket(word)) return {make_value(task, task.graph, space), {}, word};
  const auto made = unless_given_up([&] { return make_mini_buckets(task, task.graph, space); });
  if (!made) {
    task.go_on();
    task.run.remark("no time for mini-buckets: the prior is uniform");
    return {};
  }
  const MiniBucketReport& report = (*made)->report();
  Prior prior{*made, {}, fmt::format("mini-bucket, i = {}", report.i_bound)};
  prior.log_z.upper = report.log_upper;
  if (report.has_lower || report.is_exact) prior.log_z.lower = report.log_lower;
  return prior;
}

Leaves make_bounds(const Task& task, const FactorGraph& graph, const SearchSpace& space) {
  const std::string& word = *task.options().prior;
  const Run& run = task.run;
  if (is_mini_bucket(word)) {
    if (const auto made = unless_given_up([&] { return make_mini_buckets(task, graph, space); })) {
      const LocalDistributions local = mean_field(graph, policy::kMeanFieldSweeps, task.seed(),
                                                  run.time_box(policy::kMeanFieldShare, policy::kMeanFieldSeconds));
      return {mini_bucket_leaves(graph, space, *made, local, run.set_up_end()),
              fmt::format("mini-bucket, i = {}", (*made)->report().i_bound)};
    }
    task.go_on();
    run.remark("no time for mini-buckets: the maxima of the factors are the bounds");
  }
  const bool has_estimate = is_network(word) || task.options().value_function;
  if (!is_mini_bucket(word) && !has_estimate && word != "uniform" && word != "maxima") {
    throw OptionError("prior", fmt::format("'{}' gives no bounds, allowed are uniform, maxima, mini-bucket, "
                                           "mini-bucket:I, net:FILE, program:FILE (--select gap)",
                                           word));
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
    leaves.text += ", estimates by " + word;
  }
  return leaves;
}

BoundedSpace make_bounded_space(const Task& task, const FactorGraph& graph) {
  const InferOptions& chosen = task.options();
  SearchSpace space = is_mini_bucket(*chosen.prior) ? space_for_mini_buckets(task, graph, *chosen.space)
                                                    : space_for(task, graph, *chosen.space);
  task.go_on();
  Leaves leaves = make_bounds(task, graph, space);
  task.go_on();
  return {std::move(space), std::move(leaves)};
}

LeafValues make_estimates(const Task& task, const SearchSpace& space) {
  const std::string& word = *task.options().prior;
  LeafValues leaves;
  leaves.upper = maxima_value(task.graph, space, task.run.set_up_end());
  if (word == "calibrated") return leaves;
  if (is_mini_bucket(word)) {
    throw OptionError("prior", fmt::format("'{}' is none of calibrated, uniform, net:FILE (--select mass)", word));
  }
  leaves.estimate = make_value(task, task.graph, space);
  return leaves;
}

}  // namespace treesample
