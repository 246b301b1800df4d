#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>
#include <utility>

#include "model/dense_table.hpp"
#include "treesample/error.hpp"
#include "treesample/exact/decisions.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/math/random.hpp"

namespace treesample {
namespace {

// For each decision a state for each joint state of what it knows; -1: all states alike.
using Choices = std::vector<std::vector<int>>;

class Limited {
 public:
  Limited(const DecisionModel& model, const Evidence& evidence, const LimitedOptions& options)
      : model_(model), evidence_(evidence), options_(options) {
    const int n = model.graph.num_variables();
    for (const Decision& decision : model.decisions) {
      check_range("best_limited_decisions", "decision", decision.variable, 0, n - 1);
      for (const int v : decision.known) check_range("best_limited_decisions", "known variable", v, 0, n - 1);
      sizes_.push_back(num_table_entries(model.graph, decision.known));
    }
  }

  LimitedAnswer solve() {
    LimitedAnswer answer{.best = {}, .upper = upper_bound(), .is_exact = false};
    answer.best.expected_utility = kNegInf;
    if (try_all(answer.best)) {
      answer.upper = answer.best.expected_utility;
      answer.is_exact = true;
      return answer;
    }
    Random random(options_.seed, "limited decisions");
    for (int start = 0; start < std::max(1, options_.num_starts); ++start) {
      const Choices begin = start == 0 ? same(-1) : drawn(random);
      DecisionAnswer found = improved(begin);
      if (found.expected_utility > answer.best.expected_utility) answer.best = std::move(found);
    }
    answer.upper = std::max(answer.upper, answer.best.expected_utility);
    answer.is_exact =
        answer.upper - answer.best.expected_utility <= 1e-9 * (1.0 + std::abs(answer.best.expected_utility));
    return answer;
  }

 private:
  [[nodiscard]] std::size_t num_decisions() const { return model_.decisions.size(); }
  [[nodiscard]] int num_states(std::size_t d) const { return model_.graph.num_states(model_.decisions[d].variable); }

  [[nodiscard]] Choices same(int state) const {
    Choices choices;
    for (const std::size_t size : sizes_) choices.emplace_back(size, state);
    return choices;
  }
  [[nodiscard]] Choices drawn(Random& random) const {
    Choices choices = same(0);
    for (std::size_t d = 0; d < num_decisions(); ++d) {
      for (int& state : choices[d]) state = static_cast<int>(random.below(static_cast<std::uint64_t>(num_states(d))));
    }
    return choices;
  }

  // Who remembers everything does no worse.
  [[nodiscard]] double upper_bound() const {
    try {
      return best_decisions(model_, evidence_, options_.most_bytes).expected_utility;
    } catch (const Error& error) {
      if (error.code() != ErrorCode::kResource) throw;
      return std::numeric_limits<double>::infinity();
    }
  }

  // The best answer of one decision to the choices of the others, which are tables then.
  [[nodiscard]] DecisionAnswer best_answer(std::size_t d, const Choices& choices) const {
    DecisionModel alone{model_.graph, {model_.decisions[d]}, model_.utilities};
    for (std::size_t other = 0; other < num_decisions(); ++other) {
      if (other == d) continue;
      std::vector<int> scope = model_.decisions[other].known;
      scope.push_back(model_.decisions[other].variable);
      const auto count = static_cast<std::size_t>(num_states(other));
      std::vector<double> table(sizes_[other] * count, kNegInf);
      for (std::size_t row = 0; row < sizes_[other]; ++row) {
        const int state = choices[other][row];
        if (state >= 0) table[row * count + static_cast<std::size_t>(state)] = 0.0;
        if (state < 0)
          std::fill_n(table.begin() + static_cast<std::ptrdiff_t>(row * count), count,
                      -std::log(static_cast<double>(count)));
      }
      alone.graph.add_table(std::move(scope), std::move(table));
    }
    return best_decisions(alone, evidence_, options_.most_bytes);
  }

  // A policy over a part of what is known, as choices over all of it; -1, where that is impossible, becomes 0.
  [[nodiscard]] std::vector<int> spread(std::size_t d, const Policy& policy) const {
    const std::vector<int>& known = model_.decisions[d].known;
    std::vector<int> choices(sizes_[d], 0);
    Assignment x(static_cast<std::size_t>(model_.graph.num_variables()), 0);
    for (int& choice : choices) {
      choice = std::max(0, policy.choice[table_index(model_.graph, policy.scope, x)]);
      for (std::size_t i = known.size(); i-- > 0;) {
        if (++x[known[i]] < model_.graph.num_states(known[i])) break;
        x[known[i]] = 0;
      }
    }
    return choices;
  }

  // Each decision in turn, the last in time first, until none improves.
  [[nodiscard]] DecisionAnswer improved(Choices choices) const {
    DecisionAnswer best;
    best.expected_utility = kNegInf;
    best.policies.resize(num_decisions());
    std::size_t num_unchanged = 0;
    for (std::size_t d = num_decisions() - 1; num_unchanged < num_decisions();
         d = (d + num_decisions() - 1) % num_decisions()) {
      DecisionAnswer now = best_answer(d, choices);
      const bool was_open = best.policies[d].choice.empty();
      const bool is_better =
          now.expected_utility > best.expected_utility + 1e-12 * (1.0 + std::abs(best.expected_utility));
      num_unchanged = is_better || was_open ? 0 : num_unchanged + 1;
      if (!is_better && !was_open) continue;
      choices[d] = spread(d, now.policies.front());
      best.expected_utility = now.expected_utility;
      best.log_z = now.log_z;
      best.policies[d] = std::move(now.policies.front());
    }
    return best;
  }

  // All policies of all decisions but the one that has the most; false where they are too many.
  [[nodiscard]] bool try_all(DecisionAnswer& best) const {
    std::size_t last = 0;
    double count = 1.0, most = 0.0;
    for (std::size_t d = 0; d < num_decisions(); ++d) {
      const double policies = std::pow(num_states(d), static_cast<double>(sizes_[d]));
      count *= policies;
      if (policies > most) std::tie(most, last) = std::pair(policies, d);
    }
    if (!(count / most <= options_.most_policies)) return false;
    Choices choices = same(0);
    do {
      DecisionAnswer now = best_answer(last, choices);
      if (!(now.expected_utility > best.expected_utility)) continue;
      best.expected_utility = now.expected_utility;
      best.log_z = now.log_z;
      best.policies.clear();
      for (std::size_t d = 0; d < num_decisions(); ++d) {
        best.policies.push_back(d == last ? std::move(now.policies.front())
                                          : Policy{.decision = model_.decisions[d].variable,
                                                   .scope = model_.decisions[d].known,
                                                   .choice = choices[d]});
      }
    } while (next(choices, last));
    return true;
  }

  // Counts on, leaving one decision out; false after the last choices.
  [[nodiscard]] bool next(Choices& choices, std::size_t left_out) const {
    for (std::size_t d = 0; d < num_decisions(); ++d) {
      if (d == left_out) continue;
      for (int& state : choices[d]) {
        if (++state < num_states(d)) return true;
        state = 0;
      }
    }
    return false;
  }

  const DecisionModel& model_;
  const Evidence& evidence_;
  const LimitedOptions& options_;
  std::vector<std::size_t> sizes_;  // by decision: joint states of what it knows
};

}  // namespace

LimitedAnswer best_limited_decisions(const DecisionModel& model, const Evidence& evidence,
                                     const LimitedOptions& options) {
  check_argument(!model.decisions.empty(), "best_limited_decisions", "there is no decision");
  return Limited(model, evidence, options).solve();
}

}  // namespace treesample
