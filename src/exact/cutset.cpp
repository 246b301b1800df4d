// The choice of a cutset.
#include "treesample/exact/cutset.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <utility>

#include "exact/elimination_plan.hpp"
#include "exact/order_search.hpp"
#include "thread_team.hpp"
#include "treesample/error.hpp"

namespace treesample {
namespace {

constexpr int kRestarts = 2;  // orders tried after each choice of variables
// Added to every entropy: fixing an all but certain variable loses no mass, but still takes a place in the cutset. Of
// 0.1, 0.02 and 0.005 the last two gave the same lower bounds on pedigree models, the first worse ones.
constexpr double kLeastEntropy = 0.02;
constexpr double kBitsPerRound = 16.0;  // of work above the limit for which a round fixes one more variable

double entropy(std::span<const double> probs) {
  double sum = 0.0;
  for (const double p : probs) {
    if (p > 0.0) sum -= p * std::log(p);
  }
  return std::max(0.0, sum);
}

// By variable: the share of the work in this order that fixing it would save.
std::vector<double> saved_shares(const ModelSizes& sizes, const EliminationPlan& plan) {
  constexpr double kNegligible = 1e-6;
  const double log2_total = std::log2(plan.num_entries);
  std::vector<double> shares(plan.order.size(), 0.0);
  for (const int v : plan.order) {
    const double log2_bucket = sizes.log2_num_entries(plan.separators[v]) + sizes.log2_num_states[v];
    const double share = std::exp2(log2_bucket - log2_total);
    if (share < kNegligible) continue;
    const auto save = [&](int u) { shares[u] += share * (1.0 - std::exp2(-sizes.log2_num_states[u])); };
    save(v);
    for (const int u : plan.separators[v]) save(u);
  }
  return shares;
}

// At most `most` variables, those with the largest reduction of the log of the work per entropy first.
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

class CutsetChoice {
 public:
  CutsetChoice(const ModelSizes& sizes, const std::vector<double>& entropies, const CutsetOptions& options)
      : sizes_(sizes), entropies_(entropies), options_(options) {}

  // Greedy: each round uses the best of two new orders and the last one. A good order of the whole model is no good
  // start (docs/methods/cutsets.md, section 1).
  [[nodiscard]] Cutset made_by(int index, const ShouldStop& should_stop) const;
  [[nodiscard]] double entropy_of(const Cutset& cutset) const {
    double sum = 0.0;
    for (const int v : cutset.variables) sum += entropies_[v];
    return sum;
  }

 private:
  const ModelSizes& sizes_;
  const std::vector<double>& entropies_;
  const CutsetOptions& options_;
};

Cutset CutsetChoice::made_by(int index, const ShouldStop& should_stop) const {
  constexpr std::uint64_t kSeedsPerTry = 1'000'003;
  Cutset cutset;
  ModelSizes sizes = sizes_;
  EliminationOptions orders{.restarts = kRestarts, .seed = options_.seed + kSeedsPerTry * (index + 1)};
  EliminationPlan& rest = cutset.rest;
  rest = best_orders(sizes, orders, should_stop).front();
  set_sizes(rest, sizes, should_stop);
  // The work cannot fall below one entry per variable.
  const double most = std::max(options_.most_entries, static_cast<double>(entropies_.size()));
  while (rest.num_entries > most) {
    const auto count = static_cast<std::size_t>(1.0 + std::log2(rest.num_entries / most) / kBitsPerRound);
    for (const int v : worth_fixing(saved_shares(sizes, rest), entropies_, count)) {
      sizes.fix(v);
      cutset.variables.push_back(v);
    }
    set_sizes(rest, sizes, should_stop);
    ++orders.seed;
    EliminationPlan found = best_orders(sizes, orders, should_stop).front();
    if (found.num_entries >= rest.num_entries) continue;
    rest = std::move(found);
    set_sizes(rest, sizes, should_stop);
  }
  rest.separators.clear();
  return cutset;
}

}  // namespace

Cutset choose_cutset(const FactorGraph& graph, const Marginals& marginals, const CutsetOptions& options) {
  check_argument(std::ssize(marginals) == graph.num_variables(), "choose_cutset",
                 fmt::format("{} distributions are given for {} variables", marginals.size(), graph.num_variables()));
  check_argument(options.most_entries >= 1.0, "choose_cutset", "most_entries must be at least 1");
  check_range("choose_cutset", "tries", options.tries, 1, 1'000'000);
  if (graph.num_variables() == 0) return {};
  std::vector<double> entropies;
  for (const std::vector<double>& probs : marginals) entropies.push_back(entropy(probs));
  const ModelSizes sizes(graph);
  const CutsetChoice choice(sizes, entropies, options);
  std::vector<Cutset> made(static_cast<std::size_t>(options.tries));
  made[0] = choice.made_by(0, options.should_stop);
  if (made[0].variables.empty()) return made[0];
  std::atomic<bool> is_settled = false;
  const auto is_over = [&](bool is_caller) {
    if (is_caller && !is_settled) {
      is_settled = (options.should_settle && options.should_settle()) || (options.should_stop && options.should_stop());
    }
    return is_settled.load();
  };
  ThreadTeam team(options.threads);
  team.run(made.size() - 1, 1, [&](std::size_t first, std::size_t, int worker) {
    const bool is_caller = worker == 0;
    if (is_over(is_caller)) return;
    try {
      made[first + 1] = choice.made_by(static_cast<int>(first + 1), [&] { return is_over(is_caller); });
    } catch (const Error& error) {
      if (error.code() != ErrorCode::kInterrupted) throw;
    }
  });
  const Cutset* best = made.data();
  for (const Cutset& other : made) {
    const bool is_made = !other.rest.order.empty();
    if (is_made && choice.entropy_of(other) < choice.entropy_of(*best)) best = &other;
  }
  return *best;
}

}  // namespace treesample
