#include "search/selection_rule.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "math/dispatched.hpp"
#include "math/ties.hpp"
#include "math/vector_kernels.hpp"
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

// Binary nodes in columns, for eq. 7 in vectors.
struct BinaryColumns {
  static constexpr std::size_t kMost = 64;

  std::size_t count = 0;
  double values[2][kMost] = {};  // exp V, not logarithms
  double visits[2][kMost] = {};
  double scales[2][kMost] = {};  // max(Q_phi, epsilon)
  std::uint64_t is_second[kMost] = {};
  std::uint32_t* choices[kMost] = {};
};

// The same operations as QUctRule::choose, and therefore the same bits.
TS_DISPATCHED void compare(BinaryColumns& columns, double c) {
  const std::size_t count = columns.count;
  for (std::size_t i = 0; i < count; ++i) {
    const double visits[] = {columns.visits[0][i], columns.visits[1][i]};
    const double root = c * std::sqrt(1.0 + visits[0] + visits[1]);
    const double first = log_one(columns.values[0][i]) + columns.scales[0][i] * root / (1.0 + visits[0]);
    const double second = log_one(columns.values[1][i]) + columns.scales[1][i] * root / (1.0 + visits[1]);
    columns.is_second[i] = second > first + tie_tolerance(first) ? 1 : 0;
  }
}

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
  bool note(int level, const EdgeBounds& edges, const Expansion& expansion) override {
    if (edges.num_states() != 2 || has_random_ties_) return false;
    if (!edges.summand(0).has_estimate() || !edges.summand(1).has_estimate()) return false;
    if (columns_.count == BinaryColumns::kMost) choose_noted();
    const std::size_t i = columns_.count++;
    for (int a = 0; a < 2; ++a) {
      columns_.values[a][i] = edges.summand(a).estimate_in_unit();
      columns_.visits[a][i] = expansion.visits(a);
      columns_.scales[a][i] = scale(level, expansion, a);
    }
    columns_.choices[i] = &expansion.choice();
    return true;
  }
  void choose_noted() override {
    compare(columns_, c_);
    for (std::size_t i = 0; i < columns_.count; ++i) {
      *columns_.choices[i] = static_cast<std::uint32_t>(columns_.is_second[i]);
    }
    columns_.count = 0;
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
  BinaryColumns columns_;
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
