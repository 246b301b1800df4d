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
#include "model/clause.hpp"
#include "stopwatch.hpp"
#include "treesample/error.hpp"
#include "treesample/exact/elimination.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/reduce/simplify.hpp"
#include "treesample/space/search_space.hpp"
#include "treesample/value/mini_bucket.hpp"

namespace treesample {
namespace {

constexpr double kShareOfSearch = 0.9;   // of the time of count(); the rest goes to the upper bound
constexpr double kShareOfOrders = 0.03;  // of the time, for elimination orders

// An upper bound of log Z without a search: no configuration has more than the product of the maxima.
double log_of_maxima(const FactorGraph& graph) {
  double sum = graph.log_num_configurations(), magnitude = std::abs(sum);
  for (const Factor& factor : graph.factors()) {
    const double log_max = factor.log_max().value_or(HUGE_VAL);  // a table always has a maximum
    if (log_max == kNegInf) return kNegInf;
    sum += log_max;
    magnitude += std::abs(log_max);
  }
  return sum + kEpsilon * (graph.num_factors() + graph.num_variables() + 4.0) * (1.0 + magnitude);
}

}  // namespace

class Counter::State {
 public:
  State(const FactorGraph& graph, const Limits& limits, const CountOptions& options)
      : original_(graph), limits_(limits), options_(options), log_of_maxima_(log_of_maxima(graph)) {
    report_.log_z.upper = log_of_maxima_;
  }

  using Stage = void (State::*)();

  void run(const Observer& observer) {
    observer_ = &observer;
    clock_ = {};
    Stage repeated = nullptr;
    try {
      while (can_go_on()) {
        const Stage stage = next_;
        (this->*stage)();
        if (repeated == nullptr && stage != &State::search && is_stopped()) repeated = stage;
      }
    } catch (const Error& error) {
      if (error.code() != ErrorCode::kInterrupted) throw;
    }
    if (repeated != nullptr) next_ = repeated;
    tell();
    seconds_ += clock_.seconds();
    observer_ = nullptr;
  }

  [[nodiscard]] bool is_solved() const { return is_solved_; }
  [[nodiscard]] bool can_go_on() const {
    return !is_solved_ && !is_out_of_range_ && !is_out_of_memory() && !has_decided_all();
  }
  [[nodiscard]] double share_done() const { return is_solved_ ? 1.0 : (search_ ? search_->share_done() : 0.0); }

  CountResult result() {
    CountReport report = report_;
    if (search_) {
      search_->add_to(report);
      report.log_z = log_bounds(search_->bounds()) & LogBounds::at_most(report_.log_z.upper);
    }
    report.share_done = share_done();
    report.stop = why_stopped(report.log_z);
    report.seconds = seconds_;
    return {is_solved_, circuit_, std::move(report)};
  }

  // Mini-buckets for the whole model, if there is time for them.
  void tighten_upper(const ShouldStop& should_stop) {
    if (is_solved_ || !search_ || !has_tables_ || graph_.num_variables() == 0 || (should_stop && should_stop())) return;
    MiniBucketOptions options;
    constexpr std::uint64_t kWantedBytes = std::uint64_t{8} << 20;
    options.bytes = limits_.bytes;
    options.wanted_bytes = std::min(kWantedBytes, limits_.bytes / 2);
    options.lower_bound = false;
    options.should_settle = options.should_stop = should_stop;
    try {
      const std::vector<int> order(guide_.order.rbegin(), guide_.order.rend());
      const SearchSpace space = make_search_space(graph_, order, SpaceKind::kAndOr);
      const double upper = WeightedMiniBucket(graph_, space, options).report().log_upper;
      report_.log_z.upper = std::min(report_.log_z.upper, LogBounds{kNegInf, upper}.widened(log_error_).upper);
    } catch (const Error& error) {  // too little memory or time: the bound does not change
      if (error.code() != ErrorCode::kResource && error.code() != ErrorCode::kInterrupted) throw;
    }
  }

 private:
  [[nodiscard]] ShouldStop should_stop() const { return observer_->should_stop; }
  [[nodiscard]] bool is_stopped() const { return observer_->should_stop && observer_->should_stop(); }
  [[nodiscard]] bool is_out_of_memory() const { return search_ && search_->is_out_of_memory(); }
  [[nodiscard]] bool has_decided_all() const { return search_ && search_->num_decisions() >= options_.most_decisions; }
  [[nodiscard]] StopReason why_stopped(const LogBounds& log_z) const {
    if (is_solved_ && log_z.is_exact()) return StopReason::kExact;
    if (is_solved_ || is_out_of_range_) return StopReason::kRounding;
    if (is_out_of_memory()) return StopReason::kMemory;
    return has_decided_all() ? StopReason::kBudget : StopReason::kInterrupted;
  }
  void tell() const {
    if (!observer_->progress) return;
    Progress now{.phase = "counting", .log_z = report_.log_z};
    if (search_) {
      now.num_nodes = static_cast<std::uint64_t>(search_->num_components());
      now.share_done = share_done();
    }
    now.seconds = seconds_ + clock_.seconds();
    observer_->progress(now);
  }

  // Sets graph_. Simplification already solves impossible models.
  void simplify_model(const FactorGraph& graph, double log_error) {
    SimplifiedModel result = simplify(graph, {}, should_stop());
    log_error_ = log_error + result.report.log_error;
    is_solved_ = result.report.is_impossible;
    if (is_solved_) report_.log_z = {kNegInf, kNegInf};
    model_ = std::move(result.model);
    graph_ = model_.graph;
  }

  // The stages of the preparation, each of which sets the next one at its end. Preparations that are asked to end may
  // return a lesser result, which is good enough for bounds; the next run repeats them.
  void simplify_first() {
    simplify_model(original_, 0.0);
    // The other reductions, elimination and mini-buckets work with tables.
    has_tables_ = !has_long_clause(graph_);
    next_ = !has_tables_                                        ? &State::prepare_search
            : options_.has_reductions && !options_.keep_circuit ? &State::reduce
                                                                : &State::choose_elimination;
  }

  void reduce() {
    const CountReduction reduction = best_reduction();
    simplify_model(reduction.graph, log_error_ + reduction.log_error);
    report_.num_merged_states += reduction.num_merged_states;
    report_.num_inlined += reduction.num_inlined;
    report_.num_summed += reduction.num_summed;
    next_ = &State::choose_elimination;
  }

  // Reductions with and without inlined gates are compared, because gates that feed several tables can connect more
  // than they save. The better reduction is the one whose elimination would be cheaper, whether elimination is used or
  // not.
  [[nodiscard]] CountReduction best_reduction() const {
    CountReduction with_gates = reduce_for_count(graph_, should_stop());
    if (with_gates.num_inlined == 0 || with_gates.graph.num_variables() == 0 || is_stopped()) return with_gates;
    CountReduction without = reduce_for_count(graph_, should_stop(), {.inlines = false});
    const auto cost = [&](const CountReduction& reduction) {
      EliminationOptions options;
      options.seed = options_.seed;
      options.restarts = options_.order_restarts;
      return plan_elimination(reduction.graph, options, should_stop()).num_entries;
    };
    return cost(with_gates) <= cost(without) ? std::move(with_gates) : std::move(without);
  }

  void choose_elimination() {
    if (options_.keep_circuit || !eliminate()) next_ = &State::prepare_search;
  }

  bool eliminate() {
    EliminationOptions options;
    options.seed = options_.seed;
    options.goal = EliminationGoal::kLogZ;
    options.most_entries = options_.most_eliminated_entries;
    if (std::isfinite(limits_.seconds)) options.order_work = kShareOfOrders * limits_.seconds * kEntriesPerSecond;
    const Limits limits{.bytes = limits_.bytes, .threads = limits_.threads};
    const EliminationPlan plan = plan_elimination(graph_, options, should_stop());
    if (plan.num_entries > options.most_entries || plan.log_z_bytes > static_cast<double>(limits.bytes)) return false;
    const LogBounds bounds = Elimination(graph_, plan, limits, options, {.should_stop = should_stop()}).bounds();
    report_.log_z = bounds.widened(log_error_);
    report_.log_z.upper = std::min(report_.log_z.upper, log_of_maxima_);
    is_solved_ = report_.is_eliminated = true;
    report_.num_variables = graph_.num_variables();
    report_.width = plan.width;
    report_.peak_bytes = static_cast<std::uint64_t>(plan.log_z_bytes);
    return true;
  }

  void prepare_search() {
    // What a search that is repeated has certified stays known.
    if (search_) report_.log_z.upper = std::min(report_.log_z.upper, log_bounds(search_->bounds()).upper);
    search_.reset();
    problem_ = make_problem(graph_, should_stop());
    report_.num_variables = static_cast<int>(problem_.variables.size());
    report_.num_atoms = problem_.num_atoms();
    report_.num_clauses = static_cast<int>(problem_.clauses.size());
    report_.num_soft_tables = static_cast<int>(problem_.soft_tables.size());
    is_out_of_range_ = !(problem_.log_range <= CountNumber::kLargestLog);
    if (is_out_of_range_) return;
    guide_ = make_guide(problem_.adjacency(), problem_.scopes(), options_.order_restarts, options_.seed, should_stop(),
                        &annealing_);
    report_.width = guide_.width;
    search_.emplace(problem_, guide_, limits_.bytes, options_);
    if (options_.keep_circuit) search_->set_trace(&trace_.emplace(model_, limits_.bytes / 4));
    next_ = &State::search;
  }

  void search() {
    search_->run([this] {
      tell();
      return is_stopped();
    });
    is_solved_ = search_->is_solved();
    if (is_solved_ && trace_ && trace_->is_kept() && !search_->bounds().lower.is_zero()) keep_circuit();
    if (!is_solved_ && can_go_on()) throw Error(ErrorCode::kInterrupted, "count: asked to end");
  }

  void keep_circuit() {
    CircuitShape& shape = trace_->shape();
    for (std::size_t v = 0; v < problem_.variables.size(); ++v) {
      const CountVariable& variable = problem_.variables[v];
      for (int s = 0; s < variable.num_states; ++s) {
        shape.state_weights[trace_->state_number(static_cast<int>(v), s)] = variable.weights[s];
      }
    }
    shape.log_range = problem_.log_range;
    shape.log_constant = problem_.log_constant.value();
    shape.log_error = problem_.log_constant.error() + log_error_;
    circuit_ = std::make_shared<const Circuit>(trace_->finish());
    trace_.reset();
  }

  [[nodiscard]] LogBounds log_bounds(const CountBounds& bounds) const {
    const CompensatedSum& constant = problem_.log_constant;
    const double slack = constant.error() + log_error_;
    // The sum of the two logarithms is rounded once more.
    const auto outward = [&](double log_count) {
      return log_count == kNegInf ? 0.0 : slack + kEpsilon * (std::abs(log_count) + std::abs(constant.value()));
    };
    const double lower = bounds.lower.log_bounds().lower, upper = bounds.upper.log_bounds().upper;
    return {constant.value() + lower - outward(lower), constant.value() + upper + outward(upper)};
  }

  const FactorGraph& original_;
  const Limits limits_;
  const CountOptions options_;
  const double log_of_maxima_;          // at least log Z
  const Observer* observer_ = nullptr;  // of the present run
  Stopwatch clock_;                     // of the present run
  double seconds_ = 0.0;                // of the earlier runs
  Stage next_ = &State::simplify_first;
  ReducedModel model_;
  FactorGraph graph_;  // simplified and reduced: the graph that is searched
  double log_error_ = 0.0;
  CountProblem problem_;
  DecompositionGuide guide_;
  std::shared_ptr<StartedAnnealing> annealing_;  // of a guide that is not ready
  std::optional<CountSearch> search_;
  std::optional<CircuitTrace> trace_;
  std::shared_ptr<const Circuit> circuit_;
  bool is_solved_ = false, is_out_of_range_ = false, has_tables_ = true;
  CountReport report_;  // log_z.upper is the best bound that does not come from the search
};

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

Counter::Counter(const FactorGraph& graph, const Limits& limits, const CountOptions& options) {
  limits.validate();
  options.validate();
  check_argument(graph.has_only_tables(), "count", "needs a model with tables only, a factor is a function");
  state_ = std::make_unique<State>(graph, limits, options);
}

Counter::Counter(Counter&&) noexcept = default;
Counter& Counter::operator=(Counter&&) noexcept = default;
Counter::~Counter() = default;

bool Counter::run(const Observer& observer) {
  state_->run(observer);
  return state_->is_solved();
}

bool Counter::is_solved() const { return state_->is_solved(); }
bool Counter::can_go_on() const { return state_->can_go_on(); }
double Counter::share_done() const { return state_->share_done(); }
CountResult Counter::result() { return state_->result(); }
void Counter::tighten_upper(const ShouldStop& should_stop) { state_->tighten_upper(should_stop); }

CountResult count(const FactorGraph& graph, const Limits& limits, const CountOptions& options,
                  const Observer& observer) {
  const Stopwatch clock;
  const auto stop_at = [&](double share) {
    return [&, share] {
      return clock.seconds() >= share * limits.seconds || (observer.should_stop && observer.should_stop());
    };
  };
  Counter counter(graph, limits, options);
  if (!counter.run({.progress = observer.progress, .should_stop = stop_at(kShareOfSearch)})) {
    counter.tighten_upper(stop_at(1.0));
  }
  CountResult result = counter.result();
  const bool is_ended_by_caller = observer.should_stop && observer.should_stop();
  if (result.report.stop == StopReason::kInterrupted && !is_ended_by_caller) result.report.stop = StopReason::kTime;
  result.report.seconds = clock.seconds();
  return result;
}

}  // namespace treesample
