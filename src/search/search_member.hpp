// One of several threads that search together (search_team.hpp): a state and a store of its own, and how it exchanges
// bounds with the others between its rounds.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "search/search_state.hpp"

namespace treesample {

// What the stores of several threads have in common. Every path from a root down meets the cut, at a node that belongs
// to one thread alone.
struct SharedPart {
  std::vector<BoundStore::Extent> common;   // by level
  std::vector<BoundStore::Place> above;     // nodes above the cut, children before parents
  std::vector<std::vector<bool>> is_above;  // by level and node of the common part
  std::vector<BoundStore::Place> cut;
  std::vector<int> owner;           // by node of the cut
  std::int64_t num_traversals = 0;  // before the search was shared
};
struct CutNews {
  BoundValues values;
  bool is_complete = false;
};

class SearchMember {
 public:
  // Keeps a reference to the shared part.
  SearchMember(const SearchState& first, std::shared_ptr<BoundStore> store, const SharedPart& shared, int number,
               int num_members, const ShouldStop& should_stop);

  [[nodiscard]] SearchState& state() { return state_; }
  [[nodiscard]] const SearchState& state() const { return state_; }
  // Takes the others' values of their nodes of the cut, before a round; gives the values of its own, after it.
  void hear(std::span<const CutNews> news);
  void tell(std::span<CutNews> news) const;
  // Gives the first state its bounds, of all nodes that both have, and what it has spent.
  void report_to(SearchState& first) const;

 private:
  const SharedPart& shared_;
  int number_;
  SearchState state_;
};

// Backs up the nodes above the cut.
void back_up_above(SearchState& state, const SharedPart& shared);

}  // namespace treesample
