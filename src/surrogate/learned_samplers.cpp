#include "surrogate/learned_samplers.hpp"

#include <cmath>
#include <utility>

#include "treesample/math/log_domain.hpp"

namespace treesample {
namespace {

std::shared_ptr<const LearnedApproximation> cut(const LearnedModel& model, double scale, const FactorGraph& graph,
                                                const std::vector<Configuration>& asked,
                                                const LearnedModelLimits& limits, const ShouldStop& should_stop) {
  return std::make_shared<const LearnedApproximation>(eliminate(model.graph(scale), limits), graph, asked, should_stop);
}

}  // namespace

void LearnedSamplers::make(const LearnedModel& model, const FactorGraph& graph, const std::vector<Configuration>& asked,
                           const LearnedModelLimits& limits, const ShouldStop& should_stop) {
  make_learned(model, graph, asked, limits, should_stop);
  flat_ = cut(model, kFlatScale, graph, asked, limits, should_stop);
  uniform_ = cut(model, 0.0, graph, asked, limits, should_stop);
}

void LearnedSamplers::make_learned(const LearnedModel& model, const FactorGraph& graph,
                                   const std::vector<Configuration>& asked, const LearnedModelLimits& limits,
                                   const ShouldStop& should_stop) {
  learned_ = cut(model, 1.0, graph, asked, limits, should_stop);
}

std::optional<Assignment> PosteriorDraws::sample(const LearnedModel& model, Random& random) {
  constexpr int kFromOne = 8;
  if (!drawn_ || ++num_from_one_ % kFromOne == 0) drawn_.emplace(eliminate(model.draw(scale_, random), limits_));
  if (drawn_->log_z() == kNegInf) return {};
  return drawn_->sample(random);
}

bool LearnedSamplers::has_any() const { return uniform_->log_elsewhere() != kNegInf; }

// If one of the distributions has nothing left, its share goes to the uniform one.
const LearnedApproximation& LearnedSamplers::pick(Random& random) const {
  const double u = random.uniform();
  const LearnedApproximation& part = u < kFromLearned ? *learned_ : u < kFromLearned + kFromFlat ? *flat_ : *uniform_;
  return part.log_elsewhere() == kNegInf ? *uniform_ : part;
}

TargetSample LearnedSamplers::weigh(Assignment x) const {
  double uniform_share = 1.0 - kFromLearned - kFromFlat;
  const auto log_part = [&](double share, const LearnedApproximation& part) {
    if (part.log_elsewhere() == kNegInf) {
      uniform_share += share;
      return kNegInf;
    }
    return std::log(share) + part.learned().log_prob(x) + part.learned().log_z() - part.log_elsewhere();
  };
  double parts[] = {log_part(kFromLearned, *learned_), log_part(kFromFlat, *flat_), 0.0};
  parts[2] = log_part(uniform_share, *uniform_);
  const double log_q = log_sum_exp(parts);
  const double log_learned = learned_->learned().log_prob(x) + learned_->learned().log_z() - log_q;
  return {std::move(x), -log_q, log_learned, log_q};
}

}  // namespace treesample
