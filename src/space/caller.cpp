#include "space/caller.hpp"

#include <algorithm>
#include <utility>

#include "stopwatch.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample {
namespace {

// Each pending request has begun at least one of its calls.
std::int64_t calls_beyond_first(const Spending& price) { return std::max<std::int64_t>(0, price.calls - 1); }

// The result of a call in this process, with its seconds, as declared or else as measured.
template <typename Call>
auto call_now(const FactorGraph& graph, int factor, Call call) {
  const Stopwatch clock;
  auto value = call();
  return std::pair(std::move(value), graph.factor(factor).cost().value_or(clock.seconds()));
}

}  // namespace

bool is_queued(const FactorGraph& graph, int factor) {
  const EvaluationQueue* const queue = graph.evaluation_queue();
  return queue != nullptr && queue->answers(factor);
}

AskedValue ask_now(const FactorGraph& graph, int factor, std::span<const int> states, Budget& budget) {
  if (is_queued(graph, factor)) {
    EvaluationQueue& queue = *graph.evaluation_queue();
    const OracleAnswer answer = queue.wait(queue.submit({{factor, {states.begin(), states.end()}}}));
    return {answer.log_values.front(), {0, 1, answer.costs.front(), budget.note_call(factor, states) ? 1 : 0}};
  }
  const auto [value, seconds] = call_now(graph, factor, [&] { return checked_function_value(graph, factor, states); });
  return {value, {0, 1, seconds, 1}};
}

Caller::Caller(const FactorGraph& graph, Budget& budget, AnswerOrder order, Remembers remembers)
    : graph_(&graph), budget_(&budget), order_(order), remembers_(remembers) {}

std::string Caller::key(const OracleQuestion& question) {
  std::string key(reinterpret_cast<const char*>(&question.factor), sizeof question.factor);
  return key.append(reinterpret_cast<const char*>(question.states.data()), question.states.size() * sizeof(int));
}

std::int64_t Caller::num_left() const {
  const EvaluationQueue* const queue = graph_->evaluation_queue();
  return queue == nullptr ? EvaluationQueue::kUnlimited : queue->num_left();
}

bool Caller::can_pay(const Spending& price) const {
  return budget_->allows(price) && calls_to_begin_ + price.calls <= num_left();
}

CallRequest Caller::request(OracleQuestion question, std::int64_t tag) const {
  CallRequest request{.price = {1}, .chains = {}, .tag = tag};
  request.price += price_of(graph_->factor(question.factor));
  CallChain& chain = request.chains.emplace_back(CallChain{.tables = {1}});
  chain.questions.push_back(std::move(question));
  return request;
}

bool Caller::has_room() const {
  const EvaluationQueue* const queue = graph_->evaluation_queue();
  const int most = queue == nullptr ? 1 : std::max(1, queue->max_under_way());
  // If answers are used in the order of submission, twice as many may be pending, so that no worker has to wait for the
  // oldest one.
  return num_pending() < (order_ == AnswerOrder::kSubmission && most > 1 ? 2 * most : most);
}

void Caller::submit(CallRequest request) {
  const std::int64_t id = next_id_++;
  Pending& pending = pending_[id];
  pending.request = std::move(request);
  budget_->reserve(pending.request.price);
  calls_to_begin_ += calls_beyond_first(pending.request.price);
  for (std::size_t i = 0; i < pending.request.chains.size(); ++i) pending.num_open += go_on(id, pending, i) ? 1 : 0;
  pending.num_asked = pending.num_open;
  num_asked_ += pending.num_asked;
  if (pending.num_open == 0) ready_.push_back(id);
}

std::optional<CallRequest> Caller::submit_unless_known(CallRequest request) {
  submit(std::move(request));
  const std::int64_t id = next_id_ - 1;
  if (pending_.at(id).num_open > 0) return {};
  ready_.pop_back();
  return take(id);
}

void Caller::add(CallChain& chain, const OracleQuestion& question, CallValue value) {
  if (question.repeat == 0 && remembers_ == Remembers::kAll) known_.emplace(key(question), value);
  chain.values.push_back(std::move(value));
}

// Continues with a chain until the queue has to answer. Returns false if everything is known.
bool Caller::go_on(std::int64_t id, Pending& pending, std::size_t index) {
  CallChain& chain = pending.request.chains[index];
  const bool looks_up = remembers_ == Remembers::kAll;
  while (chain.values.size() < chain.questions.size()) {
    if (!chain.values.empty() && chain.values.back().value.log_value == kNegInf) break;
    const OracleQuestion& question = chain.questions[chain.values.size()];
    const auto known = looks_up && question.repeat == 0 ? known_.find(key(question)) : known_.end();
    if (known != known_.end()) {
      chain.values.push_back(known->second);
    } else if (is_queued(*graph_, question.factor)) {
      under_way_[graph_->evaluation_queue()->submit({question})] = {id, index};
      return true;
    } else {
      auto [value, seconds] = call_now(*graph_, question.factor,
                                       [&] { return checked_factor_value(*graph_, question.factor, question.states); });
      chain.seconds += seconds;
      add(chain, question, {std::move(value)});
    }
  }
  return false;
}

void Caller::apply(OracleAnswer& answer) {
  const auto asked = under_way_.extract(answer.ticket);
  if (asked.empty()) return;  // an answer for somebody whose run ended before it arrived
  const auto [id, index] = asked.mapped();
  Pending& pending = pending_.at(id);
  bool is_open = false;
  if (answer.error) {
    if (!pending.request.error) pending.request.error = answer.error;
  } else {
    CallChain& chain = pending.request.chains[index];
    chain.seconds += answer.costs.front();
    CallValue value{{answer.log_values.front()}, !answer.is_missing.empty() && answer.is_missing.front()};
    if (!answer.witnesses.empty()) value.value.witness = std::move(answer.witnesses.front());
    add(chain, chain.questions[chain.values.size()], std::move(value));
    is_open = go_on(id, pending, index);
  }
  if (!is_open && --pending.num_open == 0) ready_.push_back(id);
}

void Caller::charge(const CallRequest& request) {
  budget_->release(request.price);
  calls_to_begin_ -= calls_beyond_first(request.price);
  if (request.error) return;
  for (const CallChain& chain : request.chains) {
    Spending spent = chain.tables;
    spent.cost_seconds += chain.seconds;
    spent.factor_evaluations += std::ssize(chain.values);
    for (std::size_t i = 0; i < chain.values.size(); ++i) {
      const OracleQuestion& question = chain.questions[i];
      const bool is_called_anyway = remembers_ == Remembers::kQueueAlone && !is_queued(*graph_, question.factor);
      const bool is_new = is_called_anyway || budget_->note_call(question.factor, question.states);
      spent.calls += is_new || question.repeat > 0 ? 1 : 0;
    }
    budget_->spend(spent);
  }
}

CallRequest Caller::take(std::int64_t id) {
  auto pending = pending_.extract(id);
  num_asked_ -= pending.mapped().num_asked;
  charge(pending.mapped().request);
  return std::move(pending.mapped().request);
}

void Caller::receive() {
  for (OracleAnswer& answer : graph_->evaluation_queue()->wait_any()) apply(answer);
}

std::vector<CallRequest> Caller::wait() {
  while (!has_known()) receive();
  if (order_ == AnswerOrder::kSubmission) {
    const std::int64_t oldest = pending_.begin()->first;
    std::erase(ready_, oldest);
    return {take(oldest)};
  }
  std::vector<CallRequest> known;
  for (const std::int64_t id : std::exchange(ready_, {})) known.push_back(take(id));
  return known;
}

}  // namespace treesample
