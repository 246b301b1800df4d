#include "treesample/baselines/frequencies.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include "baselines/one_by_one.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample {
namespace {

constexpr std::int64_t kFirst = 20;      // number of uniform configurations at the beginning
constexpr int kDrawn = 24;               // configurations drawn, of which one is evaluated
constexpr int kMostTries = 300;          // uniform draws, if all drawn configurations are already known
constexpr double kMostListed = 1 << 20;  // then all configurations of a model with at most this many, in turn

class Proposals {
 public:
  Proposals(const FactorGraph& graph, std::uint64_t seed)
      : graph_(graph), random_(seed, "frequencies"), unlisted_(static_cast<std::size_t>(graph.num_variables()), 0) {}

  // Returns a configuration that was not evaluated before, if there is one.
  std::optional<Assignment> next() {
    std::optional<Assignment> x;
    if (std::ssize(known_) >= kFirst) x = preferred();
    for (int tries = 0; !x && tries < kMostTries; ++tries) {
      Assignment drawn = uniform_configuration(graph_, random_);
      if (!asked_.contains(drawn)) x = std::move(drawn);
    }
    if (!x) x = first_unasked();
    if (x) asked_.insert(*x);
    return x;
  }
  void note(const Assignment& x, double value) {
    const auto place =
        std::upper_bound(known_.begin(), known_.end(), value,
                         [](double searched, const Configuration& other) { return searched > other.log_density; });
    known_.insert(place, {x, value});
  }

 private:
  // The frequencies of each variable's states, after adding one to each count.
  [[nodiscard]] Marginals frequencies(std::size_t first, std::size_t end) const {
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

  std::optional<Assignment> preferred() {
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

  std::optional<Assignment> first_unasked() {
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

  const FactorGraph& graph_;
  Random random_;
  std::vector<Configuration> known_;  // the best one first
  std::set<Assignment> asked_;
  Assignment unlisted_;  // all configurations before it, in lexicographic order, were evaluated
  bool is_listed_ = false;
};

}  // namespace

FrequenciesResult best_by_frequencies(const FactorGraph& graph, const Limits& limits, const FrequenciesOptions& options,
                                      const Observer& observer) {
  OneByOne asking(graph, limits, observer, "frequencies");
  Proposals proposals(graph, options.seed);
  FrequenciesReport report;
  while (const std::optional<Assignment> x = proposals.next()) {
    const std::optional<double> value = asking.ask(*x);
    if (!value) break;
    proposals.note(*x, *value);
  }
  report.num_asked = asking.num_asked();
  report.log_error = asking.log_error();
  report.is_complete = std::log(static_cast<double>(report.num_asked)) >= graph.log_num_configurations() - 1e-9;
  if (report.is_complete) asking.end(StopReason::kConverged);
  static_cast<RunReport&>(report) = asking.report();
  return {asking.best(), report};
}

}  // namespace treesample
