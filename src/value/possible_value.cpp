#include "treesample/value/possible_value.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "treesample/error.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/value/mini_bucket.hpp"

namespace treesample {
namespace {

bool has_zero(const Factor& factor) {
  return std::find(factor.log_values().begin(), factor.log_values().end(), kNegInf) != factor.log_values().end();
}

}  // namespace

PossibleValue::PossibleValue(const SearchSpace& space, std::shared_ptr<const LeafValue> of,
                             std::shared_ptr<const LeafValue> upper)
    : LeafValue(space), of_(std::move(of)), upper_(std::move(upper)) {
  check_argument(of_ != nullptr && of_->fits(space) && upper_ != nullptr && upper_->fits(space), "PossibleValue",
                 "a leaf value was made for another space");
}

void PossibleValue::q_values(int level, std::span<const int> prefixes, int count, std::span<double> q) const {
  of_->q_values(level, prefixes, count, q);
  const auto num_states = static_cast<std::size_t>(space().levels[static_cast<std::size_t>(level)].num_states);
  std::vector<double> bounds(static_cast<std::size_t>(count) * num_states);
  upper_->q_values(level, prefixes, count, bounds);
  for (std::size_t r = 0; r < static_cast<std::size_t>(count); ++r) {
    const std::span<const double> row = std::span(bounds).subspan(r * num_states, num_states);
    if (std::all_of(row.begin(), row.end(), [](double bound) { return bound == kNegInf; })) continue;
    for (std::size_t a = 0; a < num_states; ++a) {
      if (row[a] == kNegInf) q[r * num_states + a] = kNegInf;
    }
  }
}

std::shared_ptr<const LeafValue> without_impossible(const FactorGraph& graph, const SearchSpace& space,
                                                    std::shared_ptr<const LeafValue> of,
                                                    const ShouldStop& should_stop) {
  const auto& factors = graph.factors();
  if (!std::all_of(factors.begin(), factors.end(), [](const Factor& factor) { return factor.is_table(); }) ||
      std::none_of(factors.begin(), factors.end(), has_zero)) {
    return of;
  }
  constexpr std::uint64_t kWantedBytes = std::uint64_t{16} << 20;
  try {
    auto upper = std::make_shared<WeightedMiniBucket>(
        graph, space,
        MiniBucketOptions{.wanted_bytes = kWantedBytes, .passes = 1, .lower_bound = false, .should_stop = should_stop});
    return std::make_shared<PossibleValue>(space, std::move(of), std::move(upper));
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kResource) throw;
    return of;
  }
}

}  // namespace treesample
