#include "treesample/oracle/oracle_set.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <climits>
#include <utility>

#include "oracle/oracle_set_impl.hpp"
#include "treesample/error.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/model/log_value.hpp"

namespace treesample {

namespace {

// The key of an evaluation: states_key, and the number of the repetition.
std::string job_key(const Job& job) {
  return job.repeat == 0 ? states_key(job.states) : fmt::format("{} again {}", states_key(job.states), job.repeat);
}

}  // namespace

OracleSet::Impl::Impl(OracleModel model, const OracleOptions& options, std::shared_ptr<EvaluationQueue> self)
    : model_(std::move(model)),
      options_(options),
      factors_(model_.factors.size()),
      reliability_(model_.sources.size()) {
  options.validate();
  JournalHeader header{
      .model = model_.name, .parts = model_.parts, .allow_changed_tables = options.allow_changed_tables};
  WorkerPool::Settings settings{.sources = model_.sources, .num_workers = options.num_workers};
  for (const Variable& variable : model_.variables) graph_.add_variable(variable);
  for (int m = 0; m < static_cast<int>(model_.factors.size()); ++m) {
    const auto& [name, label, factor, source] = model_.factors[m];
    settings.source_of.push_back(source);
    if (source < 0) {
      graph_.add_factor(factor);
      continue;
    }
    const auto ask = [this, m](std::span<const int> states) { return evaluate(m, states); };
    const Factor asked = Factor::function(factor.scope(), ask, factor.log_max(), factor.cost());
    graph_.add_factor(factor.directions().empty() ? asked : asked.monotone(factor.directions()));
    header.factors.emplace_back(name, describe_scope(model_, factor.scope()));
    factors_[m].counts.factor = m;
    factors_[m].counts.name = name;
    factors_[m].counts.label = label;
    factors_[m].counts.on_failure = model_.sources[source].on_failure;
  }
  if (!options.journal.empty()) {
    journal_.emplace(options.journal, header);
    for (FactorState& state : factors_) state.recorded = journal_->totals(state.counts.name);
  }
  settings.describe = [this](const Job& job) { return subject(job); };
  should_stop_ = options.is_interrupted;
  settings.is_interrupted = [this] { return should_stop_ && should_stop_(); };
  settings.waits_for_confirmation = journal_.has_value();
  graph_.set_evaluation_queue(std::move(self));
  pool_ = make_evaluators(model_, options_, std::move(settings));
}

OracleSet::Impl::~Impl() {
  try {
    finish();
  } catch (const Error&) {  // callers that need to know about it call finish
  }
}

void OracleSet::Impl::finish() {
  is_finished_ = true;
  pool_->stop();
  collect(/*wait=*/false);
}

// Enough for every worker to have its largest batch.
int OracleSet::Impl::max_under_way() const {
  constexpr std::int64_t kMost = 1 << 20;
  std::int64_t largest = 1;
  for (const OracleSource& source : model_.sources) largest = std::max<std::int64_t>(largest, source.max_batch);
  return static_cast<int>(std::min(kMost, largest * num_workers()));
}

// While workers are lost, the run goes on as if they came back: its bits do not depend on who is there.
int OracleSet::Impl::num_workers() const {
  if (options_.num_workers > 0) return options_.num_workers;
  most_workers_ = std::max(most_workers_, std::min(options_.executor->num_workers(), kMaxWorkers));
  return most_workers_;
}

double OracleSet::Impl::evaluate(int factor, std::span<const int> states) {
  const Ticket ticket = submit({{factor, {states.begin(), states.end()}}});
  try {
    return wait(ticket).log_values[0];
  } catch (const Error& error) {
    tickets_.erase(ticket);
    // The caller of a function has declared nothing in this call, so here it is not an argument error.
    throw Error(error.code() == ErrorCode::kArgument ? ErrorCode::kNumeric : error.code(), error.what());
  } catch (...) {
    tickets_.erase(ticket);  // nobody will ask for this ticket; its value is still stored if it arrives
    throw;
  }
}

void OracleSet::Impl::check_question(const OracleQuestion& question) const {
  constexpr const char* kFunction = "OracleSet::submit";
  check_range(kFunction, "factor", question.factor, 0, graph_.num_factors() - 1);
  check_argument(model_.factors[question.factor].source >= 0, kFunction,
                 fmt::format("factor {} is a table", question.factor));
  const std::vector<int>& scope = graph_.factor(question.factor).scope();
  check_argument(question.states.size() == scope.size(), kFunction,
                 fmt::format("{} states for the {} variables of factor {}", question.states.size(), scope.size(),
                             question.factor));
  for (std::size_t i = 0; i < scope.size(); ++i) {
    check_range(kFunction, "state", question.states[i], 0, graph_.num_states(scope[i]) - 1);
  }
  check_range(kFunction, "repeat", question.repeat, 0, can_repeat() ? INT_MAX : 0);
}

// "factor 'likelihood' at pump=failed, load=2".
std::string OracleSet::Impl::subject(const Job& job) const {
  return fmt::format("factor '{}' at {}", model_.factors[job.factor].label,
                     describe_states(graph_, graph_.factor(job.factor).scope(), job.states));
}

// A value from this run costs nothing. One from an earlier run is charged the first time.
std::optional<OracleSet::Impl::Outcome> OracleSet::Impl::look_up(const OracleQuestion& question,
                                                                 const std::string& key) {
  FactorState& state = factors_[question.factor];
  const auto known = state.known.find(key);
  if (known != state.known.end()) {
    ++state.counts.repeated;
    return Outcome{.value = known->second, .is_missing = state.missing.contains(key)};
  }
  if (!journal_ || state.under_way.contains(key)) return {};
  const std::optional<Journal::Value> value =
      journal_->find(state.counts.name, states_key(question.states), question.repeat);
  if (!value) return {};
  const Job job{question.factor, question.states, question.repeat};
  Outcome outcome;
  if (value->failure.empty()) {
    ++state.counts.from_journal;
    state.counts.journal_seconds += value->seconds;
    outcome = use_value(job, key, {value->log_value, value->witness});
  } else {
    // A failure that stopped an earlier run is tried again; otherwise no later run would get past it.
    if (options_.retry_failed || source(question.factor).on_failure.kind == FailureRule::Kind::kStop) return {};
    ++state.counts.failed_from_journal;
    outcome = use_failure(job, key, Error(ErrorCode::kIo, value->failure));
  }
  record(job, outcome, value->seconds, /*is_from_journal=*/true, value->failure);
  outcome.cost = charge(question.factor, value->seconds);
  return outcome;
}

Ticket OracleSet::Impl::submit(std::vector<OracleQuestion> questions) {
  for (const OracleQuestion& question : questions) check_question(question);
  const Ticket ticket = next_ticket_++;
  TicketState& state = tickets_[ticket];
  state.answer = {ticket, std::vector<double>(questions.size()), std::vector<double>(questions.size())};
  for (std::size_t i = 0; i < questions.size(); ++i) {
    const int factor = questions[i].factor;
    const std::string key = job_key({factor, questions[i].states, questions[i].repeat});
    if (std::optional<Outcome> outcome = look_up(questions[i], key)) {
      fill(state.answer, i, *outcome);
      state.answer.costs[i] = outcome->cost;
      if (outcome->error && !state.answer.error) state.answer.error = std::move(outcome->error);
      continue;
    }
    check_argument(!is_finished_, "OracleSet::submit", "the set has been finished, and nothing more is evaluated");
    std::vector<Slot>& slots = factors_[factor].under_way[key];
    if (slots.empty()) {
      pool_->push({factor, std::move(questions[i].states), questions[i].repeat});
      ++num_begun_;
    } else {
      ++factors_[factor].counts.repeated;
    }
    slots.push_back({ticket, i});
    ++state.num_open;
  }
  if (state.num_open == 0) ready_.push_back(ticket);
  return ticket;
}

// Takes the workers' results, records them, and only then makes them visible. If recording fails, nothing changes and
// the next call tries again.
void OracleSet::Impl::collect(bool wait) {
  for (JobResult& result : pool_->take(wait && arrived_.empty())) arrived_.push_back(std::move(result));
  std::vector<std::string> keys;
  std::vector<JournalEntry> entries;
  const double now = std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  for (const JobResult& result : arrived_) {
    keys.push_back(job_key(result.job));
    if (result.is_source_broken || (result.error && result.job.repeat > 0)) continue;
    entries.push_back({model_.factors[result.job.factor].name, states_key(result.job.states), result.log_value,
                       result.seconds, result.error ? result.error->what() : "", result.witness, result.worker, now,
                       result.job.repeat});
  }
  if (journal_ && !entries.empty()) journal_->append(entries);
  pool_->confirm();
  for (std::size_t i = 0; i < arrived_.size(); ++i) {
    if (!arrived_[i].is_unasked) apply(arrived_[i], keys[i]);
  }
  arrived_.clear();
}

void OracleSet::Impl::apply(const JobResult& result, const std::string& key) {
  FactorState& state = factors_[result.job.factor];
  state.counts.failures += result.num_failures;
  if (result.is_source_broken) --num_begun_;
  Outcome outcome;
  if (result.is_source_broken) {
    outcome.error = result.error;
  } else if (result.error) {
    ++state.counts.failed;
    outcome = use_failure(result.job, key, *result.error);
  } else {
    ++state.counts.paid;
    state.counts.paid_seconds += result.seconds;
    outcome = use_value(result.job, key, {result.log_value, result.witness});
  }
  if (!result.is_source_broken) {
    record(result.job, outcome, result.seconds, /*is_from_journal=*/false, result.error ? result.error->what() : "");
  }
  const auto slots = state.under_way.extract(key);
  outcome.cost = charge(result.job.factor, result.seconds);
  for (const auto& [ticket, position] : slots.mapped()) {
    const auto found = tickets_.find(ticket);
    if (found == tickets_.end()) continue;
    TicketState& waiting = found->second;
    fill(waiting.answer, position, outcome);
    waiting.answer.costs[position] = std::exchange(outcome.cost, 0.0);  // the question that asked first pays
    if (outcome.error && !waiting.answer.error) waiting.answer.error = outcome.error;
    if (--waiting.num_open == 0) ready_.push_back(ticket);
  }
}

void OracleSet::Impl::record(const Job& job, const Outcome& outcome, double seconds, bool is_from_journal,
                             std::string failure) {
  OracleCall& call = calls_.emplace_back(OracleCall{job.factor, job.states, {}, seconds, is_from_journal});
  if (!outcome.error) call.log_value = outcome.value.log_value;
  call.failure = outcome.error && failure.empty() ? outcome.error->what() : std::move(failure);
}

void OracleSet::Impl::fill(OracleAnswer& answer, std::size_t position, const Outcome& outcome) {
  answer.log_values[position] = outcome.value.log_value;
  if (outcome.is_missing) {
    answer.is_missing.resize(answer.log_values.size());
    answer.is_missing[position] = true;
  }
  if (!outcome.value.witness) return;
  answer.witnesses.resize(answer.log_values.size());
  answer.witnesses[position] = outcome.value.witness;
}

// A value that contradicts the declared maximum is recorded, because it was paid for, but never used: bounds have been
// derived from that maximum. The mistake lies with the caller who declared it.
OracleSet::Impl::Outcome OracleSet::Impl::use_value(const Job& job, const std::string& key, const FactorValue& value) {
  ++reliability_[model_.factors[job.factor].source].num_evaluations;
  try {
    check_value(job, value.log_value);
  } catch (const Error& error) {
    return {{}, 0.0, error};
  }
  remember(job, key, value, /*is_missing=*/false);
  return {value};
}

void OracleSet::Impl::check_value(const Job& job, double log_value) const {
  const std::string problem = log_value_problem(log_value, model_.factors[job.factor].factor.log_max());
  if (problem.empty()) return;
  throw Error(ErrorCode::kArgument,
              fmt::format("{}: {} has the log-value {}", source(job.factor).description, subject(job), problem));
}

void OracleSet::Impl::remember(const Job& job, const std::string& key, const FactorValue& value, bool is_missing) {
  const bool is_new = factors_[job.factor].known.emplace(key, value).second;
  if (is_missing) factors_[job.factor].missing.insert(key);
  if (journal_ || !is_new) return;
  answered_.push_back({std::ssize(answered_) + 1, job.factor, job.states, value.log_value, is_missing});
}

// The outcome of a failure, by the rule of its program.
OracleSet::Impl::Outcome OracleSet::Impl::use_failure(const Job& job, const std::string& key, const Error& error) {
  const OracleSource& from = source(job.factor);
  if (from.on_failure.kind == FailureRule::Kind::kStop) return {{}, 0.0, error};
  const double log_value = from.on_failure.counts_as();
  const bool is_missing = from.on_failure.kind == FailureRule::Kind::kSkip;
  remember(job, key, FactorValue{log_value}, is_missing);
  Reliability& so_far = reliability_[model_.factors[job.factor].source];
  ++so_far.num_evaluations;
  ++so_far.num_failures;
  if (std::optional<Error> too_many = so_far.too_many(from, error)) return {{}, 0.0, std::move(too_many)};
  return {.value = {log_value}, .is_missing = is_missing};
}

std::vector<OracleAnswer> OracleSet::Impl::wait_any() {
  check_argument(!tickets_.empty(), "OracleSet::wait_any", "nothing is pending");
  collect(/*wait=*/false);
  while (ready_.empty()) collect(/*wait=*/true);
  std::vector<OracleAnswer> answers;
  for (const Ticket ticket : std::exchange(ready_, {})) {
    answers.push_back(std::move(tickets_.extract(ticket).mapped().answer));
  }
  return answers;
}

OracleAnswer OracleSet::Impl::wait(Ticket ticket) {
  const auto found = tickets_.find(ticket);
  check_argument(found != tickets_.end(), "OracleSet::wait", fmt::format("ticket {} is not pending", ticket));
  while (found->second.num_open > 0) collect(/*wait=*/true);
  OracleAnswer answer = std::move(found->second.answer);
  tickets_.erase(found);
  std::erase(ready_, ticket);
  if (answer.error) throw Error(*answer.error);
  return answer;
}

std::vector<OracleCounts> OracleSet::Impl::counts() const {
  std::vector<OracleCounts> counts;
  for (std::size_t m = 0; m < factors_.size(); ++m) {
    if (model_.factors[m].source >= 0) counts.push_back(factors_[m].counts);
  }
  return counts;
}

std::int64_t OracleSet::Impl::num_answered() const {
  std::int64_t sum = 0;
  for (const FactorState& state : factors_) {
    const OracleCounts& counts = state.counts;
    sum += counts.paid + counts.from_journal + counts.failed + counts.failed_from_journal;
  }
  return sum;
}

std::optional<double> OracleSet::Impl::cost(int factor) const {
  check_range("OracleSet::cost", "factor", factor, 0, graph_.num_factors() - 1);
  if (const std::optional<double> declared = model_.factors[factor].factor.cost()) return declared;
  const FactorState& state = factors_[factor];
  const std::int64_t count = state.recorded.num_evaluations + state.counts.paid;
  if (count == 0) return {};
  return (state.recorded.seconds + state.counts.paid_seconds) / static_cast<double>(count);
}

namespace {

// The graph gets the set as its queue without owning it, because the set owns the graph.
std::shared_ptr<EvaluationQueue> not_owned(EvaluationQueue* queue) { return {std::shared_ptr<void>(), queue}; }

}  // namespace

OracleSet::OracleSet(const JsonModel& model, const OracleOptions& options)
    : impl_(std::make_unique<Impl>(
          options.redis ? make_remote_model(model) : make_oracle_model(model, options.log, !options.journal.empty()),
          options, not_owned(this))) {}
OracleSet::OracleSet(const FactorGraph& graph, const std::string& version, const OracleOptions& options)
    : impl_(std::make_unique<Impl>(make_oracle_model(graph, version, options), options, not_owned(this))) {}
OracleSet::~OracleSet() = default;

bool OracleSet::answers(int factor) const { return impl_->answers(factor); }
const FactorGraph& OracleSet::graph() const { return impl_->graph(); }
int OracleSet::num_workers() const { return impl_->num_workers(); }
int OracleSet::max_under_way() const { return impl_->max_under_way(); }
ShouldStop OracleSet::set_should_stop(ShouldStop should_stop) { return impl_->set_should_stop(std::move(should_stop)); }
std::function<void(const std::string&)> OracleSet::set_remark(std::function<void(const std::string&)> remark) {
  return impl_->set_remark(std::move(remark));
}
void OracleSet::set_most_new(std::int64_t count) { impl_->set_most_new(count); }
std::int64_t OracleSet::num_left() const { return impl_->num_left(); }
std::int64_t OracleSet::num_answered() const { return impl_->num_answered(); }
bool OracleSet::can_repeat() const { return impl_->can_repeat(); }
std::vector<KnownValue> OracleSet::known_values() const { return impl_->known_values(); }
std::vector<Lesson> OracleSet::lessons(const std::string& run) const { return impl_->lessons(run); }
void OracleSet::add_lesson(const std::string& run, const Lesson& lesson) { impl_->add_lesson(run, lesson); }
void OracleSet::finish() { impl_->finish(); }
int OracleSet::num_pending() const { return impl_->num_pending(); }
Ticket OracleSet::submit(std::vector<OracleQuestion> questions) { return impl_->submit(std::move(questions)); }
std::vector<OracleAnswer> OracleSet::wait_any() { return impl_->wait_any(); }
OracleAnswer OracleSet::wait(Ticket ticket) { return impl_->wait(ticket); }
std::vector<OracleCounts> OracleSet::counts() const { return impl_->counts(); }
const std::vector<OracleCall>& OracleSet::calls() const { return impl_->calls(); }
std::optional<double> OracleSet::cost(int factor) const { return impl_->cost(factor); }

}  // namespace treesample
