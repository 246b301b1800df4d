#include "mixer/judge.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "mixer/truth.hpp"
#include "treesample/error.hpp"
#include "treesample/infer/answer.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample::mixer {
namespace {

constexpr double kExactTolerance = 1e-6;      // of what is called exact
constexpr double kDensityTolerance = 1e-9;    // of log densities, relative to 1 + their magnitude
constexpr std::size_t kMostForLogProb = 300;  // configurations whose log_prob is summed

class Judge {
 public:
  Judge(const MixedCase& asked, const InferRequest& request, const Answer& answer, Tally& tally)
      : asked_(asked), request_(request), answer_(answer), tally_(tally), truth_(asked) {}

  std::vector<std::string> run() {
    if (asked_.has_option("noise")) return with_noise();
    judge_log_z();
    judge_intervals();
    judge_marginals();
    judge_queries();
    judge_best();
    judge_k_best();
    judge_map();
    judge_samples();
    judge_sampler();
    judge_conflict();
    judge_values();
    return std::move(broken_);
  }

 private:
  // Values are means of readings, so that only what holds for every distribution can be compared.
  std::vector<std::string> with_noise() {
    if (asked_.has(MixedFactor::Kind::kNoisyFunction)) {
      promise("log Z of noisy values is not certified", truth_.is_impossible() || !answer_.is_exact, "");
      promise("best is not optimal by noisy values", !has_open_noise() || answer_.is_best_optimal != true, "");
    }
    judge_sampler();
    return std::move(broken_);
  }
  // A noisy function that evidence does not decide: other ones are the same for all configurations.
  [[nodiscard]] bool has_open_noise() const {
    const auto is_observed = [&](int v) {
      return std::any_of(asked_.evidence.begin(), asked_.evidence.end(),
                         [=](const auto& o) { return o.variable == v; });
    };
    return std::any_of(asked_.factors.begin(), asked_.factors.end(), [&](const MixedFactor& factor) {
      return factor.kind == MixedFactor::Kind::kNoisyFunction &&
             !std::all_of(factor.scope.begin(), factor.scope.end(), is_observed);
    });
  }
  // Every promise that is made is counted.
  void promise(const char* name, bool is_kept, const std::string& what) {
    Tally::Count& count = tally_.promises[name];
    ++count.made;
    if (is_kept) return;
    ++count.broken;
    broken_.push_back(fmt::format("{}: {}", name, what));
  }
  [[nodiscard]] bool is_close(double a, Quad b) const {
    if (isinfq(b) != 0) return a == kNegInf;
    return std::abs(a - plain(b)) <= kDensityTolerance * (1.0 + std::abs(plain(b)) + largest_factor());
  }
  // Sums of large factors lose digits.
  [[nodiscard]] double largest_factor() const {
    double largest = 0.0;
    for (const MixedFactor& factor : asked_.factors) {
      for (const double value : factor.log_values) {
        if (value != kNegInf) largest = std::max(largest, std::abs(value));
      }
    }
    return largest;
  }

  void judge_log_z() {
    const Quad log_z = truth_.log_z();
    if (answer_.lower) {
      promise("lower bound", *answer_.lower <= log_z,
              fmt::format("lower {:.17g}, log Z {:.17g}", *answer_.lower, plain(log_z)));
    }
    if (answer_.upper) {
      promise("upper bound", *answer_.upper >= log_z,
              fmt::format("upper {:.17g}, log Z {:.17g}", *answer_.upper, plain(log_z)));
    }
    if (answer_.log_z) {
      const bool is_inside = *answer_.log_z >= answer_.lower.value_or(kNegInf) &&
                             *answer_.log_z <= answer_.upper.value_or(HUGE_VAL) && !std::isnan(*answer_.log_z);
      promise("estimate within the bounds", is_inside, fmt::format("{:.17g}", *answer_.log_z));
    }
    if (!answer_.is_exact) return;
    const bool is_near = answer_.log_z && (truth_.is_impossible() ? *answer_.log_z == kNegInf
                                                                  : std::abs(*answer_.log_z - plain(log_z)) <=
                                                                        kExactTolerance + 1e-12 * largest_factor());
    promise("log Z is exact", is_near, fmt::format("{:.17g} for {:.17g}", answer_.log_z.value_or(NAN), plain(log_z)));
    promise("exact has both bounds", answer_.lower && answer_.upper, "");
  }

  void judge_intervals() {
    const auto judge = [&](const char* name, const LogBounds& interval, double confidence) {
      if (confidence < 0.9) return;
      // Each may miss: the program that calls this looks at how many do.
      Tally::Count& count = tally_.promises[name];
      ++count.made;
      const double slack = 1e-12 * (1.0 + std::abs(plain(truth_.log_z())) + largest_factor());
      const bool covers = interval.lower - slack <= truth_.log_z() && interval.upper + slack >= truth_.log_z();
      count.broken += covers ? 0 : 1;
    };
    if (answer_.sampled_interval) {
      judge("interval (learned) covers", answer_.sampled_interval->log_z, answer_.sampled_interval->confidence);
    }
    if (answer_.bounded_importance && !truth_.is_impossible()) {
      judge("interval (betting) covers", answer_.bounded_importance->interval, answer_.bounded_importance->confidence);
    }
  }

  void judge_distribution(const char* name, const std::vector<double>& found, const std::vector<int>& variables,
                          std::optional<double> error) {
    double sum = 0.0;
    bool is_number = true;
    for (const double p : found) {
      sum += p;
      is_number = is_number && p >= 0.0 && p <= 1.0 + 1e-9;
    }
    promise("probabilities are probabilities", is_number && std::abs(sum - 1.0) <= 1e-6,
            fmt::format("{} add up to {:.17g}", name, sum));
    if (!error || *error != 0.0) return;
    const std::vector<double> wanted = truth_.distribution(variables);
    double off = 0.0;
    for (std::size_t i = 0; i < wanted.size(); ++i) off = std::max(off, std::abs(wanted[i] - found[i]));
    promise(name, off <= kExactTolerance + 1e-12 * largest_factor(), fmt::format("off by {:.3g}", off));
  }

  void judge_marginals() {
    const bool are_asked = request_.question.marginals && request_.question.aim == Aim::kAll;
    const bool has_a_word = !answer_.marginals_from.empty() || !answer_.marginals_no_error.empty();
    if (answer_.marginals.empty()) {
      if (are_asked && answer_.is_exact && !truth_.is_impossible() && !asked_.num_states.empty()) {
        promise("marginals are there, or why not", has_a_word, "nothing is said");
      }
      return;
    }
    for (std::size_t v = 0; v < answer_.marginals.size(); ++v) {
      std::optional<double> error;
      if (v < answer_.marginal_errors.size()) error = answer_.marginal_errors[v];
      judge_distribution("exact marginals", answer_.marginals[v], {static_cast<int>(v)}, error);
    }
  }

  void judge_queries() {
    promise("every query has a place",
            answer_.queries.size() == request_.question.query.size() || truth_.is_impossible(),
            fmt::format("{} of {}", answer_.queries.size(), request_.question.query.size()));
    for (const QueryAnswer& query : answer_.queries) {
      if (query.probabilities.empty()) continue;
      judge_distribution("exact joint queries", query.probabilities, query.variables, query.error);
    }
  }

  // Of the distance to the truth, what rounding explains.
  [[nodiscard]] double rounding() const {
    return 1e-9 * (1.0 + std::abs(plain(truth_.most()))) + 1e-12 * largest_factor();
  }

  void judge_best() {
    if (!answer_.best || answer_.best->x.empty()) return;
    const Quad density = truth_.density(answer_.best->x, true);
    promise("density of the best configuration", is_close(answer_.best->log_density, density),
            fmt::format("{:.17g} for {:.17g}", answer_.best->log_density, plain(density)));
    const double behind = truth_.is_impossible() ? 0.0 : plain(truth_.most() - density);
    if (answer_.is_best_optimal == true) {
      promise("best is optimal", behind <= answer_.best_gap.value_or(0.0) + rounding(),
              fmt::format("off by {:.3g}", behind));
    }
    if (answer_.best_gap) {
      promise("gap of the best", behind <= *answer_.best_gap + rounding(),
              fmt::format("off by {:.3g}, gap {:.3g}", behind, *answer_.best_gap));
    }
  }

  void judge_k_best() {
    std::set<Assignment> different;
    for (const Configuration& one : answer_.k_best) {
      different.insert(one.x);
      promise("density of k-best", is_close(one.log_density, truth_.density(one.x, true)), "");
    }
    if (!answer_.k_best.empty()) promise("k-best are different", different.size() == answer_.k_best.size(), "");
    if (!answer_.is_k_best_optimal) return;
    std::vector<Quad> sorted = truth_.densities();
    std::sort(sorted.begin(), sorted.end(), std::greater<>());
    while (!sorted.empty() && isinfq(sorted.back()) != 0) sorted.pop_back();
    const std::size_t wanted = std::min<std::size_t>(sorted.size(), static_cast<std::size_t>(request_.question.k_best));
    bool are_best = answer_.k_best.size() == wanted;
    for (std::size_t i = 0; i < answer_.k_best.size() && are_best; ++i) {
      are_best = plain(sorted[i]) - answer_.k_best[i].log_density <= rounding();
    }
    promise("k-best are optimal", are_best, fmt::format("{} of {}", answer_.k_best.size(), wanted));
  }

  void judge_map() {
    if (!answer_.map || answer_.map->states.empty()) return;
    const std::vector<Quad> sums = truth_.log_sums(answer_.map->variables);
    std::size_t entry = 0;
    for (std::size_t i = 0; i < answer_.map->variables.size(); ++i) {
      entry = entry * static_cast<std::size_t>(asked_.num_states[static_cast<std::size_t>(answer_.map->variables[i])]) +
              static_cast<std::size_t>(answer_.map->states[i]);
    }
    const Quad most = *std::max_element(sums.begin(), sums.end());
    const LogBounds& value = answer_.map->log_value;
    promise("value of marginal MAP", value.lower <= sums[entry] && value.upper >= sums[entry],
            fmt::format("[{:.17g}, {:.17g}] for {:.17g}", value.lower, value.upper, plain(sums[entry])));
    promise("bound of marginal MAP", answer_.map->log_upper >= most,
            fmt::format("{:.17g} for {:.17g}", answer_.map->log_upper, plain(most)));
    if (answer_.map->is_optimal) {
      promise("marginal MAP is optimal", plain(most - sums[entry]) <= kExactTolerance + rounding(),
              fmt::format("off by {:.3g}", plain(most - sums[entry])));
    }
  }

  void judge_samples() {
    for (std::size_t i = 0; i < answer_.samples.size(); ++i) {
      const Quad density = truth_.density(answer_.samples[i], true);
      if (answer_.has_exact_samples || answer_.is_exact) {
        promise("samples of exact answers are possible", isinfq(density) == 0, "");
      }
      if (i < answer_.sample_log_densities.size()) {
        promise("density of samples", is_close(answer_.sample_log_densities[i], density),
                fmt::format("{:.17g} for {:.17g}", answer_.sample_log_densities[i], plain(density)));
      }
      if (i < answer_.sample_log_probs.size() && answer_.approximation) {
        const double log_prob = answer_.approximation->log_prob(answer_.samples[i]);
        promise("log_prob of samples",
                std::abs(log_prob - answer_.sample_log_probs[i]) <= 1e-9 * (1.0 + std::abs(log_prob)),
                fmt::format("{:.17g} and {:.17g}", answer_.sample_log_probs[i], log_prob));
      }
    }
    if (answer_.is_exact && truth_.is_impossible()) {
      promise("an impossible model has no samples", answer_.samples.empty(), "");
    }
  }

  void judge_sampler() {
    if (!answer_.approximation || truth_.is_impossible() || truth_.all().size() > kMostForLogProb) return;
    double sum = 0.0;
    double divergence = 0.0;
    for (std::size_t i = 0; i < truth_.all().size(); ++i) {
      const double log_prob = answer_.approximation->log_prob(truth_.all()[i]);
      const double p = std::exp(log_prob);
      sum += p;
      if (p > 0.0) divergence += p * (log_prob - plain(truth_.densities()[i] - truth_.log_z()));
    }
    promise("log_prob adds up to 1", std::abs(sum - 1.0) <= 1e-6, fmt::format("{:.17g}", sum));
    if (!answer_.sampler_divergence) return;
    promise("divergence of the sampler", divergence <= *answer_.sampler_divergence + 1e-6 + 1e-12 * largest_factor(),
            fmt::format("{:.17g}, at most {:.17g}", divergence, *answer_.sampler_divergence));
  }

  void judge_conflict() {
    if (answer_.conflict.empty()) return;
    MixedCase only = asked_;
    only.evidence = answer_.conflict.states;
    only.soft_evidence = answer_.conflict.soft;
    promise("a conflict is one", Truth(only).is_impossible(), "");
  }

  void judge_values() {
    if (answer_.sensitivity) {
      bool are_numbers = !std::isnan(answer_.sensitivity->value);
      for (const auto& factor : answer_.sensitivity->derivatives) {
        for (const double derivative : factor) are_numbers = are_numbers && !std::isnan(derivative);
      }
      promise("derivatives are numbers", are_numbers, "");
      if (!answer_.sensitivity->target.empty()) {
        const Observation& target = answer_.sensitivity->target[0];
        const double wanted = truth_.distribution({target.variable})[static_cast<std::size_t>(target.state)];
        promise("probability of sensitivity", std::abs(wanted - answer_.sensitivity->value) <= kExactTolerance,
                fmt::format("{:.17g} for {:.17g}", answer_.sensitivity->value, wanted));
      }
    }
    if (answer_.observation_values) {
      double entropy = 0.0;
      for (const double p : truth_.distribution({answer_.observation_values->target})) {
        if (p > 0.0) entropy -= p * std::log(p);
      }
      promise("entropy of value-for", std::abs(entropy - answer_.observation_values->entropy) <= kExactTolerance,
              fmt::format("{:.17g} for {:.17g}", answer_.observation_values->entropy, entropy));
    }
  }

  const MixedCase& asked_;
  const InferRequest& request_;
  const Answer& answer_;
  Tally& tally_;
  const Truth truth_;
  std::vector<std::string> broken_;
};

}  // namespace

std::vector<std::string> broken_in(const Answer& answer, const MixedCase& asked, const InferRequest& request,
                                   Tally& tally) {
  return Judge(asked, request, answer, tally).run();
}

}  // namespace treesample::mixer
