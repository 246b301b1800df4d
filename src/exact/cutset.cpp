// The choice of a cutset.
#include "treesample/exact/cutset.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "exact/elimination_sizes.hpp"
#include "treesample/error.hpp"

namespace treesample {
namespace {

constexpr int kFewRestarts = 5;  // after each variable; the orders so far may still be the best
// A variable that is all but certain costs nothing in mass, and still a place in the cutset. Of 0.1, 0.02 and 0.005 the
// last two made the same lower bounds on pedigree models, the first one worse ones.
constexpr double kLeastEntropy = 0.02;
constexpr double kBitsPerRound = 16.0;  // too many by which one more variable is fixed before orders are made again

double entropy(std::span<const double> probs) {
  double sum = 0.0;
  for (const double p : probs) {
    if (p > 0.0) sum -= p * std::log(p);
  }
  return std::max(0.0, sum);
}

// By variable: the share of the work that would be saved if it were fixed, in this order.
std::vector<double> saved_shares(const ModelSizes& sizes, const EliminationCost& cost, const ShouldStop& should_stop) {
  constexpr double kNegligible = 1e-6;
  const auto separator_of = separators(sizes.adjacency, cost.order, should_stop);
  const double log2_total = std::log2(cost.num_entries);
  std::vector<double> shares(cost.order.size(), 0.0);
  for (const int v : cost.order) {
    const double log2_bucket = sizes.log2_num_entries(separator_of[v]) + sizes.log2_num_states[v];
    const double share = std::exp2(log2_bucket - log2_total);
    if (share < kNegligible) continue;
    const auto save = [&](int u) { shares[u] += share * (1.0 - std::exp2(-sizes.log2_num_states[u])); };
    save(v);
    for (const int u : separator_of[v]) save(u);
  }
  return shares;
}

// The best ones first.
std::vector<int> worth_fixing(const std::vector<double>& shares, const std::vector<double>& entropies,
                              std::size_t most) {
  std::vector<int> found;
  std::vector<double> score(shares.size(), 0.0);
  for (std::size_t v = 0; v < shares.size(); ++v) {
    if (shares[v] <= 0.0) continue;
    score[v] = -std::log1p(-std::min(shares[v], 1.0 - 1e-6)) / (kLeastEntropy + entropies[v]);
    found.push_back(static_cast<int>(v));
  }
  const std::size_t count = std::min(most, found.size());
  const auto is_before = [&](int a, int b) { return score[a] != score[b] ? score[a] > score[b] : a < b; };
  std::partial_sort(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(count), found.end(), is_before);
  found.resize(count);
  return found;
}

}  // namespace

Cutset choose_cutset(const FactorGraph& graph, const Marginals& marginals, const CutsetOptions& options) {
  check_argument(std::ssize(marginals) == graph.num_variables(), "choose_cutset",
                 fmt::format("{} distributions are given for {} variables", marginals.size(), graph.num_variables()));
  check_argument(options.most_entries >= 1.0, "choose_cutset", "most_entries must be at least 1");
  check_range("choose_cutset", "restarts", options.restarts, 1, 1'000'000);
  Cutset cutset;
  if (graph.num_variables() == 0) return cutset;
  std::vector<double> entropies;
  for (const std::vector<double>& probs : marginals) entropies.push_back(entropy(probs));
  ModelSizes sizes(graph);
  EliminationOptions orders{.restarts = options.restarts, .seed = options.seed, .threads = options.threads};
  orders.keep_messages = false;
  orders.should_settle = options.should_settle;
  EliminationCost& rest = cutset.rest;
  const auto improve = [&](int restarts) {
    orders.restarts = restarts;
    ++orders.seed;
    EliminationCost found = best_order(sizes, orders, options.should_stop);
    if (rest.order.empty() || found.num_entries < rest.num_entries) rest = std::move(found);
  };
  if (options.order.empty()) {
    improve(options.restarts);
  } else {
    check_argument(options.order.size() == marginals.size(), "choose_cutset",
                   fmt::format("the order has {} variables, the model {}", options.order.size(), marginals.size()));
    rest.order = options.order;
    set_sizes(rest, sizes, false, options.should_stop);
  }
  // A variable without neighbours that matters has a bucket of its own states, so that in the end all are fixed.
  const double least = std::max(options.most_entries, static_cast<double>(graph.num_variables()));
  while (rest.num_entries > least) {
    const double excess = std::log2(rest.num_entries / least);
    const auto count = static_cast<std::size_t>(1.0 + excess / kBitsPerRound);
    const std::vector<int> chosen =
        worth_fixing(saved_shares(sizes, rest, options.should_stop), entropies, count);
    if (chosen.empty()) break;
    for (const int v : chosen) {
      sizes.fix(v);
      cutset.variables.push_back(v);
    }
    set_sizes(rest, sizes, false, options.should_stop);
    improve(std::min(kFewRestarts, options.restarts));
  }
  if (!cutset.variables.empty()) improve(options.restarts);
  return cutset;
}

}  // namespace treesample
