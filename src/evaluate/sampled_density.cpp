#include "evaluate/sampled_density.hpp"

#include "treesample/error.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample {
namespace {

constexpr const char* kFunction = "density of a sample";

}  // namespace

CompensatedSum charged_density(const FactorGraph& graph, std::span<const int> x, Spending& spent) {
  graph.check_assignment(x, kFunction);
  CompensatedSum density;
  spent.reward_evaluations += graph.num_variables();
  for (int m = 0; m < graph.num_factors(); ++m) {
    const double value = graph.log_value(m, x);
    density.add(value);
    if (!graph.factor(m).scope().empty()) ++spent.factor_evaluations;
    if (!graph.factor(m).is_table()) ++spent.calls;
    if (value == kNegInf) break;
  }
  return density;
}

std::optional<CompensatedSum> density_if_answered(const FactorGraph& graph, std::span<const int> x, Spending& spent,
                                                  std::optional<Error>& error) {
  graph.check_assignment(x, kFunction);  // a sampler of another model must not be taken for a failing factor
  try {
    return charged_density(graph, x, spent);
  } catch (const Error& failure) {
    if (failure.code() != ErrorCode::kInterrupted) error = failure;
    return {};
  }
}

std::optional<Assignment> sample_if_possible(const Approximation& approximation, Random& random) {
  try {
    return approximation.sample(random);
  } catch (const Error& error) {
    // By the contract of Approximation::sample, this code means only Z = 0.
    if (error.code() != ErrorCode::kArgument) throw;
    return std::nullopt;
  }
}

}  // namespace treesample
