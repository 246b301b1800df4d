#include "optimize/local_search.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <utility>

#include "optimize/walker.hpp"
#include "thread_team.hpp"
#include "treesample/exact/find_configuration.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample {
namespace {

constexpr int kFewestWalkers = 4;
// Of one walker between two exchanges: rounds begin short, so that easy models are done at once.
constexpr double kFirstRoundEntries = 1 << 14, kLongestRoundEntries = 1 << 20;
constexpr double kMostEntries = 1 << 22, kEntryBytes = 12.0;  // of the messages of a walker
constexpr std::size_t kMostElites = 12;                       // good configurations that are remembered
constexpr std::int64_t kFindDecisions = 20000;                // for a start

}  // namespace

struct LocalSearch::State {
  State(const FactorGraph& model, const Options& how)
      : graph(model), options(how), orders(model, how.seed, how.should_stop), team(std::max(1, how.threads)) {}

  void offer(Configuration found);
  void start(int walker, const ShouldStop& should_stop);
  void run_round(const ShouldStop& should_stop);

  const FactorGraph& graph;
  Options options;
  OrderPool orders;
  ThreadTeam team;
  std::vector<Configuration> elites;  // the best first
  std::vector<std::unique_ptr<Walker>> walkers;
  double num_entries = 0.0, found_at = 0.0, round_entries = kFirstRoundEntries;
  bool is_whole = false;
};

// Among the elites, unless it is one of them.
void LocalSearch::State::offer(Configuration found) {
  if (found.x.empty() || found.log_density == kNegInf) return;
  if (elites.empty() || found.log_density > elites.front().log_density) found_at = num_entries;
  const auto place = std::find_if(elites.begin(), elites.end(),
                                  [&](const Configuration& other) { return other.log_density <= found.log_density; });
  const bool is_known =
      std::any_of(elites.begin(), elites.end(), [&](const Configuration& other) { return other.x == found.x; });
  if (is_known) return;
  elites.insert(place, std::move(found));
  if (elites.size() > kMostElites) elites.pop_back();
}

LocalSearch::LocalSearch(const FactorGraph& graph, const Options& options, const std::vector<Assignment>& first,
                         const ShouldStop& should_stop)
    : state_(std::make_unique<State>(graph, options)) {
  for (const Assignment& x : first) offer(x);
  const int num_walkers = std::max(kFewestWalkers, options.threads);
  const double most_entries = std::min(kMostEntries, static_cast<double>(options.bytes) / (kEntryBytes * num_walkers));
  for (int i = 0; i < num_walkers; ++i) {
    state_->walkers.push_back(std::make_unique<Walker>(
        graph, state_->orders, Random(options.seed, "walker " + std::to_string(i)), most_entries));
  }
  if (!state_->elites.empty()) return;
  const FindResult found =
      find_configuration(graph, {.seed = options.seed, .max_decisions = kFindDecisions, .should_stop = should_stop});
  if (found.outcome == FindOutcome::kFound) state_->offer(found.configuration);
}

LocalSearch::~LocalSearch() = default;

void LocalSearch::offer(const Assignment& x) { state_->offer({x, state_->graph.log_density(x)}); }

// Walkers begin at different places: the first at the best one that is known, others where a search with a random
// component ends, if that is quick.
void LocalSearch::State::start(int walker, const ShouldStop& should_stop) {
  if (walker > 0) {
    const FindResult found = find_configuration(graph, {.temperature = 1.0,
                                                        .seed = options.seed + static_cast<std::uint64_t>(walker),
                                                        .max_decisions = kFindDecisions,
                                                        .should_stop = should_stop});
    if (found.outcome == FindOutcome::kFound) {
      walkers[walker]->begin(found.configuration);
      return;
    }
  }
  walkers[walker]->begin(elites.front());
}

void LocalSearch::State::run_round(const ShouldStop& should_stop) {
  // The calling thread asks, and the others follow.
  std::atomic<bool> is_stopped = false;
  const auto ask = [&] {
    if (!is_stopped && should_stop && should_stop()) is_stopped = true;
    return is_stopped.load();
  };
  const auto follow = [&] { return is_stopped.load(); };
  team.run(walkers.size(), 1, [&](std::size_t first, std::size_t last, int worker) {
    const ShouldStop stop = worker == 0 ? ShouldStop(ask) : ShouldStop(follow);
    for (std::size_t i = first; i < last; ++i) {
      if (!walkers[i]->has_begun()) start(static_cast<int>(i), stop);
      walkers[i]->walk(round_entries, elites, stop);
    }
  });
  round_entries = std::min(2.0 * round_entries, kLongestRoundEntries);
  for (const auto& walker : walkers) {
    num_entries += walker->take_entries();
    is_whole = is_whole || walker->is_whole();
  }
  for (const auto& walker : walkers) offer(walker->take_best());
}

void LocalSearch::run(double entries, const ShouldStop& should_stop) {
  const double end = state_->num_entries + entries;
  while (!state_->elites.empty() && !state_->is_whole && state_->num_entries < end) {
    if (should_stop && should_stop()) return;
    state_->run_round(should_stop);
  }
}

const Configuration& LocalSearch::best() const {
  static const Configuration kNone;
  return state_->elites.empty() ? kNone : state_->elites.front();
}

bool LocalSearch::is_whole() const { return state_->is_whole; }
double LocalSearch::entries_in_vain() const { return state_->num_entries - state_->found_at; }
double LocalSearch::num_entries() const { return state_->num_entries; }

}  // namespace treesample
