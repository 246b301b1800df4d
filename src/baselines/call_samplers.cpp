#include "treesample/baselines/call_samplers.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>
#include <vector>

#include "baselines/frequency_proposals.hpp"
#include "baselines/one_by_one.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/math/random.hpp"

namespace treesample {
namespace {

constexpr int kMostTries = 300;  // until a draw is new
constexpr std::int64_t kSteps = 10, kFewestParticles = 8, kUsualCalls = 1000;
constexpr double kEliteShare = 0.2, kKeptShare = 0.5;

// Evaluates, and remembers each configuration once.
class Asked {
 public:
  Asked(const FactorGraph& graph, const Limits& limits, const Observer& observer)
      : graph_(graph),
        asking_(graph, limits, observer, "asking"),
        calls_(limits.budget == Limits::kUnlimited ? kUsualCalls : limits.budget) {}

  std::optional<double> ask(const Assignment& x) {
    const std::optional<double> value = asking_.ask(x);
    if (!value || !known_.insert(x).second) return value;
    particles_.states.insert(particles_.states.end(), x.begin(), x.end());
    particles_.log_weights.push_back(*value);
    particles_.log_densities.push_back(*value);
    return value;
  }
  [[nodiscard]] const FactorGraph& graph() const { return graph_; }
  [[nodiscard]] bool knows(const Assignment& x) const { return known_.contains(x); }
  [[nodiscard]] std::int64_t calls() const { return calls_; }

  [[nodiscard]] CallSamplerResult result() const {
    CallSamplerReport report;
    static_cast<RunReport&>(report) = asking_.report();
    report.num_asked = std::ssize(known_);
    return {ParticleApproximation(graph_, particles_), asking_.best(), log_sum_exp(particles_.log_weights), report};
  }

 private:
  const FactorGraph& graph_;
  OneByOne asking_;
  std::int64_t calls_;
  std::set<Assignment> known_;
  Particles particles_;
};

// A configuration of a chain on gamma_hat^power.
struct Walker {
  Assignment x;
  double log_density = kNegInf;
  double power = 1.0;
};

bool is_accepted(double log_ratio, Random& random) {
  return !(log_ratio < 0.0) || std::log(random.uniform()) < log_ratio;
}

double powered(double power, double log_density) { return log_density == kNegInf ? kNegInf : power * log_density; }

// One variable at a time; false when the run is over.
bool move(Asked& asked, Walker& walker, Random& random) {
  if (walker.x.empty()) return false;
  const auto v = random.below(walker.x.size());
  Assignment there = walker.x;
  there[v] = static_cast<int>(random.below(static_cast<std::uint64_t>(asked.graph().num_states(static_cast<int>(v)))));
  const std::optional<double> value = asked.ask(there);
  if (!value) return false;
  const double here = powered(walker.power, walker.log_density);
  // From density 0 every step is taken.
  if (here == kNegInf || is_accepted(powered(walker.power, *value) - here, random)) {
    walker.x = std::move(there);
    walker.log_density = *value;
  }
  return true;
}

bool start(Asked& asked, Walker& walker, Random& random) {
  walker.x = uniform_configuration(asked.graph(), random);
  const std::optional<double> value = asked.ask(walker.x);
  walker.log_density = value.value_or(kNegInf);
  return value.has_value();
}

void ask_at_random(Asked& asked, Random& random) {
  for (int tries = 0; tries < kMostTries;) {
    const Assignment x = uniform_configuration(asked.graph(), random);
    if (asked.knows(x)) {
      ++tries;
      continue;
    }
    tries = 0;
    if (!asked.ask(x)) return;
  }
}

void walk(Asked& asked, Random& random) {
  Walker walker;
  if (!start(asked, walker, random)) return;
  while (move(asked, walker, random)) {
  }
}

void temper(Asked& asked, Random& random) {
  std::vector<Walker> walkers(4);
  for (std::size_t i = 0; i < walkers.size(); ++i) {
    walkers[i].power = std::ldexp(1.0, -static_cast<int>(i));
    if (!start(asked, walkers[i], random)) return;
  }
  while (true) {
    for (Walker& walker : walkers) {
      if (!move(asked, walker, random)) return;
    }
    const std::size_t i = random.below(walkers.size() - 1);
    Walker &cold = walkers[i], &hot = walkers[i + 1];
    const bool is_one_impossible = cold.log_density == kNegInf || hot.log_density == kNegInf;
    const double log_ratio = (cold.power - hot.power) * (hot.log_density - cold.log_density);
    if (is_one_impossible ? hot.log_density > cold.log_density : is_accepted(log_ratio, random)) {
      std::swap(cold.x, hot.x);
      std::swap(cold.log_density, hot.log_density);
    }
  }
}

void anneal(Asked& asked, Random& random) {
  const std::int64_t count = std::max(kFewestParticles, asked.calls() / (kSteps + 1));
  std::vector<Walker> particles(static_cast<std::size_t>(count));
  for (Walker& particle : particles) {
    if (!start(asked, particle, random)) return;
  }
  for (std::int64_t step = 1; step <= kSteps; ++step) {
    std::vector<double> weights;
    double most = kNegInf;
    for (const Walker& particle : particles) most = std::max(most, particle.log_density);
    for (const Walker& particle : particles) {
      const double log_weight = (particle.log_density - most) / static_cast<double>(kSteps);
      weights.push_back(most == kNegInf ? 1.0 : std::exp(log_weight));
    }
    std::vector<Walker> drawn;
    for (std::size_t i = 0; i < particles.size(); ++i) {
      drawn.push_back(particles[static_cast<std::size_t>(random.categorical(weights))]);
      drawn.back().power = static_cast<double>(step) / static_cast<double>(kSteps);
    }
    particles = std::move(drawn);
    for (Walker& particle : particles) {
      if (!move(asked, particle, random)) return;
    }
  }
  walk(asked, random);  // what is left of the budget
}

Assignment draw(const Marginals& frequencies, Random& random) {
  Assignment x;
  for (const std::vector<double>& states : frequencies) x.push_back(random.categorical(states));
  return x;
}

void cross_entropy(Asked& asked, Random& random) {
  Marginals frequencies;
  for (int v = 0; v < asked.graph().num_variables(); ++v) {
    const int states = asked.graph().num_states(v);
    frequencies.emplace_back(states, 1.0 / states);
  }
  const std::int64_t size = std::max<std::int64_t>(20, asked.calls() / 10);
  while (true) {
    std::vector<Configuration> generation;
    for (std::int64_t i = 0; i < size; ++i) {
      Assignment x = draw(frequencies, random);
      for (int tries = 0; tries < kMostTries && asked.knows(x); ++tries) x = draw(frequencies, random);
      const std::optional<double> value = asked.ask(x);
      if (!value) return;
      generation.push_back({std::move(x), *value});
    }
    std::stable_sort(generation.begin(), generation.end(),
                     [](const auto& a, const auto& b) { return a.log_density > b.log_density; });
    const auto elite = static_cast<std::size_t>(std::ceil(kEliteShare * static_cast<double>(size)));
    for (std::size_t v = 0; v < frequencies.size(); ++v) {
      std::vector<double> counts(frequencies[v].size(), 1.0);
      for (std::size_t i = 0; i < elite; ++i) counts[static_cast<std::size_t>(generation[i].x[v])] += 1.0;
      const double total = static_cast<double>(elite + counts.size());
      for (std::size_t s = 0; s < counts.size(); ++s) {
        frequencies[v][s] = kKeptShare * frequencies[v][s] + (1.0 - kKeptShare) * counts[s] / total;
      }
    }
  }
}

void ask_by_frequencies(Asked& asked, std::uint64_t seed) {
  FrequencyProposals proposals(asked.graph(), seed);
  while (const std::optional<Assignment> x = proposals.next()) {
    const std::optional<double> value = asked.ask(*x);
    if (!value) return;
    proposals.note(*x, *value);
  }
}

}  // namespace

CallSamplerResult sample_by_calls(const FactorGraph& graph, const Limits& limits, CallSampler sampler,
                                  std::uint64_t seed, const Observer& observer) {
  Asked asked(graph, limits, observer);
  Random random(seed, "calls");
  switch (sampler) {
    case CallSampler::kRandom:
      ask_at_random(asked, random);
      break;
    case CallSampler::kMetropolis:
      walk(asked, random);
      break;
    case CallSampler::kTempering:
      temper(asked, random);
      break;
    case CallSampler::kAnnealing:
      anneal(asked, random);
      break;
    case CallSampler::kCrossEntropy:
      cross_entropy(asked, random);
      break;
    case CallSampler::kFrequencies:
      ask_by_frequencies(asked, seed);
      break;
  }
  return asked.result();
}

}  // namespace treesample
