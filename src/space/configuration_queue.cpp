#include "space/configuration_queue.hpp"

#include <algorithm>
#include <cmath>

#include "treesample/math/log_domain.hpp"

namespace treesample {

ConfigurationQueue::ConfigurationQueue(const FactorGraph& graph, Budget& budget, AnswerOrder order)
    : graph_(&graph), caller_(graph, budget, order) {
  for (int m = 0; m < graph.num_factors(); ++m) (graph.factor(m).is_table() ? tables_ : functions_).push_back(m);
  const auto cost = [&](int m) { return graph.factor(m).cost().value_or(HUGE_VAL); };
  std::stable_sort(functions_.begin(), functions_.end(), [&](int a, int b) { return cost(a) < cost(b); });
  price_ = {1, std::ssize(tables_)};
  for (const int m : functions_) price_ += Caller::price_of(graph.factor(m));
}

CompensatedSum ConfigurationQueue::table_sum(const Assignment& x) const {
  CompensatedSum sum;
  for (const int m : tables_) {
    sum.add(graph_->log_value(m, x));
    if (sum.value() == kNegInf) break;
  }
  return sum;
}

void ConfigurationQueue::submit(Assignment x, std::int64_t tag, int repeat) {
  CallRequest request{.price = price_, .chains = {}, .x = std::move(x), .tag = tag};
  request.density = table_sum(request.x);
  CallChain& chain = request.chains.emplace_back(CallChain{.tables = {1, std::ssize(tables_)}});
  if (request.density.value() != kNegInf) {
    for (const int m : functions_) {
      OracleQuestion& question = chain.questions.emplace_back(OracleQuestion{m, {}, repeat});
      for (const int v : graph_->factor(m).scope()) question.states.push_back(request.x[v]);
    }
  }
  caller_.submit(std::move(request));
}

AskedConfiguration ConfigurationQueue::asked(CallRequest request) const {
  AskedConfiguration asked{.x = std::move(request.x), .tag = request.tag, .error = std::move(request.error)};
  CompensatedSum density = request.density;
  for (const CallChain& chain : request.chains) {
    for (std::size_t i = 0; i < chain.values.size(); ++i) {
      const auto& [value, is_missing] = chain.values[i];
      density.add(value.log_value);
      asked.values.emplace_back(chain.questions[i].factor, value.log_value);
      if (is_missing) asked.missing.push_back(chain.questions[i].factor);
    }
  }
  asked.log_density = density.value();
  asked.log_error = density.error();
  return asked;
}

std::vector<AskedConfiguration> ConfigurationQueue::wait() {
  std::vector<AskedConfiguration> known;
  for (CallRequest& request : caller_.wait()) known.push_back(asked(std::move(request)));
  return known;
}

}  // namespace treesample
