// A worker that answers questions of a run: one lane for each copy of the programs, with its own connection.
#include <fmt/format.h>

#include <atomic>
#include <deque>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "oracle/redis_board.hpp"
#include "oracle/worker_pool.hpp"
#include "remote/patience.hpp"
#include "remote/process_identity.hpp"
#include "stopwatch.hpp"
#include "treesample/error.hpp"
#include "treesample/oracle/oracle_set.hpp"
#include "treesample/oracle/question_worker.hpp"
#include "treesample/text.hpp"

namespace treesample {
namespace {

constexpr double kPauseSeconds = 0.2;  // pause after trouble
constexpr double kLookSeconds = 1.0;   // between two checks of the head and of questions of dead workers
constexpr double kTellSeconds = 5.0;   // time without a coordinator before the user is told
constexpr int kSignsPerLease = 4;
// If this many workers have died with a question, the question itself may be what kills them.
constexpr std::int64_t kMostDeliveries = 10;

// The first part that both know and that differs. A coordinator need not have the files of the programs.
std::optional<std::string> difference(const FingerprintParts& theirs, const FingerprintParts& ours, bool of_programs) {
  for (const auto& [name, fingerprint] : theirs) {
    const bool is_of_program = name.starts_with("the command") || name.starts_with("file ");
    if (is_of_program != of_programs) continue;
    for (const auto& [own_name, own_fingerprint] : ours) {
      if (own_name == name && own_fingerprint != fingerprint) return name;
    }
  }
  return std::nullopt;
}

class Lane {
 public:
  Lane(const OracleModel& model, const QuestionWorkerOptions& options, const RunCallbacks& callbacks, std::string name);

  void work();

  QuestionWorkerReport report;

 private:
  struct Kept {
    std::string position;
    std::string sealed;
  };

  template <typename Work>
  auto patiently(const Work& work) -> decltype(work());
  [[nodiscard]] bool keeps_going() const { return !callbacks_.keep_going || callbacks_.keep_going(); }
  bool join();
  void check_model(const RunHead& head) const;
  void watch_coordinator(bool is_there, bool is_done);
  std::optional<StreamEntry> next_question(bool& is_claimed);
  void handle(const StreamEntry& entry, bool is_claimed);
  std::vector<JobResult> evaluate(const QuestionBatch& batch, const StreamEntry& entry);
  void send(const StreamEntry& entry, const std::vector<JobResult>& results);
  void send_kept_again();

  const OracleModel& model_;
  const QuestionWorkerOptions& options_;
  RunCallbacks callbacks_;
  std::string name_;
  AskedFactors factors_;
  FactorGraph variables_;  // for messages
  QuestionBoard board_;
  std::optional<RunHead> head_;
  Clock::time_point looked_, claimed_, held_;
  std::optional<Clock::time_point> missed_since_;  // time of the first look without a coordinator
  bool has_told_ = false;
  std::optional<StreamEntry> next_;  // the question that came with the last answer
  std::deque<Kept> kept_;            // answers that may not be in the journal yet
  std::int64_t num_connections_ = 0;
  const StreamEntry* in_hand_ = nullptr;
  std::optional<WorkerPool> pool_;  // last, so that it ends first
};

Lane::Lane(const OracleModel& model, const QuestionWorkerOptions& options, const RunCallbacks& callbacks,
           std::string name)
    : model_(model),
      options_(options),
      callbacks_(callbacks),
      name_(std::move(name)),
      factors_(model),
      board_(options.redis, callbacks) {
  for (const Variable& variable : model.variables) variables_.add_variable(variable);
  WorkerPool::Settings settings{.sources = model.sources};
  for (const OracleModel::FactorSpec& factor : model.factors) settings.source_of.push_back(factor.source);
  settings.describe = [this](const Job& job) {
    return fmt::format("factor '{}' at {}", model_.factors[job.factor].name,
                       describe_states(variables_, model_.factors[job.factor].factor.scope(), job.states));
  };
  // Called several times a second while a program works, so this is where signs of life are sent.
  settings.is_interrupted = [this] {
    if (in_hand_ != nullptr && seconds_since(held_) * kSignsPerLease > head_->lease_seconds) {
      board_.hold(name_, in_hand_->position);
      held_ = Clock::now();
    }
    return !keeps_going();
  };
  pool_.emplace(std::move(settings));
}

void Lane::work() {
  try {
    while (keeps_going()) {
      if (!patiently([this] { return join(); })) {
        report.is_run_finished = true;
        break;
      }
      bool is_claimed = false;
      const std::optional<StreamEntry> entry = patiently([&] { return next_question(is_claimed); });
      if (!entry) {
        looked_ = {};
        continue;
      }
      handle(*entry, is_claimed);
    }
  } catch (const RedisInterrupted&) {
    // Nothing to do: the report says that the run is not finished.
  }
  report.num_reconnects = std::max<std::int64_t>(0, board_.client().num_connections() - 1);
  if (next_) board_.give_back(*next_);
  board_.leave(name_);
}

// The coordinator repairs what is wrong on the server. Until then, and as long as the patience lasts, a worker tries
// again and keeps its answers.
template <typename Work>
auto Lane::patiently(const Work& work) -> decltype(work()) {
  RedisClient& client = board_.client();
  return try_patiently(
      options_.redis.patience_seconds, work,
      [&](const std::string& trouble) { client.remark(fmt::format("{}; trying again", trouble)); },
      [&] { client.pause(kPauseSeconds); });
}

// Waits until there is a run of this model. Returns false if the run has ended.
bool Lane::join() {
  if (head_ && seconds_since(looked_) < kLookSeconds) return true;
  while (true) {
    const QuestionBoard::View view = board_.look(name_);
    send_kept_again();
    while (!kept_.empty() && !view.safe.empty() && !is_before(view.safe, kept_.front().position)) kept_.pop_front();
    looked_ = Clock::now();
    const bool is_done = view.head && view.head->is_done && !view.has_coordinator;
    if (is_done && !options_.stays) return false;
    watch_coordinator(view.has_coordinator, is_done);
    if (view.head && !view.head->is_done) {
      if (!head_ || head_->session != view.head->session) check_model(*view.head);
      head_ = view.head;
      return true;
    }
    head_.reset();
    board_.client().pause(kPauseSeconds);
  }
}

void Lane::check_model(const RunHead& head) const {
  const auto fail = [this](const std::string& what) {
    throw Error(ErrorCode::kIo, fmt::format("run '{}': {}", options_.redis.run, what));
  };
  if (head.version != TREESAMPLE_VERSION) {
    fail(fmt::format("the coordinator is version {} of treesample, this worker is {}; they must be the same",
                     shortened(head.version, 40), TREESAMPLE_VERSION));
  }
  if (const auto part = difference(head.parts, model_.parts, /*of_programs=*/false)) {
    fail(fmt::format("{} is for another model than the coordinator's: {} differ", model_.name, *part));
  }
  if (options_.allow_other_programs) return;
  if (const auto part = difference(head.parts, model_.parts, /*of_programs=*/true)) {
    fail(fmt::format("{} differs from the coordinator's model: {} (--other-programs, when they compute the same)",
                     model_.name, *part));
  }
}

// A run without a coordinator continues for a while, because the coordinator may be started again and find the answers.
void Lane::watch_coordinator(bool is_there, bool is_done) {
  const RedisOptions& redis = options_.redis;
  if (is_there) {
    if (has_told_) board_.client().remark(fmt::format("run '{}' has a coordinator", redis.run));
    missed_since_.reset();
    has_told_ = false;
    return;
  }
  if (!missed_since_) missed_since_ = Clock::now();
  const double absent = seconds_since(*missed_since_);
  if (absent > redis.patience_seconds) {
    throw Error(ErrorCode::kIo,
                fmt::format("redis: the run '{}' has had no coordinator for {:g} s (treesample infer MODEL --redis ... "
                            "--run {})",
                            redis.run, redis.patience_seconds, redis.run));
  }
  if (absent < kTellSeconds || std::exchange(has_told_, true)) return;
  board_.client().remark(fmt::format("run '{}' {}; waiting for one for up to {:g} s", redis.run,
                                     is_done ? "has ended, and the next has no coordinator yet" : "has no coordinator",
                                     redis.patience_seconds));
}

std::optional<StreamEntry> Lane::next_question(bool& is_claimed) {
  send_kept_again();
  is_claimed = false;
  if (next_) return std::exchange(next_, std::nullopt);
  if (seconds_since(claimed_) > kLookSeconds) {
    claimed_ = Clock::now();
    if (std::optional<StreamEntry> entry = board_.claim(name_, head_->lease_seconds)) {
      is_claimed = true;
      return entry;
    }
  }
  return board_.next(name_, kLookSeconds);
}

void Lane::handle(const StreamEntry& entry, bool is_claimed) {
  QuestionBatch batch;
  try {
    batch = parse_questions(board_.seal().open("question", entry.content), factors_);
  } catch (const Error& error) {
    board_.client().remark(fmt::format("a question was refused: {}", error.what()));
    patiently([&] { board_.drop(entry.position); });
    return;
  }
  if (batch.session != head_->session) {  // from a coordinator that has ended, or from one that has just begun
    patiently([&] {
      const QuestionBoard::View view = board_.look(name_);
      const bool is_new = view.head && view.head->session == batch.session;
      is_new ? board_.give_back(entry) : board_.drop(entry.position);
    });
    looked_ = {};
    return;
  }
  std::vector<JobResult> results;
  const std::int64_t num_deliveries = is_claimed ? patiently([&] { return board_.num_deliveries(entry.position); }) : 1;
  if (num_deliveries > kMostDeliveries) {
    const std::string text = fmt::format("{} workers died or lost their connection while they had it", kMostDeliveries);
    for (Job& job : batch.jobs) {
      results.push_back({.job = std::move(job), .num_failures = 1, .error = Error(ErrorCode::kIo, text)});
    }
  } else {
    results = evaluate(batch, entry);
  }
  send(entry, results);
}

// Throws RedisInterrupted if the worker is asked to end, and the error of a program that cannot be used at all; other
// workers can then take the question.
std::vector<JobResult> Lane::evaluate(const QuestionBatch& batch, const StreamEntry& entry) {
  in_hand_ = &entry;
  held_ = Clock::now();
  std::vector<JobResult> results;
  try {
    for (const Job& job : batch.jobs) pool_->push(job);
    while (results.size() < batch.jobs.size()) {
      for (JobResult& result : pool_->take(/*wait=*/true)) results.push_back(std::move(result));
    }
  } catch (const Error& error) {
    in_hand_ = nullptr;
    board_.give_back(entry);
    if (error.code() == ErrorCode::kInterrupted) throw RedisInterrupted{};
    throw;
  }
  in_hand_ = nullptr;
  for (const JobResult& result : results) {
    if (!result.is_source_broken) continue;
    board_.give_back(entry);
    throw Error(*result.error);
  }
  return results;
}

void Lane::send(const StreamEntry& entry, const std::vector<JobResult>& results) {
  const AnswerBatch batch{.fingerprint = head_->fingerprint, .worker = name_, .results = results};
  kept_.push_back({"", board_.seal().seal("answer", format_answers(batch, factors_))});
  const bool is_time_to_claim = seconds_since(claimed_) > kLookSeconds;
  QuestionBoard::Answered answered =
      patiently([&] { return board_.answer(entry.position, kept_.back().sealed, is_time_to_claim ? "" : name_); });
  kept_.back().position = std::move(answered.position);
  next_ = std::move(answered.next);
  for (const JobResult& result : results) {
    ++report.num_evaluations;
    if (result.error) ++report.num_failed;
  }
}

// Called after the server was away: it may have come back empty, with the coordinator gone as well.
void Lane::send_kept_again() {
  const std::int64_t now = board_.client().num_connections();
  if (num_connections_ == now) return;
  for (Kept& kept : kept_) kept.position = board_.answer(kStreamBeginning, kept.sealed, "").position;
  num_connections_ = board_.client().num_connections();
}

}  // namespace

void QuestionWorkerOptions::validate() const {
  redis.validate();
  check_range("QuestionWorkerOptions", "num_workers", num_workers, 1, OracleSet::kMaxWorkers);
}

QuestionWorkerReport answer_questions(const JsonModel& json, const QuestionWorkerOptions& options,
                                      const RunCallbacks& callbacks) {
  options.validate();
  const OracleModel model = make_oracle_model(json, options.log, /*wants_fingerprints=*/true);
  check_argument(!model.sources.empty(), "worker", fmt::format("{} has no programs that could answer", model.name));
  std::mutex mutex;  // guards the callbacks and the error
  std::atomic<bool> is_ended = false;
  std::exception_ptr error;
  const RunCallbacks shared = {.keep_going =
                                   [&] {
                                     if (is_ended) return false;
                                     const std::lock_guard lock(mutex);
                                     return !callbacks.keep_going || callbacks.keep_going();
                                   },
                               .remark =
                                   [&](const std::string& text) {
                                     const std::lock_guard lock(mutex);
                                     if (callbacks.remark) callbacks.remark(text);
                                   }};
  std::vector<std::unique_ptr<Lane>> lanes;
  const std::string name = ProcessIdentity::own().name();
  for (int i = 0; i < options.num_workers; ++i) {
    const std::string suffix = options.num_workers == 1 ? "" : fmt::format("/{}", i);
    RunCallbacks own = shared;
    if (i > 0) own.remark = nullptr;  // all lanes see the same server, so one of them reports
    lanes.push_back(std::make_unique<Lane>(model, options, own, name + suffix));
  }
  std::vector<std::thread> threads;
  const auto work = [&](Lane& lane) {
    try {
      lane.work();
    } catch (...) {
      const std::lock_guard lock(mutex);
      if (!error) error = std::current_exception();
      is_ended = true;
    }
  };
  for (std::size_t i = 1; i < lanes.size(); ++i) threads.emplace_back([&, i] { work(*lanes[i]); });
  work(*lanes[0]);
  for (std::thread& thread : threads) thread.join();
  if (error) std::rethrow_exception(error);
  QuestionWorkerReport report{.is_run_finished = true};
  for (const std::unique_ptr<Lane>& lane : lanes) {
    report.num_evaluations += lane->report.num_evaluations;
    report.num_failed += lane->report.num_failed;
    report.num_reconnects += lane->report.num_reconnects;
    report.is_run_finished = report.is_run_finished && lane->report.is_run_finished;
  }
  return report;
}

}  // namespace treesample
