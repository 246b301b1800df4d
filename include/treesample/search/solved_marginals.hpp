// Exact marginals of a search that ended solved, by one pass over its store.
//
// At every configuration gamma_hat(x) <= exp(B) P_U(x), with B the value that the sampler by upper bounds attains.
// Summed over x the two sides differ by exp(B) - Z. Once that is no more than rounding, P_U is the target, up to
//
//   total variation(P_U, P*) <= 1 - Z exp(-B),
//
// and its marginals follow from the probability that it gives to each node, parents before children:
//
//   p(root) = 1,    p(child) += p(node) P_U(a | node)
//   p(x_v = a) = sum over the nodes of v of p(node) P_U(a | node)
//
// Below nodes that bounds closed without a search, the distribution of the leaf value is used, with equal contexts
// merged.
//
// Where factors declare no maximum there is no P_U. A search that ended by evaluating everything has L = V = U up to
// rounding at every node, so that the sampler by estimates is the target in the same sense; this covers expanded nodes
// only.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "treesample/search/search_approximation.hpp"

namespace treesample {

struct SolvedMarginalsOptions {
  double tolerance = 1e-7;           // on 1 - Z exp(-B), by estimates on 1 - exp(L - U)
  std::uint64_t bytes = 1ULL << 30;  // for contexts below the store
  ShouldStop should_stop = {};       // ends it without a result
};

// `sampler` is that of `result` by upper bounds, or by estimates. There is no result when the search is not solved
// within the tolerance, when Z = 0, when a pass below the store would be needed in the space `tree` or by estimates,
// and when a limit is reached.
std::optional<Marginals> solved_marginals(const SearchResult& result, const SearchApproximation& sampler,
                                          const SolvedMarginalsOptions& options = {});

}  // namespace treesample
