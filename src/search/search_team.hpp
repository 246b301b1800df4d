// The search with bounds by several threads, in the simplest way that is right whatever the threads do.
//
// One thread begins. Once it has enough to share, each thread (a member) gets a copy of its store. The store is cut
// where nodes have a small enough part of the unresolved mass; the nodes of the cut, which include the nodes without an
// expansion above it, are divided among the members, neighbours to the same one. A member runs the ordinary search from
// the roots in its own store. The others' nodes of the cut are pending there, so that it never goes below them. It
// works in rounds: before a round it receives the bounds of the others' nodes, and afterwards sends those of its own.
// Outdated bounds are still bounds, so those of every member's roots are certified at any time. While a round runs,
// only constant memory is shared. At the end the parts below the cut are merged into one store, and samplers and passes
// see a store as one thread might have made it.
//
// The price: a sub-problem below nodes of several members is searched by each of them. Results depend on the number of
// threads and on their speeds: all end a round at the same time, because the slowest of 16 cores can be 1.6 times as
// slow as the fastest. Rounds of a fixed number of traversals (SearchOptions::traversals_per_round) have the same bits
// for the same number of threads, unless the clock ends the search.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "search/search_member.hpp"
#include "thread_team.hpp"

namespace treesample {

class SearchTeam {
 public:
  // True for the gap rule with tables alone, no estimates, no budget and more than one thread.
  static bool can_search(const SearchState& first);
  explicit SearchTeam(SearchState& first);

  // Searches until there is a reason to stop, which goes into the report.
  void search(SearchReport& report);

 private:
  // A node on a path from a root down and the action taken there; the last node has none.
  struct PathStep {
    BoundStore::Place place;
    int action = -1;
  };
  using EdgePath = std::vector<PathStep>;

  bool begin(SearchReport& report);
  bool split();
  std::vector<double> cut(std::vector<EdgePath>& heavy);
  bool expand(const EdgePath& path);
  bool give_out(const std::vector<double>& weights);
  void make_members();
  RoundEnd work_round(SearchReport& report);
  RoundEnd look_at_members(SearchReport& report);
  [[nodiscard]] bool can_split_again() const;
  void tell_progress();
  void merge(bool is_interrupted);
  [[nodiscard]] std::vector<std::vector<BoundStore::Place>> best_expansions() const;

  SearchState& first_;
  ThreadTeam threads_;
  double seconds_per_round_;
  std::uint64_t num_expansions_to_split_;
  SharedPart shared_;
  std::vector<std::unique_ptr<SearchMember>> members_;
  std::vector<SearchReport> reports_;  // of the members
  std::vector<RoundEnd> ends_;         // of the members' last rounds
  std::atomic<bool> is_asked_to_stop_ = false;
  std::vector<CutNews> news_, next_news_;  // by node of the cut
};

}  // namespace treesample
