// What an elimination takes: its sizes in a given order, the variables to fix where they are too large, and many varied
// greedy orders, the best of which is used.
#include "exact/elimination_cost.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <mutex>
#include <numeric>
#include <utility>

#include "thread_team.hpp"
#include "treesample/error.hpp"
#include "treesample/math/random.hpp"
#include "treesample/space/varied_order.hpp"

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

// ---- Orders --------------------------------------------------------------------------------------------------------

namespace {

// Of those with the fewest entries as a whole, how many are looked at in slices.
constexpr std::size_t kMostKept = 4;
// Orders are tried in rounds, each as many as there were before. One more round is worth its time while that is less
// than a tenth of elimination's: a step of the first order (a pair of neighbours of a removed variable) takes as long
// as 15 bucket entries.
constexpr std::size_t kFirstRound = 10;
constexpr std::size_t kManyVariables = 1000;  // where the first order alone will do if elimination takes less time
constexpr double kEntriesPerStep = 150.0;
constexpr std::size_t kLeastShared = 20'000;  // variables to be ordered, which take less time than starting threads

struct Found {
  int restart = 0;
  EliminationCost cost;

  [[nodiscard]] bool is_before(const Found& other) const {
    return cost.num_entries != other.cost.num_entries ? cost.num_entries < other.cost.num_entries
                                                      : restart < other.restart;
  }
};

class OrderSearch {
 public:
  OrderSearch(const ModelSizes& sizes, const EliminationOptions& options, const ShouldStop& should_stop)
      : sizes_(sizes), options_(options), should_stop_(should_stop) {}

  // The best few, best first.
  std::vector<Found> run();

 private:
  void try_order(int restart, bool is_caller);
  void ask_to_settle() {
    if (!is_settled_ && options_.should_settle && options_.should_settle()) is_settled_ = true;
  }
  [[nodiscard]] bool is_cheap(std::size_t num_tried) const {
    const double entries_per_step = num_tried == 1 ? 0.1 * kEntriesPerStep : kEntriesPerStep;
    return !kept_.empty() &&
           num_steps_ * static_cast<double>(num_tried) * entries_per_step >= kept_.front().cost.num_entries;
  }
  [[nodiscard]] double most_entries() const { return most_entries_.load(std::memory_order_relaxed); }

  const ModelSizes& sizes_;
  const EliminationOptions& options_;
  const ShouldStop& should_stop_;
  std::mutex mutex_;
  std::vector<Found> kept_;
  std::atomic<double> most_entries_ = HUGE_VAL;  // beyond which an order is not among the best few
  std::atomic<bool> is_settled_ = false;
  double num_steps_ = 0.0;  // of the first order
};

void OrderSearch::try_order(int restart, bool is_caller) {
  const auto is_settled = [&] {
    if (is_caller && restart > 0) ask_to_settle();
    return restart > 0 && is_settled_;
  };
  StopCheck settle(is_settled);
  double num_entries = 0.0;
  const auto goes_on = [&](int v, std::span<const int> neighbours) {
    const auto size = static_cast<std::int64_t>(neighbours.size());
    const double log2_bucket = sizes_.log2_num_entries(neighbours) + sizes_.log2_num_states[v];
    num_entries += std::exp2(std::min(log2_bucket, kMaxLog2Size));
    if (restart == 0) num_steps_ += static_cast<double>(size * size + 1);
    return num_entries <= most_entries() && !settle.is_asked(size * size + 1);
  };
  Random ties(options_.seed, "elimination order " + std::to_string(restart));
  EliminationCost cost;
  cost.order =
      elimination_order(sizes_.adjacency, OrderKind::kMinFill, ties, {goes_on, is_caller ? should_stop_ : ShouldStop()},
                        varied_order(restart, sizes_.log2_num_states));
  if (cost.order.size() < sizes_.adjacency.size()) return;
  set_sizes(cost, sizes_, options_.keep_messages, is_caller ? should_stop_ : ShouldStop());
  Found found{restart, std::move(cost)};
  const std::scoped_lock lock(mutex_);
  const auto place =
      std::find_if(kept_.begin(), kept_.end(), [&](const Found& other) { return found.is_before(other); });
  kept_.insert(place, std::move(found));
  if (kept_.size() > kMostKept) kept_.pop_back();
  if (kept_.size() == kMostKept) most_entries_ = std::min(most_entries(), kept_.back().cost.num_entries);
}

std::vector<Found> OrderSearch::run() {
  most_entries_ = options_.most_entries;
  const auto count = static_cast<std::size_t>(options_.restarts);
  ThreadTeam team(count * sizes_.adjacency.size() < kLeastShared ? 1 : options_.threads);
  try_order(0, true);
  StopCheck stop(should_stop_);
  const std::size_t least = sizes_.adjacency.size() >= kManyVariables ? 1 : kFirstRound;
  for (std::size_t done = 1; done < count && !is_settled_;) {
    if (options_.stops_when_cheap && done >= least && is_cheap(done)) break;
    const std::size_t end = options_.stops_when_cheap ? std::min(count, std::max(kFirstRound, 2 * done)) : count;
    team.run(
        end - done, 1,
        [&](std::size_t first, std::size_t, int worker) {
          const bool is_caller = worker == 0;
          if (is_caller) ask_to_settle();
          if (is_caller && options_.progress) {
            options_.progress(static_cast<double>(done + first) / static_cast<double>(count));
          }
          if (!is_settled_) try_order(static_cast<int>(done + first), is_caller);
        },
        [&] { return stop.is_asked(1 + static_cast<std::int64_t>(num_steps_)); });
    done = end;
  }
  return std::move(kept_);
}

}  // namespace

EliminationCost best_order(const ModelSizes& sizes, const EliminationOptions& options, const ShouldStop& should_stop) {
  return OrderSearch(sizes, options, should_stop).run().front().cost;
}

EliminationCost elimination_cost(const FactorGraph& graph, const EliminationOptions& options,
                                 const ShouldStop& should_stop) {
  check_range("elimination_cost", "restarts", options.restarts, 1, 1'000'000);
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
  std::vector<Found> orders = OrderSearch(sizes, options, should_stop).run();
  best.num_entries = HUGE_VAL;
  for (Found& found : orders) {
    if (!best.order.empty() && found.cost.num_entries >= best.num_entries) break;
    slice(found.cost, sizes, options, should_stop);
    if (found.cost.num_entries < best.num_entries) best = std::move(found.cost);
  }
  if (!std::isfinite(best.num_entries)) {
    best = {.order = {}, .log2_largest_bucket = kInf, .num_entries = kInf, .bytes = kInf, .marginal_bytes = kInf};
  }
  return best;
}

}  // namespace treesample
