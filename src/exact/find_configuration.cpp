#include "treesample/exact/find_configuration.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "local_scores.hpp"
#include "treesample/error.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/math/random.hpp"

namespace treesample {

class ConfigurationFinder::Search {
 public:
  explicit Search(const FactorGraph& graph)
      : graph_(graph), domains_(graph), scores_of_(graph), weights_(static_cast<std::size_t>(graph.num_variables())) {
    for (int v = 0; v < graph.num_variables(); ++v) {
      (domains_.is_constrained(v) ? constrained_ : unconstrained_).push_back(v);
      weights_[v] = static_cast<double>(scores_of_.factors_of(v).size());
    }
  }
  void check_order(const std::vector<int>& order) const {
    for (const int v : order)
      check_range("find_configuration", "variable of the order", v, 0, graph_.num_variables() - 1);
  }
  FindResult find(const FindOptions& options);

 private:
  struct Decision {
    std::size_t mark = 0;
    int variable = 0;
    int state = 0;
  };
  enum class RunEnd { kSolved, kRefuted, kRestart, kStopped };

  RunEnd run(std::int64_t max_contradictions);
  bool go_back();
  [[nodiscard]] int choose_variable();
  int choose_state(int variable);
  void note_contradiction(int variable);
  [[nodiscard]] bool is_stopped() const;

  const FactorGraph& graph_;
  Propagator domains_;
  LocalScores scores_of_;
  std::vector<int> constrained_, unconstrained_;
  std::size_t next_unconstrained_ = 0;
  std::vector<double> weights_;  // by variable: the sum of the weights of its factors
  std::vector<Decision> decisions_;
  std::vector<int> states_;     // scratch
  std::vector<double> scores_;  // scratch
  int last_conflict_ = -1;
  const FindOptions* options_ = nullptr;
  Random random_{0};
  FindResult result_;
};

FindResult ConfigurationFinder::Search::find(const FindOptions& options) {
  options_ = &options;
  random_ = Random(options.seed, "find_configuration");
  result_ = {};
  decisions_.clear();
  last_conflict_ = -1;
  next_unconstrained_ = 0;
  std::vector<char> is_given(weights_.size(), 0);
  domains_.undo(0);  // undoes the last call, even if it threw
  bool is_possible = domains_.is_consistent();
  const Assignment given = observed_states(graph_, options.given);
  for (int v = 0; v < graph_.num_variables() && is_possible; ++v) {
    is_given[v] = given[v] >= 0 ? 1 : 0;
    if (given[v] >= 0) is_possible = domains_.assign(v, given[v]);
  }
  RunEnd end = is_possible ? RunEnd::kRestart : RunEnd::kRefuted;
  constexpr double kFirstRun = 50.0, kGrowth = 1.3;  // contradictions before a restart
  for (double length = kFirstRun; end == RunEnd::kRestart; length *= kGrowth) {
    end = run(static_cast<std::int64_t>(length));
  }
  if (end == RunEnd::kSolved) {
    result_.outcome = FindOutcome::kFound;
    Assignment& x = result_.configuration.x;
    x.resize(weights_.size());
    for (int v = 0; v < graph_.num_variables(); ++v) x[v] = domains_.state(v);
    if (options.is_improved) scores_of_.climb(x, is_given, options.should_stop);
    result_.configuration.log_density = graph_.log_density(x);
  } else {
    result_.outcome = end == RunEnd::kRefuted ? FindOutcome::kImpossible : FindOutcome::kStopped;
  }
  return std::move(result_);
}

// Starts from the domains without any decision. A restart returns to them, except for what was learned without a
// decision.
ConfigurationFinder::Search::RunEnd ConfigurationFinder::Search::run(std::int64_t max_contradictions) {
  const std::int64_t last = result_.num_contradictions + max_contradictions;
  while (true) {
    const int v = choose_variable();
    if (v < 0) return RunEnd::kSolved;
    if (is_stopped()) return RunEnd::kStopped;
    const int s = choose_state(v);
    decisions_.push_back({domains_.mark(), v, s});
    ++result_.num_decisions;
    if (domains_.assign(v, s)) continue;
    if (!go_back()) return RunEnd::kRefuted;
    if (result_.num_contradictions >= last && !decisions_.empty()) {
      domains_.undo(decisions_.front().mark);
      decisions_.clear();
      next_unconstrained_ = 0;
      return RunEnd::kRestart;
    }
  }
}

// Undoes the last decision and excludes its state; goes back further while that leads to a contradiction.
bool ConfigurationFinder::Search::go_back() {
  while (!decisions_.empty()) {
    const auto [mark, variable, state] = decisions_.back();
    note_contradiction(variable);
    decisions_.pop_back();
    domains_.undo(mark);
    if (domains_.remove(variable, state)) return true;
  }
  return false;
}

void ConfigurationFinder::Search::note_contradiction(int variable) {
  ++result_.num_contradictions;
  last_conflict_ = variable;
  if (domains_.failed_factor() < 0) return;
  for (const int v : graph_.factor(domains_.failed_factor()).scope()) weights_[v] += 1.0;
}

int ConfigurationFinder::Search::choose_variable() {
  if (last_conflict_ >= 0 && !domains_.is_fixed(last_conflict_)) return last_conflict_;
  for (const int v : options_->order) {
    if (!domains_.is_fixed(v)) return v;
  }
  int chosen = -1;
  double least = 0.0;
  for (const int v : constrained_) {
    if (domains_.is_fixed(v)) continue;
    const double score = domains_.num_left(v) / weights_[v];
    if (chosen < 0 || score < least) {
      chosen = v;
      least = score;
    }
  }
  if (chosen >= 0) return chosen;
  // Variables without constraints are decided one after the other: they cause no contradiction and are never undone.
  while (next_unconstrained_ < unconstrained_.size() && domains_.is_fixed(unconstrained_[next_unconstrained_])) {
    ++next_unconstrained_;
  }
  return next_unconstrained_ < unconstrained_.size() ? unconstrained_[next_unconstrained_] : -1;
}

int ConfigurationFinder::Search::choose_state(int variable) {
  states_.clear();
  for (int s = domains_.next_left(variable, 0); s >= 0; s = domains_.next_left(variable, s + 1)) states_.push_back(s);
  scores_.assign(states_.size(), 0.0);
  if (options_->preference) {
    options_->preference(domains_, variable, states_, scores_);
  } else {
    scores_of_.within_domains(domains_, variable, states_, scores_);
  }
  if (options_->temperature > 0.0) {  // Gumbel-max: the largest noisy score is a draw from the softmax
    for (double& score : scores_) {
      const double uniform = std::max(random_.uniform(), 0x1.0p-54);
      score -= options_->temperature * std::log(-std::log(uniform));
    }
  }
  return states_[static_cast<std::size_t>(std::max_element(scores_.begin(), scores_.end()) - scores_.begin())];
}

bool ConfigurationFinder::Search::is_stopped() const {
  constexpr std::int64_t kDecisionsBetweenLooks = 64;
  if (result_.num_decisions >= options_->max_decisions) return true;
  return options_->should_stop && result_.num_decisions % kDecisionsBetweenLooks == 0 && options_->should_stop();
}

ConfigurationFinder::ConfigurationFinder(const FactorGraph& graph) {
  check_argument(graph.has_only_tables(), "find_configuration", "a factor is a function, allowed are tables");
  search_ = std::make_unique<Search>(graph);
}
ConfigurationFinder::~ConfigurationFinder() = default;
ConfigurationFinder::ConfigurationFinder(ConfigurationFinder&&) noexcept = default;
ConfigurationFinder& ConfigurationFinder::operator=(ConfigurationFinder&&) noexcept = default;

FindResult ConfigurationFinder::find(const FindOptions& options) {
  check_at_least("find_configuration", "temperature", options.temperature, 0.0);
  search_->check_order(options.order);
  return search_->find(options);
}

FindResult find_configuration(const FactorGraph& graph, const FindOptions& options) {
  return ConfigurationFinder(graph).find(options);
}

}  // namespace treesample
