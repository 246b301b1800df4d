// Counting and the search with bounds in parallel threads: whichever has the whole answer first ends the other.
#include <algorithm>
#include <atomic>
#include <exception>
#include <system_error>
#include <thread>

#include "infer/counting.hpp"
#include "infer/policy.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample {
namespace {

class Portfolio {
 public:
  explicit Portfolio(const Task& task) : task_(task), plan_(task.plan) {
    plan_.counts_first = false;
    plan_.request.limits.bytes /= 2;
    plan_.request.limits.threads = std::max(1, task.limits().threads - 1);  // for the search
  }

  Draft run() {
    std::thread counting;
    try {
      counting = std::thread([this] { count(); });
    } catch (const std::system_error&) {  // there are no more threads: the search answers alone
    }
    Draft draft;
    try {
      draft = search();
    } catch (...) {
      error_ = std::current_exception();
    }
    is_over_ = true;
    if (counting.joinable()) counting.join();
    if (is_answered_) return std::move(counted_);
    if (error_) std::rethrow_exception(error_);
    draft.known.bound(bounds_);
    return draft;
  }

 private:
  // Without progress reports: an observer is called by one thread only.
  void count() {
    try {
      Run run(task_.run.seconds_left(), {.should_stop = [this] { return is_over_.load(); }});
      run.set_log_error(task_.run.log_error());
      const Task task{task_.graph, plan_, run};
      const CountResult result = count_within(task, count_time(run, policy::kCountEnd, policy::kCountEnd));
      bounds_ = result.report.log_z;
      if (!result.is_solved) return;
      set_counted(counted_, result, task, count_time(run, 1.0, 1.0));
      is_answered_ = bounds_.upper == kNegInf || counted_.approximation != nullptr || !wants_more(task.question());
    } catch (const Error&) {  // the search answers
    } catch (const std::bad_alloc&) {
    }
  }

  Draft search() {
    const Run& watched = task_.run;
    Run run(watched.seconds_left(), {.progress = [&](const Progress& now) { watched.tell(now); },
                                     .should_stop = [&] { return is_answered_ || watched.is_interrupted(); },
                                     .remark = [&](const std::string& text) { watched.remark(text); }});
    run.set_log_error(watched.log_error());
    return run_gap_search({task_.graph, plan_, run});
  }

  const Task& task_;
  Plan plan_;
  std::atomic<bool> is_over_ = false, is_answered_ = false;
  Draft counted_;
  LogBounds bounds_;  // from counting
  std::exception_ptr error_;
};

}  // namespace

Draft run_portfolio(const Task& task) { return Portfolio(task).run(); }

}  // namespace treesample
