#include "train/particle_targets.hpp"

#include <cmath>

#include "treesample/math/log_domain.hpp"

namespace treesample {

void add_row(Experience& experience, int sample, int level, std::span<const double> q) {
  const double offset = experience.problem->offsets[level];
  experience.row_samples.push_back(sample);
  experience.row_levels.push_back(level);
  for (int a = 0; a < experience.num_targets; ++a) {
    const bool is_known = a < static_cast<int>(q.size());
    experience.row_targets.push_back(static_cast<float>(is_known ? q[a] - offset : kNegInf));
  }
}

ParticleTargets::ParticleTargets(const Problem& problem, const ParticleApproximation& particles, double log_z)
    : problem_(problem), particles_(particles), log_z_(log_z), reward_(problem.graph, problem.space) {}

// One pass down the levels with the atoms (particles) that still agree with x; most drop out after a few levels.
void ParticleTargets::add_rows(std::span<const int> x, int sample, Experience& experience) {
  std::vector<int> agreeing(particles_.num_atoms());
  for (int i = 0; i < particles_.num_atoms(); ++i) agreeing[i] = i;
  Budget unlimited(INT64_MAX, BudgetUnit::kReward);  // these rewards were already paid for
  double log_prefix = problem_.space.log_constant;
  std::vector<double> q;
  for (int n = 0; n < problem_.space.num_levels(); ++n) {
    const Level& level = problem_.space.levels[n];
    q.assign(level.num_states, 0.0);
    for (const int i : agreeing) q[particles_.atom(i)[level.variable]] += particles_.probability(i);
    for (double& value : q) value = log_z_ + std::log(value) - log_prefix;
    add_row(experience, sample, n, q);
    log_prefix += reward_.evaluate(n, x, unlimited);
    std::erase_if(agreeing, [&](int i) { return particles_.atom(i)[level.variable] != x[level.variable]; });
  }
}

}  // namespace treesample
