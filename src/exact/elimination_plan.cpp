// Plans of elimination: sizes in a given order, and the variables to fix where they are too large.
#include "exact/elimination_plan.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "exact/order_search.hpp"
#include "treesample/error.hpp"

namespace treesample {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr std::size_t kMostCandidates = 24;
constexpr double kMostSlices = 1 << 20;
// Slices save time where they need so much less of it. Where tables are small, they do not.
constexpr double kWorthSlicing = 0.95, kSmallTables = 0x1p28;
constexpr double kWorthSending = 1e9;     // what takes a second or two here is done here
constexpr double kSlicesPerWorker = 4.0;  // more would save little time where workers are equally quick
constexpr double kAnnealedShare = 0.01;   // of the work of the slices, for annealing after each choice

// Variables of large messages, those in most of them first.
std::vector<int> candidates(const ModelSizes& sizes, const EliminationPlan& plan,
                            const std::vector<std::vector<int>>& separators) {
  double largest = 0.0;
  for (const int v : plan.order) largest = std::max(largest, sizes.log2_num_entries(separators[v]));
  std::vector<double> score(plan.order.size(), 0.0);
  for (const int v : plan.order) {
    const double share = std::exp2(sizes.log2_num_entries(separators[v]) - largest);
    for (const int u : separators[v]) score[u] += share * sizes.log2_num_states[u];
  }
  std::vector<int> found;
  for (const int v : plan.order) {
    if (score[v] > 0.0) found.push_back(v);
  }
  const std::size_t count = std::min(kMostCandidates, found.size());
  const auto is_before = [&](int a, int b) { return score[a] != score[b] ? score[a] > score[b] : a < b; };
  std::partial_sort(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(count), found.end(), is_before);
  found.resize(count);
  return found;
}

}  // namespace

ModelSizes::ModelSizes(const FactorGraph& graph)
    : adjacency(adjacency_of(graph)),
      graph_(&graph),
      is_fixed_(static_cast<std::size_t>(graph.num_variables()), false) {
  for (int v = 0; v < graph.num_variables(); ++v) log2_num_states.push_back(std::log2(graph.num_states(v)));
}

double ModelSizes::log2_num_entries(std::span<const int> scope) const {
  double sum = 0.0;
  for (const int v : scope) sum += log2_num_states[v];
  return sum;
}

void ModelSizes::fix(int variable) {
  for (const int u : adjacency[variable]) {
    std::vector<int>& list = adjacency[u];
    list.erase(std::lower_bound(list.begin(), list.end(), variable));
  }
  adjacency[variable].clear();
  log2_num_states[variable] = 0.0;
  is_fixed_[variable] = true;
}

std::vector<std::vector<int>> ModelSizes::scopes() const {
  std::vector<std::vector<int>> scopes;
  for (const Factor& factor : graph_->factors()) {
    std::vector<int>& scope = scopes.emplace_back(factor.scope());
    std::erase_if(scope, [&](int v) { return is_fixed_[v]; });
  }
  return scopes;
}

namespace {

// Those of one slice.
ModelSizes with_fixed(const ModelSizes& whole, std::span<const int> variables, double& log2_num_slices) {
  ModelSizes part = whole;
  for (const int v : variables) {
    log2_num_slices += part.log2_num_states[v];
    part.fix(v);
  }
  return part;
}

}  // namespace

// Times of life: a message lives until the bucket it goes to is done; p(x_sep(v)) from the bucket above v until the
// bucket of v is done.
void set_sizes(EliminationPlan& plan, const ModelSizes& whole, const ShouldStop& should_stop) {
  std::optional<ModelSizes> part;
  double log2_num_slices = 0.0;
  if (!plan.slice_variables.empty()) part = with_fixed(whole, plan.slice_variables, log2_num_slices);
  const ModelSizes& sizes = part ? *part : whole;
  plan.num_slices = std::round(exp2_limited(log2_num_slices));
  plan.separators = separators(sizes.adjacency, plan.order, should_stop);
  std::vector<double> bytes(plan.order.size());           // of the message of v
  std::vector<double> received_bytes(plan.order.size());  // of the messages that go to v
  double total = 0.0, alive = 0.0, peak = 0.0, num_entries = 0.0;
  plan.width = 0;
  plan.log2_largest_bucket = 0.0;
  for (const int v : plan.order) {
    const std::vector<int>& separator = plan.separators[v];
    const double log2_message = sizes.log2_num_entries(separator);
    const double log2_bucket = log2_message + sizes.log2_num_states[v];
    plan.width = std::max(plan.width, static_cast<int>(separator.size()));
    plan.log2_largest_bucket = std::max(plan.log2_largest_bucket, log2_bucket);
    num_entries += exp2_limited(log2_bucket);
    bytes[v] = sizeof(double) * exp2_limited(log2_message);
    if (!separator.empty()) received_bytes[separator.front()] += bytes[v];
    total += bytes[v];
    alive += bytes[v];
    peak = std::max(peak, alive);
    alive -= received_bytes[v];
  }
  plan.num_entries = num_entries * plan.num_slices;
  plan.log_z_bytes = peak;
  plan.sample_bytes = total;
  alive = peak = 0.0;
  for (auto v = plan.order.rbegin(); v != plan.order.rend(); ++v) {
    if (plan.separators[*v].empty()) alive += bytes[*v];
    alive += received_bytes[*v];
    peak = std::max(peak, alive);
    alive -= bytes[*v];
  }
  plan.marginal_bytes = total + peak;
  if (part) plan.separators.clear();  // slices have their own
}

double predicted_work(const EliminationPlan& plan, EliminationGoal goal) {
  constexpr double kPerByte = 2.0;          // an entry takes half a nanosecond, a new GB a second
  constexpr double kPerSliceOfOne = 300.0;  // for each variable: the model is cut, its zeros propagated
  const double num_cuts = plan.num_slices > 1.0 ? plan.num_slices * static_cast<double>(plan.order.size()) : 0.0;
  return num_passes(goal) * plan.num_entries + kPerByte * plan.bytes_for(goal) + kPerSliceOfOne * num_cuts;
}

namespace {

// The choice of the variables that are fixed.
class SliceChoice {
 public:
  SliceChoice(const ModelSizes& whole, const EliminationOptions& options, const ShouldStop& should_stop)
      : whole_(whole), options_(options), should_stop_(should_stop) {}

  // With one more variable, whose work is least; not possible where that is not allowed.
  [[nodiscard]] EliminationPlan with_one_more(const EliminationPlan& plan) const;
  [[nodiscard]] double excess(const EliminationPlan& plan) const {
    return std::max(1.0, plan.bytes_for(options_.goal) / options_.most_bytes);
  }
  [[nodiscard]] double work(const EliminationPlan& plan) const { return predicted_work(plan, options_.goal); }

 private:
  const ModelSizes& whole_;
  const EliminationOptions& options_;
  const ShouldStop& should_stop_;
};

EliminationPlan SliceChoice::with_one_more(const EliminationPlan& plan) const {
  ModelSizes sizes = whole_;
  for (const int v : plan.slice_variables) sizes.fix(v);
  EliminationPlan best;
  double least = kInf;
  for (const int v : candidates(sizes, plan, separators(sizes.adjacency, plan.order, should_stop_))) {
    EliminationPlan sliced{.order = plan.order, .slice_variables = plan.slice_variables};
    sliced.slice_variables.push_back(v);
    set_sizes(sliced, whole_, should_stop_);
    const double key = work(sliced) * excess(sliced);
    if (key >= least || sliced.num_slices > kMostSlices) continue;
    least = key;
    best = std::move(sliced);
  }
  best.num_entries = std::isfinite(least) ? best.num_entries : kInf;
  if (!std::isfinite(least) || options_.restarts > 0) return best;
  sizes.fix(best.slice_variables.back());
  const double most_work = std::min(options_.order_work, kAnnealedShare * work(best));
  EliminationPlan annealed{.order = annealed_again(sizes, best.order, most_work, options_, should_stop_),
                           .slice_variables = best.slice_variables};
  set_sizes(annealed, whole_, should_stop_);
  return work(annealed) * excess(annealed) < work(best) * excess(best) ? annealed : best;
}

EliminationPlan no_plan() {
  return {.order = {},
          .log2_largest_bucket = kInf,
          .num_entries = kInf,
          .log_z_bytes = kInf,
          .sample_bytes = kInf,
          .marginal_bytes = kInf};
}

}  // namespace

void slice(EliminationPlan& plan, const ModelSizes& whole, const EliminationOptions& options,
           const ShouldStop& should_stop) {
  if (!std::isfinite(options.most_bytes)) return;
  const SliceChoice choice(whole, options, should_stop);
  while (true) {
    const bool fits = choice.excess(plan) <= 1.0;
    if (fits && plan.bytes_for(options.goal) < kSmallTables) return;
    EliminationPlan next = choice.with_one_more(plan);
    const bool is_allowed = next.num_entries <= options.most_entries;
    if (fits && !(is_allowed && choice.work(next) * choice.excess(next) < kWorthSlicing * choice.work(plan))) return;
    plan = std::move(next);
    if (!is_allowed) {
      plan.num_entries = kInf;
      return;
    }
  }
}

EliminationPlan plan_elimination(const FactorGraph& graph, const EliminationOptions& options,
                                 const ShouldStop& should_stop) {
  check_range("plan_elimination", "restarts", options.restarts, 0, 1'000'000);
  check_argument(options.order_work >= 0.0 && std::isfinite(options.order_work), "plan_elimination",
                 "order_work must be finite, and at least 0");
  EliminationPlan best;
  if (graph.num_variables() == 0) return best;
  const ModelSizes sizes(graph);
  best.num_entries = kInf;
  for (EliminationPlan& found : best_orders(sizes, options, should_stop)) {
    if (!best.order.empty() && found.num_entries >= best.num_entries) break;
    set_sizes(found, sizes, should_stop);
    slice(found, sizes, options, should_stop);
    if (found.num_entries < best.num_entries) best = std::move(found);
  }
  return best.is_possible() ? best : no_plan();
}

EliminationPlan plan_in_order(const FactorGraph& graph, std::vector<int> order, std::vector<int> slice_variables,
                              const ShouldStop& should_stop) {
  EliminationPlan plan{.order = std::move(order), .slice_variables = std::move(slice_variables)};
  set_sizes(plan, ModelSizes(graph), should_stop);
  return plan;
}

EliminationPlan plan_slices(const FactorGraph& graph, EliminationPlan plan, const EliminationOptions& options,
                            const ShouldStop& should_stop) {
  const bool is_small = plan.bytes_for(options.goal) < std::min(options.most_bytes, kSmallTables);
  if (!plan.slice_variables.empty() || is_small) return plan;
  slice(plan, ModelSizes(graph), options, should_stop);
  return plan;
}

double entries_until_done(const EliminationPlan& plan, EliminationGoal goal, int num_workers) {
  const double num_rounds = std::ceil(plan.num_slices / std::max(1, num_workers));
  return num_rounds * predicted_work(plan, goal) / plan.num_slices;
}

EliminationPlan plan_for_workers(const FactorGraph& graph, EliminationPlan plan, const EliminationOptions& options,
                                 int num_workers, const ShouldStop& should_stop) {
  const bool fits = plan.bytes_for(options.goal) <= options.most_bytes;
  if (!plan.slice_variables.empty() || (fits && predicted_work(plan, options.goal) < kWorthSending)) return plan;
  const ModelSizes sizes(graph);
  const SliceChoice choice(sizes, options, should_stop);
  const EliminationPlan whole = plan;
  EliminationPlan best = no_plan();
  while (true) {
    const bool is_better = !best.is_possible() || entries_until_done(plan, options.goal, num_workers) <
                                                      entries_until_done(best, options.goal, num_workers);
    if (choice.excess(plan) <= 1.0 && is_better) best = plan;
    if (best.is_possible() && plan.num_slices >= kSlicesPerWorker * num_workers) return best;
    plan = choice.with_one_more(plan);
    if (!plan.is_possible()) return best.is_possible() ? best : whole;
  }
}

EliminationPlan plan_log_z(const FactorGraph& graph, EliminationPlan whole, const EliminationOptions& options,
                           const ShouldStop& should_stop) {
  const bool fits =
      whole.bytes_for(options.goal == EliminationGoal::kLogZ ? options.goal : EliminationGoal::kSamples) <=
      options.most_bytes;
  // Samples need the messages of the whole model.
  if (!whole.slice_variables.empty() || (fits && options.goal == EliminationGoal::kSamples)) return whole;
  EliminationOptions lean = options;
  lean.goal = EliminationGoal::kLogZ;
  EliminationPlan sliced = plan_slices(graph, whole, lean, should_stop);
  if (!sliced.is_possible() || sliced.num_slices == 1.0) return whole;
  if (!fits) return sliced;
  double work = predicted_work(sliced, EliminationGoal::kLogZ);
  if (options.goal == EliminationGoal::kMarginals) {
    work += predicted_work(plan_slices(graph, whole, options, should_stop), options.goal);
    if (whole.marginal_bytes > options.most_bytes) return sliced;
  }
  return work < predicted_work(whole, options.goal) ? sliced : whole;
}

}  // namespace treesample
