#include "treesample/exact/time_slices.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "math/compensated_sum.hpp"
#include "treesample/error.hpp"
#include "treesample/exact/kept_elimination.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/model/names.hpp"

namespace treesample {
namespace {

constexpr const char* kTimeSlices = "TimeSlices";

std::vector<double> logarithms(std::span<const double> numbers) {
  std::vector<double> logs;
  for (const double number : numbers) logs.push_back(number > 0.0 ? std::log(number) : kNegInf);
  return logs;
}

}  // namespace

class TimeSlices::Work {
 public:
  explicit Work(TimeModel given);

  void reset();
  SliceAnswer step(const Observations& seen);
  std::vector<SliceAnswer> smooth(std::span<const Observations> seen, const ShouldStop& should_stop);
  [[nodiscard]] FactorGraph unrolled(int num_slices) const;
  [[nodiscard]] int place(int slice, int variable) const;
  [[nodiscard]] int num_steps() const { return num_steps_; }

 private:
  void check_links() const;
  void observe(const Observations& seen);
  [[nodiscard]] double run();
  [[nodiscard]] Marginals marginals() const;
  [[nodiscard]] std::vector<double> counts(int factor) const;

  TimeModel model_;
  std::optional<KeptElimination> kept_;
  int in_ = 0, out_ = 0;       // factors over what comes from the slice before, and what goes to the next one
  std::size_t num_joint_ = 1;  // states of the linked variables
  std::vector<double> start_, incoming_;  // P(I | all before)
  double log_start_ = 0.0;
  CompensatedSum log_z_;
  int num_steps_ = 0;
};

TimeSlices::Work::Work(TimeModel given) : model_(std::move(given)) {
  check_links();
  FactorGraph graph = model_.slice;
  std::vector<int> before, now;
  for (const TimeLink& link : model_.links) {
    before.push_back(link.before);
    now.push_back(link.now);
    num_joint_ *= static_cast<std::size_t>(graph.num_states(link.now));
    if (num_joint_ > static_cast<std::size_t>(FactorGraph::kMaxTableEntries)) {
      throw Error(ErrorCode::kResource, fmt::format("{}: the linked variables have more than {} joint states",
                                                    kTimeSlices, FactorGraph::kMaxTableEntries));
    }
  }
  // The tables of the start are put together once.
  FactorGraph first;
  for (int v = 0; v < graph.num_variables(); ++v) first.add_variable(graph.num_states(v));
  for (const Factor& factor : model_.start) first.add_factor(factor);
  const int all = first.add_table(before, std::vector<double>(num_joint_, 0.0));
  ModelPart part{.variables = before, .factors = {}};
  std::sort(part.variables.begin(), part.variables.end());
  for (int m = 0; m < first.num_factors(); ++m) part.factors.push_back(m);
  KeptElimination start(first, {.part = part, .parameters = {all}});
  start.run_up();
  log_start_ = start.log_z(0);
  if (log_start_ == kNegInf) throw_argument(kTimeSlices, "the tables of the start make everything impossible");
  start.run_down();
  start_.assign(num_joint_, 0.0);
  start.add_counts(all, start_);
  in_ = graph.add_table(before, std::vector<double>(num_joint_, 0.0));
  out_ = graph.add_table(now, std::vector<double>(num_joint_, 0.0));
  KeptOptions options{.parameters = {in_, out_}, .order_work = 1e8};
  for (int v = 0; v < graph.num_variables(); ++v) {
    options.weighted.push_back(v);
    options.asked.push_back({v});
  }
  kept_.emplace(graph, options);
  reset();
}

void TimeSlices::Work::check_links() const {
  const int n = model_.slice.num_variables();
  std::vector<char> is_before(static_cast<std::size_t>(n), 0), is_now(is_before);
  for (const auto& [before, now] : model_.links) {
    check_range(kTimeSlices, "linked variable", before, 0, n - 1);
    check_range(kTimeSlices, "linked variable", now, 0, n - 1);
    const FactorGraph& slice = model_.slice;
    if (slice.num_states(before) != slice.num_states(now)) {
      throw_argument(kTimeSlices, fmt::format("{} and {} are linked, and have different numbers of states",
                                              variable_name(slice, before), variable_name(slice, now)));
    }
    for (const auto& [v, seen] : {std::pair(before, &is_before), std::pair(now, &is_now)}) {
      if (std::exchange((*seen)[v], 1) != 0) {
        throw_argument(kTimeSlices, fmt::format("{} is in two links", variable_name(slice, v)));
      }
    }
  }
  for (int v = 0; v < n; ++v) {
    if (is_before[v] != 0 && is_now[v] != 0) {
      throw_argument(kTimeSlices, fmt::format("{} stands for the slice before, and cannot go on to the next one",
                                              variable_name(model_.slice, v)));
    }
  }
  for (const Factor& factor : model_.start) {
    if (!factor.is_table()) throw_argument(kTimeSlices, "a factor of the start is a function, allowed are tables");
    for (const int v : factor.scope()) {
      check_range(kTimeSlices, "variable of the start", v, 0, n - 1);
      if (is_before[v] == 0) {
        throw_argument(kTimeSlices,
                       fmt::format("a table of the start is over {}, allowed are variables that are linked to the "
                                   "slice before",
                                   variable_name(model_.slice, v)));
      }
    }
  }
}

void TimeSlices::Work::reset() {
  incoming_ = start_;
  log_z_ = {};
  log_z_.add(log_start_);
  num_steps_ = 0;
}

void TimeSlices::Work::observe(const Observations& seen) {
  const Assignment states = observed_states(model_.slice, seen.states);
  for (int v = 0; v < model_.slice.num_variables(); ++v) kept_->set_only_state(0, v, states[v]);
  for (const SoftObservation& one : seen.soft) {
    check_range(kTimeSlices, "variable", one.variable, 0, model_.slice.num_variables() - 1);
    const std::string problem = weights_problem(one.weights, model_.slice.num_states(one.variable));
    if (!problem.empty()) throw_argument(kTimeSlices, problem);
    if (states[one.variable] < 0) kept_->set_weights(0, one.variable, one.weights);
  }
}

double TimeSlices::Work::run() {
  kept_->run_up();
  if (kept_->is_lossy(0)) {
    throw Error(ErrorCode::kNumeric, fmt::format("{}: the numbers of a slice are too small or too large", kTimeSlices));
  }
  const double log_z = kept_->log_z(0);
  if (log_z > kNegInf) kept_->run_down();
  return log_z;
}

Marginals TimeSlices::Work::marginals() const {
  Marginals all;
  for (int v = 0; v < model_.slice.num_variables(); ++v) {
    kept_->asked(v, 0, all.emplace_back(static_cast<std::size_t>(model_.slice.num_states(v))));
  }
  return all;
}

std::vector<double> TimeSlices::Work::counts(int factor) const {
  std::vector<double> counts(num_joint_, 0.0);
  kept_->add_counts(factor, counts);
  return counts;
}

SliceAnswer TimeSlices::Work::step(const Observations& seen) {
  observe(seen);
  kept_->set_table(in_, logarithms(incoming_));
  kept_->set_table(out_, std::vector<double>(num_joint_, 0.0));
  ++num_steps_;
  const double log_z = run();
  log_z_.add(log_z);
  if (log_z == kNegInf) {
    std::fill(incoming_.begin(), incoming_.end(), 0.0);
    return {kNegInf, {}};
  }
  incoming_ = counts(out_);
  return {log_z_.value(), marginals()};
}

std::vector<SliceAnswer> TimeSlices::Work::smooth(std::span<const Observations> seen, const ShouldStop& should_stop) {
  StopCheck stop(should_stop);
  reset();
  std::vector<std::vector<double>> incoming;  // of each slice
  double log_z = log_start_;
  for (std::size_t t = 0; t < seen.size(); ++t) {
    stop.go_on(kTimeSlices, 1000);
    incoming.push_back(incoming_);
    log_z = step(seen[t]).log_z;
    if (log_z == kNegInf)
      throw_argument(kTimeSlices, fmt::format("what was observed up to slice {} is impossible", t + 1));
  }
  std::vector<SliceAnswer> answers(seen.size());
  std::vector<double> behind(num_joint_, 1.0);  // P(what comes later | I), times a constant
  for (std::size_t t = seen.size(); t-- > 0;) {
    stop.go_on(kTimeSlices, 1000);
    observe(seen[t]);
    kept_->set_table(in_, logarithms(incoming[t]));
    kept_->set_table(out_, logarithms(behind));
    static_cast<void>(run());
    answers[t] = {log_z, marginals()};
    const std::vector<double> posterior = counts(in_);
    for (std::size_t i = 0; i < num_joint_; ++i) {
      behind[i] = incoming[t][i] > 0.0 ? posterior[i] / incoming[t][i] : 0.0;
    }
    incoming[t] = {};
  }
  return answers;
}

int TimeSlices::Work::place(int slice, int variable) const {
  const int n = model_.slice.num_variables();
  for (const TimeLink& link : model_.links) {
    if (slice > 0 && link.before == variable) return (slice - 1) * n + link.now;
  }
  return slice * n + variable;
}

FactorGraph TimeSlices::Work::unrolled(int num_slices) const {
  check_range(kTimeSlices, "number of slices", num_slices, 1, 10'000'000);
  FactorGraph graph;
  const int n = model_.slice.num_variables();
  for (int t = 0; t < num_slices; ++t) {
    for (int v = 0; v < n; ++v) {
      const bool is_elsewhere = place(t, v) != t * n + v;
      Variable variable = is_elsewhere ? Variable{} : model_.slice.variable(v);
      variable.name = fmt::format("{}@{}", variable_name(model_.slice, v), t + 1);
      graph.add_variable(std::move(variable));
    }
  }
  for (const Factor& factor : model_.start) graph.add_factor(factor);
  for (int t = 0; t < num_slices; ++t) {
    for (const Factor& factor : model_.slice.factors()) {
      std::vector<int> scope;
      for (const int v : factor.scope()) scope.push_back(place(t, v));
      graph.add_factor(factor.with_scope(std::move(scope)));
    }
  }
  return graph;
}

TimeSlices::TimeSlices(TimeModel model) : work_(std::make_unique<Work>(std::move(model))) {}
TimeSlices::~TimeSlices() = default;
TimeSlices::TimeSlices(TimeSlices&&) noexcept = default;
TimeSlices& TimeSlices::operator=(TimeSlices&&) noexcept = default;

void TimeSlices::reset() { work_->reset(); }
SliceAnswer TimeSlices::step(const Observations& seen) { return work_->step(seen); }
int TimeSlices::num_steps() const { return work_->num_steps(); }
std::vector<SliceAnswer> TimeSlices::smooth(std::span<const Observations> seen, const ShouldStop& should_stop) {
  return work_->smooth(seen, should_stop);
}
FactorGraph TimeSlices::unrolled(int num_slices) const { return work_->unrolled(num_slices); }
int TimeSlices::place(int slice, int variable) const { return work_->place(slice, variable); }

}  // namespace treesample
