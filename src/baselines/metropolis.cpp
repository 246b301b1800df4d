#include "treesample/baselines/metropolis.hpp"

#include <algorithm>
#include <cmath>

#include "baselines/one_by_one.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample {
namespace {

// The configurations that the chain visited, and the number of steps at each.
class Path {
 public:
  explicit Path(const Limits& limits) : most_bytes_(static_cast<double>(limits.bytes) / 4.0) {}

  void add(const Assignment& x, double log_density) {
    states_.insert(states_.end(), x.begin(), x.end());
    log_densities_.push_back(log_density);
    counts_.push_back(1);
  }
  void stay() { ++counts_.back(); }
  [[nodiscard]] bool is_full() const {
    const double bytes = static_cast<double>(states_.size()) * sizeof(int) + static_cast<double>(counts_.size()) * 16.0;
    return bytes > most_bytes_;
  }
  // All steps except the first ones and those at impossible configurations.
  [[nodiscard]] Particles without(std::int64_t first) const {
    Particles particles;
    const std::size_t width = counts_.empty() ? 0 : states_.size() / counts_.size();
    for (std::size_t i = 0; i < counts_.size(); ++i) {
      const std::int64_t left_out = std::min(first, counts_[i]);
      first -= left_out;
      if (left_out == counts_[i] || log_densities_[i] == kNegInf) continue;
      const auto row = states_.begin() + static_cast<std::ptrdiff_t>(i * width);
      particles.states.insert(particles.states.end(), row, row + static_cast<std::ptrdiff_t>(width));
      particles.log_weights.push_back(std::log(static_cast<double>(counts_[i] - left_out)));
      particles.log_densities.push_back(log_densities_[i]);
    }
    return particles;
  }

 private:
  double most_bytes_;
  std::vector<int> states_;
  std::vector<double> log_densities_;
  std::vector<std::int64_t> counts_;
};

}  // namespace

MetropolisResult metropolis(const FactorGraph& graph, const Limits& limits, const MetropolisOptions& options,
                            const Observer& observer) {
  OneByOne asking(graph, limits, observer, "metropolis");
  Random random(options.seed, "metropolis");
  Path path(limits);
  MetropolisReport report;
  Assignment x = uniform_configuration(graph, random);
  std::optional<double> here = asking.ask(x);
  if (here) path.add(x, *here);
  while (here && !x.empty()) {
    if (path.is_full()) asking.end(StopReason::kMemory);
    const auto v = static_cast<int>(random.below(x.size()));
    const int before = x[v];
    x[v] = static_cast<int>(random.below(static_cast<std::uint64_t>(graph.num_states(v))));
    const std::optional<double> there = asking.ask(x);
    if (!there) break;
    const bool is_taken = *there >= *here || std::log(random.uniform()) < *there - *here;
    if (is_taken && x[v] != before) {
      ++report.num_accepted;
      here = there;
      path.add(x, *there);
    } else {
      x[v] = before;
      path.stay();
    }
  }
  report.num_steps = asking.num_asked();
  static_cast<RunReport&>(report) = asking.report();
  return {ParticleApproximation(graph, path.without(report.num_steps / 2)), asking.best(), report};
}

}  // namespace treesample
