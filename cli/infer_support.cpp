#include "infer_support.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>

#include "command.hpp"
#include "treesample/error.hpp"
#include "treesample/text.hpp"
#include "treesample/value/mini_bucket.hpp"

namespace treesample::cli {
namespace {

// What the passes can work through in their share of the time.
constexpr double kMiniBucketBytesPerSecond = 40e6;
constexpr double kMiniBucketSeconds = 5.0;  // without a time limit
constexpr double kMiniBucketTimeShare = 0.3;
// How well mini-buckets do depends on the order more than its width tells. Of orders whose exact search costs about
// the same a short trial decides.
constexpr int kNumOrders = 32;
constexpr int kTrialRestarts = 10;
constexpr double kTrialCostMargin = 2.0;  // in nats
// A search that comes near its end wants the cheapest order instead: mini-buckets close most of its nodes, and it gets
// this many times as far as its evaluations say.
constexpr double kEvaluationsPerSecond = 1e6;
constexpr double kClosedByBuckets = 1e3;
constexpr std::uint64_t kTrialBytes = std::uint64_t{64} << 20;
constexpr double kOrderTimeShare = 0.1;
constexpr double kSetUpEnd = 0.7;           // of the time limit: orders, spaces and bounds are given up
constexpr double kBucketsEnd = 0.55;        // the same for mini-buckets, in whose place the maxima of the factors come
constexpr double kChoiceEnd = 0.5;          // the same for what elimination would cost
constexpr double kFrequencyShare = 0.05;    // of the time limit, for samples of marginals
constexpr double kFrequencySeconds = 10.0;  // without one
constexpr double kCostTimeShare = 0.05;     // for the order of elimination
constexpr double kOrderSeconds = 2.0;       // without a time limit
constexpr double kReachSeconds = 10.0;      // the same
constexpr std::uint64_t kMiniBucketMemoryDivisor = 4;
constexpr std::string_view kMiniBucketWord = "mini-bucket";

// The I of mini-bucket:I.
std::optional<int> parse_i_bound(const std::string& word) {
  const std::string start = std::string(kMiniBucketWord) + ":";
  if (word.rfind(start, 0) != 0) return {};
  int i_bound = -1;
  const char* const end = word.data() + word.size();
  const auto [rest, error] = std::from_chars(word.data() + start.size(), end, i_bound);
  if (error != std::errc() || rest != end || i_bound < 0) return {};
  return i_bound;
}

}  // namespace

double box_seconds(const InferOptions& options, double share, double without_limit) {
  constexpr double kMostOfTheRest = 0.5;
  return options.time > 0.0 ? std::min(share * options.time, kMostOfTheRest * options.seconds_left()) : without_limit;
}

ShouldStop time_box(const InferOptions& options, double share, double without_limit) {
  const double end = options.clock.seconds() + box_seconds(options, share, without_limit);
  return [clock = options.clock, end] { return Interruption::is_asked() || clock.seconds() > end; };
}

ShouldStop time_limit(const InferOptions& options, double share) {
  const double end = options.time > 0.0 ? share * options.time : HUGE_VAL;
  return [clock = options.clock, end] { return Interruption::is_overdue() || clock.seconds() > end; };
}

ShouldStop search_limit(const InferOptions& options) {
  return [is_over = time_limit(options)] { return Interruption::is_asked() || is_over(); };
}

ShouldStop set_up_limit(const InferOptions& options) { return time_limit(options, kSetUpEnd); }

Limits limits_of(const InferOptions& options) {
  return {.budget = options.budget, .unit = options.budget_unit(), .bytes = parse_size("--memory", options.memory)};
}

EliminationOptions elimination_options(const InferOptions& options) {
  return {.restarts = options.restarts > 0 ? static_cast<int>(options.restarts) : 10,
          .seed = static_cast<std::uint64_t>(options.seed),
          .should_settle = time_box(options, kCostTimeShare, kOrderSeconds)};
}

void Watch::update(const Spending& spent, double seconds, const std::string& text) {
  const double used = spent.in(options_.budget_unit());
  const double of_budget = used / static_cast<double>(std::max<std::int64_t>(options_.budget, 1));
  const double of_time = options_.time > 0.0 ? seconds / options_.time : 0.0;
  const char* const unit = options_.budget_unit() == BudgetUnit::kCost   ? "s of evaluations"
                           : options_.budget_unit() == BudgetUnit::kCall ? "calls"
                                                                         : "evaluations";
  progress_.show(std::max(of_budget, of_time),
                 fmt::format("{:.3g} {}, {:.2g}/s{}", used, unit, used / std::max(seconds, 1e-9), text));
}

Observer Watch::observer() {
  return {[this](const treesample::Progress& now) { update(now.spent, now.seconds, ""); },
          [this] { return Interruption::is_asked() || options_.seconds_left() <= 0.0; }};
}

SearchSpace space_for(const FactorGraph& graph, const InferOptions& options, SpaceKind kind) {
  const OrderOptions order{.kind = parse_order(options.order),
                           .restarts = static_cast<int>(options.restarts),
                           .seed = static_cast<std::uint64_t>(options.seed),
                           .should_settle = time_box(options, kOrderTimeShare, HUGE_VAL),
                           .should_stop = set_up_limit(options)};
  return make_search_space(graph, search_order(graph, kind, order), kind, set_up_limit(options));
}

std::shared_ptr<const SummedModel> sum_out(const FactorGraph& graph, const InferOptions& options) {
  if (!options.sums_out || !graph.has_only_tables()) return nullptr;
  auto summed = std::make_shared<const SummedModel>(graph);
  return summed->num_summed_out() > 0 ? summed : nullptr;
}

std::string summed_out_text(const SummedModel* summed) {
  return summed == nullptr
             ? ""
             : fmt::format("; {} summed out before", counted(summed->num_summed_out(), "barren variable"));
}

std::optional<EliminationOptions> cheap_elimination(const FactorGraph& graph, const InferOptions& options,
                                                    double seconds) {
  constexpr double kEntriesPerSecond = 5e7;
  EliminationOptions elimination = elimination_options(options);
  elimination.most_entries = kEntriesPerSecond * seconds;
  const std::optional<EliminationCost> cost =
      unless_given_up([&] { return elimination_cost(graph, elimination, time_limit(options, kChoiceEnd)); });
  if (!cost || cost->marginal_bytes > static_cast<double>(limits_of(options).bytes)) return {};
  if (cost->num_entries > elimination.most_entries) return {};
  elimination.order = cost->order;
  return elimination;
}

int add_frequencies(Answer& answer, const Approximation& approximation, const FactorGraph& graph, int max_samples,
                    const InferOptions& options) {
  const ShouldStop is_over = time_limit(options);
  const Stopwatch watch;
  const double seconds = box_seconds(options, kFrequencyShare, kFrequencySeconds);
  Random random(static_cast<std::uint64_t>(options.seed), "marginals");
  for (int v = 0; v < graph.num_variables(); ++v) answer.marginals.emplace_back(graph.num_states(v), 0.0);
  int num_samples = 0;
  while (num_samples < max_samples && (num_samples == 0 || (watch.seconds() < seconds && !is_over()))) {
    const Assignment x = approximation.sample(random);
    for (std::size_t v = 0; v < x.size(); ++v) answer.marginals[v][x[v]] += 1.0;
    ++num_samples;
  }
  for (std::vector<double>& probs : answer.marginals) {
    for (double& p : probs) p /= num_samples;
  }
  return num_samples;
}

std::int64_t num_functions(const FactorGraph& graph) {
  return std::count_if(graph.factors().begin(), graph.factors().end(),
                       [](const Factor& factor) { return !factor.is_table(); });
}

AnswerOrder answer_order(const InferOptions& options) {
  return options.oracle_order == "submission" ? AnswerOrder::kSubmission : AnswerOrder::kArrival;
}

SearchSpace space_for_mini_buckets(const FactorGraph& graph, const InferOptions& options, SpaceKind kind) {
  const ShouldStop is_late = time_box(options, kOrderTimeShare, kOrderSeconds);
  MiniBucketOptions trial;
  trial.should_stop = [&, is_over = set_up_limit(options)] { return is_late() || is_over(); };
  trial.bytes = parse_size("--memory", options.memory) / kMiniBucketMemoryDivisor;
  trial.wanted_bytes = kTrialBytes;
  trial.passes = 1;
  trial.lower_bound = false;
  SearchSpace best = space_for(graph, options, kind);
  const double cost = best.log_exact_cost();
  const double reach = kEvaluationsPerSecond * kClosedByBuckets * (options.time > 0.0 ? options.time : kReachSeconds);
  if (cost < std::log(reach) || is_late()) return best;
  const auto try_out = [&](const SearchSpace& space) {
    return unless_given_up([&] { return WeightedMiniBucket(graph, space, trial).report(); });
  };
  std::optional<MiniBucketReport> report = try_out(best);
  if (!report) return best;
  double lowest = report->log_upper;
  InferOptions candidate = options;
  if (options.restarts == 0) candidate.restarts = kTrialRestarts;
  for (int i = 1; i < kNumOrders && report && !report->is_exact; ++i) {
    if (is_late()) break;
    candidate.seed = options.seed + i;
    std::optional<SearchSpace> space = unless_given_up([&] { return space_for(graph, candidate, kind); });
    if (!space) break;
    if (space->log_exact_cost() > cost + kTrialCostMargin) continue;
    report = try_out(*space);
    if (!report || report->log_upper >= lowest) continue;
    lowest = report->log_upper;
    best = *std::move(space);
  }
  return best;
}

void check_prior(const std::string& word) {
  const bool is_known =
      word == "uniform" || word == "calibrated" || word == kMiniBucketWord || word.rfind("net:", 0) == 0;
  if (!is_known && !parse_i_bound(word)) {
    throw_argument("--prior",
                   fmt::format("'{}' is none of uniform, calibrated, mini-bucket, mini-bucket:I, net:FILE", word));
  }
}

std::shared_ptr<const WeightedMiniBucket> make_mini_buckets(const FactorGraph& graph, const SearchSpace& space,
                                                            const InferOptions& options) {
  const double seconds = box_seconds(options, kMiniBucketTimeShare, kMiniBucketSeconds);
  MiniBucketOptions bucket_options;
  bucket_options.bytes = parse_size("--memory", options.memory) / kMiniBucketMemoryDivisor;
  bucket_options.wanted_bytes = static_cast<std::uint64_t>(kMiniBucketBytesPerSecond * seconds);
  if (const std::optional<int> i_bound = parse_i_bound(options.prior)) {
    bucket_options.i_bound = *i_bound;
    bucket_options.bytes = parse_size("--memory", options.memory);
  }
  bucket_options.should_settle = time_box(options, kMiniBucketTimeShare, kMiniBucketSeconds);
  bucket_options.should_stop = time_limit(options, kBucketsEnd);
  return std::make_shared<WeightedMiniBucket>(graph, space, bucket_options);
}

}  // namespace treesample::cli
