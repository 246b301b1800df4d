#include "run_instances.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <mutex>
#include <thread>

namespace treesample::experiments {

void parallel_for(int count, int num_threads, const std::function<bool(int)>& work) {
  if (num_threads <= 0) num_threads = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  std::atomic<int> next = 0;
  std::atomic<bool> is_stopped = false;
  std::mutex mutex;
  std::exception_ptr first_exception;
  const auto run = [&] {
    for (int i = next++; i < count && !is_stopped; i = next++) {
      try {
        if (!work(i)) is_stopped = true;
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (!first_exception) first_exception = std::current_exception();
        is_stopped = true;
      }
    }
  };
  std::vector<std::thread> threads;
  for (int t = 1; t < std::min(num_threads, count); ++t) threads.emplace_back(run);
  run();
  for (std::thread& thread : threads) thread.join();
  if (first_exception) std::rethrow_exception(first_exception);
}

std::optional<std::vector<Numbers>> run_instances(RunStore& store, const std::vector<std::string>& keys,
                                                  const Compute& compute, const RunControl& control) {
  using Clock = std::chrono::steady_clock;
  std::vector<int> missing;
  {
    const std::map<std::string, Numbers> known = store.finished();
    for (std::size_t i = 0; i < keys.size(); ++i) {
      if (!known.contains(keys[i])) missing.push_back(static_cast<int>(i));
    }
  }
  const int num_missing = static_cast<int>(missing.size());
  const Clock::time_point start = Clock::now();
  std::mutex mutex;
  int num_done = 0;
  const auto report = [&] {
    if (!control.show_progress) return;
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    control.show_progress({.num_finished = static_cast<int>(keys.size()) - num_missing + num_done,
                           .num_instances = static_cast<int>(keys.size()),
                           .remaining_seconds = num_done > 0 ? seconds / num_done * (num_missing - num_done) : -1.0});
  };
  report();
  parallel_for(num_missing, control.num_threads, [&](int i) {
    if (control.is_interrupted()) return false;
    const std::optional<Numbers> numbers = compute(missing[i]);
    if (!numbers) return false;
    const std::lock_guard lock(mutex);
    store.add(keys[missing[i]], *numbers);
    ++num_done;
    report();
    return true;
  });
  if (num_done < num_missing) return std::nullopt;
  std::map<std::string, Numbers> all = store.finished();
  std::vector<Numbers> results;
  results.reserve(keys.size());
  for (const std::string& key : keys) results.push_back(std::move(all[key]));
  return results;
}

}  // namespace treesample::experiments
