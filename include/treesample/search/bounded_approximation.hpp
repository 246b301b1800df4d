// The samplers of a search with bounds: at expanded nodes the softmax of X(c, .) for X = L, U or V, then all
// components independently, then the fall-back's distribution at sub-problems that were not searched.
//
//   P_L   log_value() = log Z - KL(P_L || P*) exactly, so KL(P_L || P*) <= U - log_value() is certified.
//         It puts no mass where L = -inf.
//   P_U   gamma_hat(x) / P_U(x) <= exp(log_value()) for all x: weights are bounded, a draw accepted with
//         probability weight / bound is an exact sample, and log Z has finite-sample limits.
//   P_V   the paper's P_X.
//
// log_value() is the backup of the values that the sampler attains. It may be worse than the bounds that the
// search certifies: L may have been proved without a sampler, and collapsed nodes remember bounds whose
// proof was given back.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "treesample/model/approximation.hpp"
#include "treesample/search/anytime_search.hpp"

namespace treesample {

enum class SamplerKind { kLower, kUpper, kEstimate };

class BoundedApproximation final : public Approximation {
 public:
  // Throws Error (kArgument) when the search has no such sampler: no fall-back for it, or for kUpper an edge
  // without a bound; kInterrupted when it is to be given up. Goes once through all nodes.
  BoundedApproximation(const AnytimeResult& result, SamplerKind kind, const ShouldStop& should_stop = {});

  [[nodiscard]] Assignment sample(Random& random) const override;
  [[nodiscard]] double log_prob(std::span<const int> x) const override;
  // One sample into x; returns its log-probability.
  double sample_into(std::span<int> x, Random& random) const;

  // X(root), as attained by this sampler; -inf when it has no mass anywhere.
  [[nodiscard]] double log_value() const { return log_value_; }
  [[nodiscard]] SamplerKind kind() const { return kind_; }
  [[nodiscard]] const SearchSpace& space() const;
  // True when this sampler is uniform wherever the search did not come.
  [[nodiscard]] bool is_uniform_off_store() const;

  // The nodes and the values that this sampler has for their edges, for tools inside the library.
  [[nodiscard]] const BoundStore& store() const { return *store_; }
  [[nodiscard]] double edge_value(int level, std::uint32_t index, int action) const;

 private:
  class Builder;
  template <typename Choose, typename Below>
  double walk(std::span<int> x, Choose choose, Below below) const;
  [[nodiscard]] const Fallback& fallback(int level) const;

  std::shared_ptr<const BoundStore> store_;
  LeafValues leaves_;
  SamplerKind kind_;
  std::vector<std::vector<double>> values_;  // X by level and node
  double log_value_ = 0.0;
};

// The best configuration among those whose factors were all evaluated; none when there is no such. Goes once through
// all nodes; `should_stop` ends with Error (kInterrupted). Throws as check_below_upper.
std::optional<Configuration> best_configuration(const AnytimeResult& result, const ShouldStop& should_stop = {});

// No configuration has more than all of them together: throws kNumeric when one is above a certified upper bound of
// log Z, which is then wrong because something that the caller declared is.
void check_below_upper(double log_density, double log_z_upper);

}  // namespace treesample
