#include "search/mass_rule.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "search/q_uct.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample {
namespace {

double log_unresolved(const BoundValues& values) {
  return values.log_estimate() + (values.has_no_lower() ? 0.0 : log1mexp(std::max(0.0, values.log_estimate_gap())));
}

}  // namespace

int most_unresolved_edge(const EdgeBounds& edges, const Expansion& expansion, double c) {
  double visits = 1.0;
  for (int a = 0; a < edges.num_states(); ++a) visits += expansion.visits(a);
  const double bonus = c * std::sqrt(visits);
  int chosen = -1;
  double best = kNegInf;
  for (int a = 0; a < edges.num_states(); ++a) {
    if (!edges.is_open(a)) continue;
    const double score = log_unresolved(edges.values(a)) + bonus / (1.0 + expansion.visits(a));
    if (chosen >= 0 && !is_higher(score, best)) continue;
    chosen = a;
    best = score;
  }
  return chosen;
}

int draw_unresolved_edge(const EdgeBounds& edges, Random& random) {
  std::vector<double> weights(edges.num_states(), kNegInf);
  for (int a = 0; a < edges.num_states(); ++a) {
    if (edges.is_open(a)) weights[a] = log_unresolved(edges.values(a));
  }
  // Estimates that are all resolved, by rounding: any of the open ones.
  if (*std::max_element(weights.begin(), weights.end()) == kNegInf) {
    for (int a = 0; a < edges.num_states(); ++a) weights[a] = edges.is_open(a) ? 0.0 : kNegInf;
  }
  softmax(weights, weights);
  return random.categorical(weights);
}

}  // namespace treesample
