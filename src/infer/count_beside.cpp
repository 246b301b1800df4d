#include "infer/count_beside.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <system_error>

#include "infer/phase_verbs.hpp"
#include "infer/policy.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample {
namespace {

// Where most tables are probabilities, few zeros cut branches off: a count that has hardly finished any will not end.
bool is_hopeless(const Counter& counter, const FactorGraph& graph) {
  const double share = counter.share_done();
  return share > 0.0 && share < policy::kHopelessShare && !zeros_of(graph).are_all;
}

}  // namespace

CountBeside::CountBeside(const Task& task)
    : task_(task),
      plan_(task.plan),
      has_thread_(task.limits().threads > 1 && task.run.has_time_limit()),
      seconds_left_(task.run.seconds_left()),
      count_seconds_(seconds_left_ * (has_thread_ ? policy::kCountEnd : task.plan.count_share)),
      searched_per_counted_(1.0 / task.plan.count_share - 1.0),
      counter_(make_counter(task, count_seconds_)),
      searching_(has_thread_ ? seconds_left_ : seconds_left_ - (std::isinf(count_seconds_) ? 0.0 : count_seconds_),
                 {.progress = [&](const Progress& now) { task_.run.tell(now); },
                  .should_stop =
                      [&] {
                        take_turn();
                        return is_answered_ || task_.run.is_interrupted();
                      },
                  .remark = [&](const std::string& text) { task_.run.remark(text); }},
                 TimeLimit::kGiven, task.run.time()),
      search_task_{task.graph, plan_, searching_, task.original, task.reduced} {
  plan_.request.limits.bytes /= 2;
  if (has_thread_) plan_.request.limits.threads = std::max(1, task.limits().threads - 1);
  searching_.set_log_error(task.run.log_error());
}

void CountBeside::begin() {
  if (!has_thread_) return take_turn();
  try {
    counting_ = std::thread([this] { count_in_a_thread(); });
  } catch (const std::system_error&) {  // there are no more threads: the search answers alone
  }
}

bool CountBeside::end() {
  is_over_ = true;
  if (counting_.joinable()) counting_.join();
  searching_.finish();
  return is_answered_;
}

void CountBeside::join(Findings& found) {
  if (end()) {
    found = {};
    found.draft = std::move(counted_);
    return;
  }
  if (!is_known_ && !has_failed_ && counter_) bounds_ = counter_->result().report.log_z;
  found.draft.known.bound(bounds_);
  if (!is_known_) return;
  found.draft.known.estimate(*counted_.known.log_z(), Trust::kExact);
  found.draft.method = fmt::format("{}; then {}", counted_.method, found.draft.method);
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
  // Slices are measured in processor time, so that nothing else that the machine does can shorten them.
  const TimeSource& time = task_.run.time();
  const double start = time.seconds(), busy = time.busy_seconds();
  task_.run.tell({.phase = "counting"});
  try {
    const auto is_over = [&] {
      return task_.run.is_interrupted() || time.busy_seconds() - busy > slice ||
             counted_seconds_ + time.seconds() - start > count_seconds_;
    };
    counter_->run({.progress = [&](const Progress& now) { task_.run.tell(now); }, .should_stop = is_over});
    if (counter_->is_solved()) finish(task_.run, 0.5);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kResource) throw;
    has_failed_ = true;
  }
  const double seconds = time.seconds() - start;
  counted_seconds_ += seconds;
  searching_.pause(seconds);
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
  is_given_up_ = true;
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

void begin_counting(Findings& found, const Task& task, const PhaseClock&) {
  task.run.enter("");  // the rows of the search say what is done, and slices of the count do
  found.beside = std::make_shared<CountBeside>(task);
  found.beside->begin();
}

}  // namespace treesample
