#include "search/selection_rule.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "math/ties.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/math/random.hpp"

namespace treesample {
namespace {

// The bonus of the mass rule at c = 1, in nats. Measured: docs/methods/mass.md.
constexpr double kMassBonus = 0.3;

double num_visits(const EdgeBounds& edges, const Expansion& expansion) {
  double visits = 1.0;
  for (int a = 0; a < edges.num_states(); ++a) visits += expansion.visits(a);
  return visits;
}

// The open edge with the highest score; among equals the lowest, or any of them if there is a stream to draw from.
template <class Score>
int highest(const EdgeBounds& edges, Score score, Random* ties = nullptr) {
  int chosen = -1;
  double most = kNegInf;
  std::uint64_t num_ties = 0;
  for (int a = 0; a < edges.num_states(); ++a) {
    if (!edges.is_open(a)) continue;
    const double here = score(a);
    if (chosen < 0 || is_higher(here, most)) {
      chosen = a;
      most = here;
      num_ties = 1;
    } else if (ties != nullptr && !is_higher(most, here) && ties->below(++num_ties) == 0) {
      chosen = a;
    }
  }
  return chosen;
}

class GapRule final : public SelectionRule {
 public:
  int choose(int /*level*/, const EdgeBounds& edges, const Expansion& /*expansion*/) override { return edges.widest(); }
};

class QUctRule final : public SelectionRule {
 public:
  QUctRule(const SearchSpace& space, const LeafValues& leaves, const SearchOptions& options)
      : c_(options.c),
        epsilon_(options.epsilon),
        has_random_ties_(options.ties == TieRule::kRandom),
        looks_at_q_phi_(leaves.estimate && !leaves.estimate->counts_states()),
        ties_(options.seed, "ties") {
    for (const Level& level : space.levels) log_states_below_.push_back(level.log_states_below);
  }

  int choose(int level, const EdgeBounds& edges, const Expansion& expansion) override {
    const double root = c_ * std::sqrt(num_visits(edges, expansion));
    const auto score = [&](int a) {
      return edges.relative_log_estimate(a) + scale(level, expansion, a) * root / (1.0 + expansion.visits(a));
    };
    return highest(edges, score, has_random_ties_ ? &ties_ : nullptr);
  }
  [[nodiscard]] bool looks_at_q_phi() const override { return looks_at_q_phi_; }

 private:
  [[nodiscard]] double scale(int level, const Expansion& expansion, int a) const {
    const double q_phi = looks_at_q_phi_ ? expansion.q_phi()[static_cast<std::size_t>(a)] : log_states_below_[level];
    return std::max(q_phi, epsilon_);
  }

  double c_, epsilon_;
  bool has_random_ties_, looks_at_q_phi_;
  Random ties_;
  std::vector<double> log_states_below_;  // by level
};

class MassRule final : public SelectionRule {
 public:
  explicit MassRule(const SearchOptions& options) : bonus_(kMassBonus * options.c), random_(options.seed, "mass") {}

  int choose(int /*level*/, const EdgeBounds& edges, const Expansion& expansion) override {
    const double bonus = bonus_ * std::sqrt(num_visits(edges, expansion));
    return highest(edges, [&](int a) { return log_unresolved(edges.values(a)) + bonus / (1.0 + expansion.visits(a)); });
  }
  // Drawn with probability proportional to exp V - exp L. A fixed choice, such as the lowest of equals, would show the
  // search only one corner of the model.
  int choose_at_new(const EdgeBounds& edges, const Expansion& /*expansion*/) override {
    std::vector<double> weights(edges.num_states(), kNegInf);
    for (int a = 0; a < edges.num_states(); ++a) {
      if (edges.is_open(a)) weights[a] = log_unresolved(edges.values(a));
    }
    // Where rounding leaves no unresolved estimate: any open edge.
    if (*std::max_element(weights.begin(), weights.end()) == kNegInf) {
      for (int a = 0; a < edges.num_states(); ++a) weights[a] = edges.is_open(a) ? 0.0 : kNegInf;
    }
    softmax(weights, weights);
    return random_.categorical(weights);
  }
  [[nodiscard]] bool goes_by_estimates() const override { return true; }

 private:
  static double log_unresolved(const BoundValues& values) {
    return values.log_estimate() + (values.has_no_lower() ? 0.0 : log1mexp(std::max(0.0, values.log_estimate_gap())));
  }

  double bonus_;
  Random random_;
};

}  // namespace

std::unique_ptr<SelectionRule> make_rule(const SearchSpace& space, const LeafValues& leaves,
                                         const SearchOptions& options) {
  switch (options.select) {
    case SelectRule::kGap:
      return std::make_unique<GapRule>();
    case SelectRule::kQUct:
      return std::make_unique<QUctRule>(space, leaves, options);
    case SelectRule::kMass:
      break;
  }
  return std::make_unique<MassRule>(options);
}

}  // namespace treesample
