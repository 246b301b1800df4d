#include "treesample/value/fallback.hpp"

#include <algorithm>
#include <cmath>

#include "treesample/error.hpp"
#include "treesample/math/log_domain.hpp"
#include "value/reduced_tables.hpp"

namespace treesample {
namespace {

// Calls visit(level) for a level and all its descendants, parents first.
template <typename Visit>
void for_each_below(const SearchSpace& space, int level, Visit visit) {
  std::vector<int> open = {level};
  while (!open.empty()) {
    const int n = open.back();
    open.pop_back();
    visit(n);
    open.insert(open.end(), space.levels[n].children.begin(), space.levels[n].children.end());
  }
}

// The sum of the negative log-probabilities, 0 log 0 = 0.
double entropy(std::span<const double> probs) {
  double sum = 0.0;
  for (const double p : probs) sum -= p > 0.0 ? p * std::log(p) : 0.0;
  return sum;
}

double mean(std::span<const double> probs, std::span<const double> values) {
  double sum = 0.0;
  for (std::size_t a = 0; a < values.size(); ++a) sum += probs[a] > 0.0 ? probs[a] * values[a] : 0.0;
  return sum;
}

void check_distributions(const char* function, const FactorGraph& graph, const LocalDistributions& distributions) {
  bool is_fitting = distributions.size() == static_cast<std::size_t>(graph.num_variables());
  for (int v = 0; is_fitting && v < graph.num_variables(); ++v) {
    is_fitting = distributions[v].size() == static_cast<std::size_t>(graph.num_states(v));
  }
  check_argument(is_fitting, function, "the distributions are not one per variable with a number for each state");
}

// Independent variables below a value that is a sum of reduced tables.
class ProductFallback final : public Fallback {
 public:
  ProductFallback(SearchSpace space, LocalDistributions distributions, ReducedTables tables, double widen)
      : space_(std::move(space)), distributions_(std::move(distributions)), tables_(std::move(tables)), widen_(widen) {}

  [[nodiscard]] double log_value(int level, std::span<const int> x) const override {
    return tables_.sum(level, x) + widen_ * tables_.rounding(level);
  }
  void log_values(int level, int, std::span<int> x, std::span<double> values) const override {
    tables_.sum_each(level, x, values);
    for (double& value : values) value += widen_ * tables_.rounding(level);
  }
  double sample_below(int level, std::span<int> x, Random& random) const override {
    for_each_below(space_, level, [&](int n) {
      const int v = space_.levels[n].variable;
      x[v] = random.categorical(distributions_[v]);
    });
    return log_prob_below(level, x);
  }
  [[nodiscard]] double log_prob_below(int level, std::span<const int> x) const override {
    double sum = 0.0;
    for_each_below(space_, level, [&](int n) {
      const int v = space_.levels[n].variable;
      sum += std::log(distributions_[v][x[v]]);
    });
    return sum;
  }
  void probabilities(int level, std::span<const int>, std::span<double> probs) const override {
    const std::vector<double>& distribution = distributions_[space_.levels[level].variable];
    std::copy(distribution.begin(), distribution.end(), probs.begin());
  }
  [[nodiscard]] bool fits(const SearchSpace& space) const override { return space.fingerprint == space_.fingerprint; }

 private:
  const SearchSpace space_;
  const LocalDistributions distributions_;
  const ReducedTables tables_;
  const double widen_;  // -1 for lower bounds, 1 for upper ones
};

class MiniBucketFallback final : public Fallback {
 public:
  explicit MiniBucketFallback(std::shared_ptr<const WeightedMiniBucket> buckets) : buckets_(std::move(buckets)) {}

  [[nodiscard]] double log_value(int level, std::span<const int> x) const override {
    return buckets_->log_upper(level, x);
  }
  void log_values(int level, int, std::span<int> x, std::span<double> values) const override {
    buckets_->log_upper_each(level, x, values);
  }
  [[nodiscard]] bool is_exact(int level) const override { return buckets_->is_exact(level); }
  [[nodiscard]] bool fits(const SearchSpace& space) const override { return buckets_->fits(space); }
  double sample_below(int level, std::span<int> x, Random& random) const override {
    return buckets_->sample_below(level, x, random);
  }
  [[nodiscard]] double log_prob_below(int level, std::span<const int> x) const override {
    return buckets_->log_proposal_below(level, x);
  }
  void probabilities(int level, std::span<const int> x, std::span<double> probs) const override {
    buckets_->q_values(level, x, 1, probs);
    // Where nothing is possible q is uniform.
    if (softmax(probs, probs) == kNegInf)
      std::fill(probs.begin(), probs.end(), 1.0 / static_cast<double>(probs.size()));
  }

 private:
  const std::shared_ptr<const WeightedMiniBucket> buckets_;
};

class ValueFallback final : public Fallback {
 public:
  ValueFallback(std::shared_ptr<const ValueFunction> value, SearchSpace space)
      : value_(std::move(value)), space_(std::move(space)) {}

  [[nodiscard]] double log_value(int level, std::span<const int> x) const override {
    return log_sum_exp(q_values(level, x));
  }
  double sample_below(int level, std::span<int> x, Random& random) const override {
    double log_prob = 0.0;
    for_each_below(space_, level, [&](int n) {
      std::vector<double> q = q_values(n, x);
      const double log_total = softmax(q, q);
      check_argument(log_total != kNegInf, "sample", "the value function excludes every state of a variable");
      x[space_.levels[n].variable] = random.categorical(q);
      log_prob += std::log(q[x[space_.levels[n].variable]]);
    });
    return log_prob;
  }
  [[nodiscard]] double log_prob_below(int level, std::span<const int> x) const override {
    // Q_phi may see the variables before a level only.
    Assignment prefix(x.begin(), x.end());
    for_each_below(space_, level, [&](int n) { prefix[space_.levels[n].variable] = -1; });
    double log_prob = 0.0;
    for_each_below(space_, level, [&](int n) {
      const int v = space_.levels[n].variable;
      if (log_prob != kNegInf) {
        const std::vector<double> q = q_values(n, prefix);
        log_prob += q[x[v]] == kNegInf ? kNegInf : q[x[v]] - log_sum_exp(q);
      }
      prefix[v] = x[v];
    });
    return log_prob;
  }
  void probabilities(int level, std::span<const int> x, std::span<double> probs) const override {
    softmax(q_values(level, x), probs);
  }
  [[nodiscard]] bool fits(const SearchSpace& space) const override { return space.fingerprint == space_.fingerprint; }

 private:
  [[nodiscard]] std::vector<double> q_values(int level, std::span<const int> x) const {
    std::vector<double> q(space_.levels[level].num_states);
    value_->q_values(level, x, 1, q);
    return q;
  }

  const std::shared_ptr<const ValueFunction> value_;
  const SearchSpace space_;
};

}  // namespace

void Fallback::log_values(int level, int variable, std::span<int> x, std::span<double> values) const {
  for (std::size_t a = 0; a < values.size(); ++a) {
    x[variable] = static_cast<int>(a);
    values[a] = log_value(level, x);
  }
}

LocalDistributions uniform_distributions(const FactorGraph& graph) {
  LocalDistributions result;
  for (int v = 0; v < graph.num_variables(); ++v) {
    result.emplace_back(graph.num_states(v), 1.0 / graph.num_states(v));
  }
  return result;
}

std::shared_ptr<const Fallback> product_fallback(const FactorGraph& graph, const SearchSpace& space,
                                                 const LocalDistributions& distributions,
                                                 const ShouldStop& should_stop) {
  check_space("product_fallback", graph, space);
  check_argument(graph.has_only_tables(), "product_fallback", "needs a model in which every factor is a table");
  check_distributions("product_fallback", graph, distributions);
  std::vector<double> entropies;
  for (const Level& level : space.levels) entropies.push_back(entropy(distributions[level.variable]));
  const auto reduce = [&](int variable, std::span<const double> entries) {
    return mean(distributions[variable], entries);
  };
  return std::make_shared<ProductFallback>(
      without_contexts(space), distributions,
      ReducedTables(graph, space, {reduce, ReducedTables::Rows::kSummed, entropies, should_stop}), -1.0);
}

std::shared_ptr<const Fallback> maxima_fallback(const FactorGraph& graph, const SearchSpace& space,
                                                const ShouldStop& should_stop) {
  check_space("maxima_fallback", graph, space);
  for (const Factor& factor : graph.factors()) {
    if (!factor.log_max()) return nullptr;
  }
  std::vector<double> log_states;
  for (const Level& level : space.levels) log_states.push_back(std::log(level.num_states));
  const auto reduce = [](int, std::span<const double> entries) {
    return *std::max_element(entries.begin(), entries.end());
  };
  return std::make_shared<ProductFallback>(
      without_contexts(space), uniform_distributions(graph),
      ReducedTables(graph, space, {reduce, ReducedTables::Rows::kPicked, log_states, should_stop}), 1.0);
}

std::shared_ptr<const Fallback> mini_bucket_fallback(std::shared_ptr<const WeightedMiniBucket> buckets) {
  check_argument(buckets != nullptr, "mini_bucket_fallback", "there are no mini-buckets (null)");
  return std::make_shared<MiniBucketFallback>(std::move(buckets));
}

std::shared_ptr<const Fallback> value_fallback(std::shared_ptr<const ValueFunction> value, const SearchSpace& space) {
  check_argument(value != nullptr, "value_fallback", "there is no value function (null)");
  check_fits("value_fallback", value.get(), space);
  return std::make_shared<ValueFallback>(std::move(value), without_contexts(space));
}

}  // namespace treesample
