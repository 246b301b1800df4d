#include "treesample/oracle/oracle_set.hpp"

#include <fmt/format.h>

#include <deque>
#include <map>
#include <unordered_map>
#include <utility>

#include "oracle/journal.hpp"
#include "oracle/program_oracle.hpp"
#include "oracle/worker_pool.hpp"
#include "treesample/error.hpp"

namespace treesample {
namespace {

// A model with programs or functions, as both constructors see it.
struct OracleModel {
  struct FactorSpec {
    std::string name;
    Factor factor;  // scope, table, maximum and cost; the function is not used
    int source = -1;
  };
  std::string name;
  std::vector<Variable> variables = {};
  std::vector<FactorSpec> factors = {};
  std::vector<OracleSource> sources = {};
  FingerprintParts parts;
};

OracleModel make_oracle_model(const JsonModel& json, const std::filesystem::path& log) {
  OracleModel model{.name = json.source_name, .variables = json.variables, .parts = fingerprint_parts(json)};
  for (int p = 0; p < static_cast<int>(json.programs.size()); ++p) {
    model.sources.push_back(program_source(json, p, log));
  }
  const auto no_function = [](std::span<const int>) { return 0.0; };
  for (const FactorDescription& factor : json.factors) {
    model.factors.push_back({factor.name,
                             factor.is_table()
                                 ? Factor::table(factor.scope, factor.log_values)
                                 : Factor::function(factor.scope, no_function, factor.log_max, factor.cost),
                             factor.program});
  }
  return model;
}

OracleModel make_oracle_model(const FactorGraph& graph, const std::string& version) {
  OracleModel model{.name = "a C++ model", .parts = fingerprint_parts(graph, version)};
  for (int v = 0; v < graph.num_variables(); ++v) model.variables.push_back(graph.variable(v));
  for (int m = 0; m < graph.num_factors(); ++m) {
    const Factor& factor = graph.factor(m);
    model.factors.push_back({fmt::format("factor {}", m), factor});
    if (factor.is_table()) continue;
    model.factors.back().source = static_cast<int>(model.sources.size());
    model.sources.push_back({.make = [factor](const StopSignal&) { return std::make_unique<CallableOracle>(factor); },
                             .description = "C++ function"});
  }
  return model;
}

std::string variable_name(const OracleModel& model, int v) {
  return model.variables[v].name.empty() ? fmt::format("x{}", v) : model.variables[v].name;
}

std::string describe_scope(const OracleModel& model, const std::vector<int>& scope) {
  std::string text;
  for (const int v : scope) text += (text.empty() ? "" : ", ") + variable_name(model, v);
  return text;
}

// "factor 'likelihood' at pump=failed, load=2".
std::string describe_job(const OracleModel& model, const Job& job) {
  const OracleModel::FactorSpec& spec = model.factors[job.factor];
  std::string text;
  for (std::size_t i = 0; i < job.states.size(); ++i) {
    const int v = spec.factor.scope()[i];
    const std::vector<std::string>& names = model.variables[v].state_names;
    text += fmt::format("{}{}={}", i == 0 ? "" : ", ", variable_name(model, v),
                        names.empty() ? std::to_string(job.states[i]) : names[job.states[i]]);
  }
  return fmt::format("factor '{}' at {}", spec.name, text);
}

}  // namespace

class OracleSet::Impl {
 public:
  Impl(OracleModel model, const OracleOptions& options, std::shared_ptr<EvaluationQueue> self);
  ~Impl();

  double evaluate(int factor, std::span<const int> states);
  Ticket submit(std::vector<OracleQuestion> questions);
  std::vector<OracleAnswer> wait_any();
  OracleAnswer wait(Ticket ticket);
  [[nodiscard]] std::vector<OracleCounts> counts() const;
  [[nodiscard]] std::optional<double> cost(int factor) const;
  [[nodiscard]] const FactorGraph& graph() const { return graph_; }
  [[nodiscard]] bool answers(int factor) const {
    return factor >= 0 && factor < static_cast<int>(model_.factors.size()) && model_.factors[factor].source >= 0;
  }
  [[nodiscard]] int num_workers() const { return options_.num_workers; }
  [[nodiscard]] int num_pending() const { return static_cast<int>(tickets_.size()); }

 private:
  // A place in an answer that waits for a value.
  struct Slot {
    Ticket ticket;
    std::size_t position;
  };
  struct FactorState {
    std::unordered_map<std::string, double> known;  // log-values by states_key
    std::unordered_map<std::string, std::vector<Slot>> under_way;
    OracleCounts counts;
    Journal::Totals recorded;  // in the journal when it was opened
  };
  struct TicketState {
    OracleAnswer answer;
    std::size_t num_open = 0;  // questions without a value
  };

  void check_question(const OracleQuestion& question) const;
  std::optional<Journal::Value> look_up(int factor, const std::string& key);
  void collect(bool wait);
  void apply(const JobResult& result, const std::string& key);
  [[nodiscard]] double charge(int factor, double seconds) const {
    return model_.factors[factor].factor.cost().value_or(seconds);
  }

  OracleModel model_;
  OracleOptions options_;
  FactorGraph graph_;
  std::vector<FactorState> factors_;  // by index in the model
  std::map<Ticket, TicketState> tickets_;
  std::deque<Ticket> ready_;  // answered or failed, in that order
  Ticket next_ticket_ = 0;
  std::vector<JobResult> arrived_;  // from the workers, not recorded yet
  std::optional<Journal> journal_;
  std::unique_ptr<WorkerPool> pool_;  // last: ends before anything else
};

OracleSet::Impl::Impl(OracleModel model, const OracleOptions& options, std::shared_ptr<EvaluationQueue> self)
    : model_(std::move(model)), options_(options), factors_(model_.factors.size()) {
  options.validate();
  JournalHeader header{
      .model = model_.name, .parts = model_.parts, .allow_changed_tables = options.allow_changed_tables};
  WorkerPool::Settings settings{.sources = model_.sources, .num_workers = options.num_workers};
  for (const Variable& variable : model_.variables) graph_.add_variable(variable);
  for (int m = 0; m < static_cast<int>(model_.factors.size()); ++m) {
    const auto& [name, factor, source] = model_.factors[m];
    settings.source_of.push_back(source);
    if (source < 0) {
      graph_.add_factor(factor);
      continue;
    }
    const auto ask = [this, m](std::span<const int> states) { return evaluate(m, states); };
    graph_.add_factor(Factor::function(factor.scope(), ask, factor.log_max(), factor.cost()));
    header.factors.emplace_back(name, describe_scope(model_, factor.scope()));
    factors_[m].counts.factor = m;
    factors_[m].counts.name = name;
  }
  if (!options.journal.empty()) {
    journal_.emplace(options.journal, header);
    for (FactorState& state : factors_) state.recorded = journal_->totals(state.counts.name);
  }
  settings.describe = [this](const Job& job) { return describe_job(model_, job); };
  settings.is_interrupted = options.is_interrupted;
  settings.waits_for_confirmation = journal_.has_value();
  graph_.set_evaluation_queue(std::move(self));
  pool_ = std::make_unique<WorkerPool>(std::move(settings));
}

// What has been finished is recorded even if nobody waited for it; nothing more is begun.
OracleSet::Impl::~Impl() {
  pool_->stop();
  try {
    collect(/*wait=*/false);
  } catch (const Error&) {  // the journal cannot be written: it has been said, or nobody will ask
  }
}

double OracleSet::Impl::evaluate(int factor, std::span<const int> states) {
  const Ticket ticket = submit({{factor, {states.begin(), states.end()}}});
  try {
    return wait(ticket).log_values[0];
  } catch (...) {
    tickets_.erase(ticket);  // nobody will ask for it; its value, if it comes, is kept all the same
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
}

// From this run, where it costs nothing any more, or, the first time, from an earlier one.
std::optional<Journal::Value> OracleSet::Impl::look_up(int factor, const std::string& key) {
  FactorState& state = factors_[factor];
  const auto known = state.known.find(key);
  if (known != state.known.end()) {
    ++state.counts.repeated;
    return Journal::Value{known->second, 0.0};
  }
  if (!journal_ || state.under_way.contains(key)) return {};
  const std::optional<Journal::Value> value = journal_->find(state.counts.name, key);
  if (value) {
    ++state.counts.from_journal;
    state.counts.journal_seconds += value->seconds;
    state.known.emplace(key, value->log_value);
    return Journal::Value{value->log_value, charge(factor, value->seconds)};
  }
  return {};
}

Ticket OracleSet::Impl::submit(std::vector<OracleQuestion> questions) {
  for (const OracleQuestion& question : questions) check_question(question);
  const Ticket ticket = next_ticket_++;
  TicketState& state = tickets_[ticket];
  state.answer = {ticket, std::vector<double>(questions.size()), std::vector<double>(questions.size()), {}};
  for (std::size_t i = 0; i < questions.size(); ++i) {
    const int factor = questions[i].factor;
    const std::string key = states_key(questions[i].states);
    if (const auto value = look_up(factor, key)) {
      state.answer.log_values[i] = value->log_value;
      state.answer.costs[i] = value->seconds;
      continue;
    }
    std::vector<Slot>& slots = factors_[factor].under_way[key];
    if (slots.empty()) {
      pool_->push({factor, std::move(questions[i].states)});
    } else {
      ++factors_[factor].counts.repeated;
    }
    slots.push_back({ticket, i});
    ++state.num_open;
  }
  if (state.num_open == 0) ready_.push_back(ticket);
  return ticket;
}

// Takes what the workers have finished, records it, and only then lets it be seen. When recording
// fails, everything stays where it is and the next call tries again.
void OracleSet::Impl::collect(bool wait) {
  for (JobResult& result : pool_->take(wait && arrived_.empty())) arrived_.push_back(std::move(result));
  std::vector<std::string> keys;
  std::vector<JournalEntry> entries;
  for (const JobResult& result : arrived_) {
    keys.push_back(states_key(result.job.states));
    if (result.error) continue;
    entries.push_back({model_.factors[result.job.factor].name, keys.back(), result.log_value, result.seconds});
  }
  if (journal_ && !entries.empty()) journal_->append(entries);
  pool_->confirm();
  for (std::size_t i = 0; i < arrived_.size(); ++i) apply(arrived_[i], keys[i]);
  arrived_.clear();
}

void OracleSet::Impl::apply(const JobResult& result, const std::string& key) {
  FactorState& state = factors_[result.job.factor];
  state.counts.failures += result.num_failures;
  if (!result.error) {
    ++state.counts.paid;
    state.counts.paid_seconds += result.seconds;
    state.known.emplace(key, result.log_value);
  }
  const auto slots = state.under_way.extract(key);
  double cost = charge(result.job.factor, result.seconds);
  for (const auto& [ticket, position] : slots.mapped()) {
    const auto found = tickets_.find(ticket);
    if (found == tickets_.end()) continue;
    TicketState& waiting = found->second;
    waiting.answer.log_values[position] = result.log_value;
    waiting.answer.costs[position] = std::exchange(cost, 0.0);  // the first that asked pays
    if (result.error && !waiting.answer.error) waiting.answer.error = result.error;
    if (--waiting.num_open == 0) ready_.push_back(ticket);
  }
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

std::optional<double> OracleSet::Impl::cost(int factor) const {
  check_range("OracleSet::cost", "factor", factor, 0, graph_.num_factors() - 1);
  if (const std::optional<double> declared = model_.factors[factor].factor.cost()) return declared;
  const FactorState& state = factors_[factor];
  const std::int64_t count = state.recorded.num_evaluations + state.counts.paid;
  if (count == 0) return {};
  return (state.recorded.seconds + state.counts.paid_seconds) / static_cast<double>(count);
}

namespace {

// The set is the queue of a graph that it owns.
std::shared_ptr<EvaluationQueue> not_owned(EvaluationQueue* queue) { return {std::shared_ptr<void>(), queue}; }

}  // namespace

void OracleOptions::validate() const {
  check_range("OracleOptions", "num_workers", num_workers, 1, OracleSet::kMaxWorkers);
}

OracleSet::OracleSet(const JsonModel& model, const OracleOptions& options)
    : impl_(std::make_unique<Impl>(make_oracle_model(model, options.log), options, not_owned(this))) {}
OracleSet::OracleSet(const FactorGraph& graph, const std::string& version, const OracleOptions& options)
    : impl_(std::make_unique<Impl>(make_oracle_model(graph, version), options, not_owned(this))) {}
OracleSet::~OracleSet() = default;

bool OracleSet::answers(int factor) const { return impl_->answers(factor); }
const FactorGraph& OracleSet::graph() const { return impl_->graph(); }
int OracleSet::num_workers() const { return impl_->num_workers(); }
int OracleSet::num_pending() const { return impl_->num_pending(); }
Ticket OracleSet::submit(std::vector<OracleQuestion> questions) { return impl_->submit(std::move(questions)); }
std::vector<OracleAnswer> OracleSet::wait_any() { return impl_->wait_any(); }
OracleAnswer OracleSet::wait(Ticket ticket) { return impl_->wait(ticket); }
std::vector<OracleCounts> OracleSet::counts() const { return impl_->counts(); }
std::optional<double> OracleSet::cost(int factor) const { return impl_->cost(factor); }

}  // namespace treesample
