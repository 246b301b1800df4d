// The rules of the search: which edge the next traversal takes at a node.
//
//   gap     the most unresolved mass        exp U(c, a) - exp L(c, a)
//   q-uct   the paper's eq. 7               V(c, a) + c max(Q_phi(c, a), epsilon) sqrt(n) / (1 + n_a)
//   mass    where U is not known            log(exp V(c, a) - exp L(c, a)) + c sqrt(n) / (1 + n_a)
//
// with n_a the visits of an edge and n those of the node. Q_phi are the Q-values of the leaf value `estimate` before
// the node was expanded; log_states_below for the paper's default, and without an estimate. In the mass rule L is the
// mass of complete configurations, so what is searched to the end counts for nothing. An estimate can be too low where
// a bound cannot; the bonus, in nats, makes sure that every edge is tried now and then.
//
// A new rule is a class here, a word in SelectRule and a line in make_rule.
#pragma once

#include <memory>

#include "search/bound_store.hpp"
#include "search/edge_bounds.hpp"
#include "treesample/search/search.hpp"

namespace treesample {

class SelectionRule {
 public:
  virtual ~SelectionRule() = default;

  // Chooses among the edges that were backed up last, at an expanded node of the level. Pre: several are open.
  virtual int choose(int level, const EdgeBounds& edges, const Expansion& expansion) = 0;
  // The same at a node that this traversal has just expanded. Pre: an edge is open.
  virtual int choose_at_new(const EdgeBounds& /*edges*/, const Expansion& expansion) {
    return static_cast<int>(expansion.choice());
  }
  // True for a rule that has estimates instead of upper bounds: components are compared by V - L, estimates are learned
  // where none is given, levels without factors cost nothing, a traversal goes on until a factor was asked, and closed
  // bounds end nothing.
  [[nodiscard]] virtual bool goes_by_estimates() const { return false; }
  // True when expansions must keep the Q-values of the leaf value `estimate`.
  [[nodiscard]] virtual bool looks_at_q_phi() const { return false; }
};

std::unique_ptr<SelectionRule> make_rule(const SearchSpace& space, const LeafValues& leaves,
                                         const SearchOptions& options);

}  // namespace treesample
