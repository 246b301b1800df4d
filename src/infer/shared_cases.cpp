#include "infer/shared_cases.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "infer/asked.hpp"
#include "infer/option_table.hpp"
#include "infer/policy.hpp"
#include "space/num_threads.hpp"
#include "treesample/model/network.hpp"

namespace treesample {
namespace {

// Options that say nothing about the way.
constexpr std::string_view kAnyWay[] = {"time", "memory", "threads", "seed", "query", "question"};

bool asks_for_sums(const InferRequest& request) {
  const Question& question = request.question;
  if (question.aim == Aim::kBest || (question.best && question.aim != Aim::kLogZ)) return false;
  if (!request.options.elimination_order.empty() || request.options.value_function) return false;
  return std::all_of(option_rows().begin(), option_rows().end(), [&](const OptionRow& row) {
    const bool is_given = row.is_given(request) && row.text(request) != row.initial;
    const bool is_exact = std::string_view(row.name) == "method" && request.options.method == Method::kExact;
    return !is_given || is_exact || std::find(std::begin(kAnyWay), std::end(kAnyWay), row.name) != std::end(kAnyWay);
  });
}

}  // namespace

std::unique_ptr<SharedCases> SharedCases::make(const Model& model, const InferRequest& request, const Run& run) {
  if (!asks_for_sums(request) || model.circuit || model.programs || !model.graph.has_only_tables()) return nullptr;
  ManyCasesOptions options;
  options.threads = num_threads(request.limits);
  options.most_bytes = request.limits.bytes;
  options.most_entries = kEntriesPerSecond * policy::kSharedCaseSeconds;
  options.seed = request.options.seed;
  if (request.question.aim == Aim::kAll) {
    options.asked = AskedModel(model, request).queries();
    if (options.asked.empty()) {
      for (int v = 0; v < model.graph.num_variables(); ++v) options.asked.push_back({v});
    }
  }
  return std::unique_ptr<SharedCases>(new SharedCases(model, request, run, std::move(options)));
}

SharedCases::SharedCases(const Model& model, const InferRequest& request, const Run& run, ManyCasesOptions options)
    : model_(model),
      run_(run),
      asked_(options.asked),
      has_queries_(!request.question.query.empty()),
      is_network_(check_network(model.graph).is_network()),
      sums_of_(model.graph, options) {
  answer_.plan.method = Method::kExact;
  answer_.plan.request = request;
  answer_.method = "exact: variable elimination, shared by cases";
  answer_.stop = StopReason::kExact;
  answer_.is_exact = true;
  answer_.marginals_from = "exact";
  if (asked_.empty()) return;
  answer_.marginals_error = 0.0;
  for (const std::vector<int>& variables : asked_) {
    if (has_queries_) answer_.queries.push_back({variables, {}, 0.0});
  }
  if (has_queries_) return;
  answer_.marginals.resize(asked_.size());
  answer_.marginal_errors.assign(asked_.size(), 0.0);
}

// Anything else is refused, or put together, by Model::observe.
bool SharedCases::is_regular(const Observations& seen) const {
  std::vector<int> variables;
  for (const Observation& one : seen.states) {
    if (one.variable < 0 || one.variable >= model_.graph.num_variables()) return false;
    if (one.state < 0 || one.state >= model_.graph.num_states(one.variable)) return false;
    variables.push_back(one.variable);
  }
  for (const SoftObservation& one : seen.soft) {
    if (one.variable < 0 || one.variable >= model_.graph.num_variables()) return false;
    if (!weights_problem(one.weights, model_.graph.num_states(one.variable)).empty()) return false;
    variables.push_back(one.variable);
  }
  std::sort(variables.begin(), variables.end());
  return std::adjacent_find(variables.begin(), variables.end()) == variables.end();
}

bool SharedCases::solve(std::span<const Case> cases) {
  observed_.assign(cases.size(), {});
  is_regular_.assign(cases.size(), 0);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    Observations all{model_.evidence, model_.soft_evidence};
    all.states.insert(all.states.end(), cases[i].observed.states.begin(), cases[i].observed.states.end());
    all.soft.insert(all.soft.end(), cases[i].observed.soft.begin(), cases[i].observed.soft.end());
    if (!is_regular(all)) continue;
    is_regular_[i] = 1;
    observed_[i] = std::move(all);
  }
  sums_.assign(cases.size(), {});
  probabilities_.assign(cases.size() * sums_of_.num_probabilities(), 0.0);
  return unless_given_up([&] {
           sums_of_.solve(observed_, sums_, probabilities_, run_.search_end());
           return true;
         })
      .has_value();
}

bool SharedCases::has_all() const {
  for (std::size_t i = 0; i < sums_.size(); ++i) {
    if (is_regular_[i] == 0 || !sums_[i].is_known) return false;
  }
  return true;
}

const Answer* SharedCases::answer(std::size_t index) {
  const CaseSums& sums = sums_[index];
  if (is_regular_[index] == 0 || !sums.is_known || !sums.bounds.is_exact()) return nullptr;
  answer_.log_z = sums.log_z;
  answer_.lower = sums.bounds.lower;
  answer_.upper = sums.bounds.upper;
  const Observations& seen = observed_[index];
  answer_.is_evidence_probability = is_network_ && !seen.states.empty() && seen.soft.empty();
  auto from = probabilities_.cbegin() + static_cast<std::ptrdiff_t>(index * sums_of_.num_probabilities());
  for (std::size_t q = 0; q < asked_.size(); ++q) {
    std::vector<double>& to = has_queries_ ? answer_.queries[q].probabilities : answer_.marginals[q];
    std::ptrdiff_t size = 1;
    for (const int v : asked_[q]) size *= model_.graph.num_states(v);
    to.assign(from, from + size);
    from += size;
  }
  return &answer_;
}

}  // namespace treesample
