#include "space/known_configurations.hpp"

#include <algorithm>
#include <map>

#include "math/compensated_sum.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample {
namespace {

class Join {
 public:
  Join(const FactorGraph& graph, std::span<const KnownValue> known, std::int64_t most_steps)
      : graph_(graph),
        values_(static_cast<std::size_t>(graph.num_factors())),
        x_(static_cast<std::size_t>(graph.num_variables()), -1),
        steps_left_(most_steps) {
    for (const KnownValue& value : known) {
      if (!value.is_missing) values_[value.factor].emplace(value.states, value.log_value);
    }
    for (int m = 0; m < graph.num_factors(); ++m) (graph.factor(m).is_table() ? tables_ : functions_).push_back(m);
    // The widest scope first: it decides most of the others.
    std::stable_sort(functions_.begin(), functions_.end(),
                     [&](int a, int b) { return graph.factor(a).scope().size() > graph.factor(b).scope().size(); });
  }

  std::vector<KnownConfiguration> all() {
    join(0, {});
    return std::move(found_);
  }

 private:
  void join(std::size_t place, const CompensatedSum& sum) {
    if (place == functions_.size()) {
      complete(0, sum);
      return;
    }
    const int factor = functions_[place];
    const std::vector<int>& scope = graph_.factor(factor).scope();
    std::vector<int> states;
    for (const int v : scope) states.push_back(x_[v]);
    if (std::count(states.begin(), states.end(), -1) == 0) {
      const auto found = values_[factor].find(states);
      if (found != values_[factor].end()) go_on(place, found->second, sum);
      return;
    }
    for (const auto& [candidate, value] : values_[factor]) {
      if (--steps_left_ < 0) return;
      bool is_fitting = true;
      for (std::size_t i = 0; i < states.size(); ++i)
        is_fitting = is_fitting && (states[i] < 0 || states[i] == candidate[i]);
      if (!is_fitting) continue;
      for (std::size_t i = 0; i < states.size(); ++i) x_[scope[i]] = candidate[i];
      go_on(place, value, sum);
      for (std::size_t i = 0; i < states.size(); ++i) x_[scope[i]] = states[i];
    }
  }

  void go_on(std::size_t place, double value, CompensatedSum sum) {
    if (value == kNegInf) return;
    sum.add(value);
    join(place + 1, sum);
  }

  // Variables that no function has.
  void complete(std::size_t v, const CompensatedSum& sum) {
    while (v < x_.size() && x_[v] >= 0) ++v;
    if (v == x_.size()) {
      add(sum);
      return;
    }
    for (int state = 0; state < graph_.num_states(static_cast<int>(v)); ++state) {
      if (--steps_left_ < 0) break;
      x_[v] = state;
      complete(v + 1, sum);
    }
    x_[v] = -1;
  }

  void add(CompensatedSum sum) {
    for (const int m : tables_) {
      const double value = graph_.log_value(m, x_);
      if (value == kNegInf) return;
      sum.add(value);
    }
    found_.push_back({x_, sum.value(), sum.error()});
  }

  const FactorGraph& graph_;
  std::vector<std::map<std::vector<int>, double>> values_;  // by factor and states
  std::vector<int> tables_, functions_;
  Assignment x_;  // -1: open
  std::int64_t steps_left_;
  std::vector<KnownConfiguration> found_;
};

}  // namespace

std::vector<KnownConfiguration> known_configurations(const FactorGraph& graph, std::span<const KnownValue> known,
                                                     std::int64_t most_steps) {
  return Join(graph, known, most_steps).all();
}

}  // namespace treesample
