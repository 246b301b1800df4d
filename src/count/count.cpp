#include "treesample/count/count.hpp"

#include <fmt/format.h>

#include <cmath>
#include <optional>
#include <utility>

#include "count/circuit_trace.hpp"
#include "count/count_problem.hpp"
#include "count/count_search.hpp"
#include "count/decomposition.hpp"
#include "count/reduce.hpp"
#include "stopwatch.hpp"
#include "treesample/error.hpp"
#include "treesample/exact/elimination.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/reduce/simplify.hpp"
#include "treesample/space/search_space.hpp"
#include "treesample/value/mini_bucket.hpp"

namespace treesample {
namespace {

constexpr double kShareOfSearch = 0.9;   // of the time; the rest is for the upper bound
constexpr double kShareOfOrders = 0.03;  // of the time, for the search of many elimination orders
constexpr int kFewOrders = 10, kManyOrders = 200;

// An upper bound of log Z without a search: every configuration has at most the product of the maxima.
double log_of_maxima(const FactorGraph& graph) {
  double sum = graph.log_num_configurations(), magnitude = std::abs(sum);
  for (const Factor& factor : graph.factors()) {
    const double log_max = factor.log_max().value_or(HUGE_VAL);  // tables have one
    if (log_max == kNegInf) return kNegInf;
    sum += log_max;
    magnitude += std::abs(log_max);
  }
  return sum + kEpsilon * (graph.num_factors() + graph.num_variables() + 4.0) * (1.0 + magnitude);
}

class Count {
 public:
  Count(const FactorGraph& graph, const Limits& limits, const CountOptions& options, const Observer& observer)
      : graph_(graph), limits_(limits), options_(options), observer_(observer), log_of_maxima_(log_of_maxima(graph)) {}

  CountResult run() {
    try {
      solve();
    } catch (const Error& error) {
      if (error.code() != ErrorCode::kInterrupted) throw;
    }
    CountReport& report = result_.report;
    report.log_z.upper = std::min(report.log_z.upper, log_of_maxima_);
    if (result_.is_solved) report.share_done = 1.0;
    report.stop = why_stopped();
    report.seconds = clock_.seconds();
    tell();
    return std::move(result_);
  }

 private:
  [[nodiscard]] ShouldStop should_stop(double share = 1.0) const {
    return [this, share] {
      return clock_.seconds() >= share * limits_.seconds || (observer_.should_stop && observer_.should_stop());
    };
  }
  [[nodiscard]] StopReason why_stopped() const {
    const CountReport& report = result_.report;
    if (result_.is_solved && report.log_z.is_exact()) return StopReason::kExact;
    if (result_.is_solved || is_out_of_range_) return StopReason::kRounding;
    if (is_out_of_memory_) return StopReason::kMemory;
    if (report.num_decisions >= options_.most_decisions) return StopReason::kBudget;
    return observer_.should_stop && observer_.should_stop() ? StopReason::kInterrupted : StopReason::kTime;
  }
  void tell(const CountSearch* search = nullptr) const {
    if (!observer_.progress) return;
    Progress now{.phase = "counting", .log_z = {result_.report.log_z.lower, log_of_maxima_}};
    now.log_z.upper = std::min(now.log_z.upper, result_.report.log_z.upper);
    if (search != nullptr) {
      now.num_nodes = static_cast<std::uint64_t>(search->num_components());
      now.share_done = search->share_done();
    }
    now.seconds = clock_.seconds();
    observer_.progress(now);
  }

  // Impossible models are solved by simplification.
  FactorGraph simplified(const FactorGraph& graph) {
    SimplifiedModel result = simplify(graph, {}, should_stop());
    log_error_ += result.report.log_error;
    if (result.report.is_impossible) {
      result_.report.log_z = {kNegInf, kNegInf};
      result_.is_solved = true;
    }
    model_ = std::move(result.model);
    return model_.graph;
  }

  void solve() {
    FactorGraph graph = simplified(graph_);
    CountReport& report = result_.report;
    if (options_.has_reductions && !options_.keep_circuit && !result_.is_solved) {
      CountReduction reduction = best_reduction(graph);
      log_error_ += reduction.log_error;
      report.num_merged_states = reduction.num_merged_states;
      report.num_inlined = reduction.num_inlined;
      report.num_summed = reduction.num_summed;
      graph = simplified(reduction.graph);
    }
    if (result_.is_solved) return;  // impossible
    if (options_.keep_circuit || !eliminate(graph)) search(graph);
  }

  // Gates that feed several tables can connect more than they save: the better reduction is the one whose elimination
  // would be cheaper, whether it is carried out or not.
  CountReduction best_reduction(const FactorGraph& graph) const {
    CountReduction with_gates = reduce_for_count(graph, should_stop());
    if (with_gates.num_inlined == 0 || with_gates.graph.num_variables() == 0 || should_stop()()) return with_gates;
    CountReduction without = reduce_for_count(graph, should_stop(), {.inlines = false});
    const auto cost = [&](const CountReduction& reduction) {
      EliminationOptions options;
      options.seed = options_.seed;
      options.restarts = options_.order_restarts;
      options.should_settle = should_stop(kShareOfOrders);
      return elimination_cost(reduction.graph, options, should_stop()).num_entries;
    };
    return cost(with_gates) <= cost(without) ? std::move(with_gates) : std::move(without);
  }

  bool eliminate(const FactorGraph& graph) {
    EliminationOptions options;
    options.seed = options_.seed;
    options.keep_messages = false;
    options.most_entries = options_.most_eliminated_entries;
    options.should_settle = should_stop();
    const Limits limits{.bytes = limits_.bytes, .threads = limits_.threads};
    EliminationCost cost;
    bool fits = false;
    for (const int restarts : {kFewOrders, kManyOrders}) {  // the best of many is often several times cheaper
      options.restarts = restarts;
      cost = elimination_cost(graph, options, should_stop());
      fits = cost.num_entries <= options.most_entries && cost.bytes <= static_cast<double>(limits.bytes);
      if (fits) break;
      options.should_settle = should_stop(kShareOfOrders);
    }
    if (!fits) return false;
    options.order = cost.order;
    const LogBounds bounds = Elimination(graph, limits, options, {.should_stop = should_stop()}).bounds();
    result_.report.log_z = bounds.widened(log_error_);
    result_.is_solved = result_.report.is_eliminated = true;
    result_.report.num_variables = graph.num_variables();
    result_.report.width = cost.width;
    result_.report.peak_bytes = static_cast<std::uint64_t>(cost.bytes);
    return true;
  }

  void search(const FactorGraph& graph) {
    CountReport& report = result_.report;
    CountProblem problem = make_problem(graph, should_stop());
    report.num_variables = static_cast<int>(problem.variables.size());
    report.num_atoms = problem.num_atoms();
    report.num_clauses = static_cast<int>(problem.clauses.size());
    report.num_soft_tables = static_cast<int>(problem.soft_tables.size());
    if (!(problem.log_range <= CountNumber::kLargestLog)) {
      is_out_of_range_ = true;
      return;
    }
    const DecompositionGuide guide =
        make_guide(problem.adjacency(), options_.order_restarts, options_.seed, should_stop());
    report.width = guide.width;
    {
      CountSearch search(problem, guide, limits_.bytes, options_);
      std::optional<CircuitTrace> trace;
      if (options_.keep_circuit) search.set_trace(&trace.emplace(model_, limits_.bytes / 4));
      const CountBounds bounds = search.run([this, &search, is_over = should_stop(kShareOfSearch)] {
        tell(&search);
        return is_over();
      });
      search.fill(report);
      is_out_of_memory_ = search.is_out_of_memory();
      result_.is_solved = search.is_solved();
      set_bounds(bounds, problem.log_constant);
      if (trace && trace->is_kept() && result_.is_solved && !bounds.lower.is_zero()) keep_circuit(*trace, problem);
    }
    if (!result_.is_solved) tighten_upper(graph, guide);
  }

  void keep_circuit(CircuitTrace& trace, const CountProblem& problem) {
    CircuitShape& shape = trace.shape();
    for (std::size_t v = 0; v < problem.variables.size(); ++v) {
      const CountVariable& variable = problem.variables[v];
      for (int s = 0; s < variable.num_states; ++s) {
        shape.state_weights[trace.state_number(static_cast<int>(v), s)] = variable.weights[s];
      }
    }
    shape.log_range = problem.log_range;
    shape.log_constant = problem.log_constant.value();
    shape.log_error = problem.log_constant.error() + log_error_;
    result_.circuit = std::make_shared<const Circuit>(trace.finish());
  }

  void set_bounds(const CountBounds& bounds, const CompensatedSum& constant) {
    const double slack = constant.error() + log_error_;
    // The sum of the two logarithms is rounded once more.
    const auto outward = [&](double log_count) {
      return log_count == kNegInf ? 0.0 : slack + kEpsilon * (std::abs(log_count) + std::abs(constant.value()));
    };
    const double lower = bounds.lower.log_bounds().lower, upper = bounds.upper.log_bounds().upper;
    result_.report.log_z.lower = constant.value() + lower - outward(lower);
    result_.report.log_z.upper = constant.value() + upper + outward(upper);
  }

  // Mini-buckets for the whole model, where there is time for them.
  void tighten_upper(const FactorGraph& graph, const DecompositionGuide& guide) {
    const ShouldStop stop = should_stop();
    if (stop() || graph.num_variables() == 0) return;
    MiniBucketOptions options;
    constexpr std::uint64_t kWantedBytes = std::uint64_t{8} << 20;
    options.bytes = limits_.bytes;
    options.wanted_bytes = std::min(kWantedBytes, limits_.bytes / 2);
    options.lower_bound = false;
    options.should_settle = options.should_stop = stop;
    try {
      const std::vector<int> order(guide.order.rbegin(), guide.order.rend());
      const SearchSpace space = make_search_space(graph, order, SpaceKind::kAndOr);
      const double upper = WeightedMiniBucket(graph, space, options).report().log_upper;
      result_.report.log_z.upper =
          std::min(result_.report.log_z.upper, LogBounds{kNegInf, upper}.widened(log_error_).upper);
    } catch (const Error& error) {  // too little memory or time: the bound stays the same
      if (error.code() != ErrorCode::kResource && error.code() != ErrorCode::kInterrupted) throw;
    }
  }

  const FactorGraph& graph_;
  const Limits& limits_;
  const CountOptions& options_;
  const Observer& observer_;
  const double log_of_maxima_;  // at least log Z
  Stopwatch clock_;
  double log_error_ = 0.0;  // of the model that is searched
  ReducedModel model_;      // that is searched, where there are no reductions
  bool is_out_of_range_ = false, is_out_of_memory_ = false;
  CountResult result_;
};

}  // namespace

void CountOptions::validate() const {
  check_range("count", "most_decisions", most_decisions, 0, std::numeric_limits<std::int64_t>::max());
  check_argument(most_eliminated_entries >= 0.0, "count",
                 fmt::format("most_eliminated_entries is {}, allowed are numbers from 0", most_eliminated_entries));
  check_range("count", "order_restarts", order_restarts, 1, 1'000'000);
}

std::string CountReport::brief() const {
  constexpr double kMiB = 1 << 20;
  return fmt::format(
      "{} states merged, {} gates inlined, {} variables summed out; {}{} variables, {} atoms, {} clauses, {} soft "
      "tables, width {}; {} decisions, {} conflicts, {} components, {} "
      "cache hits, {} evicted, {:.0f} MiB, {:.2f} s",
      num_merged_states, num_inlined, num_summed, is_eliminated ? "eliminated " : "", num_variables, num_atoms,
      num_clauses, num_soft_tables, width, num_decisions, num_conflicts, num_components, num_cache_hits, num_evicted,
      static_cast<double>(peak_bytes) / kMiB, seconds);
}

CountResult count(const FactorGraph& graph, const Limits& limits, const CountOptions& options,
                  const Observer& observer) {
  limits.validate();
  options.validate();
  check_argument(graph.has_only_tables(), "count", "needs a model with tables only, a factor is a function");
  return Count(graph, limits, options, observer).run();
}

}  // namespace treesample
