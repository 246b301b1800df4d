// The samplers of the search: at expanded nodes the softmax of X(c, .) for X = L, U or V, then all components
// independently, then the leaf value's distribution at sub-problems that were not searched.
//
//   P_L   log_value() = log Z - KL(P_L || P*) exactly, so KL(P_L || P*) <= U - log_value() is certified.
//         It puts no mass where L = -inf.
//   P_U   gamma_hat(x) / P_U(x) <= exp(log_value()) for all x: weights are bounded, a draw accepted with
//         probability weight / bound is an exact sample, and log Z has finite-sample limits.
//   P_V   the paper's P_X.
//
// log_value() is the backup of the values that the sampler attains. It may be worse than the bounds that the search
// certifies: L may have been proved without a sampler, and collapsed nodes keep bounds after the nodes that proved them
// were given back.
#pragma once

#include <memory>
#include <optional>

#include "treesample/search/search.hpp"
#include "treesample/store/passes.hpp"
#include "treesample/store/store_approximation.hpp"

namespace treesample {

class SamplerView;

enum class SamplerKind { kLower, kUpper, kEstimate };

class SearchApproximation final : public StoreApproximation {
 public:
  // Throws Error: kArgument when the search has no such sampler (there is no leaf value for it and not everything is in
  // the store, or, for kUpper, an edge has no bound), kInterrupted by `should_stop`. Makes one pass over all nodes.
  SearchApproximation(const SearchResult& result, SamplerKind kind, const ShouldStop& should_stop = {});

  // P_U, or null where the search has none: Z = 0, or bounds of a sub-problem are beyond the range of its numbers.
  static std::shared_ptr<const SearchApproximation> upper(const SearchResult& result,
                                                          const ShouldStop& should_stop = {});

  [[nodiscard]] SamplerKind kind() const { return kind_; }
  // True when this is a sampler of that search.
  [[nodiscard]] bool is_of(const SearchResult& result) const { return store_ == result.store; }

 private:
  SearchApproximation(const SearchResult& result, SamplerKind kind, const std::shared_ptr<const SamplerView>& view);

  std::shared_ptr<const BoundStore> store_;
  SamplerKind kind_;
};

// The best configuration among those whose factors were all evaluated, if there are any. Makes one pass over all nodes;
// `should_stop` ends it with Error (kInterrupted). Throws as check_below_upper.
std::optional<StoredBest> best_configuration(const SearchResult& result, const ShouldStop& should_stop = {});

// No single configuration can have more mass than all of them together: throws kNumeric when one is above a certified
// upper bound of log Z. That bound is then wrong because something that the caller declared is wrong.
void check_below_upper(double log_density, double log_z_upper);

}  // namespace treesample
