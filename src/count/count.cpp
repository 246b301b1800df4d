#include "treesample/count/count.hpp"

#include <fmt/format.h>

#include <chrono>
#include <utility>

#include "count/count_problem.hpp"
#include "count/count_search.hpp"
#include "count/decomposition.hpp"
#include "count/reduce.hpp"
#include "treesample/error.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/model/simplify.hpp"

namespace treesample {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

// Bounds of log Z without a search: everything is at most the product of the maxima.
double log_of_maxima(const FactorGraph& graph) {
  double sum = graph.log_num_configurations(), magnitude = std::abs(sum);
  for (const Factor& factor : graph.factors()) {
    const double log_max = *factor.log_max();
    if (log_max == kNegInf) return kNegInf;
    sum += log_max;
    magnitude += std::abs(log_max);
  }
  return sum + kEpsilon * (graph.num_factors() + graph.num_variables() + 4.0) * (1.0 + magnitude);
}

class Count {
 public:
  Count(const FactorGraph& graph, const CountOptions& options) : graph_(graph), options_(options) {}

  CountResult run() {
    try {
      solve();
    } catch (const Error& error) {
      if (error.code() != ErrorCode::kInterrupted) throw;
    }
    result_.log_z.upper = std::min(result_.log_z.upper, log_of_maxima(graph_));
    if (!result_.is_solved && result_.report.end == CountEnd::kSolved) result_.report.end = why_stopped();
    result_.report.seconds = seconds_since(start_);
    return std::move(result_);
  }

 private:
  [[nodiscard]] ShouldStop should_stop() const {
    return [this] {
      return seconds_since(start_) >= options_.seconds || (options_.should_stop && options_.should_stop());
    };
  }
  [[nodiscard]] CountEnd why_stopped() const {
    if (result_.report.num_decisions >= options_.most_decisions) return CountEnd::kDecisions;
    return seconds_since(start_) >= options_.seconds ? CountEnd::kTime : CountEnd::kAsked;
  }

  // Impossible models are solved by this.
  FactorGraph simplified(const FactorGraph& graph) {
    SimplifiedModel result = simplify(graph, {}, should_stop());
    log_error_ += result.report.log_error;
    if (result.report.is_impossible) {
      result_.log_z = {kNegInf, kNegInf};
      result_.is_solved = true;
    }
    return std::move(result.model.graph);
  }

  void solve() {
    FactorGraph graph = simplified(graph_);
    CountReport& report = result_.report;
    if (options_.has_reductions && !result_.is_solved) {
      CountReduction reduction = reduce_for_count(graph, should_stop());
      log_error_ += reduction.log_error;
      report.num_merged_states = reduction.num_merged_states;
      report.num_inlined = reduction.num_inlined;
      report.num_summed = reduction.num_summed;
      graph = simplified(reduction.graph);
    }
    if (result_.is_solved) return;  // impossible
    CountProblem problem = make_problem(graph, should_stop());
    report.num_variables = static_cast<int>(problem.variables.size());
    report.num_atoms = problem.num_atoms();
    report.num_clauses = static_cast<int>(problem.clauses.size());
    report.num_soft_tables = static_cast<int>(problem.soft_tables.size());
    if (!(problem.log_range <= CountNumber::kLargestLog)) {
      report.end = CountEnd::kRange;
      return;
    }
    const DecompositionGuide guide =
        make_guide(problem.adjacency(), options_.order_restarts, options_.seed, should_stop());
    report.width = guide.width;
    CountSearch search(problem, guide, options_);
    const CountBounds bounds = search.run(should_stop());
    search.fill(report);
    if (search.is_out_of_memory()) report.end = CountEnd::kMemory;
    result_.is_solved = search.is_solved();
    const CompensatedSum& constant = problem.log_constant;
    const double slack = constant.error() + log_error_;
    // The sum of the two logarithms is rounded once more.
    const auto outward = [&](double log_count) {
      return log_count == kNegInf ? 0.0 : slack + kEpsilon * (std::abs(log_count) + std::abs(constant.value()));
    };
    const double lower = bounds.lower.log_bounds().lower, upper = bounds.upper.log_bounds().upper;
    result_.log_z.lower = constant.value() + lower - outward(lower);
    result_.log_z.upper = constant.value() + upper + outward(upper);
  }

  const FactorGraph& graph_;
  const CountOptions& options_;
  Clock::time_point start_ = Clock::now();
  double log_error_ = 0.0;  // of the model that is searched
  CountResult result_;
};

}  // namespace

void CountOptions::validate() const {
  check_argument(seconds >= 0.0, "count", fmt::format("seconds is {}, allowed are numbers from 0", seconds));
  check_range("count", "most_decisions", most_decisions, 0, std::numeric_limits<std::int64_t>::max());
  check_range("count", "order_restarts", order_restarts, 1, 1'000'000);
}

std::string CountReport::brief() const {
  constexpr double kMiB = 1 << 20;
  return fmt::format(
      "{} states merged, {} gates inlined, {} variables summed out; {} variables, {} atoms, {} clauses, {} soft "
      "tables, width {}; {} decisions, {} conflicts, {} components, {} "
      "cache hits, {} evicted, {:.0f} MiB, {:.2f} s",
      num_merged_states, num_inlined, num_summed, num_variables, num_atoms, num_clauses, num_soft_tables, width,
      num_decisions, num_conflicts, num_components, num_cache_hits, num_evicted, static_cast<double>(peak_bytes) / kMiB,
      seconds);
}

CountResult count(const FactorGraph& graph, const CountOptions& options) {
  options.validate();
  check_argument(graph.has_only_tables(), "count", "needs a model with tables only, a factor is a function");
  return Count(graph, options).run();
}

}  // namespace treesample
