// What a gain over Q_phi alone consists of: samples of Q_phi that correct it, or search on top of it.
#pragma once

#include <cstdint>
#include <memory>

#include "treesample/train/episode.hpp"

namespace treesample::experiments {

// The mean of log P_X - log density over samples of P_X.
double mean_delta_kl(const treesample::Problem& problem, const TreeApproximation& approximation, int num_samples,
                     Random& random);

// The delta-KL of three approximations with at most the budget of a search. The search with telescoped values spends up
// to 0.8 of its budget on samples and the rest on the tree; these have one or the other.
struct SearchShare {
  double corrected = 0.0;    // Q_phi with the corrections of that search, without the search
  double uncorrected = 0.0;  // that search without the corrections: its samples give V(root) alone
  double samples = 0.0;      // Q_phi corrected by as many samples as the whole budget pays for, without a search
};
SearchShare search_share(const treesample::Problem& problem, const std::shared_ptr<const Network>& network,
                         const EpisodeOptions& options, std::uint64_t seed);

}  // namespace treesample::experiments
