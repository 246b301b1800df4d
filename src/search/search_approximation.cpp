#include "treesample/search/search_approximation.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <utility>

#include "search/edge_bounds.hpp"
#include "search/sampler_view.hpp"
#include "treesample/error.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/store/passes.hpp"

namespace treesample {
namespace {

std::shared_ptr<const SamplerView> make_view(const SearchResult& result, SamplerKind kind,
                                             const ShouldStop& should_stop) {
  constexpr const char* kFunction = "SearchApproximation";
  const LeafValues& leaves = result.leaves;
  check_argument(kind != SamplerKind::kUpper || leaves.upper != nullptr, kFunction,
                 "the search has no upper bounds to sample from");
  check_argument(kind != SamplerKind::kEstimate || leaves.estimate != nullptr || leaves.upper != nullptr, kFunction,
                 "the search has no estimates to sample from");
  auto view = std::make_shared<const SamplerView>(result, kind, should_stop);
  check_argument(kind != SamplerKind::kUpper || view->log_value() < std::numeric_limits<double>::infinity(), kFunction,
                 "an edge of the search has no upper bound");
  return view;
}

}  // namespace

SearchApproximation::SearchApproximation(const SearchResult& result, SamplerKind kind,
                                         const std::shared_ptr<const SamplerView>& view)
    // Of nodes that were given up for memory the store has the values, but no longer the distribution.
    : StoreApproximation(
          view, view->log_value(),
          view->space().log_constant == kNegInf || (is_solved(*result.store) && result.report.num_collapses == 0)),
      store_(result.store),
      kind_(kind) {}

SearchApproximation::SearchApproximation(const SearchResult& result, SamplerKind kind, const ShouldStop& should_stop)
    : SearchApproximation(result, kind, make_view(result, kind, should_stop)) {}

std::shared_ptr<const SearchApproximation> SearchApproximation::upper(const SearchResult& result,
                                                                      const ShouldStop& should_stop) {
  if (result.leaves.upper == nullptr) return nullptr;
  const auto view = std::make_shared<const SamplerView>(result, SamplerKind::kUpper, should_stop);
  if (!std::isfinite(view->log_value())) return nullptr;
  return std::shared_ptr<const SearchApproximation>(new SearchApproximation(result, SamplerKind::kUpper, view));
}

void check_below_upper(double log_density, double log_z_upper) {
  // Sums of many terms are rounded, while bounds are only rounded outward.
  const double rounding = 1e-9 * (1.0 + std::abs(log_density));
  if (!(log_density > log_z_upper + rounding)) return;
  throw Error(ErrorCode::kNumeric,
              fmt::format("a configuration of log density {} was found, above the upper bound {} of log Z: a declared "
                          "log_max is too low, or a function gives two values for the same states",
                          log_density, log_z_upper));
}

std::optional<Configuration> best_configuration(const SearchResult& result, const ShouldStop& should_stop) {
  std::optional<Configuration> found = best_in_store(SamplerView(result), should_stop);
  if (found) check_below_upper(found->log_density, result.report.log_z.upper);
  return found;
}

}  // namespace treesample
