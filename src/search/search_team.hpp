// The search with bounds by several threads: the simplest that is right whatever the threads do.
//
// One thread begins. Once it has enough open leaves, its store is copied for each thread (a member), and each leaf is
// given to one of them. A member runs the search as it is, from the roots, in its own store; leaves of others are
// pending there, so that it never goes below them. It works in rounds of so many traversals. Before a round it hears
// the bounds of the others' leaves, after it it tells those of its own. Bounds that are out of date are right, so those
// of every member's roots are certified at any time. Nothing is shared while a round runs. At the end the parts below
// the leaves are put together into one store, and samplers and passes see what one thread would have made.
//
// What it costs: sub-problems that are below leaves of several members are searched by each of them. Results depend on
// the number of threads; for the same number they have the same bits, unless the clock ends the search.
#pragma once

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
  void split();
  RoundEnd work_round(SearchReport& report);
  RoundEnd look_at_members(SearchReport& report);
  void report_progress(SearchReport& report);
  void merge();

  SearchState& first_;
  ThreadTeam threads_;
  SharedLeaves shared_;
  std::vector<std::unique_ptr<SearchState>> members_;
  std::vector<SearchReport> reports_;  // of the members
  std::vector<char> is_over_, is_dry_;
  std::vector<LeafNews> news_, next_news_;  // by leaf
};

}  // namespace treesample
