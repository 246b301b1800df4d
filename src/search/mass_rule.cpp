#include "search/mass_rule.hpp"

#include <algorithm>
#include <cmath>

#include "treesample/math/log_domain.hpp"

namespace treesample {

int most_unresolved_edge(const EdgeBounds& edges, const Expansion& expansion, double c) {
  double visits = 1.0;
  for (int a = 0; a < edges.num_states(); ++a) visits += expansion.visits(a);
  const double bonus = c * std::sqrt(visits);
  int chosen = -1;
  double best = kNegInf;
  for (int a = 0; a < edges.num_states(); ++a) {
    if (!edges.is_open(a)) continue;
    const double estimate = edges.estimate(a);
    const double log_resolved_share = std::min(0.0, edges.lower(a) - estimate);
    const double log_mass = edges.lower(a) == kNegInf ? estimate : estimate + log1mexp(-log_resolved_share);
    const double score = log_mass + bonus / (1.0 + expansion.visits(a));
    if (chosen >= 0 && !(score > best)) continue;
    chosen = a;
    best = score;
  }
  return chosen;
}

}  // namespace treesample
