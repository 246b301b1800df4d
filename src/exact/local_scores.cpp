#include "local_scores.hpp"

#include <algorithm>

#include "model/clause.hpp"
#include "model/table_index.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample {

LocalScores::LocalScores(const FactorGraph& graph)
    : graph_(graph), factors_of_(static_cast<std::size_t>(graph.num_variables())) {
  for (int m = 0; m < graph.num_factors(); ++m) {
    const std::vector<int>& scope = graph.factor(m).scope();
    for (const int v : scope) factors_of_[v].push_back(m);
    strides_.push_back(table_strides(states_of_scope(graph, scope)));
  }
}

void LocalScores::within_domains(const Propagator& domains, int variable, std::span<const int> states,
                                 std::span<double> scores) {
  std::fill(scores.begin(), scores.end(), 0.0);
  if (states.size() < 2) return;
  for (const int m : factors_of_[variable]) add_factor(domains, m, variable, states, scores);
}

void LocalScores::add_factor(const Propagator& domains, int factor, int variable, std::span<const int> states,
                             std::span<double> scores) {
  constexpr std::size_t kMostEntries = 1 << 14;
  if (!graph_.factor(factor).has_table()) return;  // a long clause
  const std::vector<int>& scope = graph_.factor(factor).scope();
  const std::vector<double>& values = graph_.factor(factor).log_values();
  // Offsets of all joint states of the other variables, built up variable by variable.
  offsets_.assign(1, 0);
  std::size_t stride = 0;
  for (std::size_t i = 0; i < scope.size(); ++i) {
    if (scope[i] == variable) {
      stride = strides_[factor][i];
      continue;
    }
    const std::size_t old_size = offsets_.size();
    const auto num_left = static_cast<std::size_t>(domains.num_left(scope[i]));
    if (old_size * num_left * states.size() > kMostEntries) return;
    for (int s = domains.next_left(scope[i], 0), first = s; s >= 0; s = domains.next_left(scope[i], s + 1)) {
      if (s == first) continue;
      for (std::size_t j = 0; j < old_size; ++j) {
        offsets_.push_back(offsets_[j] + strides_[factor][i] * static_cast<std::size_t>(s));
      }
    }
    const std::size_t first_offset = strides_[factor][i] * static_cast<std::size_t>(domains.next_left(scope[i], 0));
    for (std::size_t j = 0; j < old_size; ++j) offsets_[j] += first_offset;
  }
  entries_.resize(offsets_.size());
  for (std::size_t k = 0; k < states.size(); ++k) {
    const double* const row = values.data() + stride * static_cast<std::size_t>(states[k]);
    for (std::size_t j = 0; j < offsets_.size(); ++j) entries_[j] = row[offsets_[j]];
    scores[k] += entries_.size() == 1 ? entries_[0] : log_sum_exp(entries_);
  }
}

bool LocalScores::improve(std::span<int> x, int variable) const {
  const int old_state = x[variable];
  int best_state = old_state;
  double best = kNegInf;
  for (int s = -1; s < graph_.num_states(variable); ++s) {  // the old state first: only a better one replaces it
    if (s == old_state) continue;
    x[variable] = s < 0 ? old_state : s;
    double sum = 0.0;
    for (const int m : factors_of_[variable]) {
      const Factor& factor = graph_.factor(m);
      sum += factor.is_clause() ? clause_value(factor, x) : factor.log_values()[table_index(graph_, factor, x)];
      if (sum == kNegInf) break;
    }
    if (sum > best) {
      best = sum;
      best_state = x[variable];
    }
  }
  x[variable] = best_state;
  return best_state != old_state;
}

void LocalScores::climb(std::span<int> x, const std::vector<char>& is_kept, const ShouldStop& should_stop) const {
  StopCheck stop(should_stop);
  constexpr int kMostPasses = 50;  // rounding could otherwise make it cycle
  std::vector<char> is_settled = is_kept;
  for (int pass = 0; pass < kMostPasses; ++pass) {
    bool is_changed = false;
    for (int v = 0; v < graph_.num_variables(); ++v) {
      if (is_settled[v] != 0) continue;
      is_settled[v] = 1;
      const auto num_factors = static_cast<std::int64_t>(factors_of_[v].size());
      if (stop.is_asked(8 * num_factors * graph_.num_states(v))) return;
      if (!improve(x, v)) continue;
      is_changed = true;
      for (const int m : factors_of_[v]) {
        for (const int u : graph_.factor(m).scope()) is_settled[u] = is_kept[u];
      }
    }
    if (!is_changed) return;
  }
}

}  // namespace treesample
