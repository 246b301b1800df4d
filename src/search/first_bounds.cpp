#include "treesample/search/first_bounds.hpp"

#include <algorithm>
#include <cmath>

#include "model/clause.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample {
namespace {

// A sum of logarithms with a bound on its error. The logarithms, and the numbers they belong to, are right to a few
// units in the last place.
class RoundedSum {
 public:
  void add(double term) {
    sum_ += term;
    magnitudes_ += std::isfinite(term) ? std::abs(term) : 0.0;
    num_terms_ += 1.0;
  }
  // A sum of t numbers is off by at most t 2^-53 times the sum of their magnitudes.
  [[nodiscard]] double lower() const { return sum_ - error(); }
  [[nodiscard]] double upper() const { return sum_ + error(); }

 private:
  [[nodiscard]] double error() const { return 0x1.0p-52 * (num_terms_ + 8.0) * (1.0 + magnitudes_); }

  double sum_ = 0.0, magnitudes_ = 0.0, num_terms_ = 0.0;
};

}  // namespace

LogBounds first_bounds(const FactorGraph& graph, const std::optional<Configuration>& known) {
  RoundedSum jensen, maxima, density;
  for (int v = 0; v < graph.num_variables(); ++v) {
    jensen.add(std::log(graph.num_states(v)));
    maxima.add(std::log(graph.num_states(v)));
  }
  bool has_maxima = true;
  for (const Factor& factor : graph.factors()) {
    has_maxima = has_maxima && factor.log_max().has_value();
    maxima.add(factor.log_max().value_or(0.0));
    if (!factor.is_table()) {
      jensen.add(kNegInf);
      continue;
    }
    if (factor.is_clause()) {
      jensen.add(kNegInf);
      if (known) density.add(clause_value(factor, known->x));
      continue;
    }
    // The mean of a table with e entries is itself a sum of e terms.
    RoundedSum entries;
    for (const double value : factor.log_values()) entries.add(value);
    jensen.add(entries.lower() / static_cast<double>(factor.log_values().size()));
    if (known) density.add(factor.log_values()[table_index(graph, factor, known->x)]);
  }
  LogBounds bounds;
  if (has_maxima) bounds.upper = maxima.upper();
  bounds.lower = jensen.lower();
  if (known && graph.has_only_tables()) bounds.lower = std::max(bounds.lower, density.lower());
  return bounds;
}

}  // namespace treesample
