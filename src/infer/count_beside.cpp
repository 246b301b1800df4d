// Counting beside the search with bounds: whichever has the whole answer first ends the other.
//
// With several threads counting has one of its own. With one thread the two take turns, and both keep their state: when
// the search has worked as long as its share of the time so far allows, the count goes on for as long as it has
// counted, so that its slices double. Nobody knows beforehand which of them can solve a model; this way the one that
// can does not wait for long.
#include <ctime>

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <exception>
#include <limits>
#include <optional>
#include <system_error>
#include <thread>

#include "infer/counting.hpp"
#include "infer/policy.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample {
namespace {

// The processor time of this thread: what else the machine does, does not shorten a slice.
class ThreadClock {
 public:
  [[nodiscard]] double seconds() const { return now() - start_; }

 private:
  static double now() {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
  }

  double start_ = now();
};

class CountBeside {
 public:
  explicit CountBeside(const Task& task);
  Draft run();

 private:
  void count_in_a_thread();
  void take_turn();
  void count_slice();
  void give_up();
  void finish(const Run& run, double share_of_extra);
  Draft search();

  const Task& task_;
  Plan plan_;  // of the search
  const bool has_thread_;
  const double seconds_left_;   // for both
  const double count_seconds_;  // of these, for the count
  const double searched_per_counted_;
  std::optional<Counter> counter_;  // none once it is given up
  Run searching_;                   // the search's clock stands still while the count has its turn
  const std::thread::id owner_ = std::this_thread::get_id();
  double counted_seconds_ = 0.0;
  bool is_counting_ = false, has_failed_ = false;
  std::atomic<bool> is_over_ = false, is_known_ = false, is_answered_ = false;
  Draft counted_;     // everything that the count knows, once it is solved
  LogBounds bounds_;  // of log Z, by counting
  std::exception_ptr error_;
};

double share_of_count(const FactorGraph& graph) {
  return zeros_of(graph).are_all ? policy::kHardCountShare : policy::kCountShare;
}

// Where most tables are probabilities, few zeros cut branches off: a count that has hardly finished any will not end.
bool is_hopeless(const Counter& counter, const FactorGraph& graph) {
  const double share = counter.share_done();
  return share > 0.0 && share < policy::kHopelessShare && !zeros_of(graph).are_all;
}

CountBeside::CountBeside(const Task& task)
    : task_(task),
      plan_(task.plan),
      has_thread_(task.limits().threads > 1 && task.run.has_time_limit()),
      seconds_left_(task.run.seconds_left()),
      count_seconds_(seconds_left_ * (has_thread_ ? policy::kCountEnd : share_of_count(task.graph))),
      searched_per_counted_(1.0 / share_of_count(task.graph) - 1.0),
      counter_(make_counter(task, count_seconds_)),
      searching_(has_thread_ ? seconds_left_ : seconds_left_ - (std::isinf(count_seconds_) ? 0.0 : count_seconds_),
                 {.progress = [&](const Progress& now) { task_.run.tell(now); },
                  .should_stop =
                      [&] {
                        take_turn();
                        return is_answered_ || task_.run.is_interrupted();
                      },
                  .remark = [&](const std::string& text) { task_.run.remark(text); }}) {
  plan_.counts_first = false;
  plan_.request.limits.bytes /= 2;
  if (has_thread_) plan_.request.limits.threads = std::max(1, task.limits().threads - 1);
  searching_.set_log_error(task.run.log_error());
}

Draft CountBeside::run() {
  std::thread counting;
  if (has_thread_) {
    try {
      counting = std::thread([this] { count_in_a_thread(); });
    } catch (const std::system_error&) {  // there are no more threads: the search answers alone
    }
  }
  Draft draft;
  try {
    take_turn();
    draft = search();
  } catch (...) {
    error_ = std::current_exception();
  }
  is_over_ = true;
  if (counting.joinable()) counting.join();
  searching_.finish();
  if (is_answered_) return std::move(counted_);
  if (error_) std::rethrow_exception(error_);
  if (!is_known_ && !has_failed_ && counter_) bounds_ = counter_->result().report.log_z;
  draft.known.bound(bounds_);
  if (!is_known_) return draft;
  draft.known.estimate(*counted_.known.log_z(), Trust::kExact);
  draft.method = fmt::format("{}; then {}", counted_.method, draft.method);
  return draft;
}

Draft CountBeside::search() {
  if (is_answered_) return {};
  return run_gap_search(
      {task_.graph, plan_, searching_, [this] { return is_known_ || !counter_ ? bounds_ : LogBounds(); }});
}

// Without progress reports: an observer is called by one thread only.
void CountBeside::count_in_a_thread() {
  try {
    Run run(seconds_left_, {.should_stop = [this] { return is_over_.load(); }});
    run.set_log_error(task_.run.log_error());
    const auto is_late = [&] { return is_over_ || run.seconds() > count_seconds_; };
    if (counter_->run({.should_stop = is_late})) finish(run, 1.0);
  } catch (const Error&) {  // the search answers
    has_failed_ = true;
  } catch (const std::bad_alloc&) {
    has_failed_ = true;
  }
}

// The search calls this wherever it asks whether it should stop; with threads of its own it may ask from there, too.
void CountBeside::take_turn() {
  if (has_thread_ || is_counting_ || is_known_ || std::this_thread::get_id() != owner_) return;
  if (!counter_ || !counter_->can_go_on() || counted_seconds_ >= count_seconds_) return;
  if (searching_.seconds() < searched_per_counted_ * counted_seconds_) return;
  is_counting_ = true;
  count_slice();
  is_counting_ = false;
}

void CountBeside::count_slice() {
  const double least =
      policy::kFirstCountShare * (task_.run.has_time_limit() ? seconds_left_ : policy::kDefaultSeconds);
  const double slice = std::max(least, counted_seconds_);
  const Stopwatch watch;
  const ThreadClock busy;
  task_.run.tell({.phase = "counting"});
  try {
    const auto is_over = [&] {
      return task_.run.is_interrupted() || busy.seconds() > slice ||
             counted_seconds_ + watch.seconds() > count_seconds_;
    };
    counter_->run({.progress = [&](const Progress& now) { task_.run.tell(now); }, .should_stop = is_over});
    if (counter_->is_solved()) finish(task_.run, 0.5);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kResource) throw;
    has_failed_ = true;
  }
  counted_seconds_ += watch.seconds();
  searching_.pause(watch.seconds());
  if (is_known_) {
    searching_.set_time_limit(searching_.seconds() + 0.5 * task_.run.extra_seconds());
    searching_.begin_phases();
  } else if (has_failed_ || !counter_->can_go_on() || is_hopeless(*counter_, task_.graph)) {
    give_up();
  }
}

// The search gets all that is left, and keeps what the count has certified.
void CountBeside::give_up() {
  if (!has_failed_) bounds_ = counter_->result().report.log_z;
  counter_.reset();
  plan_.request.limits.bytes = task_.plan.request.limits.bytes;
  searching_.set_time_limit(seconds_left_ - counted_seconds_);
}

// log Z is known. What else is asked may be known by a circuit; the search goes on for the rest.
void CountBeside::finish(const Run& run, double share_of_extra) {
  const double extra = run.extra_seconds();
  const CountResult counted = counter_->result();
  bounds_ = counted.report.log_z;
  is_known_ = true;
  if (has_thread_) searching_.set_time_limit(searching_.seconds() + extra);
  set_counted(counted_, counted, {task_.graph, task_.plan, run}, {share_of_extra * extra, share_of_extra * extra});
  is_answered_ = bounds_.upper == kNegInf || counted_.approximation || !wants_more(task_.question());
  if (is_answered_) searching_.set_size(std::numeric_limits<std::int64_t>::max());  // it need not make an answer
}

}  // namespace

Draft run_beside_counting(const Task& task) { return CountBeside(task).run(); }

}  // namespace treesample
