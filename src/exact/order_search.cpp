#include "exact/order_search.hpp"

#include <atomic>
#include <cmath>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "exact/contraction_tree.hpp"
#include "thread_team.hpp"
#include "treesample/math/random.hpp"
#include "treesample/space/varied_order.hpp"

namespace treesample {
namespace {

// Of those with the fewest entries as a whole, how many are annealed, and looked at in slices.
constexpr std::size_t kMostKept = 4;
// Of the greedy orders that come first. Where the model is large, the first alone will do if elimination is quick.
constexpr int kFirstOrders = 10;
constexpr std::size_t kManyVariables = 1000;
constexpr std::size_t kLeastSharedVariables =
    20'000;  // variables to be ordered, which take less time than starting threads
// Times in units of bucket entries: of a step of a greedy order, which is a pair of neighbours of a removed variable,
// and of a proposal of annealing.
constexpr double kEntriesPerStep = 15.0;
constexpr double kEntriesPerProposal = 15.0, kEntriesPerWord = 1.0;
// A round is worth its time if it takes at most this share of what it is expected to save. It is expected to make
// elimination quicker by the square root of the factor that the last round gained, or by the least one. (With half of
// it, models whose orders cannot be improved became 10 to 30 % slower: most entries take a third of the time of those
// that predictions assume. With 0.15 of it, linkage_17 took 5 s instead of 0.6.)
constexpr double kShare = 0.3;
constexpr double kFirstGain = 1.25, kLeastGain = 1.05;
// The search may take so many times its work as long as all that is asked for has more entries than allowed: a better
// order may then decide whether there is an exact answer.
constexpr double kShareIfOpen = 3.0;
// A round of annealing: trees, proposals per product of each tree in the first round, and how much longer each round is
// than the one before. Half of the trees begin hotter.
constexpr int kTrees = 8;
constexpr double kFirstProposals = 16.0, kGrowth = 4.0;
constexpr double kTemperatures[] = {0.5, 1.0};
// Where a good order is known, which must not be forgotten.
constexpr double kAgainProposals = 4096.0;  // at most, by the work
constexpr double kAgainTemperatures[] = {0.2, 0.5};
constexpr double kGreedyShare = 0.25;  // of the time for annealing, for more greedy orders beside it
// What the first round may gain at most, in bits. All later ones together are expected to gain at most twice as many
// bits as the last one, and a few. Where the limit is farther away than that, annealing is given up.
constexpr double kMostGain = 24.0, kLastGain = 2.0;

struct Found {
  int number = 0;  // of the try, for a choice among equals that does not depend on threads
  EliminationPlan plan;

  // Orders that differ by half a percent are as good as each other: sums of the same sizes may differ by rounding, and
  // of two such orders the greedy one has been the quicker one.
  [[nodiscard]] double rounded_size() const { return std::round(128.0 * std::log2(plan.num_entries)); }
  [[nodiscard]] bool is_before(const Found& other) const {
    const double size = rounded_size(), other_size = other.rounded_size();
    return size != other_size ? size < other_size : number < other.number;
  }
};

class OrderSearch {
 public:
  OrderSearch(const ModelSizes& sizes, const EliminationOptions& options, const ShouldStop& should_stop)
      : sizes_(sizes),
        options_(options),
        should_stop_(should_stop),
        most_entries_(options.most_entries * (options.restarts == 0 ? std::exp2(kMostGain) : 1.0)) {}

  std::vector<EliminationPlan> run();
  std::vector<int> annealed(const std::vector<int>& order);

 private:
  // Tries that share a round.
  struct Round {
    int num_greedy = 0, num_trees = 0;
    std::int64_t num_proposals = 0;  // for each tree
    double work = 0.0;
  };

  void run_greedy();
  void run_rounds();
  [[nodiscard]] Round next_round(double num_proposals) const;
  void run(const Round& round, ThreadTeam& team);
  void try_greedy(int number, bool is_caller);
  void try_tree(int number, const std::vector<int>& from, std::int64_t num_proposals, bool is_caller);
  void offer(Found found);
  void tell(int num_done) const;
  [[nodiscard]] double most_work() const {
    const bool is_open =
        !kept_.empty() && kept_.front().plan.num_entries * num_passes(options_.goal) > options_.most_entries;
    return (is_open ? kShareIfOpen : 1.0) * options_.order_work;
  }
  [[nodiscard]] bool is_worth(double work) const {
    return work_ + work <= most_work() && !kept_.empty() &&
           work <= kShare * (1.0 - 1.0 / gain_) * kept_.front().plan.num_entries * num_passes(options_.goal) *
                       options_.num_uses;
  }
  [[nodiscard]] double greedy_work() const { return kEntriesPerStep * num_steps_; }
  // Only the calling thread asks; the others are told.
  [[nodiscard]] ShouldStop stop_for(bool is_caller) {
    if (!is_caller) return [this] { return is_stopped_.load(std::memory_order_relaxed); };
    return [this] {
      if (should_stop_ && should_stop_()) is_stopped_ = true;
      return is_stopped_.load();
    };
  }

  const ModelSizes& sizes_;
  const EliminationOptions& options_;
  const ShouldStop& should_stop_;
  std::optional<TableSets> sets_;  // where trees are annealed
  std::mutex mutex_;
  std::vector<Found> kept_;
  std::atomic<double> most_entries_;  // beyond which an order is not among the best few
  int num_greedy_ = 0, num_trees_ = 0;
  double num_steps_ = 0.0;  // of the first order
  double work_ = 0.0;       // so far
  bool is_known_ = false;   // a good order
  std::atomic<bool> is_stopped_ = false;
  double gain_ = kFirstGain;  // that is expected of the next round
};

void OrderSearch::offer(Found found) {
  const std::scoped_lock lock(mutex_);
  const auto place =
      std::find_if(kept_.begin(), kept_.end(), [&](const Found& other) { return found.is_before(other); });
  kept_.insert(place, std::move(found));
  if (kept_.size() > kMostKept) kept_.pop_back();
  constexpr double kAsGood = 1.01;
  if (kept_.size() == kMostKept) {
    most_entries_ = std::min(most_entries_.load(), kAsGood * kept_.back().plan.num_entries);
  }
}

void OrderSearch::try_greedy(int number, bool is_caller) {
  double num_entries = 0.0;
  const auto goes_on = [&](int v, std::span<const int> neighbours) {
    if (number == 0) num_steps_ += std::pow(static_cast<double>(neighbours.size()), 2.0) + 1.0;
    num_entries += exp2_limited(sizes_.log2_num_entries(neighbours) + sizes_.log2_num_states[v]);
    return num_entries <= most_entries_.load(std::memory_order_relaxed);
  };
  const ShouldStop stop = stop_for(is_caller);
  Random ties(options_.seed, "elimination order " + std::to_string(number));
  Found found{number, {}};
  found.plan.order = elimination_order(sizes_.adjacency, OrderKind::kMinFill, ties, {goes_on, stop},
                                       varied_order(number, sizes_.log2_num_states));
  if (found.plan.order.size() < sizes_.adjacency.size()) return;
  found.plan.num_entries = num_entries;
  offer(std::move(found));
}

void OrderSearch::try_tree(int number, const std::vector<int>& from, std::int64_t num_proposals, bool is_caller) {
  constexpr int kAfterGreedy = 1 << 30;
  Random random(options_.seed, "annealed order " + std::to_string(number));
  StopCheck stop(stop_for(is_caller));
  ContractionTree tree(*sets_, from);
  const auto& temperatures = is_known_ ? kAgainTemperatures : kTemperatures;
  tree.anneal({num_proposals, temperatures[number % std::ssize(temperatures)]}, random, stop);
  Found found{kAfterGreedy + number, {}};
  found.plan.order = tree.order();
  set_sizes(found.plan, sizes_, stop_for(is_caller));
  if (found.plan.num_entries <= most_entries_.load(std::memory_order_relaxed)) offer(std::move(found));
}

// The first order is always made, whatever happens to this.
void OrderSearch::tell(int num_done) const {
  if (!options_.progress || num_greedy_ == 0) return;
  options_.progress(options_.restarts > 0 ? static_cast<double>(num_greedy_ + num_done) / options_.restarts
                                          : work_ / std::max(1.0, most_work()));
}

// Trees first, because each of them takes longest.
void OrderSearch::run(const Round& round, ThreadTeam& team) {
  const std::vector<Found> starts = kept_;
  const double before = starts.empty() ? HUGE_VAL : starts.front().plan.num_entries;
  StopCheck stop(stop_for(true));
  team.run(
      static_cast<std::size_t>(round.num_trees) + static_cast<std::size_t>(round.num_greedy), 1,
      [&](std::size_t first, std::size_t, int worker) {
        const bool is_caller = worker == 0;
        const int i = static_cast<int>(first);
        if (is_caller) tell(i);
        if (i < round.num_trees) {
          // Each start serves one tree of each temperature before it serves another.
          const std::size_t start = static_cast<std::size_t>(i) / std::size(kTemperatures) % starts.size();
          try_tree(num_trees_ + i, starts[start].plan.order, round.num_proposals, is_caller);
        } else {
          try_greedy(num_greedy_ + i - round.num_trees, is_caller);
        }
      },
      [&] { return stop.is_asked(1 + static_cast<std::int64_t>(num_steps_)); });
  num_trees_ += round.num_trees;
  num_greedy_ += round.num_greedy;
  work_ += round.work;
  if (round.num_trees > 0) gain_ = std::max(kLeastGain, std::sqrt(before / kept_.front().plan.num_entries));
}

// As long as that and as order_work allow.
OrderSearch::Round OrderSearch::next_round(double num_proposals) const {
  const double per_proposal = kEntriesPerProposal + kEntriesPerWord * static_cast<double>(sets_->num_words());
  constexpr double kRounded = 0.999;  // what is left is never more than that
  const double left = kRounded * (most_work() - work_) / (1.0 + (is_known_ ? 0.0 : kGreedyShare));
  Round round{.num_trees = kTrees};
  const double proposals = std::min(num_proposals * static_cast<double>(sets_->num_tables()),
                                    left / (per_proposal * static_cast<double>(kTrees)));
  round.num_proposals = static_cast<std::int64_t>(proposals);
  round.work = static_cast<double>(round.num_trees) * proposals * per_proposal;
  if (is_known_) return round;
  round.num_greedy = static_cast<int>(std::min(4096.0, kGreedyShare * round.work / greedy_work()));
  round.work += round.num_greedy * greedy_work();
  return round;
}

// The first orders, which small models share among threads for longer than they take.
void OrderSearch::run_greedy() {
  const int wanted = options_.restarts > 0 ? options_.restarts : kFirstOrders;
  const std::size_t num_variables = sizes_.adjacency.size();
  ThreadTeam team(static_cast<std::size_t>(wanted) * num_variables < kLeastSharedVariables ? 1 : options_.threads);
  run({.num_greedy = 1}, team);
  work_ = greedy_work();
  const double rest = (wanted - 1) * greedy_work();
  const bool has_time = num_variables < kManyVariables && work_ + rest <= most_work();
  if (options_.restarts > 0 || has_time || is_worth(rest)) run({.num_greedy = wanted - 1, .work = rest}, team);
}

void OrderSearch::run_rounds() {
  if (kept_.empty()) return;
  // Before the sets are made, at least their number is known.
  const double least = kTrees * kFirstProposals * kEntriesPerProposal * static_cast<double>(sizes_.adjacency.size());
  if (!is_worth(least)) return;
  sets_.emplace(sizes_.scopes(), sizes_.log2_num_states);
  if (sets_->num_tables() < 3) return;  // no two trees differ
  ThreadTeam team(options_.threads);
  double most_gain = kMostGain;
  for (double proposals = kFirstProposals;; proposals *= kGrowth) {
    const Round round = next_round(proposals);
    if (!is_worth(round.work) || round.num_proposals < static_cast<std::int64_t>(sets_->num_tables())) return;
    if (kept_.front().plan.num_entries > options_.most_entries * std::exp2(most_gain)) return;
    run(round, team);
    most_gain = kLastGain + 4.0 * std::log2(gain_);  // gain_ is the square root of what the round has gained
  }
}

std::vector<EliminationPlan> OrderSearch::run() {
  run_greedy();
  if (options_.restarts == 0) run_rounds();
  std::vector<EliminationPlan> orders;
  for (Found& found : kept_) {
    if (found.plan.num_entries <= options_.most_entries) orders.push_back(std::move(found.plan));
  }
  return orders;
}

// A single round from this order, not hot enough to forget it.
std::vector<int> OrderSearch::annealed(const std::vector<int>& order) {
  Found given{0, {}};
  given.plan.order = order;
  set_sizes(given.plan, sizes_, should_stop_);
  offer(std::move(given));
  is_known_ = true;
  sets_.emplace(sizes_.scopes(), sizes_.log2_num_states);
  if (sets_->num_tables() < 3) return order;
  const Round round = next_round(kAgainProposals);
  ThreadTeam team(options_.threads);
  if (round.num_proposals >= static_cast<std::int64_t>(sets_->num_tables())) run(round, team);
  return kept_.front().plan.order;
}

}  // namespace

std::vector<int> annealed_again(const ModelSizes& sizes, const std::vector<int>& order, double most_work,
                                const EliminationOptions& options, const ShouldStop& should_stop) {
  EliminationOptions again = options;
  again.order_work = most_work;
  again.most_entries = HUGE_VAL;
  again.progress = {};
  return OrderSearch(sizes, again, should_stop).annealed(order);
}

std::vector<EliminationPlan> best_orders(const ModelSizes& sizes, const EliminationOptions& options,
                                         const ShouldStop& should_stop) {
  return OrderSearch(sizes, options, should_stop).run();
}

}  // namespace treesample
