// Q-values from weighted particles; the equation is in train/episode.hpp.
#pragma once

#include <span>

#include "treesample/baselines/particle_approximation.hpp"
#include "treesample/space/reward.hpp"
#include "treesample/train/replay.hpp"

namespace treesample {

// Appends a row Q_n( . | prefix of the sample), relative to the problem's offset.
void add_row(Experience& experience, int sample, int level, std::span<const double> q);

class ParticleTargets {
 public:
  // Keeps references to both arguments. The particles must not be empty.
  ParticleTargets(const Problem& problem, const ParticleApproximation& particles, double log_z);

  // Adds a row for each level of x, which must be one of the atoms.
  void add_rows(std::span<const int> x, int sample, Experience& experience);

 private:
  const Problem& problem_;
  const ParticleApproximation& particles_;
  double log_z_;
  Reward reward_;
};

}  // namespace treesample
