// The approximation that a search yields (Algorithm 1 of the paper). At nodes of the store a state is drawn from the
// node's edges, then all components below it independently. Outside of the store, states are drawn from a leaf value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "treesample/model/approximation.hpp"
#include "treesample/space/limits.hpp"
#include "treesample/stop.hpp"
#include "treesample/store/store_view.hpp"

namespace treesample {

// The part of the report that both searches share.
struct StoreReport : RunReport {
  double estimate = 0.0;  // V(root): estimate of log Z
  std::int64_t num_traversals = 0;
  std::uint64_t num_nodes = 0;
  std::size_t used_bytes = 0;  // used by nodes
};

class StoreApproximation : public Approximation {
 public:
  [[nodiscard]] const StoreApproximation* as_store() const final { return this; }
  [[nodiscard]] ExploredTree explored_tree(std::size_t max_nodes) const final;
  [[nodiscard]] Assignment sample(Random& random) const override;
  [[nodiscard]] double log_prob(std::span<const int> x) const override;
  // Writes one sample to x and returns its log-probability. `stop` ends it with Error (kInterrupted).
  double sample_into(std::span<int> x, Random& random, StopCheck* stop = nullptr) const;
  // The same for the sampler by upper bounds, but a sample whose weight is bound to be small may be given up early; the
  // samples that continue then count for more. Suppose that w(x) <= exp(log_value()) r once a part of x is drawn. If r,
  // divided by the probability of having continued so far, falls below `least`, the sample continues only with the
  // probability that brings this quotient to `least`. Returns log(P_U(x) * probability of having continued), or +inf if
  // the sample was given up. With p = exp of that, gamma(x) / p has the same mean as w, and the same bound if least <=
  // 1. Exact sub-problems are drawn last.
  double sample_or_give_up(std::span<int> x, Random& random, double least, StopCheck* stop = nullptr) const;

  // X(root), the value that this sampler attains; for the sampler by estimates it is the search's estimate of log Z.
  // -inf if the sampler has no mass anywhere.
  [[nodiscard]] double log_value() const { return log_value_; }
  // True if the distribution is the target (lemma 1). All sub-problems are then solved; those that are not in the store
  // (solved nodes may have been given back when memory was short) are drawn by an exact leaf value.
  [[nodiscard]] bool is_exact() const { return is_exact_; }

  // Each of the following takes a pass over the store, which `should_stop` ends with Error (kInterrupted).

  // The sampler's marginals; those of the target if is_exact(). Requires has_exact_marginals(): outside of the store, a
  // leaf value whose distribution is not uniform has no closed form.
  [[nodiscard]] bool has_exact_marginals() const;
  [[nodiscard]] Marginals marginals(const ShouldStop& should_stop = {}) const;

  // The probability of the configurations that have a factor that was not evaluated. Importance weights vary only among
  // these: unless several samples fall there, a standard error means nothing.
  [[nodiscard]] double unexplored_mass(const ShouldStop& should_stop = {}) const;

  // The best configuration among those whose factors were all evaluated, if there are any.
  [[nodiscard]] std::optional<Configuration> best(const ShouldStop& should_stop = {}) const;

  [[nodiscard]] const SearchSpace& space() const { return view_->space(); }
  [[nodiscard]] const StoreView& view() const { return *view_; }

 protected:
  StoreApproximation(std::shared_ptr<const StoreView> view, double log_value, bool is_exact)
      : view_(std::move(view)), log_value_(log_value), is_exact_(is_exact) {}

 private:
  template <typename Choose, typename Below>
  double walk(std::span<int> x, Choose choose, Below below) const;

  std::shared_ptr<const StoreView> view_;
  double log_value_ = 0.0;
  bool is_exact_ = false;
};

}  // namespace treesample
