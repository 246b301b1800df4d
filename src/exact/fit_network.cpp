#include "treesample/exact/fit_network.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "treesample/error.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/model/network.hpp"

namespace treesample {
namespace {

constexpr const char* kFit = "fit_network";

class Fit {
 public:
  Fit(const FactorGraph& graph, const FitOptions& options) : graph_(graph), options_(options) {
    check_argument(check_network(graph).has_form, kFit, "the model is no Bayesian network");
    parameters_ = options.parameters;
    if (parameters_.empty()) {
      parameters_.resize(static_cast<std::size_t>(graph.num_factors()));
      std::iota(parameters_.begin(), parameters_.end(), 0);
    }
    for (const int m : parameters_) {
      check_range(kFit, "factor", m, 0, graph.num_factors() - 1);
      const Factor& factor = graph.factor(m);
      check_argument(factor.is_table(), kFit, fmt::format("factor {} is a function, allowed are tables", m));
      begins_.push_back(logs_.size());
      logs_.insert(logs_.end(), factor.log_values().begin(), factor.log_values().end());
    }
    begins_.push_back(logs_.size());
    join();
    // What is impossible stays so, whatever the prior.
    for (const double log_value : logs_) prior_.push_back(log_value == kNegInf ? 0.0 : options.prior);
  }

  Fitted run(std::span<const int> rows, std::span<const double> weights, const ShouldStop& should_stop) {
    ExpectedCounts expected(graph_, rows, weights, parameters_, options_.counts);
    Fitted fitted;
    std::vector<double> counts(logs_.size());
    while (true) {
      std::fill(counts.begin(), counts.end(), 0.0);
      const double now = expected.count(logs_, counts, should_stop) + log_prior();
      pool(counts);
      std::vector<double>& trace = fitted.log_likelihoods;
      trace.push_back(now);
      fitted.is_converged =
          trace.size() > 1 && std::abs(now - trace[trace.size() - 2]) <= options_.tolerance * (1.0 + std::abs(now));
      if (fitted.is_converged || std::ssize(trace) > options_.iterations) break;
      maximise(counts);
    }
    fitted.graph = with_tables();
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
      fitted.counts.emplace_back(counts.begin() + place(i), counts.begin() + place(i + 1));
    }
    return fitted;
  }

 private:
  [[nodiscard]] std::ptrdiff_t place(std::size_t i) const { return static_cast<std::ptrdiff_t>(begins_[i]); }

  // The groups of shared tables, as places among the parameters. The first table of each is that of all.
  void join() {
    std::vector<int> place_of(static_cast<std::size_t>(graph_.num_factors()), -1);
    for (std::size_t i = 0; i < parameters_.size(); ++i) place_of[parameters_[i]] = static_cast<int>(i);
    std::vector<char> is_taken(parameters_.size(), 0);
    for (const std::vector<int>& group : options_.shared) {
      std::vector<std::size_t> places;
      for (const int m : group) {
        check_range(kFit, "shared factor", m, 0, graph_.num_factors() - 1);
        check_argument(place_of[m] >= 0, kFit, fmt::format("shared factor {} is not among the parameters", m));
        const auto i = static_cast<std::size_t>(place_of[m]);
        check_argument(std::exchange(is_taken[i], 1) == 0, kFit, fmt::format("factor {} is shared twice", m));
        places.push_back(i);
        const std::size_t first = places.front();
        check_argument(shape(i) == shape(first), kFit,
                       fmt::format("factors {} and {} are shared, and have different shapes", group.front(), m));
        std::copy(logs_.begin() + place(first), logs_.begin() + place(first + 1), logs_.begin() + place(i));
      }
      groups_.push_back(std::move(places));
    }
    for (std::size_t i = 0; i < is_taken.size(); ++i) {
      if (is_taken[i] == 0) groups_.push_back({i});
    }
  }

  [[nodiscard]] std::vector<int> shape(std::size_t i) const {
    std::vector<int> sizes;
    for (const int v : graph_.factor(parameters_[i]).scope()) sizes.push_back(graph_.num_states(v));
    return sizes;
  }

  // Each table of a group gets the sum over the group.
  void pool(std::vector<double>& counts) const {
    for (const std::vector<std::size_t>& group : groups_) {
      for (std::size_t e = begins_[group.front()]; e < begins_[group.front() + 1]; ++e) {
        const std::size_t entry = e - begins_[group.front()];
        double sum = 0.0;
        for (const std::size_t i : group) sum += counts[begins_[i] + entry];
        for (const std::size_t i : group) counts[begins_[i] + entry] = sum;
      }
    }
  }

  [[nodiscard]] double log_prior() const {
    double sum = 0.0;
    for (const std::vector<std::size_t>& group : groups_) {
      for (std::size_t e = begins_[group.front()]; e < begins_[group.front() + 1]; ++e) {
        if (prior_[e] > 0.0) sum += prior_[e] * logs_[e];
      }
    }
    return sum;
  }

  void maximise(const std::vector<double>& counts) {
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
      const auto width = static_cast<std::size_t>(graph_.num_states(graph_.factor(parameters_[i]).scope().back()));
      for (std::size_t row = begins_[i]; row < begins_[i + 1]; row += width) {
        double sum = 0.0;
        for (std::size_t e = row; e < row + width; ++e) sum += counts[e] + prior_[e];
        if (sum <= 0.0) continue;
        for (std::size_t e = row; e < row + width; ++e) {
          const double share = (counts[e] + prior_[e]) / sum;
          logs_[e] = share > 0.0 ? std::log(share) : kNegInf;
        }
      }
    }
  }

  [[nodiscard]] FactorGraph with_tables() const {
    FactorGraph fitted;
    for (int v = 0; v < graph_.num_variables(); ++v) fitted.add_variable(graph_.variable(v));
    std::vector<int> place_of(static_cast<std::size_t>(graph_.num_factors()), -1);
    for (std::size_t i = 0; i < parameters_.size(); ++i) place_of[parameters_[i]] = static_cast<int>(i);
    for (int m = 0; m < graph_.num_factors(); ++m) {
      if (place_of[m] < 0) {
        fitted.add_factor(graph_.factor(m));
        continue;
      }
      const auto i = static_cast<std::size_t>(place_of[m]);
      fitted.add_table(graph_.factor(m).scope(),
                       std::vector<double>(logs_.begin() + place(i), logs_.begin() + place(i + 1)));
    }
    return fitted;
  }

  const FactorGraph& graph_;
  const FitOptions& options_;
  std::vector<int> parameters_;
  std::vector<std::size_t> begins_;  // of each parameter in the arrays of all entries, and their end
  std::vector<double> logs_, prior_;
  std::vector<std::vector<std::size_t>> groups_;
};

}  // namespace

void FitOptions::validate() const {
  check_argument(prior >= 0.0 && std::isfinite(prior), kFit,
                 fmt::format("prior is {}, allowed are numbers from 0 on", prior));
  check_argument(iterations >= 1, kFit, fmt::format("iterations is {}, allowed are numbers from 1 on", iterations));
  check_argument(tolerance >= 0.0, kFit, fmt::format("tolerance is {}, allowed are numbers from 0 on", tolerance));
}

Fitted fit_network(const FactorGraph& graph, std::span<const int> rows, std::span<const double> weights,
                   const FitOptions& options, const ShouldStop& should_stop) {
  options.validate();
  return Fit(graph, options).run(rows, weights, should_stop);
}

}  // namespace treesample
