#include "baselines/frequency_proposals.hpp"

#include <algorithm>
#include <cmath>

#include "baselines/one_by_one.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample {
namespace {

constexpr std::int64_t kFirst = 20;      // number of uniform configurations at the beginning
constexpr int kDrawn = 24;               // configurations drawn, of which one is evaluated
constexpr int kMostUniformDraws = 300;   // uniform draws, if all drawn configurations are already known
constexpr double kMostListed = 1 << 20;  // then all configurations of a model with at most this many, in turn

}  // namespace

std::optional<Assignment> FrequencyProposals::next() {
  std::optional<Assignment> x;
  if (std::ssize(known_) >= kFirst) x = preferred();
  for (int tries = 0; !x && tries < kMostUniformDraws; ++tries) {
    Assignment drawn = uniform_configuration(graph_, random_);
    if (!asked_.contains(drawn)) x = std::move(drawn);
  }
  if (!x) x = first_unasked();
  if (x) asked_.insert(*x);
  return x;
}

void FrequencyProposals::note(const Assignment& x, double value) {
  const auto place =
      std::upper_bound(known_.begin(), known_.end(), value,
                       [](double searched, const Configuration& other) { return searched > other.log_density; });
  known_.insert(place, {x, value});
}

// The frequencies of each variable's states, after adding one to each count.
Marginals FrequencyProposals::frequencies(std::size_t first, std::size_t end) const {
  Marginals result;
  for (int v = 0; v < graph_.num_variables(); ++v) {
    std::vector<double> counts(static_cast<std::size_t>(graph_.num_states(v)), 1.0);
    for (std::size_t i = first; i < end; ++i) counts[known_[i].x[v]] += 1.0;
    const double total = static_cast<double>(end - first) + static_cast<double>(counts.size());
    for (double& count : counts) count /= total;
    result.push_back(std::move(counts));
  }
  return result;
}

std::optional<Assignment> FrequencyProposals::preferred() {
  const std::size_t quarter = known_.size() / 4;
  const Marginals good = frequencies(0, quarter), bad = frequencies(quarter, known_.size());
  std::optional<Assignment> best;
  double best_ratio = kNegInf;
  for (int draw = 0; draw < kDrawn; ++draw) {
    Assignment drawn;
    double ratio = 0.0;
    for (std::size_t v = 0; v < good.size(); ++v) {
      drawn.push_back(random_.categorical(good[v]));
      ratio += std::log(good[v][drawn[v]] / bad[v][drawn[v]]);
    }
    if (ratio <= best_ratio || asked_.contains(drawn)) continue;
    best_ratio = ratio;
    best = std::move(drawn);
  }
  return best;
}

std::optional<Assignment> FrequencyProposals::first_unasked() {
  if (graph_.log_num_configurations() > std::log(kMostListed)) return {};
  while (!is_listed_) {
    Assignment x = unlisted_;
    auto v = static_cast<int>(unlisted_.size()) - 1;
    while (v >= 0 && ++unlisted_[v] == graph_.num_states(v)) unlisted_[v--] = 0;
    is_listed_ = v < 0;
    if (!asked_.contains(x)) return x;
  }
  return {};
}

}  // namespace treesample
