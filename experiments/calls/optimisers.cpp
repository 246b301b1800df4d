#include "optimisers.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include "treesample/math/log_domain.hpp"
#include "treesample/math/random.hpp"
#include "treesample/model/approximation.hpp"

namespace treesample::experiments {
namespace {

Assignment random_configuration(const FactorGraph& graph, Random& random) {
  Assignment x;
  for (int v = 0; v < graph.num_variables(); ++v) {
    x.push_back(static_cast<int>(random.below(static_cast<std::uint64_t>(graph.num_states(v)))));
  }
  return x;
}

// Of each variable's states, with one more of each.
Marginals frequencies(const FactorGraph& graph, const std::vector<Configuration>& known, std::size_t first,
                      std::size_t end) {
  Marginals result;
  for (int v = 0; v < graph.num_variables(); ++v) {
    std::vector<double> counts(static_cast<std::size_t>(graph.num_states(v)), 1.0);
    for (std::size_t i = first; i < end; ++i) counts[known[i].x[v]] += 1.0;
    double total = 0.0;
    for (const double count : counts) total += count;
    for (double& count : counts) count /= total;
    result.push_back(std::move(counts));
  }
  return result;
}

}  // namespace

double best_by_metropolis(const FactorGraph& graph, std::int64_t calls, std::uint64_t seed) {
  Random random(seed, "metropolis");
  Assignment x = random_configuration(graph, random);
  double here = graph.log_density(x), best = here;
  for (std::int64_t call = 1; call < calls; ++call) {
    const auto v = static_cast<int>(random.below(x.size()));
    const int before = x[v];
    x[v] = static_cast<int>(random.below(static_cast<std::uint64_t>(graph.num_states(v))));
    const double there = graph.log_density(x);
    best = std::max(best, there);
    if (there >= here || std::log(random.uniform()) < there - here) {
      here = there;
    } else {
      x[v] = before;
    }
  }
  return best;
}

double best_by_frequencies(const FactorGraph& graph, std::int64_t calls, std::uint64_t seed) {
  constexpr std::int64_t kFirst = 20;
  constexpr int kDrawn = 24;
  Random random(seed, "frequencies");
  std::vector<Configuration> known;  // the best first
  std::set<Assignment> asked;
  for (std::int64_t call = 0; call < calls; ++call) {
    Assignment x = random_configuration(graph, random);
    if (call >= kFirst) {
      const std::size_t quarter = known.size() / 4;
      const Marginals good = frequencies(graph, known, 0, quarter);
      const Marginals bad = frequencies(graph, known, quarter, known.size());
      double best_ratio = kNegInf;
      for (int draw = 0; draw < kDrawn; ++draw) {
        Assignment drawn;
        double ratio = 0.0;
        for (std::size_t v = 0; v < good.size(); ++v) {
          drawn.push_back(random.categorical(good[v]));
          ratio += std::log(good[v][drawn[v]] / bad[v][drawn[v]]);
        }
        if (ratio <= best_ratio || asked.contains(drawn)) continue;
        best_ratio = ratio;
        x = std::move(drawn);
      }
    }
    asked.insert(x);
    const double value = graph.log_density(x);
    const auto place =
        std::find_if(known.begin(), known.end(), [&](const Configuration& other) { return other.log_density < value; });
    known.insert(place, {std::move(x), value});
  }
  return known.empty() ? kNegInf : known.front().log_density;
}

}  // namespace treesample::experiments
