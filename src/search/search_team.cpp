#include "search/search_team.hpp"

#include <algorithm>
#include <numeric>

#include "search/collapse.hpp"

namespace treesample {
namespace {

constexpr std::uint64_t kLeavesPerMember = 256;
// A round takes some ten milliseconds: hearing and telling cost little beside it, and the thread that was called looks
// at the clock, and at who wants to stop, in between.
constexpr std::int64_t kLooksPerRound = 16;

}  // namespace

bool SearchTeam::can_search(const SearchState& first) {
  return first.limits_.threads > 1 && first.options_.select == SelectRule::kGap && !first.has_functions_ &&
         first.limits_.budget == Limits::kUnlimited && !first.leaves_.estimate;
}

SearchTeam::SearchTeam(SearchState& first) : first_(first), threads_(first.limits_.threads) {}

void SearchTeam::search(SearchReport& report) {
  if (begin(report)) return;
  split();
  RoundEnd end = RoundEnd::kGoesOn;
  while (end == RoundEnd::kGoesOn) end = work_round(report);
  merge();
  if (end == RoundEnd::kStops) return;
  first_.sweep(nullptr);
  first_.search(report);
}

// By one thread, until there is something to share. True when there is a reason to stop before that.
bool SearchTeam::begin(SearchReport& report) {
  const std::uint64_t num_leaves = kLeavesPerMember * static_cast<std::uint64_t>(threads_.size());
  while (true) {
    if (first_.search(report, first_.num_traversals_ + first_.clock_interval_)) return true;
    if (first_.store_->num_expansions() < num_leaves) continue;
    if (first_.num_collapses_ > 0) return first_.search(report);  // no memory to share
    return false;
  }
}

// Leaves with the most unresolved mass first, each to the member that has least of it.
void SearchTeam::split() {
  BoundStore& store = *first_.store_;
  const std::vector<std::vector<float>> mass = masses(store);
  std::vector<double> weights;
  shared_ = {.common = store.extents(), .num_traversals = first_.num_traversals_};
  for (int n = 0; n < first_.space_.num_levels(); ++n) {
    for (NodeIndex i = 0; i < store.end_index(n); ++i) {
      const BoundNode& node = store.node(n, i);
      if (node.is_expanded() || node.is_complete || node.is_dead()) continue;
      shared_.leaves.push_back({n, i});
      weights.push_back(mass[n][i] * open_part(node));
    }
  }
  std::vector<std::size_t> order(weights.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return weights[a] > weights[b]; });
  std::vector<double> load(static_cast<std::size_t>(threads_.size()), 0.0);
  shared_.owner.resize(weights.size());
  for (const std::size_t k : order) {
    const auto least = std::min_element(load.begin(), load.end());
    shared_.owner[k] = static_cast<int>(least - load.begin());
    *least += weights[k];
  }
  news_.resize(weights.size());
  for (std::size_t k = 0; k < weights.size(); ++k) {
    const BoundNode& node = store.node(shared_.leaves[k].level, shared_.leaves[k].index);
    news_[k] = {node, node.is_complete};
  }
  next_news_ = news_;
  members_.clear();
  for (int m = 0; m < threads_.size(); ++m) {
    members_.push_back(
        std::make_unique<SearchState>(first_, m == 0 ? first_.store_ : store.copy(), threads_.size()));
    members_.back()->join(shared_, m);
  }
  reports_.assign(members_.size(), {});
  is_over_.assign(members_.size(), 0);
  is_dry_.assign(members_.size(), 0);
}

SearchTeam::RoundEnd SearchTeam::work_round(SearchReport& report) {
  threads_.run(members_.size(), 1, [&](std::size_t m, std::size_t /*last*/, int /*thread*/) {
    SearchState& member = *members_[m];
    member.hear(news_);
    if (is_over_[m] == 0) {
      const std::int64_t last = member.num_traversals_ + kLooksPerRound * member.clock_interval_;
      is_over_[m] = member.search(reports_[m], last) ? 1 : 0;
      is_dry_[m] = is_over_[m] == 0 && member.num_traversals_ < last ? 1 : 0;
    }
    member.tell(next_news_);
  });
  std::swap(news_, next_news_);
  return look_at_members(report);
}

// Bounds of a member are bounds of log Z.
SearchTeam::RoundEnd SearchTeam::look_at_members(SearchReport& report) {
  report.stop = StopReason::kInterrupted;
  report_progress(report);
  if (getenv("TEAMDBG")) {
    static int r = 0;
    if (r++ % 8 == 0) {
      fprintf(stderr, "round %d leaves %zu t %.2f:", r, shared_.leaves.size(), first_.watch_.seconds());
      for (std::size_t m = 0; m < members_.size(); ++m) {
        std::size_t open = 0, expanded = 0;
        double gap = 0;
        const auto mass = masses(*members_[m]->store_);
        for (std::size_t k = 0; k < shared_.leaves.size(); ++k) {
          if (shared_.owner[k] != (int)m) continue;
          const BoundNode& node = members_[m]->store_->node(shared_.leaves[k].level, shared_.leaves[k].index);
          open += node.is_open();
          expanded += node.is_expanded();
          if (!node.is_complete) gap += mass[shared_.leaves[k].level][shared_.leaves[k].index] * open_part(node);
        }
        fprintf(stderr, " [trav %ld exp %lu blocked %zu own open %zu expanded %zu gap %.4g rg %.4g%s]", (long)members_[m]->num_traversals_,
                (unsigned long)members_[m]->store_->num_expansions(), members_[m]->blocked_.size(), open, expanded, gap,
                members_[m]->bounds_.upper - members_[m]->bounds_.lower, is_dry_[m] ? " dry" : "");
      }
      fprintf(stderr, "\n");
    }
  }
  if (first_.watch_.is_asked_to_stop()) return RoundEnd::kStops;
  std::size_t num_idle = 0;
  for (std::size_t m = 0; m < members_.size(); ++m) {
    if (is_over_[m] != 0 && reports_[m].stop != StopReason::kMemory) {
      report.stop = reports_[m].stop;
      return RoundEnd::kStops;
    }
    num_idle += is_over_[m] != 0 || is_dry_[m] != 0 ? 1 : 0;
  }
  if (first_.limits_.gap > 0.0 && first_.bounds_.upper - first_.bounds_.lower <= first_.limits_.gap) {
    report.stop = StopReason::kGap;
    return RoundEnd::kStops;
  }
  return num_idle == members_.size() ? RoundEnd::kIsDry : RoundEnd::kGoesOn;
}

void SearchTeam::report_progress(SearchReport& /*report*/) {
  LogBounds& bounds = first_.bounds_;
  Progress now{.phase = "search", .spent = first_.budget_.spent()};
  for (const auto& member : members_) {
    bounds = {std::max(bounds.lower, member->bounds_.lower), std::min(bounds.upper, member->bounds_.upper)};
    now.spent += member->budget_.spent();
    now.num_nodes += member->store_->num_nodes();
  }
  now.log_z = bounds;
  now.estimate = bounds.clamp(root_estimate(*members_[0]->store_));
  first_.watch_.tell(now);
}

void SearchTeam::merge() {
  members_[0]->hear(news_);
  first_.join(shared_, 0);
  for (const auto& member : members_) first_.absorb(*member);
  first_.end_sharing();
  members_.clear();
}

}  // namespace treesample
