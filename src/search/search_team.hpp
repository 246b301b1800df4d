// The search with bounds by several threads: the simplest that is right whatever the threads do.
//
// One thread begins. Once it has enough to share, its store is copied for each thread (a member) and cut where nodes
// have a small enough part of the unresolved mass: the nodes there, and those without an expansion above, are given to
// the members, neighbours to the same one. A member
// runs the search as it is, from the roots, in its own store; the others' nodes of the cut are pending there, so that
// it never goes below them. It works in rounds of so many traversals. Before a round it hears the bounds of the others'
// nodes, after it it tells those of its own. Bounds that are out of date are right, so those of every member's roots
// are certified at any time. No memory is shared while a round runs, but for what nobody changes. At the end the parts
// below the cut are put together into one store, and samplers and passes see what one thread might have made.
//
// What it costs: sub-problems below nodes of several members are searched by each of them. Results depend on the number
// of threads; for the same number they have the same bits, unless the clock ends the search.
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "search/search_state.hpp"
#include "thread_team.hpp"

namespace treesample {

class SearchTeam {
 public:
  // By the gap rule, with tables alone, without a budget, and where more than one thread was asked for.
  static bool can_search(const SearchState& first);
  explicit SearchTeam(SearchState& first);

  // Until there is a reason to stop, which goes into the report.
  void search(SearchReport& report);

 private:
  enum class RoundEnd { kGoesOn, kStops, kIsDry };

  bool begin(SearchReport& report);
  bool split();
  std::vector<double> cut(std::vector<SearchState::Path>& heavy);
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
  std::int64_t traversals_per_round_, most_traversals_per_round_;
  std::uint64_t num_expansions_to_split_;
  SharedPart shared_;
  std::vector<std::unique_ptr<SearchState>> members_;
  std::vector<SearchReport> reports_;  // of the members
  std::vector<char> is_over_, is_dry_;
  std::atomic<bool> is_asked_to_stop_ = false;
  std::vector<CutNews> news_, next_news_;  // by node of the cut
};

}  // namespace treesample
