#include "surrogate/best_proposals.hpp"

#include <algorithm>

#include "treesample/error.hpp"
#include "treesample/exact/max_product.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample {
namespace {

constexpr std::size_t kBestKept = 5;
constexpr double kOtherwise = 0.1;
constexpr double kSuccess = 0.1;  // of all values

}  // namespace

Assignment BestProposals::neighbour(Random& random) const {
  Assignment x = best_[random.below(best_.size())].x;
  const auto v = static_cast<int>(random.below(x.size()));
  x[v] = static_cast<int>(random.below(static_cast<std::uint64_t>(graph_.num_states(v))));
  return x;
}

std::optional<BestProposals::Proposal> BestProposals::next(const LearnedModel& model, Random& random) {
  if (best_.empty() || graph_.num_variables() == 0 || random.uniform() < kOtherwise) return {};
  const auto share = [&](Way way) { return (successes_[way] + 1.0) / (tries_[way] + 2.0); };
  const double shares[] = {share(kDrawn), share(kNeighbour)};
  if (random.categorical(shares) == 1) return Proposal{neighbour(random), kNeighbour};
  std::optional<Assignment> x = draws_.sample(model, random);
  if (!x) return {};
  return Proposal{*std::move(x), kDrawn};
}

void BestProposals::note(Way way, const Configuration& asked) {
  const auto place = std::lower_bound(values_.begin(), values_.end(), asked.log_density);
  const auto num_better = static_cast<double>(values_.end() - place);
  tries_[way] += 1.0;
  if (num_better <= kSuccess * static_cast<double>(values_.size()) && asked.log_density != kNegInf) {
    successes_[way] += 1.0;
  }
  values_.insert(place, asked.log_density);
  if (asked.log_density == kNegInf) return;
  best_.insert(std::find_if(best_.begin(), best_.end(),
                            [&](const Configuration& other) { return other.log_density < asked.log_density; }),
               asked);
  if (best_.size() > kBestKept) best_.pop_back();
}

std::optional<Assignment> learned_optimum(const LearnedModel& model, const LearnedModelLimits& limits,
                                          const ShouldStop& should_stop) {
  const Limits memory{.bytes = limits.max_bytes < 1e18 ? static_cast<std::size_t>(limits.max_bytes) : SIZE_MAX,
                      .threads = limits.threads};
  try {
    std::optional<MostProbable> found =
        most_probable(model.graph(1.0), memory, {.seed = limits.seed}, {.should_stop = should_stop});
    if (found) return std::move(found->configuration.x);
  } catch (const Error& error) {
    const bool is_beyond = error.code() == ErrorCode::kResource || error.code() == ErrorCode::kNumeric;
    if (error.code() != ErrorCode::kInterrupted && !is_beyond) throw;
  }
  return {};
}

}  // namespace treesample
