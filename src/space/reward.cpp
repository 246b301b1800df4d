#include "treesample/space/reward.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "model/table_index.hpp"
#include "space/caller.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/model/evaluation_queue.hpp"

namespace treesample {
namespace {

// The order of evaluation: tables first, functions without a declared cost last.
double rank(const Factor& factor) { return factor.is_table() ? -1.0 : factor.cost().value_or(HUGE_VAL); }

}  // namespace

Reward::Reward(const FactorGraph& graph, const SearchSpace& space) : graph_(&graph) {
  check_space("Reward", graph, space);
  for (const Level& level : space.levels) {
    first_.push_back(static_cast<int>(terms_.size()));
    first_function_.push_back(static_cast<int>(functions_.size()));
    declared_seconds_.push_back(0.0);
    std::vector<int> factors = level.factors;
    std::stable_sort(factors.begin(), factors.end(),
                     [&](int a, int b) { return rank(graph.factor(a)) < rank(graph.factor(b)); });
    for (const int m : factors) {
      add_term(m);
      if (graph.factor(m).is_table()) continue;
      functions_.push_back(m);
      declared_seconds_.back() += graph.factor(m).cost().value_or(std::numeric_limits<double>::min());
    }
  }
  first_.push_back(static_cast<int>(terms_.size()));
  first_function_.push_back(static_cast<int>(functions_.size()));
}

void Reward::add_term(int factor) {
  const Factor& psi = graph_->factor(factor);
  Term term;
  term.factor = factor;
  term.first_stride = static_cast<int>(strides_.size());
  if (psi.is_table()) {
    term.table = psi.log_values().data();
    const std::vector<std::size_t> strides = table_strides(states_of_scope(*graph_, psi.scope()));
    for (std::size_t i = 0; i < strides.size(); ++i) {
      strides_.emplace_back(psi.scope()[i], static_cast<std::int64_t>(strides[i]));
    }
  }
  term.end_stride = static_cast<int>(strides_.size());
  terms_.push_back(term);
}

double Reward::evaluate(int level, std::span<const int> x, Budget& budget) {
  failure_.reset();
  const double sum = sum_up(level, x, budget);
  if (!failure_) return sum;
  // The queue reports a wrong declaration as a mistake of its caller (kArgument), but it is not a mistake of this call.
  throw Error(failure_->code() == ErrorCode::kArgument ? ErrorCode::kNumeric : failure_->code(), failure_->what());
}

// If the queue gives no answer, sets failure_ and charges nothing.
double Reward::sum_up(int level, std::span<const int> x, Budget& budget) {
  int num_tables = 0;
  double sum = table_sum(level, x, num_tables);
  Spending spent{1, num_tables};
  magnitude_ = functions(level).empty() ? 0.0 : std::abs(sum);
  for (const int factor : functions(level)) {
    if (sum == kNegInf) break;
    const std::optional<AskedValue> paid = try_ask(factor, x, budget);
    if (!paid) return 0.0;
    sum += paid->log_value;
    magnitude_ += std::abs(paid->log_value);
    spent += paid->spent;
  }
  if (sum == kNegInf) magnitude_ = 0.0;
  budget.spend(spent);
  return sum;
}

bool Reward::is_queued(int factor) const { return treesample::is_queued(*graph_, factor); }

double Reward::table_sum(int level, std::span<const int> x, int& num_evaluated) const {
  const int end = first_[level + 1] - (first_function_[level + 1] - first_function_[level]);
  double sum = 0.0;
  for (int t = first_[level]; t < end && sum != kNegInf; ++t) {
    sum += table_value(terms_[t], x);
    ++num_evaluated;
  }
  return sum;
}

std::span<const int> Reward::scope_states(int factor, std::span<const int> x) {
  states_.clear();
  for (const int v : graph_->factor(factor).scope()) states_.push_back(x[v]);
  return states_;
}

// A queue that gives no answer ends the search with the answer so far, and so does a function that throws kInterrupted.
// Other exceptions of functions are for the caller.
std::optional<AskedValue> Reward::try_ask(int factor, std::span<const int> x, Budget& budget) {
  try {
    return ask_now(*graph_, factor, scope_states(factor, x), budget);
  } catch (const Error& error) {
    if (!is_queued(factor) && error.code() != ErrorCode::kInterrupted) throw;
    failure_ = error;
    return {};
  }
}

}  // namespace treesample
