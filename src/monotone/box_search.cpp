#include "treesample/monotone/box_search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "math/cut_interval.hpp"
#include "monotone/box_approximation.hpp"
#include "monotone/box_samples.hpp"
#include "monotone/monotone_functions.hpp"
#include "space/run_watch.hpp"
#include "treesample/error.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample {
namespace {

constexpr std::int64_t kMostStates = 1024;     // sum over a function's variables
constexpr double kMostEntries = 2e6;           // bucket entries for eliminating a component of the tables
constexpr std::int64_t kMostFreeSteps = 1000;  // cuts in a row without a call; after that a less promising call is made
// All is cut again after 4 calls per level of the functions' variables, then after 4 times as many, and so on.
constexpr std::int64_t kFirstBeginning = 4, kBeginningsRatio = 4;
constexpr std::int64_t kStepsPerLook = 64;    // between two looks at the clock
constexpr std::int64_t kStepsPerNews = 1024;  // between two reports if no calls are made

class BoxSearch {
 public:
  BoxSearch(const FactorGraph& graph, const Limits& limits, const BoxSearchOptions& options, const Observer& observer)
      : limits_(limits),
        options_(options),
        watch_(limits, observer),
        budget_(budget_of(limits, graph.evaluation_queue())),
        model_(std::make_shared<BoxedModel>(graph)),
        caller_(model_->graph, budget_, options.answer_order),
        functions_(model_->graph, model_->masses, options.seed),
        next_beginning_(kFirstBeginning * functions_.num_bits()) {}

  BoxResult run() {
    search();
    while (!stop_ && caller_.num_pending() > 0) wait();
    if (!stop_ && options_.sample_share > 0.0 && !is_finished()) sample();
    return result();
  }

 private:
  BoxTree& tree() { return model_->tree; }
  void search();
  void begin_anew();
  bool look_at(int leaf);
  void refresh();
  void sample();
  void wait();
  void tell(const char* phase);
  bool is_over();
  [[nodiscard]] bool is_finished() const;
  [[nodiscard]] bool has_share_left() const;
  [[nodiscard]] LogBounds bounds() const;
  // Bounds if values are off by no more than the noise so far; later values may raise it.
  [[nodiscard]] LogBounds bounds_without_noise() const;
  void add_best(BoxResult& result) const;
  BoxResult result();

  Limits limits_;
  BoxSearchOptions options_;
  RunWatch watch_;
  Budget budget_;
  std::shared_ptr<BoxedModel> model_;
  Caller caller_;
  MonotoneFunctions functions_;
  BoxReport report_;
  std::int64_t free_steps_ = 0;      // cuts since the last call
  std::int64_t next_beginning_ = 0;  // the number of calls after which everything is cut again
  LogBounds earlier_;                // bounds of earlier trees, without noise
  std::optional<StopReason> stop_;
};

LogBounds BoxSearch::bounds() const { return bounds_without_noise().widened(functions_.noise()); }

LogBounds BoxSearch::bounds_without_noise() const {
  const LogBounds now = model_->tree.bounds().widened(model_->tree.rounding());
  return {std::max(now.lower, earlier_.lower), std::min(now.upper, earlier_.upper)};
}

// The first cuts were made before much was known about the functions, and all other cuts lie within them. Evaluated
// values stay known, so cutting again costs no calls.
void BoxSearch::begin_anew() {
  earlier_ = bounds_without_noise();
  tree() = BoxTree(model_->graph, model_->masses);
  next_beginning_ *= kBeginningsRatio;
}

bool BoxSearch::is_finished() const {
  const LogBounds now = bounds();
  return now.is_exact() || now.upper - now.lower <= limits_.gap;
}

bool BoxSearch::is_over() {
  if (!stop_ && watch_.is_asked_to_stop()) stop_ = StopReason::kInterrupted;
  if (!stop_ && watch_.is_time_over()) stop_ = StopReason::kTime;
  if (!stop_ && tree().bytes() > limits_.bytes) stop_ = StopReason::kMemory;
  return stop_.has_value();
}

// True if the search has calls left; the rest is for samples.
bool BoxSearch::has_share_left() const {
  if (limits_.budget == Limits::kUnlimited) {
    return !std::isfinite(limits_.seconds) || watch_.seconds() < (1.0 - options_.sample_share) * limits_.seconds;
  }
  const double under_way = caller_.num_pending();
  return budget_.spent().in(limits_.unit) + under_way <
         (1.0 - options_.sample_share) * static_cast<double>(limits_.budget);
}

void BoxSearch::tell(const char* phase) {
  const LogBounds now = bounds();
  const bool has_middle = now.upper < HUGE_VAL;
  watch_.tell({.phase = phase,
               .spent = budget_.spent(),
               .log_z = now,
               .estimate = has_middle ? std::optional(log_add_exp(now.lower, now.upper) - std::log(2.0)) : std::nullopt,
               .num_nodes = tree().nodes().size()});
}

void BoxSearch::search() {
  bool can_ask = true;
  for (std::int64_t step = 0; can_ask || caller_.num_pending() > 0; ++step) {
    if (step % kStepsPerLook == 0 && is_over()) return;
    if (step % kStepsPerNews == 0) tell("boxes");
    if (is_finished()) return;
    const bool begins_anew = budget_.spent().calls >= next_beginning_;
    if (begins_anew && caller_.num_pending() == 0) {
      begin_anew();
      continue;
    }
    const bool has_room = can_ask && !begins_anew && caller_.has_room();
    const std::optional<int> leaf = has_room ? tree().next() : std::nullopt;
    if (leaf) {
      can_ask = look_at(*leaf);
    } else if (caller_.num_pending() > 0) {
      wait();
      if (is_over()) return;
    } else {
      return;  // everything is decided
    }
  }
}

// Decides a box, cuts it, or evaluates one of its corners and lets the box wait again. Returns false if no calls are
// left for that.
bool BoxSearch::look_at(int leaf) {
  const Box box = tree().box(leaf);
  const MonotoneFunctions::View view = functions_.view(box);
  tree().tighten(leaf, view.lower, view.upper, view.magnitude);
  if (tree().nodes()[leaf].is_decided()) return true;
  std::optional<MonotoneFunctions::Question> question = functions_.first_question(view);
  std::optional<MonotoneFunctions::Cut> cut;
  if (!question) cut = functions_.cut_along_known(box, view);
  if (!question && !cut) question = functions_.worthwhile_question(view, free_steps_ > kMostFreeSteps);
  if (!question && !cut) cut = functions_.best_cut(box, view);
  if (!question && !cut) question = functions_.unknown(box.first);
  if (cut) {
    ++free_steps_;
    tree().split(leaf, cut->variable, cut->state);
    return true;
  }
  if (!question) return true;  // everything is known up to rounding
  CallRequest request = caller_.request(std::move(*question), leaf);
  if (!caller_.can_pay(request.price) || !has_share_left()) {
    tree().wait(leaf);
    return false;
  }
  free_steps_ = 0;
  caller_.submit(std::move(request));
  return true;
}

void BoxSearch::wait() {
  try {
    for (const CallRequest& answer : caller_.wait()) {
      if (answer.error) {
        report_.error = answer.error;
        stop_ = answer.error->code() == ErrorCode::kInterrupted ? StopReason::kInterrupted : StopReason::kFactorFailed;
      } else {
        functions_.add(answer.chains[0].questions[0], answer.chains[0].values[0].value);
      }
      if (answer.tag >= 0) tree().wait(static_cast<int>(answer.tag));
    }
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kInterrupted) throw;
    stop_ = StopReason::kInterrupted;
  }
  tell("boxes");
}

void BoxSearch::sample() {
  refresh();
  const BoxSamplesSetup setup{.confidence = options_.confidence,
                              .seed = options_.seed,
                              .is_over = [this] { return is_over(); },
                              .wait = [this] { wait(); },
                              .calls_left =
                                  [this] {
                                    if (limits_.budget == Limits::kUnlimited) return HUGE_VAL;
                                    return static_cast<double>(limits_.budget) - budget_.spent().in(limits_.unit);
                                  }};
  report_.samples = sample_boxes(tree(), functions_, caller_, setup);
}

// Applies later answers to boxes that were treated before.
void BoxSearch::refresh() {
  for (int node = 0; node < static_cast<int>(tree().nodes().size()); ++node) {
    if (!tree().nodes()[node].is_leaf() || tree().nodes()[node].is_decided()) continue;
    const MonotoneFunctions::View view = functions_.view(tree().box(node));
    tree().tighten(node, view.lower, view.upper, view.magnitude);
  }
}

// Every box has an upper bound of the density; the density of one of its configurations may be known too.
void BoxSearch::add_best(BoxResult& result) const {
  const BoxTree& tree = model_->tree;
  result.log_most = kNegInf;
  for (int node = 0; node < static_cast<int>(tree.nodes().size()); ++node) {
    const BoxTree::Node& leaf = tree.nodes()[node];
    if (!leaf.is_leaf() || leaf.log_mass == kNegInf || leaf.upper == kNegInf) continue;
    const Box box = tree.box(node);
    const double most = model_->masses.log_most(box) + leaf.upper;
    result.log_most = std::max(result.log_most, most);
    if (result.best && most <= result.best->log_density) continue;
    const Assignment x = model_->masses.likely(box);
    const std::optional<double> value = functions_.value(x);
    if (!value || *value == kNegInf) continue;
    const double log_density = model_->masses.log_tables(x) + *value;
    if (log_density != kNegInf && (!result.best || log_density > result.best->log_density)) {
      result.best = Configuration{x, log_density};
    }
  }
  result.log_most += tree.rounding() + functions_.noise();
}

BoxResult BoxSearch::result() {
  refresh();
  BoxResult result{.report = report_};
  BoxReport& report = result.report;
  report.log_z = bounds();
  report.spent = budget_.spent();
  report.noise = functions_.noise();
  for (const BoxTree::Node& node : tree().nodes()) {
    report.num_boxes += node.is_leaf() ? 1 : 0;
    report.num_decided += node.is_leaf() && node.is_decided() ? 1 : 0;
  }
  report.stop = stop_.value_or(report.log_z.is_exact()                  ? StopReason::kExact
                               : is_finished()                          ? StopReason::kGap
                               : report.num_decided == report.num_boxes ? StopReason::kRounding
                                                                        : StopReason::kBudget);
  const LogBounds& log_z = report.log_z;
  report.estimate = log_z.upper == HUGE_VAL ? log_z.lower : log_add_exp(log_z.lower, log_z.upper) - std::log(2.0);
  if (report.samples) {
    report.samples->interval = cut_interval(report.samples->interval, log_z);
    report.samples->log_z = log_z.clamp(report.samples->log_z);
    report.estimate = report.samples->log_z;
  }
  add_best(result);
  if (log_z.upper < HUGE_VAL && tree().bounds().upper != kNegInf) {
    const auto approximation = std::make_shared<const BoxApproximation>(model_);
    BoxApproximation::BoundedMarginals marginals = approximation->marginals(tree().rounding() + functions_.noise());
    result.marginals = std::move(marginals.middle);
    result.marginal_errors = std::move(marginals.errors);
    result.approximation = approximation;
  }
  report.seconds = watch_.seconds();
  return result;
}

}  // namespace

void BoxSearchOptions::validate() const {
  check_argument(sample_share >= 0.0 && sample_share < 1.0, "box_search",
                 fmt::format("sample_share is {}, allowed are numbers from 0 to below 1", sample_share));
  check_argument(confidence > 0.0 && confidence < 1.0, "box_search",
                 fmt::format("confidence is {}, allowed are numbers between 0 and 1", confidence));
}

std::string box_search_obstacle(const FactorGraph& graph) {
  bool has_function = false;
  for (int m = 0; m < graph.num_factors(); ++m) {
    const Factor& factor = graph.factor(m);
    if (factor.is_table()) continue;
    has_function = true;
    if (factor.directions().empty()) return fmt::format("factor {} is a function that is not declared monotone", m);
    std::int64_t num_states = 0;
    for (const int v : factor.scope()) num_states += graph.num_states(v);
    if (num_states > kMostStates) {
      return fmt::format("the variables of factor {} have {} states in all, more than {}", m, num_states, kMostStates);
    }
  }
  if (!has_function) return "no factor is a function";
  if (largest_component_entries(graph) > kMostEntries) return "the tables are too wide for elimination";
  return "";
}

BoxResult box_search(const FactorGraph& graph, const Limits& limits, const BoxSearchOptions& options,
                     const Observer& observer) {
  limits.validate();
  options.validate();
  if (const std::string obstacle = box_search_obstacle(graph); !obstacle.empty())
    throw_argument("box_search", obstacle);
  return BoxSearch(graph, limits, options, observer).run();
}

}  // namespace treesample
