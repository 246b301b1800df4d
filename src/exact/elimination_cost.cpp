// What an elimination takes: its sizes in a given order, and the variables to fix where they are too large.
#include "exact/elimination_cost.hpp"

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
constexpr double kAnnealedShare = 0.01;  // of the work of the slices, for annealing after each choice

// Variables of large messages, those in most of them first.
std::vector<int> candidates(const ModelSizes& sizes, const EliminationCost& cost,
                            const std::vector<std::vector<int>>& separators) {
  double largest = 0.0;
  for (const int v : cost.order) largest = std::max(largest, sizes.log2_num_entries(separators[v]));
  std::vector<double> score(cost.order.size(), 0.0);
  for (const int v : cost.order) {
    const double share = std::exp2(sizes.log2_num_entries(separators[v]) - largest);
    for (const int u : separators[v]) score[u] += share * sizes.log2_num_states[u];
  }
  std::vector<int> found;
  for (const int v : cost.order) {
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

// Times of life: a message lives until the bucket it goes to is done; p(x_sep(v)) from the bucket above v until the
// bucket of v is done.
void set_sizes(EliminationCost& cost, const ModelSizes& whole, bool keep_messages, const ShouldStop& should_stop) {
  std::optional<ModelSizes> part;  // where there are slices
  double log2_num_slices = 0.0;
  for (const int v : cost.slice_variables) {
    if (!part) part = whole;
    log2_num_slices += part->log2_num_states[v];
    part->fix(v);
  }
  const ModelSizes& sizes = part ? *part : whole;
  cost.num_slices = std::round(exp2_limited(log2_num_slices));
  const auto separator_of = separators(sizes.adjacency, cost.order, should_stop);
  std::vector<double> bytes(cost.order.size());           // of the message of v
  std::vector<double> received_bytes(cost.order.size());  // of the messages that go to v
  double total = 0.0, alive = 0.0, peak = 0.0, num_entries = 0.0;
  cost.width = 0;
  cost.log2_largest_bucket = 0.0;
  for (const int v : cost.order) {
    const std::vector<int>& separator = separator_of[v];
    const double log2_message = sizes.log2_num_entries(separator);
    const double log2_bucket = log2_message + sizes.log2_num_states[v];
    cost.width = std::max(cost.width, static_cast<int>(separator.size()));
    cost.log2_largest_bucket = std::max(cost.log2_largest_bucket, log2_bucket);
    num_entries += exp2_limited(log2_bucket);
    bytes[v] = sizeof(double) * exp2_limited(log2_message);
    if (!separator.empty()) received_bytes[separator.front()] += bytes[v];
    total += bytes[v];
    alive += bytes[v];
    peak = std::max(peak, alive);
    alive -= received_bytes[v];
  }
  cost.num_entries = num_entries * cost.num_slices;
  cost.bytes = keep_messages ? total : peak;
  alive = peak = 0.0;
  for (auto v = cost.order.rbegin(); v != cost.order.rend(); ++v) {
    if (separator_of[*v].empty()) alive += bytes[*v];
    alive += received_bytes[*v];
    peak = std::max(peak, alive);
    alive -= bytes[*v];
  }
  cost.marginal_bytes = total + peak;
}

double bytes_for(const EliminationCost& cost, EliminationGoal goal) {
  return goal == EliminationGoal::kMarginals ? cost.marginal_bytes : cost.bytes;
}

double predicted_work(const EliminationCost& cost, EliminationGoal goal) {
  constexpr double kPerByte = 2.0;          // an entry takes half a nanosecond, a new GB a second
  constexpr double kPerSliceOfOne = 300.0;  // for each variable: the model is cut, its zeros propagated
  const double num_cuts = cost.num_slices > 1.0 ? cost.num_slices * static_cast<double>(cost.order.size()) : 0.0;
  return num_passes(goal) * cost.num_entries + kPerByte * bytes_for(cost, goal) + kPerSliceOfOne * num_cuts;
}

namespace {

// The choice of the variables that are fixed.
class SliceChoice {
 public:
  SliceChoice(const ModelSizes& whole, const EliminationOptions& options, const ShouldStop& should_stop)
      : whole_(whole), options_(options), should_stop_(should_stop) {}

  // With one more variable, whose work is least; infinite where that is not allowed.
  [[nodiscard]] EliminationCost with_one_more(const EliminationCost& cost) const;
  [[nodiscard]] double excess(const EliminationCost& cost) const {
    return std::max(1.0, bytes_for(cost, options_.goal) / options_.most_bytes);
  }
  [[nodiscard]] double work(const EliminationCost& cost) const { return predicted_work(cost, options_.goal); }

 private:
  const ModelSizes& whole_;
  const EliminationOptions& options_;
  const ShouldStop& should_stop_;
};

EliminationCost SliceChoice::with_one_more(const EliminationCost& cost) const {
  ModelSizes sizes = whole_;
  for (const int v : cost.slice_variables) sizes.fix(v);
  EliminationCost best;
  double least = kInf;
  for (const int v : candidates(sizes, cost, separators(sizes.adjacency, cost.order, should_stop_))) {
    EliminationCost sliced = cost;
    sliced.slice_variables.push_back(v);
    set_sizes(sliced, whole_, options_.keep_messages, should_stop_);
    const double key = work(sliced) * excess(sliced);
    if (key >= least || sliced.num_slices > kMostSlices) continue;
    least = key;
    best = std::move(sliced);
  }
  best.num_entries = std::isfinite(least) ? best.num_entries : kInf;
  if (!std::isfinite(least) || options_.restarts > 0) return best;
  sizes.fix(best.slice_variables.back());
  const double most_work = std::min(options_.order_work, kAnnealedShare * work(best));
  EliminationCost annealed = best;
  annealed.order = annealed_again(sizes, best.order, most_work, options_, should_stop_);
  set_sizes(annealed, whole_, options_.keep_messages, should_stop_);
  return work(annealed) * excess(annealed) < work(best) * excess(best) ? annealed : best;
}

}  // namespace

void slice(EliminationCost& cost, const ModelSizes& whole, const EliminationOptions& options,
           const ShouldStop& should_stop) {
  if (!std::isfinite(options.most_bytes)) return;
  const SliceChoice choice(whole, options, should_stop);
  while (true) {
    const bool fits = choice.excess(cost) <= 1.0;
    if (fits && bytes_for(cost, options.goal) < kSmallTables) return;
    EliminationCost next = choice.with_one_more(cost);
    const bool is_allowed = next.num_entries <= options.most_entries;
    if (fits && !(is_allowed && choice.work(next) * choice.excess(next) < kWorthSlicing * choice.work(cost))) return;
    cost = std::move(next);
    if (!is_allowed) {
      cost.num_entries = kInf;
      return;
    }
  }
}

EliminationCost elimination_cost(const FactorGraph& graph, const EliminationOptions& options,
                                 const ShouldStop& should_stop) {
  check_range("elimination_cost", "restarts", options.restarts, 0, 1'000'000);
  check_argument(options.order_work >= 0.0, "elimination_cost", "order_work must be at least 0");
  const ModelSizes sizes(graph);
  EliminationCost best;
  if (!options.order.empty()) {
    best.order = options.order;
    best.slice_variables = options.slice_variables;
    set_sizes(best, sizes, options.keep_messages, should_stop);
    if (options.slice_variables.empty()) slice(best, sizes, options, should_stop);
    return best;
  }
  if (graph.num_variables() == 0) return best;
  best.num_entries = kInf;
  for (EliminationCost& found : best_orders(sizes, options, should_stop)) {
    if (!best.order.empty() && found.num_entries >= best.num_entries) break;
    slice(found, sizes, options, should_stop);
    if (found.num_entries < best.num_entries) best = std::move(found);
  }
  if (!std::isfinite(best.num_entries)) {
    best = {.order = {}, .log2_largest_bucket = kInf, .num_entries = kInf, .bytes = kInf, .marginal_bytes = kInf};
  }
  return best;
}

}  // namespace treesample
