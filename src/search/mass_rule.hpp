// Which edge to follow where upper bounds are not known: the most mass that is estimated and not yet resolved.
//
//   score(a) = log(exp V(c, a) - exp L(c, a)) + c sqrt(n) / (1 + n_a)
//
// The gap rule with V in the place of U. L is the mass of complete configurations, so what has been searched to the end
// counts for nothing. An estimate can be too low where a bound cannot: the bonus, in nats, sees to it that
// every edge is looked at now and then. No term changes when a constant is added to a factor.
#pragma once

#include "search/bound_store.hpp"
#include "search/edge_bounds.hpp"
#include "treesample/math/random.hpp"

namespace treesample {

// The best incomplete edge of those that were gathered last, the lowest of equals; -1 when all are complete.
int most_unresolved_edge(const EdgeBounds& edges, const Expansion& expansion, double c);

// One of them with probability proportional to exp V - exp L: how a traversal goes on below a node that was new to it.
// Going the same way everywhere, such as to the lowest of equals, would show it one corner of the model. Pre: one is
// incomplete.
int draw_unresolved_edge(const EdgeBounds& edges, Random& random);

}  // namespace treesample
