#include "oracle/redis_evaluators.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <iterator>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "oracle/blocked_signals.hpp"
#include "oracle/question_ledger.hpp"
#include "oracle/redis_board.hpp"
#include "remote/patience.hpp"
#include "remote/run_lease.hpp"
#include "stopwatch.hpp"

namespace treesample {
namespace {

constexpr std::chrono::milliseconds kInterruptionInterval{50};
constexpr std::chrono::milliseconds kTick{500};  // between two looks of the sending thread if there is nothing to do
constexpr double kWaitSeconds = 0.2;             // after trouble
constexpr double kReadSeconds = 1.0;
constexpr double kWatchSeconds = 1.0;    // between two counts of the workers
constexpr double kPresentSeconds = 5.0;  // a worker that looked for questions this recently is counted as present
constexpr double kStallSeconds = 5.0;    // time without an answer after which the server is checked
constexpr int kAnswersAtOnce = 512;

void move_all(std::vector<std::string>& from, std::vector<std::string>& to) {
  std::move(from.begin(), from.end(), std::back_inserter(to));
  from.clear();
}

class RedisEvaluators final : public Evaluators {
 public:
  RedisEvaluators(const OracleModel& model, RedisEvaluatorSettings settings);
  ~RedisEvaluators() override { RedisEvaluators::stop(); }
  RedisEvaluators(const RedisEvaluators&) = delete;
  RedisEvaluators& operator=(const RedisEvaluators&) = delete;
  void push(Job job) override;
  std::vector<JobResult> take(bool wait) override;
  void confirm() override;
  void stop() override;

 private:
  [[nodiscard]] RunCallbacks callbacks(bool has_remarks);
  void tell(const std::string& text);
  [[nodiscard]] std::vector<std::string> waiting_remarks();

  template <typename Work>
  void guarded(const Work& work);
  template <typename Work>
  void patiently(QuestionBoard& board, const Work& work, bool& is_doubtful);
  void send_loop();
  void seal_batches();
  void send_step();
  void restore();
  [[nodiscard]] bool is_stalled() const {  // call it with the lock held
    return ledger_.num_open() > 0 && seconds_since(last_answer_) > kStallSeconds;
  }
  void watch();
  void receive_loop();
  void receive_step();
  void accept(const StreamEntry& entry);
  void refuse(const std::string& position, const std::string& reason);

  const RedisEvaluatorSettings settings_;
  const AskedFactors factors_;
  std::atomic<bool> is_stopping_ = false;
  bool has_threads_ = false;
  QuestionBoard board_;     // used by the sending thread
  QuestionBoard receiver_;  // used by the receiving thread
  RunLease lease_;
  RunHead head_;

  // The following belong to the sending thread.
  std::vector<std::string> outgoing_;  // sealed messages
  std::vector<std::string> safe_now_, refused_now_;
  std::int64_t send_number_ = 0;
  std::int64_t num_connections_ = 0;
  bool is_board_doubtful_ = false;
  Clock::time_point watched_;
  // The following belong to the receiving thread.
  std::string position_ = kStreamBeginning;
  std::int64_t num_receiver_connections_ = 0;
  bool is_stream_doubtful_ = true;

  std::mutex mutex_;  // guards all of the following except the threads
  std::condition_variable wake_sender_, has_results_;
  QuestionLedger ledger_;
  std::vector<JobResult> results_;
  std::vector<std::string> arrived_, taken_, safe_;  // positions of answers that were read, handed out, recorded
  std::vector<std::string> refused_;                 // positions of entries that are not valid answers
  std::vector<std::string> remarks_;
  std::optional<Error> failure_;
  std::int64_t num_refused_ = 0, next_refusal_ = 1;
  bool is_waited_for_ = false;
  int num_workers_ = 0;
  bool has_told_few_ = false;
  Clock::time_point last_answer_ = Clock::now();
  double next_notice_ = kStallSeconds;

  std::vector<std::thread> threads_;
};

RedisEvaluators::RedisEvaluators(const OracleModel& model, RedisEvaluatorSettings settings)
    : settings_(std::move(settings)),
      factors_(model),
      board_(settings_.redis, callbacks(true)),
      receiver_(settings_.redis, callbacks(false)),
      lease_(board_.client(), board_.key("lease"), settings_.redis.run, "coordinator"),
      ledger_([&model](int factor) { return model.sources[model.factors[factor].source].max_batch; },
              settings_.num_workers) {
  head_ = {.version = TREESAMPLE_VERSION,
           .session = random_token(),
           .fingerprint = overall_fingerprint(value_parts(model.parts)),
           .parts = value_parts(model.parts),
           .lease_seconds = settings_.lease_seconds};
  patiently(
      board_, [this] { board_.rebuild(head_); }, is_board_doubtful_);
  num_connections_ = board_.client().num_connections();
  has_threads_ = true;
  const BlockedSignals blocked;
  threads_.emplace_back([this] { send_loop(); });
  threads_.emplace_back([this] { receive_loop(); });
}

RunCallbacks RedisEvaluators::callbacks(bool has_remarks) {
  return {.keep_going = [this] { return !is_stopping_; },
          .remark = has_remarks
                        ? std::function<void(const std::string&)>([this](const std::string& text) { tell(text); })
                        : nullptr};
}

// Callbacks are called from the thread that waits for answers.
void RedisEvaluators::tell(const std::string& text) {
  if (!has_threads_) {
    if (settings_.remark) settings_.remark(text);
    return;
  }
  const std::lock_guard lock(mutex_);
  remarks_.push_back(text);
}

void RedisEvaluators::push(Job job) {
  {
    const std::lock_guard lock(mutex_);
    ledger_.push(std::move(job));
  }
  wake_sender_.notify_one();
}

std::vector<JobResult> RedisEvaluators::take(bool wait) {
  std::unique_lock lock(mutex_);
  if (wait && results_.empty()) {
    is_waited_for_ = true;
    wake_sender_.notify_one();
  }
  while (true) {
    const std::vector<std::string> remarks = waiting_remarks();
    if (!remarks.empty() && settings_.remark) {
      lock.unlock();
      for (const std::string& text : remarks) settings_.remark(text);
      lock.lock();
    }
    if (!wait || !results_.empty()) break;
    if (failure_) throw Error(*failure_);
    has_results_.wait_for(lock, kInterruptionInterval);
    if (results_.empty() && settings_.is_interrupted && settings_.is_interrupted()) {
      is_waited_for_ = false;
      throw Error(ErrorCode::kInterrupted, "interrupted while an evaluation was under way");
    }
  }
  is_waited_for_ = false;
  move_all(arrived_, taken_);
  return std::exchange(results_, {});
}

// Returns the pending remarks, among them that there are no workers. Call it with the lock held.
std::vector<std::string> RedisEvaluators::waiting_remarks() {
  std::vector<std::string> remarks = std::exchange(remarks_, {});
  const double waited = seconds_since(last_answer_);
  if (ledger_.num_open() == 0 || waited < kStallSeconds) {
    next_notice_ = kStallSeconds;
  } else if (waited > next_notice_ && num_workers_ == 0) {
    next_notice_ = 2.0 * waited;
    remarks.push_back(
        fmt::format("no answer for {:.0f} s, {} under way: run '{}' has no workers (treesample worker "
                    "--redis ADDRESS --run {} --model MODEL)",
                    waited, ledger_.num_open(), settings_.redis.run, settings_.redis.run));
  }
  if (num_workers_ > settings_.num_workers && !std::exchange(has_told_few_, true)) {
    remarks.push_back(fmt::format("{} workers are there, and at most {} questions are under way (--oracle-workers)",
                                  num_workers_, settings_.num_workers));
  }
  return remarks;
}

void RedisEvaluators::confirm() {
  const std::lock_guard lock(mutex_);
  move_all(taken_, safe_);
  if (!threads_.empty()) return;  // the sending thread will delete them soon
  move_all(safe_, safe_now_);
  board_.forget_at_the_end(safe_now_);
  safe_now_.clear();
}

void RedisEvaluators::stop() {
  if (threads_.empty()) return;
  is_stopping_ = true;
  wake_sender_.notify_all();
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
  has_threads_ = false;
  if (!failure_) board_.announce_end(head_);
  lease_.release();
}

// Runs `work`. An error that ends the thread is thrown later by take().
template <typename Work>
void RedisEvaluators::guarded(const Work& work) {
  try {
    while (!is_stopping_) work();
  } catch (const RedisInterrupted&) {
  } catch (const Error& error) {
    const std::lock_guard lock(mutex_);
    if (!failure_) failure_ = error;
    has_results_.notify_all();
  }
}

// Repeats the work until it succeeds or has failed for as long as the patience lasts. Before each repetition the board
// counts as doubtful: its keys may have been damaged, by accident or by somebody else, and are repaired.
template <typename Work>
void RedisEvaluators::patiently(QuestionBoard& board, const Work& work, bool& is_doubtful) {
  const auto doubt = [&] {
    is_doubtful = true;
    board.client().pause(kWaitSeconds);
  };
  try_patiently(
      settings_.redis.patience_seconds, work,
      [&](const std::string& trouble) { tell(fmt::format("{}; trying again", trouble)); }, doubt);
}

void RedisEvaluators::send_loop() {
  guarded([this] {
    {
      std::unique_lock lock(mutex_);
      wake_sender_.wait_for(lock, kTick,
                            [this] { return is_stopping_ || ledger_.has_batch(is_waited_for_) || !safe_.empty(); });
      seal_batches();
      move_all(safe_, safe_now_);
      move_all(refused_, refused_now_);
    }
    if (!is_stopping_)
      patiently(
          board_, [this] { send_step(); }, is_board_doubtful_);
  });
}

// Call it with the lock held.
void RedisEvaluators::seal_batches() {
  for (std::vector<Job>& jobs : ledger_.next_batches(is_waited_for_)) {
    const QuestionBatch batch{.session = head_.session, .jobs = std::move(jobs)};
    outgoing_.push_back(board_.seal().seal("question", format_questions(batch, factors_)));
  }
}

void RedisEvaluators::send_step() {
  const bool is_kept = lease_.renew();
  const bool was_away = std::exchange(num_connections_, board_.client().num_connections()) != num_connections_;
  if ((!is_kept || was_away || is_board_doubtful_) && !board_.is_intact(head_.session)) restore();
  is_board_doubtful_ = false;
  while (!outgoing_.empty()) {
    if (board_.add(head_.session, send_number_, outgoing_)) {
      outgoing_.clear();
      ++send_number_;
    } else {
      restore();
    }
  }
  delete_entries(board_.client(), board_.key("answers"), refused_now_);
  refused_now_.clear();
  board_.forget_answers(safe_now_);
  safe_now_.clear();
  if (seconds_since(watched_) > kWatchSeconds) watch();
}

void RedisEvaluators::restore() {
  lease_.renew(true);
  board_.rebuild(head_);
  send_number_ = 0;
  outgoing_.clear();
  const std::lock_guard lock(mutex_);
  ledger_.ask_all_again();
  seal_batches();
}

// Counts the workers, and checks that the questions still exist: if workers are present, they have taken all they can.
void RedisEvaluators::watch() {
  watched_ = Clock::now();
  const int num_workers = board_.num_workers(std::max(kPresentSeconds, 2.0 * settings_.lease_seconds));
  const bool is_nothing_in_hand = num_workers > 0 && board_.num_in_hand() == 0;
  const auto num_questions = static_cast<std::size_t>(board_.num_questions());
  bool are_missing = false;
  {
    const std::lock_guard lock(mutex_);
    num_workers_ = num_workers;
    if (!is_stalled()) return;
    are_missing = outgoing_.empty() && (num_questions < ledger_.num_batches() || is_nothing_in_hand);
  }
  board_.set("model", format_head(head_));  // another process may have changed it
  if (!are_missing) return;
  tell(fmt::format("key {}: questions are missing; they are asked again", board_.key("questions")));
  restore();
}

void RedisEvaluators::receive_loop() {
  guarded([this] {
    patiently(
        receiver_, [this] { receive_step(); }, is_stream_doubtful_);
  });
}

void RedisEvaluators::receive_step() {
  const std::string key = receiver_.key("answers");
  const bool was_away =
      std::exchange(num_receiver_connections_, receiver_.client().num_connections()) != num_receiver_connections_;
  {
    const std::lock_guard lock(mutex_);
    is_stream_doubtful_ = is_stream_doubtful_ || was_away || is_stalled();
  }
  if (is_stream_doubtful_) position_ = repair_stream(receiver_.client(), key, position_);
  is_stream_doubtful_ = false;
  for (const StreamEntry& entry : read_stream(receiver_.client(), key, position_, kAnswersAtOnce, kReadSeconds)) {
    position_ = entry.position;
    accept(entry);
  }
}

void RedisEvaluators::accept(const StreamEntry& entry) {
  AnswerBatch batch;
  try {
    batch = parse_answers(receiver_.seal().open("answer", entry.content), factors_);
    if (batch.fingerprint != head_.fingerprint) {
      refuse(entry.position, fmt::format("worker {} answers for another model", batch.worker));
      return;
    }
  } catch (const Error& error) {
    refuse(entry.position, error.what());
    return;
  }
  const std::lock_guard lock(mutex_);
  for (JobResult& result : batch.results) {
    const QuestionLedger::Arrival arrival = ledger_.arrive(result.job);
    result.is_unasked = arrival == QuestionLedger::Arrival::kUnasked;
    if (arrival == QuestionLedger::Arrival::kTwice || (result.is_unasked && !settings_.has_journal)) continue;
    results_.push_back(std::move(result));
  }
  arrived_.push_back(entry.position);
  last_answer_ = Clock::now();
  next_notice_ = kStallSeconds;
  has_results_.notify_one();
}

void RedisEvaluators::refuse(const std::string& position, const std::string& reason) {
  const std::lock_guard lock(mutex_);
  refused_.push_back(position);
  if (++num_refused_ < next_refusal_) return;
  next_refusal_ = 2 * num_refused_;
  remarks_.push_back(fmt::format("{} answers were refused, the last: {}", num_refused_, reason));
}

}  // namespace

std::unique_ptr<Evaluators> make_redis_evaluators(const OracleModel& model, RedisEvaluatorSettings settings) {
  settings.redis.validate();
  return std::make_unique<RedisEvaluators>(model, std::move(settings));
}

}  // namespace treesample
