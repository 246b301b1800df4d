// One episode of a worker: inference on one problem with the current Q_phi, samples from the result, and the Q-values
// along them (the paper's section 4.2).
//
// Targets from TreeSample. There is a row for every node that a sample passes and below which the search evaluated
// something, with the values of the store. Nodes without an evaluation, and prefixes outside of the store, have the
// values of Q_phi itself: nothing can be learned from them, and they would only displace others in the replay. Within a
// node, actions that were not evaluated keep the value of Q_phi too, as in the paper.
//
// Targets from SMC. With Z the estimate of the run and p_i the normalised weights of its particles x_i, Z p_i estimates
// the mass that x_i stands for, so that
//
//   Q_n(a | x_<n) = log(Z sum of p_i over the particles with prefix x_<n and x_n = a) - sum over j < n of R_j(x_<=j)
//
// is an estimate of the true value (unbiased before the logarithm). The rewards are those that the particles have paid
// for. An action that no particle took has no estimate: its target is -inf, which the error skips.
//
// delta_kl of the result is that of the paper (evaluate/divergence.hpp): the mean over the episode's own samples for
// TreeSample, exact for SMC.
#pragma once

#include <cstdint>
#include <memory>

#include "treesample/nn/network_value.hpp"
#include "treesample/train/replay.hpp"
#include "treesample/tree/tree_sample.hpp"

namespace treesample {

enum class InferenceMethod { kTree, kSmc };

// The values on which Q_phi is regressed (src/train/bound_targets.hpp).
enum class TargetKind {
  kPaper,   // the values of the inference, as above
  kExact,   // Q* along samples of the target: only for problems that elimination solves in little memory
  kBounds,  // like kExact for problems that elimination solves. For others the inference's values, kept within
            // certified bounds; if it evaluated nothing, the targets are these bounds, as intervals
};

struct EpisodeOptions {
  InferenceMethod method = InferenceMethod::kTree;
  TargetKind targets = TargetKind::kPaper;  // kExact and kBounds need TreeSample and tables
  std::int64_t budget = 2500;
  int num_samples = 128;
  // TreeSample's exploration. It is far lower than the best value without a network: the bonus is scaled by Q_phi, here
  // tens of nats, and a broad search would never reach the deep levels that a perceptron must see.
  double c = 0.1;
  double epsilon = 0.1;
  double ess_threshold = 0.5;  // for SMC

  // Throws Error (kArgument) naming the field, its value and what is allowed.
  void validate() const;
};

struct Episode {
  std::shared_ptr<const Experience> experience;  // has no rows if no sample could be drawn
  double delta_kl = 0.0;                         // +inf if no sample could be drawn
};

// If `network` is null, Q_phi is uniform. Everything random follows from `seed`.
Episode run_episode(const std::shared_ptr<const Problem>& problem, const std::shared_ptr<const Network>& network,
                    const EpisodeOptions& options, std::uint64_t seed);

// The quality of Q_phi alone, without search: means over `num_samples` samples of softmax Q_phi.
struct NetworkQuality {
  double delta_kl = 0.0;
  // The root mean square, over levels and samples, of R_n + V_phi(x_<=n) - Q_phi(x_n | x_<n), with V = 0 after the last
  // level. It measures how much the values of neighbouring levels disagree. Impossible samples count up to the first
  // -inf.
  double bellman_residual = 0.0;
};
NetworkQuality network_quality(const Problem& problem, const std::shared_ptr<const Network>& network, int num_samples,
                               std::uint64_t seed);

// delta-KL of TreeSample with telescoped values of Q_phi. The samples that determine the root value are paid from the
// same budget.
double telescoped_delta_kl(const Problem& problem, const std::shared_ptr<const Network>& network,
                           const EpisodeOptions& options, std::uint64_t seed);

// delta-KL of TreeSample with the uniform Q_phi and the same options, exact: the value function is compared with it.
double plain_delta_kl(const Problem& problem, const EpisodeOptions& options, std::uint64_t seed);

}  // namespace treesample
