#include "exact/elimination_sizes.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace treesample {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr std::size_t kMostCandidates = 24;
constexpr double kMostSlices = 4096;

double exp2_limited(double log2_size) { return std::exp2(std::min(log2_size, kMaxLog2Size)); }

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

ModelSizes::ModelSizes(const FactorGraph& graph) : adjacency(adjacency_of(graph)) {
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
}

// Times of life: a message lives until the bucket it goes to is done; p(x_sep(v)) from the bucket above v until the
// bucket of v is done.
void set_sizes(EliminationCost& cost, const ModelSizes& whole, bool keep_messages, const ShouldStop& should_stop) {
  ModelSizes sizes = whole;
  double log2_num_slices = 0.0;
  for (const int v : cost.slice_variables) {
    log2_num_slices += sizes.log2_num_states[v];
    sizes.fix(v);
  }
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

void slice(EliminationCost& cost, const ModelSizes& whole, const EliminationOptions& options,
           const ShouldStop& should_stop) {
  ModelSizes sizes = whole;
  for (const int v : cost.slice_variables) sizes.fix(v);
  const auto excess = [&](const EliminationCost& of) { return bytes_for(of, options.goal) / options.most_bytes; };
  while (excess(cost) > 1.0) {
    EliminationCost best;
    best.num_entries = kInf;
    double least = kInf;
    for (const int v : candidates(sizes, cost, separators(sizes.adjacency, cost.order, should_stop))) {
      EliminationCost sliced = cost;
      sliced.slice_variables.push_back(v);
      set_sizes(sliced, whole, options.keep_messages, should_stop);
      const double key = sliced.num_entries * std::max(1.0, excess(sliced));
      if (key >= least) continue;
      least = key;
      best = std::move(sliced);
    }
    if (!std::isfinite(least) || best.num_entries > options.most_entries || best.num_slices > kMostSlices) {
      cost.num_entries = kInf;
      return;
    }
    sizes.fix(best.slice_variables.back());
    cost = std::move(best);
  }
}

}  // namespace treesample
