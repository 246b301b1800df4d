#include "treesample/surrogate/learned_search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <unordered_set>
#include <utility>

#include "space/run_watch.hpp"
#include "surrogate/configuration_queue.hpp"
#include "treesample/error.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/surrogate/learned_function.hpp"

namespace treesample {
namespace {

class LearnedSearch {
 public:
  LearnedSearch(const FactorGraph& graph, const Limits& limits, const LearnedSearchOptions& options,
                const Observer& observer)
      : graph_(graph),
        limits_(limits),
        options_(options),
        watch_(limits, observer),
        observer_(observer),
        budget_(limits.budget, limits.unit),
        queue_(graph, budget_, options.answer_order),
        random_(options.seed, "learned search") {
    for (const int m : queue_.functions()) {
      std::vector<int> num_states;
      for (const int v : graph_.factor(m).scope()) num_states.push_back(graph_.num_states(v));
      functions_.push_back({m, LearnedFunction(num_states)});
    }
  }

  LearnedResult run() {
    learn();
    ask_until(limits_.budget);
    learn();
    return result();
  }

 private:
  struct Function {
    int factor = 0;
    LearnedFunction learned;
  };

  void learn();
  void ask_until(std::int64_t num_calls);
  std::optional<Assignment> next();
  FactorGraph learned_graph(double scale) const;
  void keep_terms();
  LearnedResult result();
  bool is_over();
  void take(const AskedConfiguration& asked);
  static std::string key(std::span<const int> x) { return {reinterpret_cast<const char*>(x.data()), x.size_bytes()}; }

  const FactorGraph& graph_;
  Limits limits_;
  LearnedSearchOptions options_;
  RunWatch watch_;
  const Observer& observer_;
  Budget budget_;
  ConfigurationQueue queue_;
  Random random_;
  std::vector<Function> functions_;
  std::vector<Configuration> asked_;
  std::unordered_set<std::string> keys_;
  std::shared_ptr<const LearnedApproximation> approximation_;
  std::optional<Elimination> flat_, uniform_;
  std::int64_t next_learning_ = 0;
  LearnedReport report_;
  std::optional<StopReason> stop_;
};

FactorGraph LearnedSearch::learned_graph(double scale) const {
  FactorGraph learned;
  const auto scaled = [&](std::vector<double> values) {
    for (double& value : values) value = value == kNegInf ? kNegInf : scale * value;
    return values;
  };
  for (int v = 0; v < graph_.num_variables(); ++v) learned.add_variable(graph_.num_states(v));
  for (const Factor& factor : graph_.factors()) {
    if (factor.is_table()) learned.add_factor(Factor::table_of_sums(factor.scope(), scaled(factor.log_values())));
  }
  if (scale == 0.0) return learned;
  for (const Function& function : functions_) {
    const std::vector<int>& scope = graph_.factor(function.factor).scope();
    const LearnedTerms& terms = function.learned.learned();
    learned.add_factor(Factor::table_of_sums({}, {scale * terms.constant}));
    for (const LearnedTerm& term : terms.terms) {
      std::vector<int> variables;
      for (const int position : term.scope) variables.push_back(scope[position]);
      learned.add_factor(Factor::table_of_sums(std::move(variables), scaled(term.log_values)));
    }
  }
  return learned;
}

// The strongest terms that elimination can take.
void LearnedSearch::keep_terms() {
  const auto is_cheap = [&](const FactorGraph& learned) {
    const EliminationCost cost =
        elimination_cost(learned, {.restarts = 1, .seed = options_.seed, .most_entries = options_.max_entries});
    return cost.num_entries <= options_.max_entries && cost.bytes <= static_cast<double>(limits_.bytes) / 4.0;
  };
  if (is_cheap(learned_graph(1.0))) return;
  struct Place {
    double strength;
    std::size_t function, term;
  };
  std::vector<Place> places;
  for (std::size_t f = 0; f < functions_.size(); ++f) {
    const auto& terms = functions_[f].learned.learned().terms;
    for (std::size_t t = 0; t < terms.size(); ++t) {
      const double bonus = terms[t].scope.size() == 1 ? HUGE_VAL : 0.0;
      places.push_back({terms[t].strength + bonus, f, t});
    }
  }
  std::stable_sort(places.begin(), places.end(),
                   [](const Place& a, const Place& b) { return a.strength > b.strength; });
  FactorGraph tables;
  for (int v = 0; v < graph_.num_variables(); ++v) tables.add_variable(graph_.num_states(v));
  for (const Factor& factor : graph_.factors()) {
    if (factor.is_table()) tables.add_factor(factor);
  }
  std::vector<std::vector<std::size_t>> kept(functions_.size());
  for (const Place& place : places) {
    const LearnedTerm& term = functions_[place.function].learned.learned().terms[place.term];
    std::vector<int> variables;
    for (const int position : term.scope) {
      variables.push_back(graph_.factor(functions_[place.function].factor).scope()[position]);
    }
    FactorGraph larger = tables;
    larger.add_factor(Factor::table_of_sums(std::move(variables), term.log_values));
    if (!is_cheap(larger)) continue;
    tables = std::move(larger);
    kept[place.function].push_back(place.term);
  }
  for (std::size_t f = 0; f < functions_.size(); ++f) {
    std::sort(kept[f].begin(), kept[f].end());
    functions_[f].learned.keep(kept[f]);
  }
}

void LearnedSearch::learn() {
  if (!asked_.empty()) {
    for (Function& function : functions_) function.learned.fit(observer_.should_stop);
    keep_terms();
    ++report_.num_learned;
  }
  const EliminationOptions elimination{.restarts = 4, .seed = options_.seed};
  approximation_ =
      std::make_shared<LearnedApproximation>(Elimination(learned_graph(1.0), limits_, elimination), graph_, asked_);
  flat_.emplace(learned_graph(0.5), limits_, elimination);
  if (!uniform_) uniform_.emplace(learned_graph(0.0), limits_, elimination);
  const auto count = std::ssize(asked_);
  next_learning_ =
      count == 0 ? std::clamp<std::int64_t>(limits_.budget / 6, 20, 150) : count + std::max<std::int64_t>(8, count / 8);
}

std::optional<Assignment> LearnedSearch::next() {
  const bool is_first = report_.num_learned == 0;
  for (int tries = 0; tries < 300; ++tries) {
    const double u = is_first ? 1.0 : random_.uniform();
    Assignment x;
    if (u < 0.6 && tries < 100 && approximation_->log_elsewhere() != kNegInf) {
      x = approximation_->sample_elsewhere(random_);
    } else if (u < 0.9 && tries < 200) {
      x = flat_->sample(random_);
    } else {
      x = uniform_->sample(random_);
    }
    if (keys_.insert(key(x)).second) return x;
  }
  return {};
}

void LearnedSearch::take(const AskedConfiguration& asked) {
  if (asked.error) {
    report_.error = asked.error;
    stop_ = asked.error->code() == ErrorCode::kInterrupted ? StopReason::kInterrupted : StopReason::kFactorFailed;
    return;
  }
  for (Function& function : functions_) {
    for (const auto& [factor, value] : asked.values) {
      if (factor != function.factor) continue;
      std::vector<int> states;
      for (const int v : graph_.factor(factor).scope()) states.push_back(asked.x[v]);
      function.learned.add(states, value, asked.log_density);
    }
  }
  asked_.push_back({asked.x, asked.log_density});
}

bool LearnedSearch::is_over() {
  if (!stop_) stop_ = watch_.reason_to_stop();
  return stop_.has_value();
}

void LearnedSearch::ask_until(std::int64_t) {
  bool is_exhausted = false;
  while (!is_over()) {
    while (queue_.has_room() && queue_.can_pay() && !is_exhausted) {
      std::optional<Assignment> x = next();
      is_exhausted = !x;
      if (x) queue_.submit(*std::move(x), 0);
    }
    if (queue_.num_pending() == 0) {
      stop_ = StopReason::kBudget;
      return;
    }
    for (const AskedConfiguration& asked : queue_.wait()) take(asked);
    if (std::ssize(asked_) >= next_learning_) learn();
  }
}

LearnedResult LearnedSearch::result() {
  LearnedResult result{report_, approximation_, {}};
  result.report.spent = budget_.spent();
  result.report.stop = stop_.value_or(StopReason::kBudget);
  result.report.seconds = watch_.seconds();
  result.report.estimate = approximation_->log_value();
  result.report.num_asked = std::ssize(asked_);
  for (const Configuration& known : asked_) {
    if (!result.best || known.log_density > result.best->log_density) result.best = known;
  }
  for (const Function& function : functions_) {
    for (const LearnedTerm& term : function.learned.learned().terms) {
      result.report.num_terms.resize(std::max(result.report.num_terms.size(), term.scope.size()));
      ++result.report.num_terms[term.scope.size() - 1];
    }
  }
  return result;
}

}  // namespace

void LearnedSearchOptions::validate() const {
  check_argument(error_share >= 0.0 && error_share < 1.0, "learned_search",
                 fmt::format("error_share is {}, allowed are numbers from 0 to below 1", error_share));
  check_at_least("learned_search", "max_entries", max_entries, 1.0);
}

LearnedResult learned_search(const FactorGraph& graph, const Limits& limits, const LearnedSearchOptions& options,
                             const Observer& observer) {
  limits.validate();
  options.validate();
  return LearnedSearch(graph, limits, options, observer).run();
}

}  // namespace treesample
