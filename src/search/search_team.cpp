#include "search/search_team.hpp"

#include <algorithm>
#include <functional>
#include <ranges>
#include <thread>
#include <tuple>
#include <utility>

#include "search/collapse.hpp"

namespace treesample {
namespace {

constexpr double kMostOfShare = 1.0 / 4.0;  // of an equal share: the most mass of an expanded node of the cut
constexpr int kMostAttempts = 16;           // attempts to find a cut
constexpr double kMostUneven = 1.5;         // of an equal share: the most that a member gets
// Rounds grow: at first there is much to exchange; later, exchanging it should cost little.
constexpr double kFirstRound = 10e-3, kLongestRound = 80e-3;  // seconds
constexpr double kGrowth = 1.0 / 16.0;
// After an interruption somebody waits for the answer: the nodes of members with more than this are not merged, and
// samples come from the rest.
constexpr std::uint64_t kMostNodesInterrupted = 1 << 21;

}  // namespace

// Estimates may come from a function of the caller's that is made for one thread.
bool SearchTeam::can_search(const SearchState& first) {
  return first.limits().threads > 1 && first.options().select == SelectRule::kGap && !first.rewards().has_functions() &&
         first.limits().budget == Limits::kUnlimited && !first.leaves().estimate;
}

SearchTeam::SearchTeam(SearchState& first)
    : first_(first),
      threads_(first.limits().threads),
      seconds_per_round_(kFirstRound),
      num_expansions_to_split_(static_cast<std::uint64_t>(first.options().expansions_before_sharing) *
                               static_cast<std::uint64_t>(threads_.size())) {}

void SearchTeam::search(SearchReport& report) {
  while (!begin(report)) {
    report.num_threads = threads_.size();
    RoundEnd end = RoundEnd::kGoesOn;
    while (end == RoundEnd::kGoesOn) end = work_round(report);
    // Each settles its own nodes, so that nothing is left to do below the cut.
    if (end == RoundEnd::kStops) {
      threads_.run(members_.size(), 1, [&](std::size_t m, std::size_t, int) { members_[m]->state().settle(); });
    }
    merge(report.stop == StopReason::kInterrupted && end == RoundEnd::kStops);
    if (end == RoundEnd::kStops || !first_.sweep(nullptr)) return;
  }
  first_.settle();
}

// Searches with one thread until there is something to share. Returns true when there is a reason to stop before that.
bool SearchTeam::begin(SearchReport& report) {
  const std::int64_t per_round = first_.options().traversals_per_round;
  constexpr std::int64_t kMost = SearchState::kMostBetweenLooks;
  const std::int64_t step = per_round > 0 ? std::min(per_round, kMost) : kMost;
  while (first_.search(report, {.last_traversal = first_.counts().traversals + step}) != RoundEnd::kStops) {
    if (first_.memory().num_collapses() > 0) return first_.search(report) == RoundEnd::kStops;  // no memory for copies
    if (first_.store()->num_expansions() < num_expansions_to_split_) continue;
    num_expansions_to_split_ = 2 * first_.store()->num_expansions();
    const bool has_memory = first_.store()->used_bytes() * threads_.size() < first_.memory().full_bytes() / 2;
    if (has_memory && split()) return false;
  }
  return true;
}

// A node without an expansion may have more mass than a member should get. It is then expanded, and so are those of its
// children that have too much, until the shares are about equal.
bool SearchTeam::split() {
  for (int attempt = 0; attempt < kMostAttempts; ++attempt) {
    shared_ = {.common = first_.store()->extents(), .num_traversals = first_.counts().traversals};
    std::vector<EdgePath> heavy;
    if (give_out(cut(heavy))) {
      make_members();
      return true;
    }
    for (const EdgePath& path : heavy) {
      if (!expand(path)) return false;
    }
    if (heavy.empty()) return false;
  }
  return false;
}

bool SearchTeam::expand(const EdgePath& path) {
  SearchPath above{.nodes = {}, .x = Assignment(first_.space().num_levels(), -1)};
  for (const auto& [place, action] : std::span(path).first(path.size() - 1)) {
    above.nodes.push_back(place);
    above.x[first_.store()->variable(place.level)] = action;
  }
  return first_.expand_below(std::move(above), path.back().place);
}

// Finds the nodes of the cut, neighbours side by side, and the nodes above it. Returns the unresolved masses of the
// cut, and in `heavy` the paths to nodes that must be expanded before there is a good cut. A cut at one depth would be
// simpler, but where one node keeps most of the mass, the cut is far down.
std::vector<double> SearchTeam::cut(std::vector<EdgePath>& heavy) {
  const BoundStore& store = *first_.store();
  const std::vector<std::vector<float>> mass = masses(store);
  const auto weight = [&](const BoundStore::Place& place) {
    return mass[place.level][place.index] * open_part(store.node(place.level, place.index));
  };
  std::vector<std::vector<bool>> is_seen;
  for (const BoundStore::Extent& extent : shared_.common) is_seen.emplace_back(extent.nodes);
  shared_.is_above = is_seen;
  struct Open {
    BoundStore::Place place;
    std::size_t num_before = 0;  // number of nodes on the path to it
    int action = -1;             // at the last of them
  };
  std::vector<Open> open;
  EdgePath path;
  const auto enter = [&](int level, NodeIndex index, int action) {
    if (index == kNoNode || is_seen[level][index] || store.node(level, index).is_complete) return;
    is_seen[level][index] = true;
    open.push_back({{level, index}, path.size(), action});
  };
  for (std::size_t r = store.root_links().size(); r-- > 0;) enter(store.space().roots[r], store.root_links()[r], -1);
  double total = 0.0;
  for (const Open& root : open) total += weight(root.place);
  const double most = kMostOfShare * total / threads_.size();
  std::vector<double> weights;
  while (!open.empty()) {
    const auto [place, num_before, action] = open.back();
    open.pop_back();
    path.resize(num_before);
    if (!path.empty()) path.back().action = action;
    const auto [level, index] = place;
    const BoundNode& node = store.node(level, index);
    path.push_back({place, -1});
    if (node.is_expanded() && weight(place) > most) {
      shared_.above.push_back(place);
      shared_.is_above[level][index] = true;
      const std::span<const int> children = store.children(level);
      for (int a = store.num_states(level); a-- > 0;) {
        const NodeIndex* const links = store.expansion(level, node).links(a);
        for (std::size_t j = children.size(); j-- > 0;) enter(children[j], links[j], a);
      }
    } else if (!node.is_dead()) {
      shared_.cut.push_back(place);
      weights.push_back(weight(place));
      if (weights.back() > most) heavy.push_back(path);
    }
  }
  std::ranges::stable_sort(shared_.above, std::greater{}, &BoundStore::Place::level);
  return weights;
}

// Gives every member an equal share of the unresolved mass. Returns false where the shares cannot be about equal.
bool SearchTeam::give_out(const std::vector<double>& weights) {
  double total = 0.0;
  for (const double weight : weights) total += weight;
  if (!(total > 0.0)) return false;
  const int num_members = threads_.size();
  std::vector<double> shares(static_cast<std::size_t>(num_members), 0.0);
  double sum = 0.0;
  for (const double weight : weights) {
    const int owner = std::min(num_members - 1, static_cast<int>((sum + 0.5 * weight) / total * num_members));
    shared_.owner.push_back(owner);
    shares[static_cast<std::size_t>(owner)] += weight;
    sum += weight;
  }
  return *std::max_element(shares.begin(), shares.end()) <= kMostUneven * total / num_members;
}

void SearchTeam::make_members() {
  news_.clear();
  for (const auto [level, index] : shared_.cut) {
    const BoundNode& node = first_.store()->node(level, index);
    news_.push_back({node, node.is_complete});
  }
  next_news_ = news_;
  std::vector<std::shared_ptr<BoundStore>> stores = {first_.store()};
  while (std::ssize(stores) < threads_.size()) stores.push_back(first_.store()->copy());
  // Only the calling thread asks the observer, also within its rounds.
  const ShouldStop should_stop = [this, caller = std::this_thread::get_id()] {
    if (std::this_thread::get_id() == caller && first_.watch().run().is_asked_to_stop()) is_asked_to_stop_ = true;
    return is_asked_to_stop_.load();
  };
  for (int m = 0; m < threads_.size(); ++m) {
    members_.push_back(std::make_unique<SearchMember>(first_, stores[static_cast<std::size_t>(m)], shared_, m,
                                                      threads_.size(), should_stop));
  }
  reports_.assign(members_.size(), {});
  ends_.assign(members_.size(), RoundEnd::kGoesOn);
}

RoundEnd SearchTeam::work_round(SearchReport& report) {
  const std::int64_t traversals = first_.options().traversals_per_round;
  threads_.run(members_.size(), 1, [&](std::size_t m, std::size_t /*last*/, int /*thread*/) {
    SearchState& state = members_[m]->state();
    members_[m]->hear(news_);
    if (ends_[m] != RoundEnd::kStops) {
      Round round;
      if (traversals > 0) {
        round.last_traversal = state.counts().traversals + traversals;
      } else {
        round.end = state.watch().run().seconds() + seconds_per_round_;
      }
      ends_[m] = state.search(reports_[m], round);
    }
    members_[m]->tell(next_news_);
  });
  std::swap(news_, next_news_);
  seconds_per_round_ = std::min(kLongestRound, (1.0 + kGrowth) * seconds_per_round_);
  return look_at_members(report);
}

// The bounds of every member are bounds of log Z, so one that is exact, or close enough, ends the search.
RoundEnd SearchTeam::look_at_members(SearchReport& report) {
  report.stop = StopReason::kInterrupted;
  tell_progress();
  if (first_.watch().run().is_asked_to_stop()) return RoundEnd::kStops;
  std::size_t num_idle = 0;
  for (std::size_t m = 0; m < members_.size(); ++m) {
    if (ends_[m] == RoundEnd::kStops && reports_[m].stop != StopReason::kMemory) {
      report.stop = reports_[m].stop;
      return RoundEnd::kStops;
    }
    num_idle += ends_[m] == RoundEnd::kGoesOn ? 0 : 1;
  }
  if (first_.limits().gap > 0.0 && first_.bounds().upper - first_.bounds().lower <= first_.limits().gap) {
    report.stop = StopReason::kGap;
    return RoundEnd::kStops;
  }
  if (first_.watch().run().is_time_over()) {
    report.stop = StopReason::kTime;
    return RoundEnd::kStops;
  }
  const bool is_dry = num_idle == members_.size() || (num_idle > 0 && can_split_again());
  return is_dry ? RoundEnd::kIsDry : RoundEnd::kGoesOn;
}

// True when merging and copying costs little compared with what was searched since the last time.
bool SearchTeam::can_split_again() const {
  std::uint64_t num_expansions = 0;
  std::size_t bytes = 0;
  for (const auto& member : members_) {
    if (member->state().memory().num_collapses() > 0) return false;
    num_expansions += member->state().store()->num_expansions();
    bytes += member->state().store()->used_bytes();
  }
  return num_expansions >= num_expansions_to_split_ && bytes * members_.size() < first_.memory().full_bytes() / 2;
}

void SearchTeam::tell_progress() {
  Progress now{.phase = "search", .spent = first_.rewards().budget().spent()};
  for (const auto& member : members_) {
    first_.tighten_bounds(member->state().bounds());
    now.spent += member->state().rewards().budget().spent();
    now.num_nodes += member->state().store()->num_nodes();
  }
  now.log_z = first_.bounds();
  now.estimate = first_.bounds().clamp(root_estimate(*first_.store()));
  first_.watch().run().tell(now);
}

void SearchTeam::merge(bool is_interrupted) {
  members_[0]->hear(news_);
  const std::vector<std::vector<BoundStore::Place>> places = best_expansions();
  std::vector<BoundStore::Part> parts;
  for (std::size_t m = 0; m < members_.size(); ++m) {
    members_[m]->report_to(first_);
    BoundStore& store = *members_[m]->state().store();
    const bool is_taken = m > 0 && (!is_interrupted || store.num_nodes() < kMostNodesInterrupted);
    if (is_taken) parts.push_back({&store, places[m]});
  }
  first_.store()->take(parts, shared_.common, threads_);
  for (const auto& [level, index] : places | std::views::join) {
    // Not taken: its bounds stay, and samples are drawn as if the node had not been searched.
    BoundNode& node = first_.store()->node(level, index);
    if (!node.is_expanded()) node.was_collapsed = true;
  }
  threads_.run(members_.size(), 1, [&](std::size_t m, std::size_t /*last*/, int /*thread*/) { members_[m].reset(); });
  members_.clear();
  for (const auto [level, index] : shared_.cut) first_.store()->node(level, index).is_pending = false;
  back_up_above(first_, shared_);
  first_.backup().forget_blocked_if([](BoundStore::Place) { return true; });
}

// By member: the nodes of the common part that get their expansion from it, because it is complete there or has the
// lowest U. Nodes of the cut get it from their owners, who know all that is known about them.
std::vector<std::vector<BoundStore::Place>> SearchTeam::best_expansions() const {
  std::vector<std::vector<int>> owners;
  for (const BoundStore::Extent& extent : shared_.common) owners.emplace_back(extent.nodes, -1);
  for (std::size_t k = 0; k < shared_.cut.size(); ++k) {
    owners[shared_.cut[k].level][shared_.cut[k].index] = shared_.owner[k];
  }
  std::vector<std::vector<BoundStore::Place>> places(members_.size());
  for (int n = 0; n < first_.space().num_levels(); ++n) {
    for (NodeIndex i = 0; i < shared_.common[n].nodes; ++i) {
      std::size_t best = members_.size();
      std::tuple<bool, bool, double> most;
      for (std::size_t m = 0; m < members_.size(); ++m) {
        const BoundNode& node = members_[m]->state().store()->node(n, i);
        if (!node.is_expanded() || node.expansion < shared_.common[n].expansions) continue;
        const std::tuple quality(owners[n][i] == static_cast<int>(m), bool{node.is_complete}, -node.log_upper());
        if (best < members_.size() && !(quality > most)) continue;
        best = m;
        most = quality;
      }
      if (best < members_.size()) places[best].push_back({n, i});
    }
  }
  return places;
}

}  // namespace treesample
