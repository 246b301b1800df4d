// The rules of the search: which edge the next traversal takes at a node.
//
//   gap     the most unresolved mass        exp U(c, a) - exp L(c, a)
//   q-uct   the paper's eq. 7               V(c, a) + c max(Q_phi(c, a), epsilon) sqrt(n) / (1 + n_a)
//   mass    where U is not known            log(exp V(c, a) - exp L(c, a)) + c sqrt(n) / (1 + n_a)
//
// with n_a the visits of an edge and n those of the node. Q_phi are the Q-values of the leaf value `estimate` before
// the node was expanded; log_states_below for the paper's default, and without an estimate. In the mass rule L is the
// mass of complete configurations, so what was searched to the end counts for nothing; an estimate can be too low where
// a bound cannot, and the bonus, in nats, sees to it that every edge is looked at now and then.
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

  // Of the edges that were backed up last, at an expanded node of the level. Pre: several are open.
  virtual int choose(int level, const EdgeBounds& edges, const Expansion& expansion) = 0;
  // The same for nodes that may wait for each other, such as those of a path: note() takes one down and returns true,
  // or leaves it to choose(); choose_noted() then sets the choices of all of them, which is quicker than one by one.
  virtual bool note(int /*level*/, const EdgeBounds& /*edges*/, const Expansion& /*expansion*/) { return false; }
  virtual void choose_noted() {}
  // The same at a node that this very traversal expanded. Pre: one is open.
  virtual int choose_at_new(const EdgeBounds& /*edges*/, const Expansion& expansion) {
    return static_cast<int>(expansion.choice());
  }
  // Goes by estimates, for want of upper bounds: components are compared by V - L, estimates are learned where none are
  // given, levels without factors cost nothing, a traversal goes on until a factor was asked, and bounds that have
  // closed end nothing.
  [[nodiscard]] virtual bool goes_by_estimates() const { return false; }
  // Expansions keep the Q-values of the leaf value `estimate`.
  [[nodiscard]] virtual bool looks_at_q_phi() const { return false; }
};

std::unique_ptr<SelectionRule> make_rule(const SearchSpace& space, const LeafValues& leaves,
                                         const SearchOptions& options);

}  // namespace treesample
