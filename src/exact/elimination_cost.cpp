#include <algorithm>
#include <cmath>
#include <utility>

#include "treesample/error.hpp"
#include "treesample/exact/elimination.hpp"
#include "treesample/math/random.hpp"
#include "treesample/space/order.hpp"

namespace treesample {
namespace {

using Separators = std::vector<std::vector<int>>;

// Sizes end here, so that sums and differences of them stay finite.
constexpr double kMaxLog2Size = 1000.0;

double log2_num_entries(const FactorGraph& graph, std::span<const int> scope) {
  double sum = 0.0;
  for (const int v : scope) sum += std::log2(graph.num_states(v));
  return sum;
}

double message_bytes(const FactorGraph& graph, const std::vector<int>& separator) {
  return sizeof(double) * std::exp2(std::min(log2_num_entries(graph, separator), kMaxLog2Size));
}

// Fills in what the order costs. Times of life: a message lives until the bucket it goes to is done;
// p(x_sep(v)) from the bucket above v until the bucket of v is done.
EliminationCost cost_of(const FactorGraph& graph, const Separators& separators, std::vector<int> order,
                        bool keep_messages) {
  EliminationCost cost;
  std::vector<double> bytes(separators.size());           // of the message of v
  std::vector<double> received_bytes(separators.size());  // of the messages that go to v
  double total = 0.0;
  double alive = 0.0;
  double peak = 0.0;
  for (const int v : order) {
    const std::vector<int>& separator = separators[v];
    const double log2_bucket = log2_num_entries(graph, separator) + std::log2(graph.num_states(v));
    cost.width = std::max(cost.width, static_cast<int>(separator.size()));
    cost.log2_largest_bucket = std::max(cost.log2_largest_bucket, log2_bucket);
    cost.num_entries += std::exp2(std::min(log2_bucket, kMaxLog2Size));
    bytes[v] = message_bytes(graph, separator);
    if (!separator.empty()) received_bytes[separator.front()] += bytes[v];
    total += bytes[v];
    alive += bytes[v];
    peak = std::max(peak, alive);
    alive -= received_bytes[v];
  }
  cost.bytes = keep_messages ? total : peak;
  alive = peak = 0.0;
  for (auto v = order.rbegin(); v != order.rend(); ++v) {
    if (separators[*v].empty()) alive += bytes[*v];
    alive += received_bytes[*v];
    peak = std::max(peak, alive);
    alive -= bytes[*v];
  }
  cost.marginal_bytes = total + peak;
  cost.order = std::move(order);
  return cost;
}

}  // namespace

EliminationCost elimination_cost(const FactorGraph& graph, const EliminationOptions& options,
                                 const ShouldStop& should_stop) {
  check_range("elimination_cost", "restarts", options.restarts, 1, 1'000'000);
  const Adjacency adjacency = adjacency_of(graph);
  if (!options.order.empty()) {
    return cost_of(graph, separators(adjacency, options.order, should_stop), options.order, options.keep_messages);
  }
  Random ties(options.seed, "elimination order");
  EliminationCost best;
  for (int restart = 0; restart < options.restarts; ++restart) {
    const auto is_settled = [&] { return restart > 0 && options.should_settle && options.should_settle(); };
    if (is_settled()) break;
    StopCheck settle(is_settled);
    double num_entries = 0.0;
    const auto goes_on = [&](int v, std::span<const int> neighbours) {
      const auto size = static_cast<std::int64_t>(neighbours.size());
      const double log2_bucket = log2_num_entries(graph, neighbours) + std::log2(graph.num_states(v));
      num_entries += std::exp2(std::min(log2_bucket, kMaxLog2Size));
      return num_entries <= options.most_entries && !settle.is_asked(size * size + 1);
    };
    std::vector<int> order = elimination_order(adjacency, OrderKind::kMinFill, ties, {goes_on, should_stop});
    if (static_cast<int>(order.size()) < graph.num_variables()) continue;
    const Separators sep = separators(adjacency, order, should_stop);
    EliminationCost cost = cost_of(graph, sep, std::move(order), options.keep_messages);
    if (best.order.empty() || cost.num_entries < best.num_entries) best = std::move(cost);
  }
  if (best.order.empty() && graph.num_variables() > 0) {
    constexpr double kInf = std::numeric_limits<double>::infinity();
    best = {.order = {}, .log2_largest_bucket = kInf, .num_entries = kInf, .bytes = kInf, .marginal_bytes = kInf};
  }
  return best;
}

}  // namespace treesample
